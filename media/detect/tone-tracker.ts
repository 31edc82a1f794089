import { ToneMeter } from './tone-meter.ts'

/** Length of a frame, in ms. */
export const frameMs = 20

/** Minimum share of the tone in a frame's power: noise 6 dB below. */
const minShare = 0.8
/** Maximum deviation of a frame from the tone's mean, in Hz and in dB. */
const maxDeviationHz = 12
const maxDeviationDb = 3
/** Frames without the tone that end it: a lost packet or a phase reversal (V.25) takes at most two. */
const maxGapFrames = 3
/** Level drop after a tone that counts as fading, in dB. */
const fadingDb = 10

/** A single steady tone. */
export interface Tone {
  /** Mean frequency in Hz. */
  readonly frequency: number
  /** Length from the first to the last full frame: up to 40 ms too short. */
  readonly ms: number
  /** Number of interruptions of one or two frames. */
  readonly breaks: number
  /** Whether silence or much quieter audio followed; known when the tone has ended. */
  readonly isFading: boolean
}

/** Tracks single steady tones over frames; excludes double tones, voices and music. */
export class ToneTracker {
  /** The tone in progress. */
  current: Tone | undefined
  /** The tone whose end was detected with the last frame. */
  ended: Tone | undefined
  #meter = new ToneMeter()
  /** Number of frames with the tone, and sums for their means. */
  #count = 0
  #frequencies = 0
  #levels = 0
  /** Length from the first to the last of these frames. */
  #length = 0
  #breaks = 0
  /**
   * Number of frames since the last one with the tone, and maximum level among them. The first of them is
   * excluded, because the tone may extend into it.
   */
  #gap = 0
  #afterDb = Number.NEGATIVE_INFINITY

  /** Processes 20 ms; undefined is silence. Returns whether the frame belongs to a tone. */
  update(frame: Int16Array | undefined): boolean {
    this.ended = undefined
    const meter = this.#meter
    meter.measure(frame)
    const tonal = meter.share >= minShare
    if (tonal && this.#count > 0 && this.#goesOn()) this.#add()
    else {
      if (this.#count > 0) this.#miss()
      // Another tone may begin in the frame that ended the previous one.
      if (tonal && this.#count === 0) this.#begin()
    }
    return tonal
  }

  /** Whether the frame matches the tracked tone. */
  #goesOn(): boolean {
    const { frequency, levelDb } = this.#meter
    return (
      Math.abs(frequency - this.#frequencies / this.#count) <= maxDeviationHz &&
      Math.abs(levelDb - this.#levels / this.#count) <= maxDeviationDb
    )
  }

  #begin(): void {
    this.#frequencies = 0
    this.#levels = 0
    this.#length = 0
    this.#breaks = 0
    this.#gap = 0
    this.#add()
  }

  #add(): void {
    if (this.#gap > 0) this.#breaks++
    this.#length += this.#gap + 1
    this.#gap = 0
    this.#afterDb = Number.NEGATIVE_INFINITY
    this.#count++
    this.#frequencies += this.#meter.frequency
    this.#levels += this.#meter.levelDb
    this.current = this.#tone(false)
  }

  #miss(): void {
    this.#gap++
    if (this.#gap > 1) this.#afterDb = Math.max(this.#afterDb, this.#meter.levelDb)
    if (this.#gap < maxGapFrames) return
    this.ended = this.#tone(this.#afterDb < this.#levels / this.#count - fadingDb)
    this.current = undefined
    this.#count = 0
  }

  #tone(fades: boolean): Tone {
    return {
      frequency: this.#frequencies / this.#count,
      ms: this.#length * frameMs,
      breaks: this.#breaks,
      isFading: fades,
    }
  }
}
