import type { Clock, Timer } from '../../core/clock.ts'
import type { Client } from './client.ts'

/** Which pages there are, and which of them take calls. */
export class Presence {
  #clock: Clock
  #graceMs: number
  #clients = new Map<string, Client>()
  #bySubscriber = new Map<string, Set<Client>>()
  #graces = new Map<Client, Timer>()

  /** `graceMs`: how long a page that lost its connection is waited for. */
  constructor(clock: Clock, graceMs: number) {
    this.#clock = clock
    this.#graceMs = graceMs
  }

  /** Pages that are known, connected or waited for. */
  get clients(): number {
    return this.#clients.size
  }

  /** Subscribers with at least one page that takes calls. */
  get subscribersOnline(): number {
    let online = 0
    for (const id of this.#bySubscriber.keys()) if (this.online(id).length > 0) online++
    return online
  }

  find(protocol: string): Client | undefined {
    return this.#clients.get(protocol)
  }

  /** The pages of a subscriber or a guest, connected or waited for; also those of who was invited by the subscriber. */
  of(holderId: string): readonly Client[] {
    return [...(this.#bySubscriber.get(holderId) ?? [])]
  }

  /** The pages that are, or were last, at a network address. */
  at(network: string): readonly Client[] {
    return [...this.#clients.values()].filter((client) => client.network === network)
  }

  /** The pages of a subscriber that take calls. */
  online(subscriberId: string): Client[] {
    const clients = this.#bySubscriber.get(subscriberId) ?? []
    return [...clients].filter((client) => client.online && client.authorized)
  }

  /** The pages of a subscriber or a guest that are connected, whether or not they take calls; not those of who was invited by the subscriber. */
  connected(holderId: string): Client[] {
    const clients = this.#bySubscriber.get(holderId) ?? []
    return [...clients].filter(
      ({ session, authorized, holder }) => session && authorized && holder.kind !== 'invite',
    )
  }

  add(client: Client): void {
    this.#clients.set(client.protocol, client)
    const { id } = client.holder
    const siblings = this.#bySubscriber.get(id) ?? new Set()
    this.#bySubscriber.set(id, siblings.add(client))
  }

  /** The page is connected again. */
  back(client: Client): void {
    this.#graces.get(client)?.cancel()
    this.#graces.delete(client)
  }

  /** The page lost its connection. One that has nothing to lose is forgotten at once, the others after the grace period. */
  lost(client: Client): void {
    if (!client.online && client.calls.size === 0) {
      this.remove(client)
      return
    }
    this.#graces.set(
      client,
      this.#clock.after(this.#graceMs, () => this.remove(client)),
    )
    for (const call of [...client.calls.values()]) call.pageAway?.(client)
  }

  /** Forgets every page; their calls end. */
  close(): void {
    for (const client of [...this.#clients.values()]) this.remove(client)
  }

  /** Forgets a page, and ends its calls. */
  remove(client: Client): void {
    this.back(client)
    client.online = false
    if (this.#clients.get(client.protocol) === client) this.#clients.delete(client.protocol)
    const siblings = this.#bySubscriber.get(client.holder.id)
    siblings?.delete(client)
    if (siblings?.size === 0) this.#bySubscriber.delete(client.holder.id)
    for (const call of [...client.calls.values()]) call.pageLost(client)
    client.calls.clear()
  }
}
