/** Frames kept before the first word and after the last: 200 ms. */
const marginFrames = 10

/**
 * Omits silence at the beginning, and reports how much of the end is silence. Holds back only the 200 ms
 * before the first word. Silence after a word is written, because another word may follow; the file is cut at
 * the end.
 */
export class SilenceTrimmer {
  #take: (left: Int16Array, right: Int16Array | undefined) => void
  /** Last frames before the first word, as a ring. */
  #left: Int16Array[]
  #right: Int16Array[]
  #held = 0
  #hasBegun = false
  #frames = 0
  #spoken = 0

  /** `take` receives the frames to write. */
  constructor(frameSamples: number, take: (left: Int16Array, right: Int16Array | undefined) => void) {
    this.#take = take
    this.#left = Array.from({ length: marginFrames }, () => new Int16Array(frameSamples))
    this.#right = Array.from({ length: marginFrames }, () => new Int16Array(frameSamples))
  }

  /** Number of written frames to keep. */
  get kept(): number {
    return Math.min(this.#frames, this.#spoken + marginFrames)
  }

  /** Processes a frame; `voiced`: whether it contains voice. */
  frame(left: Int16Array, right: Int16Array | undefined, voiced: boolean): void {
    if (!this.#hasBegun && !voiced) {
      this.#hold(left, right)
      return
    }
    if (!this.#hasBegun) this.#begin(right !== undefined)
    this.#put(left, right)
    if (voiced) this.#spoken = this.#frames
  }

  #hold(left: Int16Array, right: Int16Array | undefined): void {
    const at = this.#held % marginFrames
    this.#left[at]!.set(left)
    if (right) this.#right[at]!.set(right)
    this.#held++
  }

  #begin(stereo: boolean): void {
    this.#hasBegun = true
    for (let i = Math.max(0, this.#held - marginFrames); i < this.#held; i++)
      this.#put(this.#left[i % marginFrames]!, stereo ? this.#right[i % marginFrames] : undefined)
  }

  #put(left: Int16Array, right: Int16Array | undefined): void {
    this.#frames++
    this.#take(left, right)
  }
}
