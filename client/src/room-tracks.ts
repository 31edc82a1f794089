import { backoff } from './backoff.ts'
import type { Timer } from './clock.ts'
import { ClientError } from './errors.ts'
import type { Json } from './frames.ts'
import type { TrackConnection, TrackConnectionOwner } from './track-connection.ts'
import type { RoomTrack, ShownMember } from './track-types.ts'

/** Maximum number of tracks, as the gateway permits. */
const maxTracks = 25
/** Maximum width of a picture in pixels. */
const maxWidth = 16_384
/** Waits before the code of the connection is loaded again, in ms, and the maximum number of such loads. */
const reloads = { first: 1000, longest: 16_000, most: 10 }

/** Code that is loaded with the first room. */
interface TrackCode {
  readonly TrackConnection: typeof TrackConnection
}

/**
 * Separate cameras and screens of a room, over a connection of their own. The gateway assigns members to
 * tracks: screens and pinned members first, then the latest speakers. Opened with each room that the call
 * joins, if the call has the option `tracks`.
 */
export class RoomTracks {
  readonly #count: number | undefined
  readonly #owner: TrackConnectionOwner
  #tracks: ReadonlyMap<string, RoomTrack> = new Map()
  #shown: readonly ShownMember[] | undefined
  #connection: TrackConnection | undefined
  /** Counts openings and ends: a load that was started before is out of date. */
  #attempt = 0
  #reload: Timer | undefined
  readonly #load: () => Promise<TrackCode>

  /**
   * `count`: wanted number of tracks; undefined for none. `load`: loads the code of the connection. Throws
   * `bad_argument`.
   */
  constructor(
    count: number | undefined,
    owner: TrackConnectionOwner,
    load: () => Promise<TrackCode> = () => import('./track-connection.ts'),
  ) {
    if (count !== undefined && !(Number.isInteger(count) && count >= 1 && count <= maxTracks))
      throw new ClientError('bad_argument', `tracks: expected 1 to ${maxTracks}, got ${count}`)
    this.#count = count
    this.#load = load
    const changed = (tracks: ReadonlyMap<string, RoomTrack>) => {
      this.#tracks = tracks
      owner.changed(tracks)
    }
    this.#owner = { ...owner, changed }
  }

  /** Tracks that are received, by the id of the member. Another map after each change. */
  get all(): ReadonlyMap<string, RoomTrack> {
    return this.#tracks
  }

  /**
   * Sets the members that the page shows, in their order, and their sizes. Members that are not listed are
   * not received. Undefined: all members, as far as the tracks suffice, in a small size; the default. Call it
   * again when a member joins or a picture changes its size. Throws `bad_argument`.
   */
  show(members: readonly ShownMember[] | undefined): void {
    for (const { memberId, width } of members ?? [])
      if (!memberId || !(width >= 0 && width <= maxWidth))
        throw new ClientError('bad_argument', `width: expected 0 to ${maxWidth}, got ${width}`)
    this.#shown = members
    this.#connection?.show(members)
  }

  /** For the call only: handles an event of the server. */
  notify(type: string, params: Json): void {
    if (this.#count === undefined) return
    if (type === 'call.joined') void this.#open(this.#count)
    else if (type === 'call.left') this.close()
    else this.#connection?.notify(type, params)
  }

  /** For the call only: releases the connection. Idempotent. */
  close(): void {
    this.#outdate()
    this.#connection?.close()
  }

  /** Loads the code of the connection with the first room: most pages show the room's one picture. */
  async #open(count: number, failures = 0): Promise<void> {
    this.#outdate()
    const attempt = this.#attempt
    const code = await this.#load().catch((error: unknown) => {
      this.#owner.log.warn('separate cameras not loaded', error)
    })
    if (this.#attempt !== attempt) return
    if (!code) {
      this.#loadLater(count, failures)
      return
    }
    this.#connection ??= new code.TrackConnection(count, this.#owner)
    this.#connection.show(this.#shown)
    this.#connection.open()
  }

  /** Some browsers remember the failure, so that all loads fail until the page is loaded again. */
  #loadLater(count: number, failures: number): void {
    if (failures >= reloads.most) return
    const { clock, random } = this.#owner.environment
    const wait = backoff(failures, { ...reloads, random })
    this.#reload = clock.after(wait, () => void this.#open(count, failures + 1))
  }

  #outdate(): void {
    this.#attempt++
    this.#reload?.cancel()
  }
}
