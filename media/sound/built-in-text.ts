import { SoundError } from './errors.ts'

/** Voices of the built-in speech; all are English. */
export const voices = ['slt', 'rms', 'awb', 'kal', 'kal16'] as const

/** One of {@link voices}. */
export type Voice = (typeof voices)[number]

/** Gender of a voice. */
export type Gender = 'male' | 'female'

/** Genders by the words that documents use. */
const genders: Readonly<Record<string, Gender>> = {
  woman: 'female',
  female: 'female',
  man: 'male',
  male: 'male',
}

/**
 * Returns the gender for `male`, `man`, `female` or `woman` (case-insensitive); undefined for any other text.
 */
export const genderByName = (text: string): Gender | undefined => {
  const lower = text.trim().toLowerCase()
  return Object.hasOwn(genders, lower) ? genders[lower] : undefined
}

/** Returns the gender of a built-in voice. */
export const genderOf = (voice: Voice): Gender => (voice === 'slt' ? 'female' : 'male')

/** Returns the built-in voice of a gender. */
export const voiceByGender = (gender: Gender): Voice => (gender === 'female' ? 'slt' : 'rms')

/** Returns the voice of that name (case-insensitive), or of `man` and `woman`; undefined for any other. */
export const voiceByName = (name: string): Voice | undefined => {
  const lower = name.trim().toLowerCase()
  const gender = genderByName(lower)
  return voices.find((voice) => voice === lower) ?? (gender && voiceByGender(gender))
}

/**
 * Converts text for the built-in voice: plain ASCII letters on one line. Throws a {@link SoundError} if
 * nothing is left to speak.
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

/** Maximum length of a piece that is rendered at once, in characters: under a second of work. */
const maxPieceLength = 250

/**
 * Splits text into pieces of at most 250 characters, after a sentence if possible, else after a clause, else
 * between words. Most texts are one piece, which preserves the intonation.
 */
export const piecesOf = (text: string): readonly string[] => {
  const pieces: string[] = []
  let rest = text
  while (rest.length > maxPieceLength) {
    const end = cutOf(rest.slice(0, maxPieceLength + 1))
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
  return maxPieceLength
}
