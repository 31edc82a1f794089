import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Lifetime of a nonce, in ms. */
const validMs = 300_000
/**
 * Default maximum number of nonces with a stored counter. Only successful sign-ins store one, so the limit
 * allows more than 650 sign-ins a second, each with a new nonce.
 */
const defaultMaxCounters = 200_000
/** Duration of a slice of time in ms. Nonces that were made in the same slice are forgotten together. */
const sliceMs = 1_000

/** Result of checking a nonce. */
export interface NonceCheck {
  /** The gateway made the nonce, and it is not too old. */
  readonly isValid: boolean
  /** The nonce was sent to this address, so its sender receives messages there. */
  readonly isProven: boolean
}

/**
 * Makes and checks nonces, which are stored only after their first successful use. A nonce consists of the
 * time, random bits, and two HMACs. The second HMAC covers the address that the nonce was sent to. The key is
 * made at start and never leaves the process.
 */
export class Nonces {
  readonly #now: () => number
  readonly #key = randomBytes(32)
  readonly #most: number
  /**
   * Highest counter of each nonce: by the slice of time in which the nonce was made, and by a part of its
   * random bits.
   */
  readonly #slices = new Map<number, Map<number, number>>()
  #size = 0
  /** First slice whose nonces are valid. */
  #oldest = 0

  /** `most`: maximum number of nonces with a stored counter. Beyond it, the oldest nonces expire early. */
  constructor(now: () => number, most = defaultMaxCounters) {
    this.#now = now
    this.#most = most
  }

  /** Number of nonces with a stored counter; bounded. */
  get size(): number {
    return this.#size
  }

  /** Returns a new nonce for an address. */
  make(address: string): string {
    const head = Buffer.alloc(18)
    head.writeUIntBE(this.#now(), 0, 6)
    randomBytes(12).copy(head, 6)
    return Buffer.concat([head, this.#seal(head), this.#seal(head, address)]).toString('base64url')
  }

  check(nonce: string, address: string): NonceCheck {
    const bytes = Buffer.from(nonce, 'base64url')
    if (bytes.length !== 42 || bytes.toString('base64url') !== nonce)
      return { isValid: false, isProven: false }
    const head = bytes.subarray(0, 18)
    const ours = timingSafeEqual(bytes.subarray(18, 30), this.#seal(head))
    const madeAt = head.readUIntBE(0, 6)
    const now = this.#now()
    const slice = sliceOf(madeAt)
    const valid = ours && madeAt <= now && !isOver(slice, now) && slice >= this.#oldest
    return {
      isValid: valid,
      isProven: valid && timingSafeEqual(bytes.subarray(30), this.#seal(head, address)),
    }
  }

  /**
   * Records a sign-in with a valid nonce and this counter. Returns false if that counter, or a later one, was
   * used before.
   */
  use(nonce: string, count: number): boolean {
    const bytes = Buffer.from(nonce, 'base64url')
    const slice = sliceOf(bytes.readUIntBE(0, 6))
    const key = bytes.readUIntBE(6, 6)
    const known = this.#slices.get(slice)?.get(key)
    if (known !== undefined && count <= known) return false
    if (known === undefined) this.#makeRoom()
    // The slice was forgotten with its counters, so an old answer could be repeated: the client must sign in
    // with a new nonce.
    if (slice < this.#oldest) return false
    const counters = this.#slices.get(slice) ?? new Map<number, number>()
    this.#slices.set(slice, counters.set(key, count))
    if (known === undefined) this.#size++
    return true
  }

  #makeRoom(): void {
    const now = this.#now()
    // Expired slices are removed once in each new slice.
    if (!this.#slices.has(sliceOf(now)))
      for (const slice of this.#slices.keys()) if (isOver(slice, now)) this.#forget(slice)
    if (this.#size < this.#most) return
    const oldest = Math.min(...this.#slices.keys())
    this.#forget(oldest)
    this.#oldest = oldest + 1
  }

  #forget(slice: number): void {
    this.#size -= this.#slices.get(slice)?.size ?? 0
    this.#slices.delete(slice)
  }

  #seal(head: Buffer, address = ''): Buffer {
    return createHmac('sha256', this.#key).update(head).update(address).digest().subarray(0, 12)
  }
}

const sliceOf = (time: number): number => Math.floor(time / sliceMs)

const isOver = (slice: number, now: number): boolean => slice * sliceMs + validMs <= now
