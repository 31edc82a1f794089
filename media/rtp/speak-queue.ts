import type { PcmRate } from '../types.ts'
import { FRAMES, RateAdapter } from './rate.ts'

/** Maximum length of queued speech, in ms. */
const CAPACITY_MS = 120_000
/** Number of frames to wait for after a silence, so that speech written in pieces is not chopped. */
const LEAD_FRAMES = 2
/** Size of a block in frames (100 ms). Shorter pieces are collected in blocks to bound their number. */
const BLOCK_FRAMES = 5
/** Maximum number of waiting marks; further ones are reported at once. */
const MOST_MARKS = 1000

/** Piece of audio: the first `length` of `samples` are waiting. */
interface Chunk {
  readonly samples: Int16Array
  length: number
}

/** Speech written in pieces from outside, and read in frames of 20 ms. */
export class SpeakQueue {
  #rate: PcmRate
  #chunks: Chunk[] = []
  /** Read position in the first chunk. */
  #at = 0
  #queued = 0
  /** Number of written samples that were read or dropped. */
  #passed = 0
  #lead = 0
  /** Marks; `at` is the number of passed samples that completes one. */
  #marks: { readonly at: number; readonly done: () => void }[] = []
  #frame: Int16Array
  #adapter = new RateAdapter()

  /** `rate` is that of the written samples. */
  constructor(rate: PcmRate) {
    this.#rate = rate
    this.#frame = new Int16Array(rate / FRAMES)
  }

  /** Number of waiting samples. */
  get queued(): number {
    return this.#queued
  }

  /** Number of waiting arrays: at most two for every 100 ms. */
  get pieces(): number {
    return this.#chunks.length
  }

  /** Queues `samples`, which must not be changed afterwards; drops what exceeds 120 s. */
  write(samples: Int16Array): void {
    const room = (CAPACITY_MS * this.#rate) / 1000 - this.#queued
    const kept = samples.length > room ? samples.subarray(0, room) : samples
    if (kept.length === 0) return
    if (this.#queued === 0) this.#lead = LEAD_FRAMES
    this.#keep(kept)
    this.#queued += kept.length
  }

  /**
   * Calls `done` when everything written so far has been read or dropped; at once if 1000 marks are waiting.
   */
  mark(done: () => void): void {
    if (this.#queued === 0 || this.#marks.length >= MOST_MARKS) done()
    else this.#marks.push({ at: this.#passed + this.#queued, done })
  }

  /** Drops the waiting samples. */
  clear(): void {
    this.#chunks = []
    this.#at = 0
    this.#passed += this.#queued
    this.#queued = 0
    const marks = this.#marks
    this.#marks = []
    for (const { done } of marks) done()
  }

  /** Whether the next {@link take} is expected to return a frame. */
  get speaking(): boolean {
    return this.#queued > 0 && this.#lead === 0
  }

  /**
   * Returns the next 20 ms at `rate`, padded with silence and valid until the next call; undefined if nothing
   * is due.
   */
  take(rate: PcmRate): Int16Array | undefined {
    if (this.#queued === 0) return undefined
    const frame = this.#frame
    if (this.#lead > 0 && this.#queued < (LEAD_FRAMES + 1) * frame.length) {
      this.#lead--
      return undefined
    }
    this.#lead = 0
    const taken = this.#read(frame)
    frame.fill(0, taken)
    this.#tell()
    return this.#adapter.convert(frame, this.#rate, rate)
  }

  #keep(samples: Int16Array): void {
    const block = BLOCK_FRAMES * this.#frame.length
    if (samples.length >= block) {
      this.#chunks.push({ samples, length: samples.length })
      return
    }
    const last = this.#chunks.at(-1)
    const room = last ? last.samples.length - last.length : 0
    const part = Math.min(room, samples.length)
    if (last) {
      last.samples.set(samples.subarray(0, part), last.length)
      last.length += part
    }
    if (part === samples.length) return
    const next = { samples: new Int16Array(block), length: samples.length - part }
    next.samples.set(samples.subarray(part))
    this.#chunks.push(next)
  }

  #read(frame: Int16Array): number {
    let done = 0
    while (done < frame.length) {
      const chunk = this.#chunks[0]
      if (!chunk) break
      const part = Math.min(frame.length - done, chunk.length - this.#at)
      for (let i = 0; i < part; i++) frame[done + i] = chunk.samples[this.#at + i]!
      done += part
      this.#at += part
      if (this.#at < chunk.length) continue
      this.#chunks.shift()
      this.#at = 0
    }
    this.#queued -= done
    this.#passed += done
    return done
  }

  #tell(): void {
    while (this.#marks[0] && this.#marks[0].at <= this.#passed) this.#marks.shift()!.done()
  }
}
