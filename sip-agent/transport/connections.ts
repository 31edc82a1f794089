import type { Hop } from '../route/types.ts'
import type { Connection } from './connection.ts'

const placeOf = (address: string, port: number): string => `${address}|${port}`

/** The open connections of one listener, found by where they lead. */
export class Connections {
  readonly #all = new Set<Connection>()
  /** By address and port of the far end; with TLS there may be several to one place, for different hosts. */
  readonly #byPlace = new Map<string, Connection[]>()
  readonly #aliases = new Map<Connection, string>()
  /** Those that were given up and are still on their way out; a socket takes a while to close. */
  readonly #leaving = new Set<Connection>()
  #made = 0

  get size(): number {
    return this.#all.size
  }

  /** Those that we made. */
  get made(): number {
    return this.#made
  }

  /** Those that we made and have given up. */
  get leavingMade(): number {
    return this.#leaving.size - this.leavingAccepted
  }

  /** Those that were accepted and given up. */
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

  /** Remembers the port that a peer takes requests at (RFC 5923 5); one for each connection. */
  alias(connection: Connection, port: number): void {
    if (this.#aliases.has(connection) || port === connection.remote.port) return
    const place = placeOf(connection.remote.address, port)
    this.#aliases.set(connection, place)
    this.#put(place, connection)
  }

  /** Ends one to make room for another one; from now on it takes no room. */
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

  /** One that a request to this place may go over; the newest, because an older one may be dead without our knowing. */
  find(hop: Hop): Connection | undefined {
    const there = this.#byPlace.get(placeOf(hop.address, hop.port))
    const found = there?.findLast((each) => each.canCarry(hop) && !this.#leaving.has(each))
    if (!found) return undefined
    // Moved to the end: the first ones are those that were not used for longest.
    this.#all.delete(found)
    this.#all.add(found)
    return found
  }

  /** The connection of our own making that was not used for longest. */
  oldestMade(): Connection | undefined {
    for (const each of this.#all) if (!each.isAccepted && !this.#leaving.has(each)) return each
    return undefined
  }

  /** The accepted connection that brought no message for longest, of those that have got nothing of us and that may go. */
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
