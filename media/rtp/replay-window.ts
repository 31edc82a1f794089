/**
 * Number of packets behind the newest that are still accepted, each once (RFC 3711 section 3.3.2 requires at
 * least 64).
 */
const windowLength = 128

/** Replay protection of one source: the newest packet index and a window before it. */
export class ReplayWindow {
  #newest = -1
  /** Last recorded index, for each slot of the window. */
  #seen = new Float64Array(windowLength).fill(-1)

  /** Newest index; -1 before the first. */
  get newest(): number {
    return this.#newest
  }

  /** Whether the index is new and within the window. */
  permits(number: number): boolean {
    return number > this.#newest - windowLength && this.#seen[number % windowLength] !== number
  }

  /** Records a permitted index. */
  take(number: number): void {
    this.#seen[number % windowLength] = number
    if (number > this.#newest) this.#newest = number
  }
}
