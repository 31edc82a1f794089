/** Text that the caller or the agent says. */
export interface Said {
  /** Number in the call, from 1. */
  readonly id: number
  readonly side: 'caller' | 'agent'
  /** Empty until the first piece of an answer arrives. */
  readonly text: string
  /** Whether nothing of it will change any more. */
  readonly isFinal: boolean
  /** Whether the caller interrupted it. The text is what was heard. */
  readonly isInterrupted: boolean
}

/** Events of a voice agent that a transcript consists of. */
export const agentEvents = [
  'ai.partial_result',
  'ai.speech_detect',
  'ai.transparent_barge',
  'ai.response_utterance',
  'ai.completion',
  'ai.stop',
] as const

/** Most entries that are kept, besides the caller's text so far; the oldest ones are dropped. */
const maxEntries = 200

const isOpenOf =
  (side: Said['side']) =>
  (entry: Said): boolean =>
    entry.side === side && !entry.isFinal

/** Adds the caller's text so far, or the text of a complete turn, at the end. It replaces the one so far. */
const heard = (all: readonly Said[], text: string, isFinal: boolean): readonly Said[] => {
  const others = all.filter((entry) => !isOpenOf('caller')(entry))
  return text ? [...others, { ...entryAfter(all), side: 'caller', text, isFinal }] : others
}

const entryAfter = (all: readonly Said[]) => ({ id: (all.at(-1)?.id ?? 0) + 1, isInterrupted: false })

/** Removes the last turn of the caller, and everything after it. */
const withoutLastTurn = (all: readonly Said[]): readonly Said[] => {
  const at = all.findLastIndex(({ side, isFinal }) => side === 'caller' && isFinal)
  return at < 0 ? all : all.slice(0, at)
}

/** Adds a piece of an answer as it is, perhaps within a word; an empty one begins the next answer. */
const spoken = (all: readonly Said[], piece: string): readonly Said[] => {
  const at = all.findLastIndex(isOpenOf('agent'))
  if (piece === '' || at < 0)
    return [...all, { ...entryAfter(all), side: 'agent', text: piece.trimStart(), isFinal: false }]
  return all.map((entry, i) => (i === at ? { ...entry, text: `${entry.text}${piece}`.trimStart() } : entry))
}

/** Replaces the oldest answer that is not complete by the text that was heard. */
const completed = (all: readonly Said[], text: string, isInterrupted: boolean): readonly Said[] => {
  const open = all.find(isOpenOf('agent'))
  if (!open)
    return text ? [...all, { ...entryAfter(all), side: 'agent', text, isFinal: true, isInterrupted }] : all
  if (!text) return all.filter((entry) => entry !== open)
  return all.map((entry) => (entry === open ? { ...entry, text, isFinal: true, isInterrupted } : entry))
}

/** Drops what is too much: the caller's text so far if others have followed it, then the oldest entries. */
const limited = (all: readonly Said[]): readonly Said[] => {
  if (all.length <= maxEntries) return all
  const isPassing = isOpenOf('caller')
  const kept = all.filter((entry) => !isPassing(entry)).slice(-maxEntries)
  return [...kept, ...all.slice(-1).filter(isPassing)]
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '')

/**
 * Returns a transcript with one more event of {@link agentEvents}. Values of unexpected types are ignored.
 */
export const withEvent = (
  all: readonly Said[],
  type: (typeof agentEvents)[number],
  params: Readonly<Record<string, unknown>>,
): readonly Said[] => {
  const text = textOf(params.text)
  const next = () => {
    switch (type) {
      case 'ai.partial_result':
        return heard(all, text, false)
      case 'ai.speech_detect':
        return heard(all, text, true)
      case 'ai.transparent_barge':
        return heard(withoutLastTurn(all), textOf(params.combined_text), true)
      case 'ai.response_utterance':
        return typeof params.utterance === 'string' ? spoken(all, params.utterance) : all
      case 'ai.completion':
        return completed(all, text, params.type === 'barged' && params.given_up !== true)
      default:
        return heard(all, '', false).map((entry) => ({ ...entry, isFinal: true }))
    }
  }
  return limited(next())
}
