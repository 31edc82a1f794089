import { createHmac, timingSafeEqual } from 'node:crypto'

/** Query of a link. */
export interface LinkProof {
  /** Expiry, in seconds since the Unix epoch. */
  readonly expires: number
  /** Signature in base64url. */
  readonly signature: string
}

/** Signs links to recordings. A link gives access to one recording for a limited time. */
export class RecordingLinks {
  #key: Uint8Array

  constructor(secret: Uint8Array) {
    this.#key = createHmac('sha256', secret).update('links to recordings').digest()
  }

  /** Signs a link that works until `until` (ms since the Unix epoch, rounded down to seconds). */
  sign(id: string, until: number): LinkProof {
    const expires = Math.floor(until / 1000)
    return { expires, signature: this.#mac(id, expires).toString('base64url') }
  }

  /** Checks the signature of a link, and its expiry at `now` (ms since the Unix epoch). */
  check(id: string, { expires, signature }: LinkProof, now: number): 'good' | 'expired' | 'forged' {
    const given = Buffer.from(signature, 'base64url')
    const expected = this.#mac(id, expires)
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'forged'
    return now < expires * 1000 ? 'good' : 'expired'
  }

  #mac(id: string, expires: number): Buffer {
    return createHmac('sha256', this.#key).update(`${id}\n${expires}`).digest()
  }
}

/** Returns the beginning of links: the public host if TLS is used, otherwise an address of the gateway. */
export const linkBase = (publicHost: string | undefined, ownUrl: string | undefined): string =>
  publicHost ? `https://${publicHost}` : (ownUrl ?? '').replace(/\/$/, '')
