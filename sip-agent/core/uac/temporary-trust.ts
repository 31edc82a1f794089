import type { Shield } from '../../shield/shield.ts'

/** Addresses that the shield trusts while a request, or the call that it creates, lasts. */
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

  /** Ends the trust in all of them. Idempotent. */
  release(): void {
    this.#isReleased = true
    for (const release of this.#releases.splice(0)) release()
  }
}
