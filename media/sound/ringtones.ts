import { promptRate } from './resample.ts'

/** A country's ringing tone (ITU-T E.180 supplement 2). */
interface Ringtone {
  /** Frequencies that sound together, in Hz. */
  readonly tones: readonly number[]
  /** Frequency in Hz by which the loudness swells; absent where it is steady. */
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

/** By ISO 3166 code. */
const ringtones: Readonly<Record<string, Ringtone>> = {
  ar: tone(425, 1000, 4500),
  at: tone(420, 1000, 5000),
  au: tone([400, 450], ...double),
  be: tone(425, 1000, 3000),
  br: tone(425, 1000, 4000),
  ca: tone([440, 480], 2000, 4000),
  ch: tone(425, 1000, 4000),
  cl: tone(400, 1000, 3000),
  cn: tone(450, 1000, 4000),
  cz: tone(425, 1000, 4000),
  de: tone(425, 1000, 4000),
  dk: tone(425, 1000, 4000),
  es: tone(425, 1500, 3000),
  fi: tone(425, 1000, 4000),
  fr: tone(440, 1500, 3500),
  gb: tone([400, 450], ...double),
  gr: tone(425, 1000, 4000),
  hk: tone([440, 480], 400, 200, 400, 3000),
  hu: tone(425, 1250, 3750),
  ie: tone([400, 450], ...double),
  il: tone(400, 1000, 3000),
  in: swelling(400, 25, ...double),
  it: tone(425, 1000, 4000),
  jp: swelling(400, 16, 1000, 2000),
  kr: tone([440, 480], 1000, 2000),
  mx: tone(425, 1000, 4000),
  my: tone(425, ...double),
  nl: tone(425, 1000, 4000),
  no: tone(425, 1000, 4000),
  nz: tone([400, 450], ...double),
  ph: tone([425, 480], 1000, 4000),
  pl: tone(425, 1000, 4000),
  pt: tone(425, 1000, 5000),
  ro: tone(425, 1850, 4150),
  ru: tone(425, 1000, 4000),
  se: tone(425, 1000, 5000),
  sg: swelling(425, 24, ...double),
  th: tone(400, 1000, 4000),
  tr: tone(450, 2000, 4000),
  tw: tone([440, 480], 1000, 2000),
  us: tone([440, 480], 2000, 4000),
  za: swelling(400, 33, ...double),
}

/** The country whose tone is played where none, or an unknown one, is named. */
export const defaultCountry = 'us'

/** The code under which the country stands in the table; `uk` is taken for `gb`, an unknown one for the default. Case is ignored. */
export const countryOf = (country: string | undefined): string => {
  const code = (country ?? defaultCountry).trim().toLowerCase()
  const iso = code === 'uk' ? 'gb' : code
  return Object.hasOwn(ringtones, iso) ? iso : defaultCountry
}

/** Peak of the sum of all tones, of 32,767: -13 dBm0 for one tone (full scale is +3.14 dBm0), and no more for two. */
const peak = 5100
/** Rise and fall of each tone, in ms: without them it clicks. */
const ramp = 5

/** One period of the country's tone, or `ms` milliseconds of it in repetition. 8 kHz, 16 bit. */
export const ringtone = (country: string | undefined, ms?: number): Int16Array<SharedArrayBuffer> => {
  const period = onePeriod(ringtones[countryOf(country)]!)
  if (ms === undefined) return period
  const samples = new Int16Array(new SharedArrayBuffer(Math.round((ms * promptRate) / 1000) * 2))
  for (let at = 0; at < samples.length; at += period.length) {
    samples.set(period.subarray(0, samples.length - at), at)
  }
  return samples
}

const onePeriod = (ring: Ringtone): Int16Array<SharedArrayBuffer> => {
  const lengths = ring.cadence.map((ms) => (ms * promptRate) / 1000)
  const total = lengths.reduce((sum, length) => sum + length, 0)
  const samples = new Int16Array(new SharedArrayBuffer(total * 2))
  let at = 0
  for (const [index, length] of lengths.entries()) {
    if (index % 2 === 0) sound(ring, samples.subarray(at, at + length))
    at += length
  }
  return samples
}

const sound = (ring: Ringtone, into: Int16Array): void => {
  const slope = (ramp * promptRate) / 1000
  for (let i = 0; i < into.length; i++) {
    const turn = (2 * Math.PI * i) / promptRate
    const sum = ring.tones.reduce((total, frequency) => total + Math.sin(turn * frequency), 0)
    const swell = ring.modulation === undefined ? 1 : (1 - Math.cos(turn * ring.modulation)) / 2
    const edge = Math.min(1, i / slope, (into.length - 1 - i) / slope)
    into[i] = Math.round((peak * swell * edge * sum) / ring.tones.length)
  }
}
