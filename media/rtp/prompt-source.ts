import type { PcmRate } from '../types.ts'
import { fade, gainFactor } from './gain.ts'
import { framesPerSecond, RateAdapter } from './rate-adapter.ts'

/**
 * Sound to send, in frames of 20 ms, at any rate. Volume changes, stopping and pausing take one frame to
 * avoid clicks.
 */
export class PromptSource {
  #samples: Int16Array
  #rate: PcmRate
  #loops: number
  #volume: number
  #position = 0
  #hasStarted = false
  #isPaused = false
  #isStopped = false
  /** Gain at the end of the last frame. */
  #gain: number
  #frame: Int16Array
  #adapter = new RateAdapter()

  /** `samples` at `rate`. `loop` 0 means endless. `volumeDb` 0 leaves the sound unchanged. */
  constructor(samples: Int16Array, rate: PcmRate, loop: number, volumeDb: number) {
    this.#samples = samples
    this.#rate = rate
    this.#frame = new Int16Array(rate / framesPerSecond)
    this.#loops = loop === 0 ? Number.POSITIVE_INFINITY : loop
    this.#volume = gainFactor(volumeDb)
    this.#gain = this.#volume
    if (samples.length === 0) this.#loops = 0
  }

  /** Whether the whole sound was read, or it was stopped and has faded. */
  get hasEnded(): boolean {
    return this.#loops <= 0
  }

  /** Whether the next frame is audible; false while paused. */
  get isAudible(): boolean {
    return !this.hasEnded && (!this.#isPaused || this.#gain !== 0)
  }

  /** Begins with a rise of one frame. Must be called before the first {@link take}. */
  fadeIn(): void {
    this.#gain = 0
    this.#hasStarted = true
  }

  setVolume(db: number): void {
    this.#volume = gainFactor(db)
  }

  pause(): void {
    this.#isPaused = true
    if (!this.#hasStarted) this.#gain = 0
  }

  resume(): void {
    this.#isPaused = false
    if (!this.#hasStarted) this.#gain = this.#volume
  }

  /** Ends the sound with one more fading frame; at once if nothing was played yet or it is paused. */
  stop(): void {
    this.#isStopped = true
    if (!this.#hasStarted || this.#gain === 0) this.#loops = 0
  }

  /** Returns the next 20 ms at `rate`, valid until the next call; padded with silence at the end. */
  take(rate: PcmRate): Int16Array {
    const frame = this.#frame
    this.#read(frame)
    this.#fade(frame)
    this.#hasStarted = true
    if (this.#isStopped) this.#loops = 0
    return this.#adapter.convert(frame, this.#rate, rate)
  }

  #read(frame: Int16Array): void {
    const count = frame.length
    const samples = this.#samples
    let done = 0
    while (done < count && this.#loops > 0) {
      const part = Math.min(count - done, samples.length - this.#position)
      for (let i = 0; i < part; i++) frame[done + i] = samples[this.#position + i]!
      done += part
      this.#position += part
      if (this.#position < samples.length) continue
      this.#position = 0
      this.#loops--
    }
    frame.fill(0, done)
  }

  #fade(frame: Int16Array): void {
    const target = this.#isPaused || this.#isStopped ? 0 : this.#volume
    if (this.#gain !== 1 || target !== 1) fade(frame, this.#gain, target, frame)
    this.#gain = target
  }
}
