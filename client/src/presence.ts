import type { Subscription } from './conversations.ts'
import { Emitter } from './emitter.ts'
import { ClientError } from './errors.ts'
import type { Json } from './frames.ts'
import type { Log } from './log.ts'

/**
 * Whether a subscriber can be reached. `online`: a page receives calls. `in_call`: the subscriber dials or
 * talks. `do_not_disturb`: calls are busy.
 */
export type PresenceState = 'offline' | 'online' | 'in_call' | 'do_not_disturb'

/** Presence of the subscriber behind an address. */
export interface AddressPresence {
  readonly address_id: string
  /** Undefined after the subscriber was removed. */
  readonly state: PresenceState | undefined
}

const maxAddresses = 200

/** Presence of subscribers: `client.presence`. */
export class Presence {
  readonly #request: (method: string, params: Json) => Promise<Json>
  readonly #log: Log
  readonly #changes: Emitter<{ changed: AddressPresence }>
  #watched: readonly string[] = []
  #states = new Map<string, PresenceState>()
  /** Counts the requests of {@link watch}: the latest one decides. */
  #asked = 0

  constructor(request: (method: string, params: Json) => Promise<Json>, log: Log) {
    this.#request = request
    this.#log = log
    this.#changes = new Emitter((error) => log.error('presence listener failed', error))
  }

  /**
   * Watches the subscribers behind addresses, in place of those watched before; an empty list ends it.
   * Resolves when {@link of} has their states. Addresses that the token may not see, and those of no
   * subscriber, have no state. Watching goes on after a lost connection. Rejects with `bad_argument` for more
   * than 200 addresses, or with the server's error.
   */
  async watch(addressIds: readonly string[]): Promise<void> {
    if (addressIds.length > maxAddresses)
      throw new ClientError('bad_argument', `addressIds: expected at most ${maxAddresses}`)
    this.#watched = [...new Set(addressIds)]
    await this.#watch()
  }

  /** Returns the state of the subscriber behind a watched address; undefined if it has none. */
  of(addressId: string): PresenceState | undefined {
    return this.#states.get(addressId)
  }

  /**
   * Calls `listener` on each change of a watched subscriber, and for each first state. A subscriber who was
   * removed has the state undefined.
   */
  subscribe(listener: (presence: AddressPresence) => void): Subscription {
    // Own function for each subscription: the same listener may be added twice and removed once.
    const onChange = (presence: AddressPresence) => listener(presence)
    this.#changes.on('changed', onChange)
    return { unsubscribe: () => this.#changes.off('changed', onChange) }
  }

  /** Returns whether calls to this subscriber are busy. Rejects with the server's error. */
  async getDoNotDisturb(): Promise<boolean> {
    return (await this.#request('subscriber.do_not_disturb', {})).enabled === true
  }

  /**
   * Makes calls to this subscriber busy on all devices (true), or lets them ring again. It stays until it is
   * changed. Rejects with the server's error, for guests also.
   */
  async setDoNotDisturb(enabled: boolean): Promise<void> {
    await this.#request('subscriber.do_not_disturb', { enabled })
  }

  /** For the client only: handles the return of the connection. Changes may have been missed. */
  connected(): void {
    if (this.#watched.length > 0)
      this.#watch().catch((error: unknown) => this.#log.warn('presence is not watched any more', error))
  }

  /** For the client only: handles an event of the server. */
  event(type: string, params: Json): void {
    if (type === 'presence.changed') this.#take(params)
  }

  async #watch(): Promise<void> {
    const asked = ++this.#asked
    const { presence } = await this.#request('presence.watch', { address_ids: this.#watched })
    if (asked !== this.#asked) return
    const found = Array.isArray(presence) ? presence : []
    const ids = new Set(found.map(({ address_id }: Json) => address_id))
    for (const id of [...this.#states.keys()]) if (!ids.has(id)) this.#remove(id)
    for (const each of found) this.#take(each)
  }

  #remove(address_id: string): void {
    this.#states.delete(address_id)
    // An application that has ended the watch itself needs no event.
    if (this.#watched.includes(address_id)) this.#changes.emit('changed', { address_id, state: undefined })
  }

  #take({ address_id, state }: Json): void {
    if (typeof address_id !== 'string' || typeof state !== 'string') return
    if (!this.#watched.includes(address_id) || this.#states.get(address_id) === state) return
    this.#states.set(address_id, state as PresenceState)
    this.#changes.emit('changed', { address_id, state: state as PresenceState })
  }
}
