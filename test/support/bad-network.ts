import { randomFrom } from '../../media/rtp/testing/dtmf-tones.ts'

/** How bad a network is. */
export interface Badness {
  /** Share of the packets that never arrive, from 0 to 1. */
  readonly loss: number
  /** By how much a packet is delayed more or less than others, in ms: evenly between 0 and twice this, each for itself, so that they overtake one another. */
  readonly jitterMs: number
  /** Of the chances: the same one loses and delays the same packets, counted from the first. */
  readonly seed: number
}

/**
 * One direction of a bad network, as the kernel's `netem` makes one, which needs a module and rights that a container seldom has. It holds packets by
 * the machine's timers.
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

  /** Packets so far. */
  get taken(): number {
    return this.#taken
  }

  /** How many of them were lost. */
  get lost(): number {
    return this.#lost
  }

  /** What becomes of the next packet: how long it takes in ms; undefined: it is lost. */
  fate(): number | undefined {
    const [lost, delay] = [this.#random() < this.#badness.loss, this.#random()]
    this.#taken++
    if (!lost) return delay * 2 * this.#badness.jitterMs
    this.#lost++
    return undefined
  }

  /** Brings a packet to the other end, if it gets there. */
  carry(arrive: () => void): void {
    const delay = this.fate()
    if (delay === undefined) return
    const timer = setTimeout(() => {
      this.#underWay.delete(timer)
      arrive()
    }, delay)
    this.#underWay.add(timer)
  }

  /** What is under way arrives no more. Idempotent. */
  close(): void {
    for (const timer of this.#underWay) clearTimeout(timer)
    this.#underWay.clear()
  }
}
