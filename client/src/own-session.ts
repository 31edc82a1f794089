import type { Environment } from './environment.ts'
import { ClientError } from './errors.ts'

/**
 * Claim of the gateway session for this page. A duplicated tab has a copy of the data that the first tab
 * stored for its reload.
 */
export class OwnSession {
  readonly #claim: Environment['claim']
  #protocol: string | undefined
  #taking: Promise<boolean> | undefined
  #release: (() => void) | undefined

  constructor(claim: Environment['claim']) {
    this.#claim = claim
  }

  /**
   * Claims a session and releases the previously claimed one. Resolves with false if another page holds the
   * session. Rejects with `disconnected` if the claim is released meanwhile.
   */
  take(protocol: string): Promise<boolean> {
    if (this.#taking && this.#protocol === protocol) return this.#taking
    this.give()
    this.#protocol = protocol
    this.#taking = this.#take(protocol)
    return this.#taking
  }

  /** Releases the claim. Idempotent. */
  give(): void {
    this.#release?.()
    this.#protocol = this.#taking = this.#release = undefined
  }

  async #take(protocol: string): Promise<boolean> {
    const release = await this.#claim(`trunkline.session.${protocol}`)
    if (this.#protocol !== protocol) {
      release?.()
      throw new ClientError('disconnected', 'The client was disconnected.')
    }
    this.#release = release
    return release !== undefined
  }
}
