import type { Client, Clock } from '@trunkline/client'
import type { Account } from './api.ts'
import { Chats } from './chats.ts'
import { History } from './history.ts'
import type { RecentCalls } from './memory.ts'
import { mediaMessage } from './messages.ts'
import type { Phone } from './phone.ts'
import { PeoplePresence } from './presence.ts'
import { HiddenCalls, pushBrowser } from './push/browser.ts'
import { BrowserPush } from './push/browser-push.ts'
import { followWorker } from './push/follow-worker.ts'
import type { KeptStore } from './push/kept.ts'

/** Collaborators of {@link Extras}. */
export interface ExtrasDeps {
  readonly client: Client
  readonly clock: Clock
  readonly account: Account
  readonly kept: KeptStore
  readonly phone: Phone
  readonly recents: RecentCalls
  /** Public key of push notifications; undefined if the gateway has none. */
  readonly serverKey: string | undefined
  readonly changed: () => void
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

  /** `life` ends the use of notifications. */
  constructor(deps: ExtrasDeps, life: AbortSignal) {
    const { client, clock, account, kept, phone, recents, serverKey, changed } = deps
    const now = () => clock.now()
    this.chats = new Chats({ client, store: localStorage, address: account.address, now, changed })
    const failed = (error: unknown) => phone.warn(() => mediaMessage(error))
    this.presence = new PeoplePresence({ client, changed, failed })
    this.push = new BrowserPush({ browser: pushBrowser, client, account, kept, serverKey, changed })
    this.#history = new History({ client, recents, changed })
    void this.push.load()
    followWorker({ kept, phone, clock }, life)
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
