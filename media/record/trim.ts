/** Frames that are kept before the first word and after the last: 200 ms. */
const MARGIN = 10

/**
 * Leaves out silence at the beginning, and tells how much of the end is silence. Nothing is held back but 200 ms before the first word:
 * silence in the end is written like anything else, as a word may follow, and cut off the file when it is over.
 */
export class Trim {
  #take: (left: Int16Array, right: Int16Array | undefined) => void
  /** The last frames before the first word, in a ring. */
  #left: Int16Array[]
  #right: Int16Array[]
  #held = 0
  #began = false
  #frames = 0
  #spoken = 0

  /** `take` is given what is to be written. */
  constructor(frameSamples: number, take: (left: Int16Array, right: Int16Array | undefined) => void) {
    this.#take = take
    this.#left = Array.from({ length: MARGIN }, () => new Int16Array(frameSamples))
    this.#right = Array.from({ length: MARGIN }, () => new Int16Array(frameSamples))
  }

  /** How many of the frames that were written are to stay. */
  get kept(): number {
    return Math.min(this.#frames, this.#spoken + MARGIN)
  }

  /** Takes a frame; `voiced` is whether somebody speaks in it. */
  frame(left: Int16Array, right: Int16Array | undefined, voiced: boolean): void {
    if (!this.#began && !voiced) {
      this.#hold(left, right)
      return
    }
    if (!this.#began) this.#begin(right !== undefined)
    this.#put(left, right)
    if (voiced) this.#spoken = this.#frames
  }

  #hold(left: Int16Array, right: Int16Array | undefined): void {
    const at = this.#held % MARGIN
    this.#left[at]!.set(left)
    if (right) this.#right[at]!.set(right)
    this.#held++
  }

  #begin(stereo: boolean): void {
    this.#began = true
    for (let i = Math.max(0, this.#held - MARGIN); i < this.#held; i++)
      this.#put(this.#left[i % MARGIN]!, stereo ? this.#right[i % MARGIN] : undefined)
  }

  #put(left: Int16Array, right: Int16Array | undefined): void {
    this.#frames++
    this.#take(left, right)
  }
}
