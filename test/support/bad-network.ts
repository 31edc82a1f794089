import { randomFrom } from '../../media/rtp/testing/dtmf-tones.ts'

/** Loss and jitter of a network. */
export interface Badness {
  /** Share of the packets that never arrive, from 0 to 1. */
  readonly loss: number
  /**
   * Maximum jitter in ms. Each packet has a delay of its own, evenly between 0 and twice this, so that
   * packets overtake one another.
   */
  readonly jitterMs: number
  /** Seed of the random numbers. The same seed loses and delays the same packets. */
  readonly seed: number
}

/**
 * One direction of a network that loses and delays packets by timers of this process. The kernel's `netem`
 * needs a module and rights that a container seldom has.
 */
export class BadNetwork {
  readonly #badness: Badness
  readonly #random: () => number
  readonly #underWay = new Set<NodeJS.Timeout>()
  #taken = 0
  #lost = 0

  constructor(badness: Badness) {
    this.#badness = badness
    this.#random = randomFrom(badness.seed)
  }

  /** Number of packets so far. */
  get taken(): number {
    return this.#taken
  }

  /** Number of lost packets so far. */
  get lost(): number {
    return this.#lost
  }

  /** Returns the delay of the next packet in ms, or undefined if the packet is lost. */
  fate(): number | undefined {
    const isLost = this.#random() < this.#badness.loss
    const delay = this.#random()
    this.#taken++
    if (!isLost) return delay * 2 * this.#badness.jitterMs
    this.#lost++
    return undefined
  }

  /** Calls `arrive` after the packet's delay, unless the packet is lost. */
  carry(arrive: () => void, _bytes = 0): void {
    const delay = this.fate()
    if (delay === undefined) return
    const timer = setTimeout(() => {
      this.#underWay.delete(timer)
      arrive()
    }, delay)
    this.#underWay.add(timer)
  }

  /** Drops all delayed packets that have not been delivered. Idempotent. */
  close(): void {
    for (const timer of this.#underWay) clearTimeout(timer)
    this.#underWay.clear()
  }
}
