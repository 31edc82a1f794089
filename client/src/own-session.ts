import type { Environment } from './environment.ts'
import { ClientError } from './errors.ts'

/** The session with the gateway as this page's own: a tab that was duplicated brings a copy of what the first one keeps for its reload. */
export class OwnSession {
  readonly #claim: Environment['claim']
  #protocol: string | undefined
  #taking: Promise<boolean> | undefined
  #release: (() => void) | undefined

  constructor(claim: Environment['claim']) {
    this.#claim = claim
  }

  /** Keeps a session for this page, and gives back the one before. False where another page has it. Rejects with `disconnected` when given back meanwhile. */
  take(protocol: string): Promise<boolean> {
    if (this.#taking && this.#protocol === protocol) return this.#taking
    this.give()
    this.#protocol = protocol
    this.#taking = this.#take(protocol)
    return this.#taking
  }

  /** Gives it back. Idempotent. */
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
