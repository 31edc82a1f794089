import type { ItemPosition, PcmRate } from '../types.ts'
import { fade, gainFactor } from './gain.ts'
import { Ramp } from './ramp.ts'
import { framesPerSecond, RateAdapter } from './rate-adapter.ts'
import { type ItemListener, SpeechItems } from './speech-items.ts'
import { SpeechStore } from './speech-store.ts'

/** Maximum length of queued speech, in ms. */
const capacityMs = 120_000
/**
 * Number of frames that must be waiting after a silence before one is read, so that speech written in pieces
 * is not chopped.
 */
const leadFrames = 2
/** Frames written within one frame that show a source faster than real time: it needs no further lead. */
const burstFrames = 2
/** Size of a block in frames (100 ms). Shorter pieces are collected in blocks to bound their number. */
const blockFrames = 5
/** Maximum number of waiting marks. Further marks are reported at once. */
const maxMarks = 1000
/** Bounds and defaults of fades, in ms. The shortest one already avoids a click. */
const minFadeMs = 5
const maxFadeMs = 1000
const fallMs = 30
const riseMs = 20

/**
 * Speech that a tap writes in pieces, and that is read in frames of 20 ms.
 *
 * A sample counts as heard when it leaves at half of its amplitude or more. A pause therefore keeps the
 * second half of its fade. A resume begins before it, so that the rise reaches half of the amplitude there.
 * Each sample thus counts as heard exactly once. Reading is ahead of the heard samples only during fades.
 */
export class SpeechQueue {
  #rate: PcmRate
  /** Samples from the first one that may be read again. */
  #store: SpeechStore
  #items: SpeechItems
  /** Number of stored samples that were read, and that were heard. Both are 0 outside of fades. */
  #ahead = 0
  #heard = 0
  /** Number of written samples that were heard or dropped. */
  #passed = 0
  #lead = 0
  /** Number of waiting samples when the lead was last waited for. */
  #before = 0
  /** Marks; `at` is the number of passed samples that completes one. */
  #marks: { readonly at: number; readonly done: () => void }[] = []
  #ramp = new Ramp()
  #isPaused = false
  /** Length of the next rise, in samples. */
  #rise = 0
  /** Whether the last frame was filled to its end: silence before the next one would click. */
  #isSounding = false
  /** Faded end of dropped speech: the next frame. */
  #tail: Int16Array | undefined
  #frame: Int16Array
  #adapter = new RateAdapter()
  /** Factor of all samples. */
  #gain: number

  /**
   * `rate`: sample rate of the written samples, in Hz. `onItem` is called during {@link take}. `gainDb`: gain
   * of all speech, whatever its fades.
   */
  constructor(rate: PcmRate, onItem: ItemListener = () => {}, gainDb = 0) {
    this.#rate = rate
    this.#gain = gainFactor(gainDb)
    this.#frame = new Int16Array(rate / framesPerSecond)
    this.#store = new SpeechStore(blockFrames * this.#frame.length)
    this.#items = new SpeechItems(rate / 1000, onItem)
  }

  /** Number of waiting samples. */
  get queued(): number {
    return this.#store.length - this.#heard
  }

  /** Number of waiting arrays: at most two for every 100 ms. */
  get pieces(): number {
    return this.#store.pieces
  }

  /** Whether the next {@link take} is expected to return a frame. */
  get isAudible(): boolean {
    return this.#tail !== undefined || (this.#lead === 0 && this.isWaiting)
  }

  /** Whether {@link take} must be called. */
  get isWaiting(): boolean {
    return this.#tail !== undefined || (this.queued > 0 && !this.#ramp.isSilent)
  }

  /** Whether speech is waiting and not paused. */
  get isSpeaking(): boolean {
    return this.queued > 0 && !this.#isPaused
  }

