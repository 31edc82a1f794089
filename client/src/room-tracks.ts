import { ClientError } from './errors.ts'
import type { Json } from './frames.ts'
import type { TrackConnection, TrackConnectionOwner } from './track-connection.ts'
import type { RoomTrack, ShownMember } from './track-types.ts'

/** Maximum number of tracks, as the gateway permits. */
const maxTracks = 25
/** Maximum width of a picture in pixels. */
const maxWidth = 16_384

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
  #isInRoom = false

  /** `count`: wanted number of tracks; undefined for none. Throws `bad_argument`. */
  constructor(count: number | undefined, owner: TrackConnectionOwner) {
    if (count !== undefined && !(Number.isInteger(count) && count >= 1 && count <= maxTracks))
      throw new ClientError('bad_argument', `tracks: expected 1 to ${maxTracks}, got ${count}`)
    this.#count = count
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
    this.#isInRoom = false
    this.#connection?.close()
  }

  /** Loads the code of the connection with the first room: most pages show the room's one picture. */
  async #open(count: number): Promise<void> {
    this.#isInRoom = true
    try {
      const { TrackConnection } = await import('./track-connection.ts')
      if (!this.#isInRoom) return
      this.#connection ??= new TrackConnection(count, this.#owner)
      this.#connection.show(this.#shown)
      this.#connection.open()
    } catch (error) {
      this.#owner.log.error('separate cameras not loaded', error)
    }
  }
}
