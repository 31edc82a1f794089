import { createHmac, timingSafeEqual } from 'node:crypto'

/** Session state that a browser keeps over a lost connection and a restart of the gateway. */
export interface SessionState {
  readonly protocol: string
  /** Key of the token's identity. */
  readonly holder: string
  readonly online: boolean
}

/**
 * Signs session states. When the browser SDK reconnects, it presents its state and does not report again that
 * it is online. So the state contains the online flag, and the signature prevents forgery.
 */
export class SessionStates {
  #key: Uint8Array

  constructor(secret: Uint8Array) {
    this.#key = createHmac('sha256', secret).update('session states').digest()
  }

  /** Returns an opaque text: base64url of the state, a dot, and its signature. */
  seal(state: SessionState): string {
    const body = Buffer.from(JSON.stringify(state)).toString('base64url')
    return `${body}.${this.#sign(body).toString('base64url')}`
  }

  /** Returns the state of a text; undefined unless the gateway signed it. */
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
