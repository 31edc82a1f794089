import { createHmac, timingSafeEqual } from 'node:crypto'

/** What stands in the query of a link. */
export interface LinkProof {
  /** Until when it works, in seconds since the Unix epoch. */
  readonly expires: number
  /** base64url. */
  readonly signature: string
}

/** Signs links to recordings, so that whoever has one can fetch that recording for a time, and nothing else. */
export class RecordingLinks {
  #key: Uint8Array

  constructor(secret: Uint8Array) {
    this.#key = createHmac('sha256', secret).update('links to recordings').digest()
  }

  /** `until` in ms since the Unix epoch; counted in whole seconds. */
  sign(id: string, until: number): LinkProof {
    const expires = Math.floor(until / 1000)
    return { expires, signature: this.#mac(id, expires).toString('base64url') }
  }

  /** Whether a link is ours, and works at `now` (ms since the Unix epoch). */
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

/** Where links start: at the host that clients use, which has TLS, else at an address of our own. */
export const linkBase = (publicHost: string | undefined, ownUrl: string | undefined): string =>
  publicHost ? `https://${publicHost}` : (ownUrl ?? '').replace(/\/$/, '')
