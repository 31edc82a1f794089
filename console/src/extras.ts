import type { Client, Clock } from '@trunkline/client'
import type { Account } from './api.ts'
import { Chats } from './chats.ts'
import { History } from './history.ts'
import type { RecentCalls } from './memory.ts'
import { mediaMessage } from './messages.ts'
import { PeoplePresence } from './presence.ts'
import { HiddenCalls, pushBrowser } from './push/browser.ts'
import { BrowserPush } from './push/browser-push.ts'
import type { KeptStore } from './push/kept.ts'

/** Collaborators of {@link Extras}. */
export interface ExtrasDeps {
  readonly client: Client
  readonly clock: Clock
  readonly account: Account
  readonly kept: KeptStore
  readonly recents: RecentCalls
  /** Public key of push notifications; undefined if the gateway has none. */
  readonly serverKey: string | undefined
  readonly changed: () => void
  /** Shows a warning to the user. */
  readonly warn: (text: string) => void
}

/**
 * Models that no call needs: messages, past calls, presence, and notifications. Their code is loaded after
 * that of the phone, so that the user can be called sooner.
 */
export class Extras {
  readonly chats: Chats
  readonly presence: PeoplePresence
  readonly push: BrowserPush
  readonly hidden = new HiddenCalls()
  readonly #history: History

  constructor(deps: ExtrasDeps) {
    const { client, clock, account, kept, recents, serverKey, changed, warn } = deps
    const now = () => clock.now()
    this.chats = new Chats({ client, store: localStorage, address: account.address, now, changed })
    this.presence = new PeoplePresence({ client, changed, failed: (error) => warn(mediaMessage(error)) })
    this.push = new BrowserPush({ browser: pushBrowser, client, account, kept, serverKey, changed })
    this.#history = new History({ client, recents, changed })
    void this.push.load()
    this.load()
  }

  /** Fetches the lists, also after a time without connection: changes meanwhile were not delivered. */
  load(): void {
    for (const list of [this.chats, this.#history, this.presence]) void list.load()
  }

  close(): void {
    this.chats.close()
    this.#history.close()
    this.presence.close()
    this.hidden.update([], false)
  }
}
