import type { Connection } from './connection.ts'
import type { Hop } from './types.ts'

const placeOf = (address: string, port: number): string => `${address}|${port}`

/** Open connections of one listener, by remote address. */
export class Connections {
  readonly #all = new Set<Connection>()
  /**
   * Connections by remote address and port. With TLS, several connections may lead to one address, each for
   * another host name.
   */
  readonly #byPlace = new Map<string, Connection[]>()
  readonly #aliases = new Map<Connection, string>()
  /** Connections that are being closed: a socket takes some time to close. */
  readonly #leaving = new Set<Connection>()
  #made = 0

  get size(): number {
    return this.#all.size
  }

  /** Number of connections that the agent opened. */
  get made(): number {
    return this.#made
  }

  /** Number of connections that the agent opened and is closing. */
  get leavingMade(): number {
    return this.#leaving.size - this.leavingAccepted
  }

  /** Number of accepted connections that are being closed. */
  get leavingAccepted(): number {
    let count = 0
    for (const each of this.#leaving) if (each.isAccepted) count++
    return count
  }

  [Symbol.iterator](): Iterator<Connection> {
    return [...this.#all].values()
  }

  add(connection: Connection): void {
    this.#all.add(connection)
    if (!connection.isAccepted) this.#made++
    this.#put(placeOf(connection.remote.address, connection.remote.port), connection)
  }

  /** Remembers the port at which a peer accepts requests (RFC 5923 5); one for each connection. */
  alias(connection: Connection, port: number): void {
    if (this.#aliases.has(connection) || port === connection.remote.port) return
    const place = placeOf(connection.remote.address, port)
    this.#aliases.set(connection, place)
    this.#put(place, connection)
  }

  /**
   * Closes a connection to make room for another one. The closing connection no longer counts towards the
   * maximum.
   */
  giveUp(connection: Connection, reason: string): void {
    this.#leaving.add(connection)
    connection.fail(reason)
  }

  remove(connection: Connection): void {
    this.#leaving.delete(connection)
    if (this.#all.delete(connection) && !connection.isAccepted) this.#made--
    this.#take(placeOf(connection.remote.address, connection.remote.port), connection)
    const alias = this.#aliases.get(connection)
    this.#aliases.delete(connection)
    if (alias !== undefined) this.#take(alias, connection)
  }

  /** Returns a connection for a request to this hop: the newest, because an older one may be dead. */
  find(hop: Hop): Connection | undefined {
    const there = this.#byPlace.get(placeOf(hop.address, hop.port))
    const found = there?.findLast((each) => each.canCarry(hop) && !this.#leaving.has(each))
    if (!found) return undefined
    // Keeps the set in order of use: the first connection was unused for the longest time.
    this.#all.delete(found)
    this.#all.add(found)
    return found
  }

  /** Returns the connection opened by the agent that was unused for the longest time. */
  oldestMade(): Connection | undefined {
    for (const each of this.#all) if (!each.isAccepted && !this.#leaving.has(each)) return each
    return undefined
  }

  /**
   * Returns the accepted connection that was silent for the longest time, among those that were never served
   * and for which `mayGo` returns true.
   */
  idlest(mayGo: (connection: Connection) => boolean): Connection | undefined {
    let found: Connection | undefined
    for (const each of this.#all) {
      if (!each.isAccepted || each.hasBeenServed || this.#leaving.has(each)) continue
      if ((!found || each.lastHeardAt < found.lastHeardAt) && mayGo(each)) found = each
    }
    return found
  }

  #put(place: string, connection: Connection): void {
    const there = this.#byPlace.get(place)
    if (there) there.push(connection)
    else this.#byPlace.set(place, [connection])
  }

  #take(place: string, connection: Connection): void {
    const left = this.#byPlace.get(place)?.filter((each) => each !== connection) ?? []
    if (left.length > 0) this.#byPlace.set(place, left)
    else this.#byPlace.delete(place)
  }
}
