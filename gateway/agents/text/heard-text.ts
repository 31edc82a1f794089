/** Time of a text: everything before the offset `end` (exclusive) is spoken at `ms` of the item's audio. */
export interface TextTime {
  readonly end: number
  readonly ms: number
}

/** Item of an answer, with the part of its audio that the caller heard. */
export interface HeardItem {
  readonly text: string
  /** Audio that left the gateway, in ms. */
  readonly heardMs: number
  /** Audio received so far, in ms. */
  readonly totalMs: number
  /** Whether all of its audio was received; default true. Otherwise the usual pace of speech is assumed. */
  readonly isComplete?: boolean
  /** Times of words or characters in ascending order, where the engine gives them. */
  readonly times?: readonly TextTime[]
}

const isSpace = (character: string | undefined): boolean => character !== undefined && character.trim() === ''

/** Returns the beginning of a text up to the last whole word before the offset. */
const wholeWords = (text: string, offset: number): string => {
  if (offset >= text.length) return text.trimEnd()
  let end = Math.max(0, Math.floor(offset))
  if (!isSpace(text[end])) while (end > 0 && !isSpace(text[end - 1])) end--
  return text.slice(0, end).trimEnd()
}

/** Usual duration of one character of spoken text, in ms. */
const characterMs = 65

/** Offset in the text that the heard audio reached. */
const heardOffset = ({ text, heardMs, totalMs, times, isComplete = true }: HeardItem): number => {
  if (heardMs <= 0) return 0
  if (isComplete && heardMs >= totalMs) return text.length
  const wholeMs = isComplete ? totalMs : Math.max(totalMs, text.length * characterMs)
  if (!times?.length) return (text.length * heardMs) / wholeMs
  return times.reduce((offset, time) => (time.ms <= heardMs ? Math.max(offset, time.end) : offset), 0)
}

/**
 * Text that the caller heard of one item: whole words, by the times of the engine, else by the share of the
 * audio.
 */
export const heardOfItem = (item: HeardItem): string => wholeWords(item.text, heardOffset(item))

/** Text that the caller heard of an answer, given its items in order. Ends at the first item cut short. */
export const heardText = (items: readonly HeardItem[]): string => {
  const parts: string[] = []
  for (const item of items) {
    const heard = heardOfItem(item)
    if (heard.trim() !== '') parts.push(heard.trim())
    if (heard.length < item.text.trimEnd().length) break
  }
  return parts.join(' ')
}
