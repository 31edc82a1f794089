import { SoundError } from './errors.ts'

/** Voices of the built-in speech; all are English. */
export const voices = ['slt', 'rms', 'awb', 'kal', 'kal16'] as const

/** A voice of {@link voices}. */
export type Voice = (typeof voices)[number]

/** Whose voice it sounds like. */
export type Gender = 'male' | 'female'

/** Words for it in documents. */
const genders: Readonly<Record<string, Gender>> = {
  woman: 'female',
  female: 'female',
  man: 'male',
  male: 'male',
}

/** The gender that a document means by `male`, `man`, `female` or `woman` (case is ignored); undefined for any other text. */
export const genderNamed = (text: string): Gender | undefined => {
  const lower = text.trim().toLowerCase()
  return Object.hasOwn(genders, lower) ? genders[lower] : undefined
}

/** The gender of a built-in voice. */
export const genderOf = (voice: Voice): Gender => (voice === 'slt' ? 'female' : 'male')

/** The built-in voice of a gender. */
export const voiceOf = (gender: Gender): Voice => (gender === 'female' ? 'slt' : 'rms')

/** The voice of this name (case is ignored), or of `man` and `woman`; undefined for any other. */
export const voiceNamed = (name: string): Voice | undefined => {
  const lower = name.trim().toLowerCase()
  const gender = genderNamed(lower)
  return voices.find((voice) => voice === lower) ?? (gender && voiceOf(gender))
}

/**
 * The text as the built-in voice is given it: in plain ASCII letters, on one line. Throws a {@link SoundError} when nothing is left to
 * speak.
 */
export const builtInText = (text: string): string => {
  const plain = text
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
