import type { Client, PresenceState, Subscription } from '@trunkline/client'

/** Collaborators of {@link PeoplePresence}. */
export interface PresenceDeps {
  readonly client: Pick<Client, 'presence'>
  readonly changed: () => void
  /** Reports a failure to the user. */
  readonly failed: (error: unknown) => void
}

/** Most addresses that the gateway watches for one page. */
const maxWatched = 200

/** Presence of the people on the page, and the user's own do not disturb. */
export class PeoplePresence {
  readonly #deps: PresenceDeps
  #subscription: Subscription | undefined
  #watched = ''
  #doNotDisturb = false

  constructor(deps: PresenceDeps) {
    this.#deps = deps
  }

  /** Whether calls to the user are busy on all devices. */
  get doNotDisturb(): boolean {
    return this.#doNotDisturb
  }

  /** Returns the presence of the person behind an address; undefined if the gateway reports none. */
  of(addressId: string): PresenceState | undefined {
    return this.#deps.client.presence.of(addressId)
  }

  /** Reads the state of do not disturb. Never rejects. */
  async load(): Promise<void> {
    const { client, changed } = this.#deps
    this.#subscription ??= client.presence.subscribe(() => changed())
    try {
      this.#doNotDisturb = await client.presence.getDoNotDisturb()
      changed()
    } catch {}
  }

  /** Watches these addresses in place of the former ones. Never rejects. */
  watch(addressIds: readonly string[]): void {
    const ids = addressIds.slice(0, maxWatched)
    const key = ids.join()
    if (key === this.#watched) return
    this.#watched = key
    void this.#deps.client.presence.watch(ids).catch(() => {
      // The next change of the list tries again.
      this.#watched = ''
    })
  }

  /** Switches do not disturb on or off. Never rejects: a failure is reported to `failed`. */
  async setDoNotDisturb(on: boolean): Promise<void> {
    const { client, changed, failed } = this.#deps
    try {
      await client.presence.setDoNotDisturb(on)
      this.#doNotDisturb = on
    } catch (error) {
      failed(error)
    }
    changed()
  }

  close(): void {
    this.#subscription?.unsubscribe()
  }
}
