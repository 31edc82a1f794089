import type { PcmRate } from '../types.ts'
import { FRAMES, RateAdapter } from './rate.ts'

/** Longest speech that is kept, in ms. */
const CAPACITY_MS = 120_000
/** Frames that are waited for after a silence, so that speech which comes in pieces at its own pace is not chopped. */
const LEAD_FRAMES = 2
/** Shorter pieces are put together in blocks of this, so that their number has a bound: 100 ms. */
const BLOCK_FRAMES = 5
/** Marks that wait; what is more is told at once. */
const MOST_MARKS = 1000

/** The first `length` of `samples` wait. */
interface Chunk {
  readonly samples: Int16Array
  length: number
}

/** Speech that somebody outside puts in by pieces, and that goes out by frames of 20 ms. */
export class SpeakQueue {
  #rate: PcmRate
  #chunks: Chunk[] = []
  /** Read position in the first chunk. */
  #at = 0
  #queued = 0
  /** Samples that were taken or dropped, of all that were written. */
  #passed = 0
  #lead = 0
  /** `at`: how many are to have passed. */
  #marks: { readonly at: number; readonly done: () => void }[] = []
  #frame: Int16Array
  #adapter = new RateAdapter()

  /** `rate` is that of what is written. */
  constructor(rate: PcmRate) {
    this.#rate = rate
    this.#frame = new Int16Array(rate / FRAMES)
  }

  /** Samples that wait. */
  get queued(): number {
    return this.#queued
  }

  /** Arrays that they are in: two for every 100 ms at most. */
  get pieces(): number {
    return this.#chunks.length
  }

  /** Keeps `samples`, which are not to be changed any more; what is more than 120 s is dropped. */
  write(samples: Int16Array): void {
    const room = (CAPACITY_MS * this.#rate) / 1000 - this.#queued
    const kept = samples.length > room ? samples.subarray(0, room) : samples
    if (kept.length === 0) return
    if (this.#queued === 0) this.#lead = LEAD_FRAMES
    this.#keep(kept)
    this.#queued += kept.length
  }

  /** Calls `done` when everything that was written so far has been taken, or was dropped; at once where 1000 others wait for that. */
  mark(done: () => void): void {
    if (this.#queued === 0 || this.#marks.length >= MOST_MARKS) done()
    else this.#marks.push({ at: this.#passed + this.#queued, done })
  }

  /** Drops what waits. */
  clear(): void {
    this.#chunks = []
    this.#at = 0
    this.#passed += this.#queued
    this.#queued = 0
    const marks = this.#marks
    this.#marks = []
    for (const { done } of marks) done()
  }

  /** Whether the next {@link take} gives something, as far as is known now. */
  get speaking(): boolean {
    return this.#queued > 0 && this.#lead === 0
  }

  /** The next 20 ms at `rate`, filled up with silence and valid until the next call; undefined where nothing is to be said. */
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
