import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Lifetime of a nonce, in ms. */
const validMs = 300_000
/**
 * Default maximum number of nonces with a stored counter. Only a successful sign-in stores a counter. The
 * limit therefore allows more than 650 sign-ins a second, each with a new nonce.
 */
const defaultMaxCounters = 200_000
/** Duration of a time slice, in ms. Counters of nonces that were made in the same slice expire together. */
const sliceMs = 1_000

/** Result of checking a nonce. */
export interface NonceCheck {
  /** The gateway made the nonce, and it is not too old. */
  readonly isValid: boolean
  /** The nonce was sent to this address, so a client that returns it receives messages there. */
  readonly isProven: boolean
}

/**
 * Makes and checks nonces. A nonce consists of the time, random bits, and two HMACs. The second HMAC also
 * covers the address to which the nonce was sent. The key of the HMACs is made at the start and never leaves
 * the process. A nonce needs no memory before its first successful use; then its counter is stored.
 */
export class Nonces {
  readonly #now: () => number
  readonly #key = randomBytes(32)
  readonly #most: number
  /**
   * Highest counter of each nonce. The outer key is the time slice in which the nonce was made. The inner key
   * is a part of its random bits.
   */
  readonly #slices = new Map<number, Map<number, number>>()
  #size = 0
  /** First time slice whose nonces are valid. */
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
    // The counters of this slice were removed, so a replay would not be detected. The client must sign in
    // with a new nonce.
    if (slice < this.#oldest) return false
    const counters = this.#slices.get(slice) ?? new Map<number, number>()
    this.#slices.set(slice, counters.set(key, count))
    if (known === undefined) this.#size++
    return true
  }

  #makeRoom(): void {
    const now = this.#now()
    // Expired slices are removed only with the first counter of the present slice.
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
