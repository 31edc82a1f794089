import type { PcmRate } from '../types.ts'
import { framesPerSecond, RateAdapter } from './rate-adapter.ts'

/** Maximum length of queued speech, in ms. */
const capacityMs = 120_000
/**
 * Number of frames that must be waiting after a silence before one is read, so that speech written in pieces
 * is not chopped.
 */
const leadFrames = 2
/** Size of a block in frames (100 ms). Shorter pieces are collected in blocks to bound their number. */
const blockFrames = 5
/** Maximum number of waiting marks. Further marks are reported at once. */
const maxMarks = 1000

/** Piece of audio: the first `length` of `samples` are waiting. */
interface Chunk {
  readonly samples: Int16Array
  length: number
}

/** Speech that a tap writes in pieces, and that is read in frames of 20 ms. */
export class SpeechQueue {
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

  /** `rate`: sample rate of the written samples, in Hz. */
  constructor(rate: PcmRate) {
    this.#rate = rate
    this.#frame = new Int16Array(rate / framesPerSecond)
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
    const room = (capacityMs * this.#rate) / 1000 - this.#queued
    const kept = samples.length > room ? samples.subarray(0, room) : samples
    if (kept.length === 0) return
    if (this.#queued === 0) this.#lead = leadFrames
    this.#keep(kept)
    this.#queued += kept.length
  }

  /**
   * Calls `done` when everything written so far has been read or dropped; at once if 1000 marks are waiting.
   */
  mark(done: () => void): void {
    if (this.#queued === 0 || this.#marks.length >= maxMarks) done()
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
  get isAudible(): boolean {
    return this.#queued > 0 && this.#lead === 0
  }

  /**
   * Returns the next 20 ms at `rate`, padded with silence and valid until the next call; undefined if nothing
   * is due.
   */
  take(rate: PcmRate): Int16Array | undefined {
    if (this.#queued === 0) return undefined
    const frame = this.#frame
    if (this.#lead > 0 && this.#queued < (leadFrames + 1) * frame.length) {
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
    const block = blockFrames * this.#frame.length
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
