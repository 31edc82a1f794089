/** Gaps of the audio that members of a room receive. */

/** Gap in ms that listeners hear: a jitter buffer of three packets is empty. */
const audibleMs = 60

/** Largest time between two packets of each stream. */
export class Gaps {
  #longest = 0
  #audible = 0
  #packets = 0

  /** Returns what counts a packet of a new stream. */
  stream(): () => void {
    let last = Number.NaN
    return () => {
      const now = performance.now()
      const gap = now - last
      last = now
      this.#packets++
      if (gap > this.#longest) this.#longest = gap
      if (gap > audibleMs) this.#audible++
    }
  }

  /** Begins anew. */
  reset(): void {
    this.#longest = 0
    this.#audible = 0
    this.#packets = 0
  }

  toString(): string {
    return (
      `${this.#packets} packets received, longest gap ${this.#longest.toFixed(0)} ms, ` +
      `${this.#audible} gaps above ${audibleMs} ms`
    )
  }
}
