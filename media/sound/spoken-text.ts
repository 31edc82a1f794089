import { SoundError } from './errors.ts'

/** Longest text that is spoken at once, in characters. */
export const longestText = 4096

/** Voices of the built-in speech; all are English. */
export const voices = ['slt', 'rms', 'awb', 'kal', 'kal16'] as const

/** A voice of {@link voices}. */
export type Voice = (typeof voices)[number]

/** Names from other vocabularies that documents use. */
const synonyms: Readonly<Record<string, Voice>> = { woman: 'slt', female: 'slt', man: 'rms', male: 'rms' }

/** The voice of this name (case is ignored), or of `man` and `woman`; undefined for any other. */
export const voiceNamed = (name: string): Voice | undefined => {
  const lower = name.trim().toLowerCase()
  return (
    voices.find((voice) => voice === lower) ?? (Object.hasOwn(synonyms, lower) ? synonyms[lower] : undefined)
  )
}

const tags = /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<\/?[A-Za-z][^<>]*>/g
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/**
 * The text as the voice is given it: without SSML tags (never spoken; a break or a paragraph is a pause), in plain ASCII letters,
 * on one line. Throws a {@link SoundError} when it is too long or nothing is left to speak.
 */
export const spokenText = (text: string): string => {
  if (text.length > longestText) {
    throw new SoundError(`Speech: at most ${longestText} characters expected, found ${text.length}`)
  }
  const plain = withoutTags(text)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[\u201c\u201d]/g, '"')
    .replace(/[\u2013\u2014]/g, ' - ')
    .replace(/[^\x20-\x7e]+/g, ' ')
    .replace(/ {2,}/g, ' ')
    .trim()
  if (!/[A-Za-z0-9]/.test(plain)) throw new SoundError('Speech: letters or digits expected, found none')
  return plain
}

const withoutTags = (text: string): string => {
  let found = false
  const bare = text.replace(tags, (tag) => {
    found = true
    return /^<\/?(break|p|s)\b/i.test(tag) ? ', ' : ' '
  })
  // Entities stand for characters only where the text is markup; elsewhere they were decoded already.
  return found ? bare.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => entities[name]!) : bare
}

/** Longest piece that is rendered at once, in characters: under a second of work. */
const longestPiece = 250

/**
 * The text in pieces of at most 250 characters, cut after a sentence where one ends, else after a clause, else between words. Most
 * texts are one piece, which keeps the voice's melody.
 */
export const piecesOf = (text: string): readonly string[] => {
  const pieces: string[] = []
  let rest = text
  while (rest.length > longestPiece) {
    const end = cutOf(rest.slice(0, longestPiece + 1))
    pieces.push(rest.slice(0, end).trim())
    rest = rest.slice(end).trim()
  }
  return [...pieces, rest].filter((piece) => /[A-Za-z0-9]/.test(piece))
}

const cutOf = (head: string): number => {
  for (const end of [/^.*[.!?](?=\s)/, /^.*[,;:](?=\s)/, /^.*(?=\s)/]) {
    const length = end.exec(head)?.[0].length
    if (length) return length
  }
  return longestPiece
}
