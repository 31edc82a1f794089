import { ToneMeter } from './tone-meter.ts'

/** Length of a frame, in ms. */
export const FRAME_MS = 20

/** Least share of a frame's power that its tone has: noise 6 dB below. */
const SHARE = 0.8
/** How far the frames of one tone may be from its mean: in Hz, and in dB. */
const SAME_HZ = 12
const SAME_DB = 3
/** Frames without the tone that end it: a lost packet, or a phase that is turned around (V.25), takes two at most. */
const GAP = 3
/** What comes after a tone is quiet when it is below it by this, in dB. */
const QUIETER_DB = 10

/** A single steady tone. */
export interface Tone {
  /** Mean, in Hz. */
  readonly frequency: number
  /** From its first full frame to its last: up to 40 ms less than it is. */
  readonly ms: number
  /** How often it was interrupted for a frame or two. */
  readonly breaks: number
  /** Followed by silence, or by far less than it; known when it has ended. */
  readonly fades: boolean
}

/** Finds single steady tones in a row of frames; two at once, voices and music are none. */
export class ToneFollower {
  /** The one that goes on. */
  current: Tone | undefined
  /** The one that the last frame has shown to be over. */
  ended: Tone | undefined
  #meter = new ToneMeter()
  /** Of the frames that have the tone: how many, and the sums for their means. */
  #count = 0
  #frequencies = 0
  #levels = 0
  /** From the first to the last of them. */
  #length = 0
  #breaks = 0
  /** Frames since the last of them, and the loudest of these but the first, into which the tone may reach. */
  #gap = 0
  #afterDb = Number.NEGATIVE_INFINITY

  /** Takes 20 ms; undefined is silence. True: the frame is a part of a tone. */
  update(frame: Int16Array | undefined): boolean {
    this.ended = undefined
    const meter = this.#meter
    meter.measure(frame)
    const tonal = meter.share >= SHARE
    if (tonal && this.#count > 0 && this.#goesOn()) this.#add()
    else {
      if (this.#count > 0) this.#miss()
      // Another tone right after this one.
      if (tonal && this.#count === 0) this.#begin()
    }
    return tonal
  }

  /** Whether the frame fits what is followed. */
  #goesOn(): boolean {
    const { frequency, levelDb } = this.#meter
    return (
      Math.abs(frequency - this.#frequencies / this.#count) <= SAME_HZ &&
      Math.abs(levelDb - this.#levels / this.#count) <= SAME_DB
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
    if (this.#gap < GAP) return
    this.ended = this.#tone(this.#afterDb < this.#levels / this.#count - QUIETER_DB)
    this.current = undefined
    this.#count = 0
  }

  #tone(fades: boolean): Tone {
    return {
      frequency: this.#frequencies / this.#count,
      ms: this.#length * FRAME_MS,
      breaks: this.#breaks,
      fades,
    }
  }
}
