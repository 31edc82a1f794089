import { goertzel } from '../../media/codecs/tone.ts'
import { rateOf, testCodecs } from '../../media/rtp/testing/codecs.ts'
import type { AudioCodec } from '../../media/types.ts'
import { medianOf } from './median.ts'

/**
 * Tone whose level swings between half and full `amplitude` once a second. Its frequency shows gaps, and its
 * swing shows delay. Whole seconds repeat without a gap.
 */
export const swingingTone = (
  frequency: number,
  seconds: number,
  rate: number,
  amplitude = 10_000,
): Int16Array => {
  const turn = (2 * Math.PI) / rate
  return Int16Array.from({ length: seconds * rate }, (_, i) =>
    Math.round(amplitude * (0.75 + 0.25 * Math.sin(turn * i)) * Math.sin(turn * frequency * i)),
  )
}

/** Endless source of encoded packets with a swinging tone. */
export class SwingingVoice {
  readonly #encoder
  readonly #second: Int16Array
  readonly #out: Uint8Array
  #at = 0

  constructor(codec: AudioCodec, frequency: number, ptimeMs = 20) {
    this.#encoder = testCodecs.encoder(codec, { ptimeMs, sampleRate: rateOf(codec) })
    this.#second = swingingTone(frequency, 1, rateOf(codec))
    this.#out = new Uint8Array(this.#encoder.maxBytes)
  }

  /** The next packet's payload. */
  say(): Uint8Array {
    const bytes = this.#encoder.encode(this.#second, this.#at, this.#out, 0)
    this.#at = (this.#at + this.#encoder.frameSamples) % this.#second.length
    return this.#out.slice(0, bytes)
  }
}

/** Received sound with its sample rate. */
export interface Sound {
  readonly samples: Int16Array
  readonly rate: number
}

/** Window that is short enough to show each missing packet. */
const windowMs = 20

const levelOf = (samples: Int16Array): number =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length)

const windowsOf = ({ samples, rate }: Sound): Int16Array[] => {
  const size = (rate * windowMs) / 1000
  return Array.from({ length: Math.floor(samples.length / size) }, (_, index) =>
    samples.subarray(index * size, (index + 1) * size),
  )
}

/**
 * Share of the windows of 20 ms that hold the tone, from 0 to 1. Four fifths of the power must be at the
 * frequency, and the level at least 0.4 of the median. The swing alone goes down to 0.67 of it. 0 for
 * silence.
 */
export const heldShare = (sound: Sound, frequency: number): number => {
  const windows = windowsOf(sound)
  const median = medianOf(windows.map(levelOf))
  if (windows.length === 0 || median < 100) return 0
  const held = windows.filter(
    (window) => levelOf(window) > 0.4 * median && goertzel(window, frequency, sound.rate) > 0.8,
  )
  return held.length / windows.length
}

/** Phase of the swing in these windows, as an angle. */
const angleOf = (windows: readonly Int16Array[]): number => {
  let x = 0
  let y = 0
  windows.forEach((window, index) => {
    const angle = (2 * Math.PI * index * windowMs) / 1000
    x += levelOf(window) * Math.cos(angle)
    y += levelOf(window) * Math.sin(angle)
  })
  return Math.atan2(y, x)
}

/**
 * Growth of the tone's delay from the first `seconds` to the last, in ms, between -500 and 500. The sound
 * must have twice as many seconds.
 */
export const lateness = (sound: Sound, seconds = 2): number => {
  const windows = windowsOf(sound)
  const perSecond = 1000 / windowMs
  const count = seconds * perSecond
  const whole = Math.floor(windows.length / perSecond) * perSecond
  const turned = angleOf(windows.slice(whole - count, whole)) - angleOf(windows.slice(0, count))
  const turns = turned / (2 * Math.PI)
  return (turns - Math.round(turns)) * 1000
}
