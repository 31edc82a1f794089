import type { PcmRate } from '../types.ts'
import type { Samples } from './job-thread.ts'
import { blankSamples } from './sample-buffers.ts'
import { addTones } from './tones.ts'

/** Ringing tone of a country (ITU-T E.180 supplement 2). */
interface Ringtone {
  /** Simultaneous frequencies, in Hz. */
  readonly tones: readonly number[]
  /** Frequency of the amplitude modulation in Hz; absent if none. */
  readonly modulation?: number
  /** Milliseconds of tone and pause in turn. */
  readonly cadence: readonly number[]
}

const double = [400, 200, 400, 2000] as const
const tone = (tones: number | readonly number[], ...cadence: readonly number[]): Ringtone => ({
  tones: typeof tones === 'number' ? [tones] : tones,
  cadence,
})
const swelling = (frequency: number, modulation: number, ...cadence: readonly number[]): Ringtone => ({
  tones: [frequency],
  modulation,
  cadence,
})

const long = tone(425, 1000, 4000)

/** Ringing tones by ISO 3166 code. `us-old` precedes the precise tone plan. */
const ringtones: Readonly<Record<string, Ringtone>> = {
  ae: tone([400, 450], ...double),
  ar: tone(425, 1000, 4500),
  at: tone(420, 1000, 5000),
  au: tone([400, 450], ...double),
  ba: long,
  be: tone(425, 1000, 3000),
  bg: long,
  bh: tone(425, ...double),
  br: long,
  by: long,
  ca: tone([440, 480], 2000, 4000),
  ch: long,
  cl: tone(400, 1000, 3000),
  cn: tone(450, 1000, 4000),
  co: long,
  cr: tone(450, 1200, 4900),
  cy: tone(425, 1500, 3000),
  cz: long,
  de: long,
  dk: long,
  dz: tone(425, 1500, 3500),
  ec: tone(425, 1200, 4650),
  ee: long,
  es: tone(425, 1500, 3000),
  fi: long,
  fr: tone(440, 1500, 3500),
  gb: tone([400, 450], ...double),
  gr: long,
  hk: tone([440, 480], 400, 200, 400, 3000),
  hr: long,
  hu: tone(425, 1250, 3750),
  id: long,
  ie: tone([400, 450], ...double),
  il: tone(400, 1000, 3000),
  in: swelling(400, 25, ...double),
  is: tone(425, 1200, 4700),
  it: long,
  jp: swelling(400, 16, 1000, 2000),
  kr: tone([440, 480], 1000, 2000),
  kw: long,
  lk: tone(425, ...double),
  lt: long,
  lu: long,
  lv: long,
  ma: tone(425, 1700, 3300),
  mo: long,
  mx: long,
  my: tone(425, ...double),
  nl: long,
  no: long,
  nz: tone([400, 450], ...double),
  om: tone(425, ...double),
  pa: tone(425, 1200, 4650),
  pe: long,
  ph: tone([425, 480], 1000, 4000),
  pk: tone(400, 1000, 4000),
  pl: long,
  pt: tone(425, 1000, 5000),
  py: long,
  ro: tone(425, 1850, 4150),
  ru: long,
  sa: tone(425, 1200, 4600),
  se: tone(425, 1000, 5000),
  sg: swelling(425, 24, ...double),
  si: long,
  sk: long,
  th: tone(400, 1000, 4000),
  tr: tone(450, 2000, 4000),
  tw: tone([440, 480], 1000, 2000),
  ua: long,
  us: tone([440, 480], 2000, 4000),
  'us-old': swelling(420, 40, 2000, 4000),
  uy: long,
  ve: long,
  vn: long,
  za: swelling(400, 33, ...double),
}

/** Countries with a ringing tone. */
export const ringtoneCountries: readonly string[] = Object.keys(ringtones)

/** Country used if none or an unknown one is named. */
export const defaultCountry = 'us'

/**
 * Returns the country's code in the table (case-insensitive); `gb` for `uk`, the default for an unknown one.
 */
export const countryOf = (country: string | undefined): string => {
  const code = (country ?? defaultCountry).trim().toLowerCase()
  const iso = code === 'uk' ? 'gb' : code
  return Object.hasOwn(ringtones, iso) ? iso : defaultCountry
}

/**
 * Peak of the sum of all tones, of 32,767: -13 dBm0 for one tone (full scale is +3.14 dBm0), and no more for
 * two.
 */
const peak = 5100

/** Returns one period of the country's tone. 16 bit. */
export const ringtone = (country: string | undefined, rate: PcmRate): Samples => {
  const ring = ringtones[countryOf(country)]!
  const lengths = ring.cadence.map((ms) => (ms * rate) / 1000)
  const samples = blankSamples(
    ring.cadence.reduce((sum, ms) => sum + ms, 0),
    rate,
  )
  let at = 0
  for (const [index, length] of lengths.entries()) {
    if (index % 2 === 0) sound(ring, samples.subarray(at, at + length), rate)
    at += length
  }
  return samples
}

const sound = ({ tones, modulation }: Ringtone, into: Int16Array, rate: PcmRate): void => {
  addTones(into, tones, peak, rate)
  if (modulation === undefined) return
  for (let i = 0; i < into.length; i++) {
    into[i] = Math.round((into[i]! * (1 - Math.cos((2 * Math.PI * modulation * i) / rate))) / 2)
  }
}
