import { backoff } from './backoff.ts'
import type { Timer } from './clock.ts'
import type { Environment, PeerConnection } from './environment.ts'
import { ClientError } from './errors.ts'
import { type Json, record, text } from './frames.ts'
import { gathered, withoutLocalNames } from './gathering.ts'
import type { Log } from './log.ts'
import type { RoomTrack, ShownMember } from './track-types.ts'
import { TrackWatchdog } from './track-watchdog.ts'

/** Time in which calls of `show` are combined, in ms. */
const showSpacingMs = 100
/** Waits before lost tracks are opened again, in ms. */
const retries = { first: 1000, longest: 16_000 }
/** Maximum number of failures in a row, within about two minutes. */
const maxFailures = 10

/** Collaborators of a {@link TrackConnection}. */
export interface TrackConnectionOwner {
  readonly environment: Pick<Environment, 'clock' | 'createPeer' | 'random'>
  readonly log: Log
  readonly iceServers: () => readonly RTCIceServer[]
  /** Sends a `call.…` request for this call. */
  request(method: string, params: Json): Promise<Json>
  /** Ids of the members of the call. */
  memberIds(): readonly string[]
  changed(tracks: ReadonlyMap<string, RoomTrack>): void
}

/** Connection for the separate cameras and screens of a room. It is opened again when it is lost. */
export class TrackConnection {
  readonly #count: number
  readonly #owner: TrackConnectionOwner
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

  constructor(count: number, owner: TrackConnectionOwner) {
    this.#count = count
    this.#owner = owner
    this.#watchdog = new TrackWatchdog(
      owner.environment.clock,
      () => this.#peer?.getStats() as Promise<unknown> as Promise<ReadonlyMap<string, unknown>>,
      (mid, renew) => this.#tell('call.tracks.refresh', { mid, renew }),
    )
  }

  /** Sets the members that the page shows; undefined: all. */
  show(members: readonly ShownMember[] | undefined): void {
    this.#shown = members
    this.#send()
  }

  /** Opens the tracks of a room that the call has joined, in place of former ones. */
  open(): void {
    this.#failures = 0
    void this.#open()
  }

  /** Handles an event of the server. */
  notify(type: string, params: Json): void {
    if (type === 'call.tracks') this.#assigned(params)
    else if (type === 'member.left') this.#send()
  }

  /** Releases the connection. Idempotent. */
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
