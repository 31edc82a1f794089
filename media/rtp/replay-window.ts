/** Packets behind the newest one that are still taken, each once (RFC 3711 section 3.3.2 wants at least 64). */
const WINDOW = 128

/** Which numbers of one source were seen: its newest one, and a window of those before. */
export class ReplayWindow {
  #newest = -1
  /** The last number seen of those that share a place. */
  #seen = new Float64Array(WINDOW).fill(-1)

  /** The newest number; -1 before the first. */
  get newest(): number {
    return this.#newest
  }

  /** Whether the number is new, and not too old to know. */
  permits(number: number): boolean {
    return number > this.#newest - WINDOW && this.#seen[number % WINDOW] !== number
  }

  /** Remembers a number that was permitted. */
  take(number: number): void {
    this.#seen[number % WINDOW] = number
    if (number > this.#newest) this.#newest = number
  }
}
