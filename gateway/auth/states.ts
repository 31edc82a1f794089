import { createHmac, timingSafeEqual } from 'node:crypto'

/** What a browser keeps for us over a lost connection. It survives our own restart. */
export interface SessionState {
  readonly protocol: string
  /** Key of the token's holder. */
  readonly holder: string
  readonly online: boolean
}

/**
 * Signs session states. The browser SDK hands its state back when it connects again, and does not say again that it is online: so the
 * state says it, and nobody else can write one.
 */
export class SessionStates {
  #key: Uint8Array

  constructor(secret: Uint8Array) {
    this.#key = createHmac('sha256', secret).update('session states').digest()
  }

  /** An opaque text: base64url of the state, a dot, and its signature. */
  seal(state: SessionState): string {
    const body = Buffer.from(JSON.stringify(state)).toString('base64url')
    return `${body}.${this.#sign(body).toString('base64url')}`
  }

  /** Undefined when the text is not one that we made. */
  open(text: string): SessionState | undefined {
    const [body = '', signature = ''] = text.split('.')
    const given = Buffer.from(signature, 'base64url')
    const expected = this.#sign(body)
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
    return JSON.parse(Buffer.from(body, 'base64url').toString()) as SessionState
  }

  #sign(body: string): Buffer {
    return createHmac('sha256', this.#key).update(body).digest()
  }
}