  /**
   * Queues `samples`, which must not be changed afterwards; drops what exceeds 120 s. `item`: see {@link
   * finish}.
   */
  write(samples: Int16Array, item?: number): void {
    const room = (capacityMs * this.#rate) / 1000 - this.queued
    const kept = samples.length > room ? samples.subarray(0, room) : samples
    if (kept.length === 0) return
    if (this.queued === 0) {
      this.#lead = leadFrames
      this.#before = 0
    }
    this.#store.push(kept)
    this.#items.add(item, kept.length)
  }

  /** Marks an item as complete: its end is reported when all of it was heard, at once if nothing waits. */
  finish(item: number): void {
    if (this.#items.finish(item)) this.#lead = 0
  }

  /**
   * Calls `done` when everything written so far has been heard or dropped; at once if 1000 marks are waiting.
   */
  mark(done: () => void): void {
    if (this.queued === 0 || this.#marks.length >= maxMarks) done()
    else this.#marks.push({ at: this.#passed + this.queued, done })
  }

  /** Falls silent within `fadeMs` (5 to 1000), and waits; at once if nothing is being heard. */
  pause(fadeMs = fallMs): void {
    if (this.#isPaused) return
    this.#isPaused = true
    // A fall after an early resume continues.
    if (this.#ramp.isFalling) return
    if (!this.#isSounding || this.#ramp.value === 0) this.#ramp.set(0)
    else this.#ramp.start(0, this.#samplesIn(fadeMs))
  }

  /** Continues with the first sample that was not heard, rising within `fadeMs` (5 to 1000). */
  resume(fadeMs = riseMs): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#rise = this.#samplesIn(fadeMs)
    if (this.#ramp.isSilent) this.#return()
    // Below half of the amplitude, the fall ends first; turning back there would skip samples.
    else if (this.#ramp.isAudible) this.#ramp.start(1, this.#rise)
  }

  /** Drops the waiting samples and forgets the items. A pause continues. */
  clear(): void {
    this.#passed += this.queued
    this.#store.clear()
    this.#items.clear()
    this.#ahead = this.#heard = 0
    this.#isSounding = false
    this.#tail = undefined
    this.#ramp.set(this.#isPaused ? 0 : 1)
    const marks = this.#marks
    this.#marks = []
    for (const { done } of marks) done()
  }

  /**
   * Drops the waiting samples, with one fading frame if they are being heard, and ends a pause. Returns the
   * positions of the items that had not ended, in order; they include the fading frame.
   */
  cut(): readonly ItemPosition[] {
    const tail = this.#fadeOut()
    const { positions } = this.#items
    this.#isPaused = false
    this.clear()
    this.#tail = tail
    return positions
  }

  /**
   * Returns the next 20 ms at `rate`, padded with silence and valid until the next call; undefined if nothing
   * is due. `isSent`: the frame will be sent, so that it counts for the positions of items.
   */
  take(rate: PcmRate, isSent = true): Int16Array | undefined {
    const frame = this.#tail ?? this.#frame
    if (this.#tail) this.#tail = undefined
    else {
      const taken = this.#isDue() ? this.#fill(frame, isSent) : 0
      this.#isSounding = taken === frame.length
      if (taken === 0) return undefined
      frame.fill(0, taken)
      this.#tell()
    }
    if (this.#gain !== 1) fade(frame, this.#gain, this.#gain, frame)
    return this.#adapter.convert(frame, this.#rate, rate)
  }

  /** Reports that other audio is sent in place of a frame: a pause or cut then needs no fade. */
  interrupt(): void {
    this.#isSounding = false
  }

  #samplesIn(fadeMs: number): number {
    return Math.round((this.#rate / 1000) * Math.max(minFadeMs, Math.min(maxFadeMs, fadeMs)))
  }

  /** Whether a frame must be read now. */
  #isDue(): boolean {
    if (this.#ramp.isSilent) return false
    const { queued } = this
    if (queued === 0) {
      this.#ranOut()
      return false
    }
    if (this.#lead === 0) return true
    const frame = this.#frame.length
    const isBurst = this.#lead < leadFrames && queued - this.#before >= burstFrames * frame
    const isEnough = isBurst || queued >= (leadFrames + 1) * frame
    this.#lead = isEnough ? 0 : this.#lead - 1
    this.#before = queued
    return isEnough
  }

  /** Fills the frame as far as there is speech; returns the number of samples. */
  #fill(frame: Int16Array, isSent: boolean): number {
    const ramp = this.#ramp
    let done = 0
    while (done < frame.length && !ramp.isSilent) {
      const left = this.#store.length - this.#ahead
      if (left === 0) {
        if (this.queued === 0) break
        this.#ranOut()
        continue
      }
      const count = Math.min(frame.length - done, left, ramp.left || left)
      this.#store.copy(this.#ahead, frame, done, count)
      this.#hear(ramp.apply(frame, done, count), isSent)
      this.#ahead += count
      done += count
      if (ramp.left === 0) this.#settle()
    }
    return done
  }

  /** Counts the stored samples as heard up to `reach` samples after those that were read. */
  #hear(reach: number, isSent: boolean): void {
    const count = this.#ahead + reach - this.#heard
    if (reach === 0 || count <= 0) return
    this.#heard += count
    this.#passed += count
    this.#items.pass(count, isSent)
  }

  /** Removes the first stored samples, up to `position`. */
  #drop(position: number): void {
    this.#store.drop(position)
    this.#heard -= position
    this.#ahead = 0
  }

  /** Processes the end of a fade, or constant gain. */
  #settle(): void {
    if (!this.#ramp.isSilent) this.#drop(this.#ahead)
    else if (!this.#isPaused) this.#return()
  }

  /** Ends a fade because no sample is left for it. */
  #ranOut(): void {
    const wasFalling = this.#ramp.isFalling
    this.#ramp.set(this.#isPaused || wasFalling ? 0 : 1)
    if (!this.#isPaused) this.#return()
  }

  /** Goes back so far that the gain is at half where it was when the first unheard sample was due. */
  #return(): void {
    const heard = this.#heard
    if (heard === 0 || this.queued === 0) {
      this.#drop(heard)
      this.#ramp.set(1)
      return
    }
    this.#drop(Math.max(0, heard - (this.#rise >> 1)))
    this.#ramp.set(0)
    // One more than twice: the gain passes a half between the last heard sample and the next one.
    this.#ramp.start(1, 2 * this.#heard + 1)
  }

  /** Returns a frame in which the speech that is being heard fades; undefined if none is. */
  #fadeOut(): Int16Array | undefined {
    const count = Math.min(this.#frame.length, this.#store.length - this.#ahead)
    if (this.#tail) return this.#tail
    if (!this.#isSounding || count === 0 || this.#ramp.value === 0) return undefined
    const tail = new Int16Array(this.#frame.length)
    this.#store.copy(this.#ahead, tail, 0, count)
    this.#ramp.start(0, count)
    this.#hear(this.#ramp.apply(tail, 0, count), true)
    return tail
  }

  #tell(): void {
    while (this.#marks[0] && this.#marks[0].at <= this.#passed) this.#marks.shift()!.done()
  }
}
