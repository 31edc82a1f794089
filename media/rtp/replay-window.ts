/** Replay protection of one source: the newest packet index and a window before it. */
export class ReplayWindow {
  #newest = -1
  readonly #length: number
  /** Last recorded index, for each slot of the window. */
  readonly #seen: Float64Array

  /**
   * `length`: number of packets behind the newest that are still accepted, each once; default 128 (RFC 3711
   * section 3.3.2 requires at least 64).
   */
  constructor(length = 128) {
    this.#length = length
    this.#seen = new Float64Array(length).fill(-1)
  }

  /** Newest index; -1 before the first. */
  get newest(): number {
    return this.#newest
  }

  /** Whether the index is new and within the window. */
  permits(number: number): boolean {
    return number > this.#newest - this.#length && this.#seen[number % this.#length] !== number
  }

  /** Records a permitted index. */
  take(number: number): void {
    this.#seen[number % this.#length] = number
    if (number > this.#newest) this.#newest = number
  }
}
