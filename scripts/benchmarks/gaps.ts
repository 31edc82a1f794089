/** Gaps of the audio that members of a room receive. */

/** Gap in ms that listeners hear: a jitter buffer of three packets is empty. */
const audibleMs = 60

/** Delay in ms of this process that makes its gaps meaningless. */
const lateMs = 25
const beatMs = 5

/**
 * Largest time between two packets of each stream. Gaps in which this process itself was late are left out.
 */
export class Gaps {
  #beatAt = performance.now()
  #lateAt = Number.NEGATIVE_INFINITY
  #own = 0
  #longest = 0
  #audible = 0
  #packets = 0

  constructor() {
    setInterval(() => {
      const now = performance.now()
      if (now - this.#beatAt > lateMs) this.#lateAt = now
      this.#beatAt = now
    }, beatMs).unref()
  }

  /** Returns a function that counts a packet of a new stream. */
  stream(): () => void {
    let last = Number.NaN
    return () => {
      const now = performance.now()
      const gap = now - last
      const wasLate = this.#lateAt > last
      last = now
      this.#packets++
      if (gap > audibleMs && wasLate) {
        this.#own++
        return
      }
      if (gap > this.#longest) this.#longest = gap
      if (gap > audibleMs) this.#audible++
    }
  }

  /** Begins anew. */
  reset(): void {
    this.#longest = 0
    this.#audible = 0
    this.#packets = 0
    this.#own = 0
  }

  toString(): string {
    return (
      `${this.#packets} packets received, longest gap ${this.#longest.toFixed(0)} ms, ` +
      `${this.#audible} gaps above ${audibleMs} ms (and ${this.#own} while the load was late)`
    )
  }
}
