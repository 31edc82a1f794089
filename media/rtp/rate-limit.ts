/**
 * Maximum length of audio that may arrive at once, in ms: packets that a network held back during an outage.
 */
const maxBurstMs = 5_000
/** Maximum lasting rate of a stream, as a multiple of real time. Some senders repeat each packet. */
const maxSpeed = 4
/** Minimum cost of a packet, in ms. */
const minPacketMs = 5

/**
 * Rate limit of the audio accepted from a far end. Without the limit, packets between two far ends that echo
 * everything would multiply without end.
 */
export class RateLimit {
  #leftMs = maxBurstMs
  #at: number | undefined

  /** Whether a packet of `ms` may be accepted at `now`; counts the packet if so. */
  permits(now: number, ms: number): boolean {
    const passed = this.#at === undefined ? 0 : Math.max(0, now - this.#at)
    this.#at = now
    this.#leftMs = Math.min(maxBurstMs, this.#leftMs + passed * maxSpeed)
    const cost = Math.max(ms, minPacketMs)
    if (cost > this.#leftMs) return false
    this.#leftMs -= cost
    return true
  }
}
