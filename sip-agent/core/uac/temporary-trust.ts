import type { Shield } from '../../shield/shield.ts'

/**
 * Addresses that the shield trusts for the duration of a request, or of the call that the request creates.
 */
export class TemporaryTrust {
  readonly #shield: Pick<Shield, 'trustTemporarily'>
  #releases: (() => void)[] = []
  #isReleased = false

  constructor(shield: Pick<Shield, 'trustTemporarily'>) {
    this.#shield = shield
  }

  /** Adds an address that the request is sent to. */
  add(address: string): void {
    if (!this.#isReleased && address !== '') this.#releases.push(this.#shield.trustTemporarily(address))
  }

  /** Ends the trust in all addresses. Idempotent. */
  release(): void {
    this.#isReleased = true
    for (const release of this.#releases.splice(0)) release()
  }
}
