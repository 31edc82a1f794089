import type { PcmRate } from '../types.ts'
import { maxPeriodMs, Pitch, pitchReachMs } from './pitch.ts'

/** Loss after which the substitute fades, by a fifth every 10 ms. */
const steadyMs = 10
/** Loss after which the substitute is silent. */
const silentMs = 60
/** Maximum length of an overlap. An overlap is a quarter of a period long, and longer after a longer loss. */
const maxOverlapMs = 10
/**
 * Minimum correlation of a pitched sound. Below it the longest period is repeated, because a longer period
 * hums less.
 */
const minPitchStrength = 0.5

/**
 * Packet-loss concealment by waveform substitution, similar to ITU-T G.711 Appendix I. The last pitch period
 * is repeated with overlapping ends, fades from 10 ms on and is silent after 60 ms. Audio after a loss is
 * overlapped with the substitute. Adds no delay: played audio is not changed. Use one per decoder, and pass
 * it everything that is played.
 */
export class Concealer {
  #pitch: Pitch
  #history: Int16Array
  #cycle: Float64Array
  #period = 0
  #position = 0
  /** Samples since the loss began; 0 without a loss. */
  #lost = 0
  #perMs: number

  constructor(rate: PcmRate) {
    this.#perMs = rate / 1000
    this.#pitch = new Pitch(rate)
    // A quarter of a period more than the pitch search reads, for the overlap.
    this.#history = new Int16Array((pitchReachMs + maxPeriodMs / 3) * this.#perMs)
    this.#cycle = new Float64Array(maxPeriodMs * this.#perMs)
  }

  /** Receives the first `count` decoded samples. After a loss, overlaps them in place with the substitute. */
  received(samples: Int16Array, count: number): void {
    if (this.#lost > 0) this.#join(samples, count)
    this.#lost = 0
    this.#remember(samples, count)
  }

  /** Fills the first `count` of `samples` in place of lost audio. */
  conceal(samples: Int16Array, count: number): void {
    if (this.#lost === 0) this.#begin()
    this.#substitute(samples, count)
    this.#remember(samples, count)
  }

  /**
   * Builds a cycle from the last period. Its last quarter blends into the audio before the period, where the
   * cycle restarts.
   */
  #begin(): void {
    const history = this.#history
    const pitch = this.#pitch
    const end = history.length
    pitch.find(history, end)
    const period = pitch.strength < minPitchStrength ? this.#cycle.length : pitch.period
    const cycle = this.#cycle
    for (let i = 0; i < period; i++) cycle[i] = history[end - period + i]!
    const quarter = period >> 2
    for (let i = 0; i < quarter; i++) {
      const share = (i + 1) / (quarter + 1)
      const earlier = history[end - period - quarter + i]!
      cycle[period - quarter + i]! += share * (earlier - cycle[period - quarter + i]!)
    }
    this.#period = period
    this.#position = 0
  }

  #substitute(samples: Int16Array, count: number): void {
    for (let i = 0; i < count; i++) samples[i] = this.#next()
  }

  #next(): number {
    const gain = this.#gain()
    this.#lost++
    if (gain === 0) return 0
    const sample = this.#cycle[this.#position]!
    if (++this.#position === this.#period) this.#position = 0
    return sample * gain
  }

  #gain(): number {
    const fading = this.#lost - steadyMs * this.#perMs
    return fading <= 0 ? 1 : Math.max(0, 1 - fading / ((silentMs - steadyMs) * this.#perMs))
  }

  #join(samples: Int16Array, count: number): void {
    // Appendix I: 4 ms more for every 10 ms lost.
    const wanted = (this.#period >> 2) + 0.4 * this.#lost
    const length = Math.min(count, Math.floor(wanted), maxOverlapMs * this.#perMs)
    for (let i = 0; i < length; i++) {
      const share = (i + 1) / (length + 1)
      samples[i] = share * samples[i]! + (1 - share) * this.#next()
    }
  }

  #remember(samples: Int16Array, count: number): void {
    const history = this.#history
    const { length } = history
    if (count >= length) {
      for (let i = 0; i < length; i++) history[i] = samples[count - length + i]!
      return
    }
    history.copyWithin(0, count)
    for (let i = 0; i < count; i++) history[length - count + i] = samples[i]!
  }
}
