import { createECDH, hkdfSync } from 'node:crypto'
import { importJWK, SignJWT } from 'jose'

/** Sender of web pushes (RFC 8292). */
export interface VapidOptions {
  /** `mailto:` or `https:` URI for push services to contact the operator. */
  readonly subject: string
  /** Uncompressed point of P-256, base64url. */
  readonly publicKey: string
  /** 32 bytes, base64url. */
  readonly privateKey: string
}

/** Key pair, both keys base64url. */
export type VapidKeys = Pick<VapidOptions, 'publicKey' | 'privateKey'>

/** Lifetime of a token. RFC 8292 permits 24 hours; half of it tolerates wrong clocks. */
const lifetimeS = 12 * 3600

/** Generates a key pair. */
export const newVapidKeys = (): VapidKeys => {
  const pair = createECDH('prime256v1')
  const publicKey = pair.generateKeys('base64url')
  // Node drops leading zeros, so the key is padded to 32 bytes.
  const privateKey = Buffer.concat([Buffer.alloc(32), pair.getPrivateKey()]).subarray(-32)
  return { publicKey, privateKey: privateKey.toString('base64url') }
}

/** Order of P-256 (SEC 2 section 2.4.2), above all private keys. */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
/**
 * Length of the seed in bytes: 64 bits more than a key, so that keys are evenly distributed (FIPS 186-5
 * appendix A.2.1).
 */
const seedBytes = 40

/**
 * Derives a key pair from a gateway's secret; all gateways with the same secret get the same pair.
 */
export const madeVapidKeys = (secret: Uint8Array): VapidKeys => {
  const seed = Buffer.from(hkdfSync('sha256', secret, '', 'keys of Web Push', seedBytes)).toString('hex')
  const scalar = (BigInt(`0x${seed}`) % (order - 1n)) + 1n
  const privateKey = Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex')
  const pair = createECDH('prime256v1')
  pair.setPrivateKey(privateKey)
  return { publicKey: pair.getPublicKey('base64url'), privateKey: privateKey.toString('base64url') }
}

/** Returns the sender with the configured keys; default: derived keys. */
export const vapidOptions = (
  { subject, publicKey, privateKey }: Pick<VapidOptions, 'subject'> & Partial<VapidKeys>,
  secret: Uint8Array,
): VapidOptions =>
  publicKey !== undefined && privateKey !== undefined
    ? { subject, publicKey, privateKey }
    : { subject, ...madeVapidKeys(secret) }

/** Identifies the sender to push services (RFC 8292). */
export class Vapid {
  readonly #subject: string
  readonly #publicKey: string
  readonly #key: Awaited<ReturnType<typeof importJWK>>

  private constructor({ subject, publicKey }: VapidOptions, key: Awaited<ReturnType<typeof importJWK>>) {
    this.#subject = subject
    this.#publicKey = publicKey
    this.#key = key
  }

  /** Rejects if the two keys do not belong together. */
  static async open(options: VapidOptions): Promise<Vapid> {
    const point = Buffer.from(options.publicKey, 'base64url')
    const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'))
    if (!arePair(options)) throw new Error('push.webPush: publicKey and privateKey do not belong together.')
    const key = await importJWK(
      { kty: 'EC', crv: 'P-256', x: x!, y: y!, d: options.privateKey, alg: 'ES256' },
      'ES256',
    )
    return new Vapid(options, key)
  }

  /**
   * Returns the Authorization header of a request to a push service; `now` in milliseconds since the Unix
   * epoch.
   */
  async authorization(endpoint: URL, now: number): Promise<string> {
    const token = await new SignJWT()
      .setProtectedHeader({ typ: 'JWT', alg: 'ES256' })
      .setAudience(endpoint.origin)
      .setSubject(this.#subject)
      .setExpirationTime(Math.floor(now / 1000) + lifetimeS)
      .sign(this.#key)
    return `vapid t=${token}, k=${this.#publicKey}`
  }
}

const arePair = ({ publicKey, privateKey }: VapidKeys): boolean => {
  const pair = createECDH('prime256v1')
  try {
    pair.setPrivateKey(Buffer.from(privateKey, 'base64url'))
  } catch {
    return false
  }
  return pair.getPublicKey('base64url') === publicKey
}
