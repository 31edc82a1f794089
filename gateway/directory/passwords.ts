import { createHmac, randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'

/** Cost of new hashes: 16 MiB and about 30 ms of one core. Old hashes name their own. */
const cost = { N: 16_384, r: 8, p: 1 } as const
const keyLength = 32

/** A salted scrypt hash (RFC 7914), with its cost: `scrypt$N$r$p$salt$hash`, base64url. */
export const hashPassword = async (password: string): Promise<string> => {
  const salt = randomBytes(16)
  const key = await derive(password, salt, keyLength, cost)
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), key.toString('base64url')].join('$')
}

/** Compares in constant time. False too when `hash` is not one of ours. */
export const verifyPassword = async (password: string, hash: string): Promise<boolean> => {
  const [kind, N, r, p, salt, expected] = hash.split('$')
  if (kind !== 'scrypt' || !salt || !expected) return false
  const wanted = Buffer.from(expected, 'base64url')
  if (wanted.length === 0) return false
  const options = { N: Number(N), r: Number(r), p: Number(p) }
  const key = await derive(password, Buffer.from(salt, 'base64url'), wanted.length, options)
  return timingSafeEqual(key, wanted)
}

/** Keyed digest of a declared password. Without `secret`, which is kept apart from the store, it helps nobody to guess. */
export const passwordMark = (secret: Uint8Array, email: string, password: string): string =>
  createHmac('sha256', secret).update(`password-mark\0${email}\0${password}`).digest('base64url')

const derive = (
  password: string,
  salt: Buffer,
  length: number,
  options: Pick<ScryptOptions, 'N' | 'r' | 'p'>,
): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, length, { ...options, maxmem: 64 << 20 }, (error, key) => {
      if (error) reject(error)
      else resolve(key)
    })
  })
