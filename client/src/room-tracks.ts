import { backoff } from './backoff.ts'
import type { Timer } from './clock.ts'
import type { Environment, PeerConnection } from './environment.ts'
import { ClientError } from './errors.ts'
import { type Json, record, text } from './frames.ts'
import { gathered, withoutLocalNames } from './gathering.ts'
import type { Log } from './log.ts'
import type { RoomTrack, ShownMember } from './track-types.ts'
import { TrackWatchdog } from './track-watchdog.ts'

/** Maximum number of tracks, as the gateway permits. */
const maxTracks = 25
/** Maximum width of a picture in pixels. */
const maxWidth = 16_384
/** Time in which calls of `show` are combined, in ms. */
const showSpacingMs = 100
/** Waits before lost tracks are opened again, in ms. */
const retries = { first: 1000, longest: 16_000 }
/** Maximum number of failures in a row, within about two minutes. */
const maxFailures = 10

/** Collaborators of {@link RoomTracks}. */
export interface RoomTracksOwner {
  readonly environment: Pick<Environment, 'clock' | 'createPeer' | 'random'>
  readonly log: Log
  readonly iceServers: () => readonly RTCIceServer[]
  /** Sends a `call.…` request for this call. */
  request(method: string, params: Json): Promise<Json>
  /** Ids of the members of the call. */
  memberIds(): readonly string[]
  changed(tracks: ReadonlyMap<string, RoomTrack>): void
}

/**
 * Separate cameras and screens of a room, over a connection of their own. The gateway assigns members to
 * tracks: screens and pinned members first, then the latest speakers. Opened with each room that the call
 * joins, if the call has the option `tracks`.
 */
export class RoomTracks {
  readonly #count: number | undefined
  readonly #owner: RoomTracksOwner
  readonly #watchdog: TrackWatchdog
  #tracks: ReadonlyMap<string, RoomTrack> = new Map()
  #shown: readonly ShownMember[] | undefined
  #peer: PeerConnection | undefined
  /** Counts openings and ends: what was started before is out of date. */
  #attempt = 0
  #isAccepted = false
  #isInRoom = false
  #sending: Timer | undefined
  #retry: Timer | undefined
  #failures = 0

  /** `count`: wanted number of tracks; undefined for none. Throws `bad_argument`. */
  constructor(count: number | undefined, owner: RoomTracksOwner) {
    if (count !== undefined && !(Number.isInteger(count) && count >= 1 && count <= maxTracks))
      throw new ClientError('bad_argument', `tracks: expected 1 to ${maxTracks}, got ${count}`)
    this.#count = count
    this.#owner = owner
    this.#watchdog = new TrackWatchdog(
      owner.environment.clock,
      () => this.#peer?.getStats() as Promise<unknown> as Promise<ReadonlyMap<string, unknown>>,
      (mid, renew) => this.#tell('call.tracks.refresh', { mid, renew }),
    )
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
    this.#send()
  }

  /** For the call only: handles an event of the server. */
  notify(type: string, params: Json): void {
    if (this.#count === undefined) return
    if (type === 'call.joined') {
      this.#failures = 0
      void this.#open()
    } else if (type === 'call.left') this.close()
    else if (type === 'call.tracks') this.#assigned(params)
    else if (type === 'member.left') this.#send()
  }

  /** For the call only: releases the connection. Idempotent. */
  close(): void {
    this.#isInRoom = false
    this.#retry?.cancel()
    this.#sending?.cancel()
    this.#sending = undefined
    this.#drop()
  }

  async #open(): Promise<void> {
    this.close()
    this.#isInRoom = true
    const attempt = this.#attempt
    try {
      const { sdp } = await this.#owner.request('call.tracks.open', { lines: this.#count })
      if (this.#attempt !== attempt) return
      const answer = await this.#answer(text(sdp) ?? '', attempt)
      if (this.#attempt !== attempt) return
      await this.#owner.request('call.tracks.accept', { sdp: answer })
      if (this.#attempt !== attempt) return
      this.#failures = 0
      this.#isAccepted = true
      this.#watchdog.start()
      if (this.#shown) this.#send()
    } catch (error) {
      if (this.#attempt !== attempt) return
      this.#owner.log.info('separate cameras not opened', error)
      if (isFinal(error)) this.#drop()
      else this.#lost()
    }
  }

  async #answer(offer: string, attempt: number): Promise<string> {
    const { environment, iceServers } = this.#owner
    const peer = environment.createPeer({ bundlePolicy: 'max-bundle', iceServers: [...iceServers()] })
    this.#peer = peer
    peer.onconnectionstatechange = () => {
      if (peer.connectionState === 'failed' && this.#attempt === attempt) this.#lost()
    }
    await peer.setRemoteDescription({ type: 'offer', sdp: offer })
    await peer.setLocalDescription(await peer.createAnswer())
    await gathered(peer, environment.clock)
    return withoutLocalNames(peer.localDescription?.sdp ?? '')
  }

  #lost(): void {
    this.#drop()
    if (!this.#isInRoom || this.#failures >= maxFailures) return
    const { clock, random } = this.#owner.environment
    const wait = backoff(this.#failures++, { ...retries, random })
    this.#retry?.cancel()
    this.#retry = clock.after(wait, () => void this.#open())
  }

  #drop(): void {
    this.#attempt++
    this.#isAccepted = false
    this.#watchdog.stop()
    this.#peer?.close()
    this.#peer = undefined
    this.#set(new Map())
  }

  #assigned({ open, tracks }: Json): void {
    const peer = this.#peer
    if (!peer) return
    if (open === false) {
      this.#lost()
      return
    }
    const receivers = new Map(peer.getTransceivers().map(({ mid, receiver }) => [mid, receiver]))
    const found = new Map<string, RoomTrack>()
    for (const each of Array.isArray(tracks) ? tracks.map(record) : []) {
      const memberId = text(each.member_id)
      const receiver = receivers.get(text(each.mid) ?? null)
      if (!memberId || !receiver || each.state !== 'live') continue
      const layer = typeof each.layer === 'number' ? each.layer : undefined
      const kind = each.kind === 'screen' ? 'screen' : 'camera'
      found.set(memberId, { memberId, kind, track: receiver.track, layer })
    }
    this.#set(found)
  }

  #set(tracks: ReadonlyMap<string, RoomTrack>): void {
    if (tracks.size === 0 && this.#tracks.size === 0) return
    this.#tracks = tracks
    this.#owner.changed(tracks)
  }

  #send(): void {
    if (!this.#isAccepted) return
    this.#sending ??= this.#owner.environment.clock.after(showSpacingMs, () => {
      this.#sending = undefined
      const known = this.#owner.memberIds()
      const members = this.#shown
        ?.filter(({ memberId }) => known.includes(memberId))
        .map(({ memberId, width, pinned = false }) => ({
          member_id: memberId,
          width: Math.round(width),
          pinned,
        }))
      this.#tell('call.tracks.show', members ? { members } : {})
    })
  }

  #tell(method: string, params: Json): void {
    this.#owner
      .request(method, params)
      .catch((error: unknown) => this.#owner.log.debug(`${method} rejected`, error))
  }
}

/** Results that may differ at another try: a conflict, too many requests, a failure of the gateway. */
const passing = /^(408|409|429|5(?!01)\d\d|-32000|-32001|-32603)$/

/**
 * Whether another try would fail, too. The call is not in a room, for example, or the gateway does not permit
 * separate cameras.
 */
const isFinal = (error: unknown): boolean =>
  error instanceof ClientError && error.code === 'server' && !passing.test(error.serverCode ?? '')
