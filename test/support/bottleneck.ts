/** Values of a {@link Bottleneck}. */
export interface BottleneckOptions {
  /** Bits per second, with 28 bytes for the headers of IP and UDP of each packet. */
  readonly bitRate: number
  /** Length of the queue in ms. A packet that would wait longer is lost. */
  readonly queueMs: number
}

const headerBytes = 28

/** One direction of a narrow path: packets leave one after another, and wait in a queue of limited length. */
export class Bottleneck {
  readonly #options: BottleneckOptions
  readonly #underWay = new Set<NodeJS.Timeout>()
  /** Time at which the last packet has left. */
  #freeAt = 0
  #lost = 0
  #bytes = 0

  constructor(options: BottleneckOptions) {
    this.#options = options
  }

  /** Number of lost packets so far. */
  get lost(): number {
    return this.#lost
  }

  /** Bytes that have been accepted so far, with headers. */
  get bytes(): number {
    return this.#bytes
  }

  /** Calls `arrive` when the packet has left the queue, unless it is lost. */
  carry(arrive: () => void, bytes: number): void {
    const { bitRate, queueMs } = this.#options
    const now = performance.now()
    const begin = Math.max(now, this.#freeAt)
    if (begin - now > queueMs) {
      this.#lost++
      return
    }
    this.#bytes += bytes + headerBytes
    this.#freeAt = begin + ((bytes + headerBytes) * 8000) / bitRate
    const timer = setTimeout(() => {
      this.#underWay.delete(timer)
      arrive()
    }, this.#freeAt - now)
    this.#underWay.add(timer)
  }

  /** Drops all packets that have not been delivered. Idempotent. */
  close(): void {
    for (const timer of this.#underWay) clearTimeout(timer)
    this.#underWay.clear()
  }
}
