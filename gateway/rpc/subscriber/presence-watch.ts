import { mayReach } from '../../auth/token-identity.ts'
import type { Directory } from '../../directory/directory.ts'
import type { BrowserSession } from './browser-session.ts'
import type { CallParties } from './call-parties.ts'
import type { Presence } from './presence.ts'

/** Whether a subscriber can be reached. `online`: at least one page receives calls. */
export type PresenceState = 'offline' | 'online' | 'in_call' | 'do_not_disturb'

/** Presence of the subscriber behind an address. */
export interface AddressPresence {
  readonly address_id: string
  readonly state: PresenceState
}

/** Collaborators of {@link PresenceWatch}. */
export interface PresenceWatchDeps {
  readonly directory: Pick<Directory, 'subscriber' | 'onResources'> & {
    readonly resources: Pick<Directory['resources'], 'findByAddressId'>
  }
  readonly presence: Pick<Presence, 'online' | 'find' | 'onChange'>
  readonly parties: Pick<CallParties, 'isInCall' | 'onSubscriber'>
}

/** Maximum number of addresses that a browser watches. */
export const maxWatchedAddresses = 200

/** Presence of subscribers at this gateway, for the browsers that watch it. */
export class PresenceWatch {
  readonly #deps: PresenceWatchDeps
  /** Watched subscribers of each browser, by id. */
  readonly #watched = new Map<BrowserSession, ReadonlySet<string>>()
  readonly #watchers = new Map<string, Set<BrowserSession>>()
  /** Last reported states of the watched subscribers. */
  readonly #states = new Map<string, PresenceState>()

  constructor(deps: PresenceWatchDeps) {
    this.#deps = deps
    deps.presence.onChange((browser) => {
      if (deps.presence.find(browser.protocol) !== browser) this.#forget(browser)
      this.#changed(browser.identity.id)
    })
    deps.parties.onSubscriber((id) => this.#changed(id))
    deps.directory.onResources((ids) => {
      for (const id of ids) this.#changed(id)
    })
  }

  /** Number of browsers that watch the presence of subscribers. */
  get watchers(): number {
    return this.#watched.size
  }

  /**
   * Watches the subscribers behind addresses, in place of earlier ones, and returns their presence. Addresses
   * that the browser may not see, and those of no subscriber, are left out.
   */
  watch(browser: BrowserSession, addressIds: readonly string[]): readonly AddressPresence[] {
    const { identity } = browser
    this.#forget(browser)
    browser.dropLatest('presence.changed')
    const found = new Map<string, string>()
    for (const addressId of addressIds) {
      const resource = mayReach(identity, addressId)
        ? this.#deps.directory.resources.findByAddressId(identity.projectId, addressId)
        : undefined
      if (resource?.type === 'subscriber') found.set(resource.id, addressId)
    }
    if (found.size > 0) this.#watched.set(browser, new Set(found.keys()))
    return [...found].map(([id, address_id]) => {
      // A token that expires changes the state without a report.
      this.#changed(id)
      this.#watchers.set(id, (this.#watchers.get(id) ?? new Set()).add(browser))
      const state = this.#stateOf(id)
      this.#states.set(id, state)
      return { address_id, state }
    })
  }

  #stateOf(id: string): PresenceState {
    const { directory, presence, parties } = this.#deps
    if (directory.subscriber(id)?.doNotDisturb) return 'do_not_disturb'
    if (parties.isInCall(id)) return 'in_call'
    return presence.online(id).length > 0 ? 'online' : 'offline'
  }

  #changed(id: string): void {
    const watchers = this.#watchers.get(id)
    const state = watchers && this.#stateOf(id)
    if (state === undefined || state === this.#states.get(id)) return
    this.#states.set(id, state)
    const address_id = this.#deps.directory.subscriber(id)?.addressId
    if (address_id === undefined) return
    for (const browser of watchers ?? [])
      if (browser.session && browser.isAuthorized)
        browser.emitLatest(address_id, 'presence.changed', { address_id, state })
  }

  #forget(browser: BrowserSession): void {
    for (const id of this.#watched.get(browser) ?? []) {
      const watchers = this.#watchers.get(id)
      watchers?.delete(browser)
      if (watchers?.size !== 0) continue
      this.#watchers.delete(id)
      this.#states.delete(id)
    }
    this.#watched.delete(browser)
  }
}
