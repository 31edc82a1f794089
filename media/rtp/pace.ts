/** Audio that may arrive at once, in ms: what a network held back during an outage. */
const MAX_BURST_MS = 5_000
/** Maximum lasting rate of a stream, as a multiple of real time. Some senders repeat each packet. */
const MAX_SPEED = 4
/** Minimum cost of a packet, in ms. */
const MIN_PACKET_MS = 5

/**
 * Rate limit of the audio accepted from a far end. Without it, packets between two far ends that echo
 * everything would multiply without end.
 */
export class Pace {
  #leftMs = MAX_BURST_MS
  #at: number | undefined

  /** Whether a packet of `ms` may be accepted at `now`; counts the packet if so. */
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
