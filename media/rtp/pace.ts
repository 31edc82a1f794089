/** Audio that may arrive at once, in ms: what a network held back during an outage. */
const MAX_BURST_MS = 5_000
/** Maximum lasting rate of a stream, as a multiple of real time. Some senders repeat each packet. */
const MAX_SPEED = 4
/** Least that a packet counts for, in ms. */
const MIN_PACKET_MS = 5

/**
 * Limit of how much audio is taken from a far end. Packets that circulate between two far ends which send everything back would
 * otherwise multiply without end, each as fast as the network is.
 */
export class Pace {
  #leftMs = MAX_BURST_MS
  #at: number | undefined

  /** Returns whether a packet of `ms` may be taken at `now`, and counts it if so. */
  permits(now: number, ms: number): boolean {
    const passed = this.#at === undefined ? 0 : Math.max(0, now - this.#at)
    this.#at = now
    this.#leftMs = Math.min(MAX_BURST_MS, this.#leftMs + passed * MAX_SPEED)
    const cost = Math.max(ms, MIN_PACKET_MS)
    if (cost > this.#leftMs) return false
    this.#leftMs -= cost
    return true
  }
}
