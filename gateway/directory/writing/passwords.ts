import { createHmac, randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'

/**
 * Cost of new hashes: 16 MiB and about 30 ms of one core. Each stored hash includes the cost it was made
 * with.
 */
const cost = { N: 16_384, r: 8, p: 1 } as const
const keyLength = 32
/**
 * Maximum number of simultaneous computations. libuv has four threads, and DNS and files need some of them.
 */
const atOnce = 2

/** Derives the key of a password: scrypt (RFC 7914). */
export type DeriveKey = (
  password: string,
  salt: Buffer,
  length: number,
  options: Pick<ScryptOptions, 'N' | 'r' | 'p'>,
) => Promise<Buffer>

/** Hashes and verifies passwords, at most two at once; others wait in order. */
export class Passwords {
  #derive: DeriveKey
  #running = 0
  #waiting: (() => void)[] = []

  constructor(derive: DeriveKey = scryptKey) {
    this.#derive = derive
  }

  /** Returns a salted scrypt hash (RFC 7914) with its cost: `scrypt$N$r$p$salt$hash`, base64url. */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(16)
    const key = await this.#inTurn(() => this.#derive(password, salt, keyLength, cost))
    return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), key.toString('base64url')].join('$')
  }

  /** Compares in constant time. Returns false also for a malformed `hash`. */
  async verify(password: string, hash: string): Promise<boolean> {
    const [kind, N, r, p, salt, expected] = hash.split('$')
    if (kind !== 'scrypt' || !salt || !expected) return false
    const wanted = Buffer.from(expected, 'base64url')
    if (wanted.length === 0) return false
    const options = { N: Number(N), r: Number(r), p: Number(p) }
    const from = Buffer.from(salt, 'base64url')
    const key = await this.#inTurn(() => this.#derive(password, from, wanted.length, options))
    return timingSafeEqual(key, wanted)
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    // A waiting computation takes over the slot of the ended one. The count does not drop, so that no other
    // computation starts in between.
    if (this.#running < atOnce) this.#running++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running--
    }
  }
}

/**
 * Returns a keyed digest of a declared password. Without `secret`, which is kept outside the store, the
 * digest is useless for guessing the password.
 */
export const passwordMark = (secret: Uint8Array, email: string, password: string): string =>
  createHmac('sha256', secret).update(`password-mark\0${email}\0${password}`).digest('base64url')

const scryptKey: DeriveKey = (password, salt, length, options) =>
  new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, length, { ...options, maxmem: 64 << 20 }, (error, key) => {
      if (error) reject(error)
      else resolve(key)
    })
  })
