import type { Sound } from '../verbs.ts'

/** Countries with a ringing tone for `ring:` and `ringTone`. */
export const ringCountries: readonly string[] = (
  'ae ar at au ba be bg bh br by ca ch cl cn co cr cy cz de dk dz ec ee es fi fr gb gr hk hr hu id ie ' +
  'il in is it jp kr kw lk lt lu lv ma mo mx my nl no nz om pa pe ph pk pl pt py ro ru sa se sg si ' +
  'sk th tr tw ua uk us us-old uy ve vn za'
).split(' ')

/** Voice and language of spoken text; default as configured. */
export interface Speaker {
  readonly voice?: string
  readonly language?: string
  /** Gender of the voice if no voice is named: male or female. */
  readonly gender?: string
}

/** Error of an invalid sound; its message completes the sentence "the value …". */
export class InvalidSound extends Error {}

/**
 * Reads a sound: `say:<text>`, `silence:<seconds>`, `ring:[<seconds>:]<country>`, `file:<name>`, or an
 * `http(s)` URL. Throws {@link InvalidSound}.
 */
export const readSound = (text: string, speaker: Speaker = {}): Sound => {
  const colon = text.indexOf(':')
  const rest = text.slice(colon + 1)
  switch (text.slice(0, Math.max(0, colon))) {
    case 'say':
      return readSpeech(rest, speaker)
    case 'silence':
      return { kind: 'silence', ms: seconds(rest) }
    case 'ring':
      return readRing(rest)
    case 'http':
    case 'https':
      if (!URL.canParse(text)) throw new InvalidSound('is not a valid URL')
      return { kind: 'audio', url: text }
    case 'file':
      if (rest.trim() === '') throw new InvalidSound('has no name after file:')
      return { kind: 'audio', url: text }
    default:
      throw new InvalidSound('must begin with say:, silence:, ring:, file:, http: or https:')
  }
}

/** Returns the endless ringing tone of a country. Undefined for an unknown country. */
export const ringtoneOf = (country: string): Sound | undefined =>
  ringCountries.includes(country) ? { kind: 'ringtone', country } : undefined

const readSpeech = (text: string, speaker: Speaker): Sound => {
  if (text.trim() === '') throw new InvalidSound('has no text after say:')
  return {
    kind: 'speech',
    text: text.trim(),
    ...(speaker.voice && { voice: speaker.voice }),
    ...(speaker.language && { language: speaker.language }),
    ...(speaker.gender && { gender: speaker.gender }),
  }
}

const readRing = (text: string): Sound => {
  const parts = text.split(':')
  const country = parts.pop() ?? ''
  const tone = ringtoneOf(country)
  if (!tone || parts.length > 1)
    throw new InvalidSound(`names no known country after ring: (${ringCountries.join(' ')})`)
  return parts[0] === undefined ? tone : { ...tone, kind: 'ringtone', ms: seconds(parts[0]) }
}

const seconds = (text: string): number => {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (!(value > 0 && value <= 3600)) throw new InvalidSound('must give a number of seconds from 0 to 3600')
  return Math.round(value * 1000)
}
