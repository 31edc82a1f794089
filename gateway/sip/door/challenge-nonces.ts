import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Time that a nonce may be used after it was given out, in ms. */
const validMs = 300_000
/** Most nonces whose counters are kept. Only those with which somebody signed in are. */
const mostCounters = 100_000

/** What a nonce is found to be. */
export interface NonceCheck {
  /** We made it, and it is not too old. */
  readonly valid: boolean
  /** It was given out to this very address: whoever shows it receives what we send there. */
  readonly proven: boolean
}

/**
 * Nonces that need no memory until somebody signs in with them: time, random bits, and two seals of which the second one covers the
 * address that it was given out to. The key is made at start and never leaves.
 */
export class Nonces {
  readonly #now: () => number
  readonly #key = randomBytes(32)
  /** Highest counter of each nonce, and when it runs out; in the order of their first use. */
  readonly #counters = new Map<string, { count: number; readonly until: number }>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** Nonces whose counters are kept; bounded. */
  get size(): number {
    return this.#counters.size
  }

  /** A new nonce for whoever is at an address. */
  make(address: string): string {
    const head = Buffer.alloc(18)
    head.writeUIntBE(this.#now(), 0, 6)
    randomBytes(12).copy(head, 6)
    return Buffer.concat([head, this.#seal(head), this.#seal(head, address)]).toString('base64url')
  }

  check(nonce: string, address: string): NonceCheck {
    const bytes = Buffer.from(nonce, 'base64url')
    if (bytes.length !== 42 || bytes.toString('base64url') !== nonce) return { valid: false, proven: false }
    const head = bytes.subarray(0, 18)
    const ours = timingSafeEqual(bytes.subarray(18, 30), this.#seal(head))
    const age = this.#now() - head.readUIntBE(0, 6)
    const valid = ours && age >= 0 && age < validMs
    return { valid, proven: valid && timingSafeEqual(bytes.subarray(30), this.#seal(head, address)) }
  }

  /** Takes note that somebody signed in with the nonce and this counter. False where that counter, or a later one, was used before. */
  use(nonce: string, count: number): boolean {
    const known = this.#counters.get(nonce)
    if (known) {
      if (count <= known.count) return false
      known.count = count
      return true
    }
    this.#sweep()
    // Rather let somebody sign in with a new nonce than forget a counter.
    if (this.#counters.size >= mostCounters) return false
    this.#counters.set(nonce, { count, until: this.#now() + validMs })
    return true
  }

  /** An entry outlives its nonce, which was made before its first use. */
  #sweep(): void {
    const now = this.#now()
    for (const [nonce, { until }] of this.#counters) {
      if (until > now) return
      this.#counters.delete(nonce)
    }
  }

  #seal(head: Buffer, address = ''): Buffer {
    return createHmac('sha256', this.#key).update(head).update(address).digest().subarray(0, 12)
  }
}
