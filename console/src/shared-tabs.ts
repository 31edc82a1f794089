import type { Account } from './api.ts'
import { accountOf } from './memory.ts'

/** Used part of a `BroadcastChannel`. */
export type Channel = Pick<BroadcastChannel, 'postMessage' | 'addEventListener' | 'close'>

type TabMessage =
  /** Request of a new tab. */
  | { readonly kind: 'ask' }
  /** A tab is signed in. `fresh`: the user has just entered the password; otherwise the response to `ask`. */
  | { readonly kind: 'account'; readonly account: Account; readonly online: boolean; readonly fresh: boolean }
  | { readonly kind: 'signed-out' }
  | { readonly kind: 'online'; readonly online: boolean }

/** Callbacks of {@link SharedTabs}. */
export interface TabsOwner {
  /** Account of this tab, for other tabs; undefined if signed out. */
  account(): { readonly account: Account; readonly online: boolean } | undefined
  /** `fresh`: the token of the account is newer than that of this tab. */
  signedIn(account: Account, online: boolean, fresh: boolean): void
  signedOut(): void
  online(online: boolean): void
}

/**
 * Sign-in and presence shared by all tabs of one browser. Messages stay within the origin; the browser
 * delivers them to its own tabs only.
 */
export class SharedTabs {
  readonly #channel: Channel | undefined

  /** `channel` undefined: the browser has none, and each tab signs in alone. */
  constructor(channel: Channel | undefined, owner: TabsOwner) {
    this.#channel = channel
    channel?.addEventListener('message', ({ data }) => this.#received(data, owner))
  }

  /** Asks the other tabs for their account. A signed-in tab responds with `signedIn`. */
  ask(): void {
    this.#tell({ kind: 'ask' })
  }

  /** Shares the account after the user has entered the password. */
  signedIn(account: Account, online: boolean): void {
    this.#tell({ kind: 'account', account, online, fresh: true })
  }

  signedOut(): void {
    this.#tell({ kind: 'signed-out' })
  }

  online(online: boolean): void {
    this.#tell({ kind: 'online', online })
  }

  #received(data: unknown, owner: TabsOwner): void {
    const { kind, account, online, fresh } = (data ?? {}) as Record<string, unknown>
    if (kind === 'ask') {
      const own = owner.account()
      if (own) this.#tell({ kind: 'account', ...own, fresh: false })
    }
    const received = kind === 'account' ? accountOf(account) : undefined
    if (received) owner.signedIn(received, online === true, fresh === true)
    if (kind === 'signed-out') owner.signedOut()
    if (kind === 'online') owner.online(online === true)
  }

  #tell(message: TabMessage): void {
    this.#channel?.postMessage(message)
  }
}

/**
 * One of the tabs of this browser: the one that plays the ringing sound and shows notifications. Another tab
 * follows when it is closed. Without Web Locks every tab is the first.
 */
export class FirstTab {
  #isFirst: boolean
  #isReleased = false
  readonly #released = Promise.withResolvers<void>()

  constructor(locks: Pick<LockManager, 'request'> | undefined, changed: () => void) {
    this.#isFirst = locks === undefined
    void locks
      ?.request('trunkline.ringing', () => {
        // The tab may have left before its turn.
        this.#isFirst = !this.#isReleased
        if (this.#isFirst) changed()
        return this.#released.promise
      })
      .catch(() => {})
  }

  get isFirst(): boolean {
    return this.#isFirst
  }

  /** Lets another tab become the first. Idempotent. */
  release(): void {
    this.#isFirst = false
    this.#isReleased = true
    this.#released.resolve()
  }
}
