import type { Environment, PeerConnection } from './environment.ts'
import { ClientError } from './errors.ts'
import { gathered, withoutLocalNames } from './gathering.ts'
import type { MediaKind } from './local-media.ts'
import type { MediaDirection } from './media-types.ts'

/** Callbacks of {@link Peer}. */
export interface PeerOwner {
  /** Handles a track of the far side, new or replaced. */
  track(kind: MediaKind, track: MediaStreamTrack): void
  stateChanged(): void
}

/** Change of one kind of media with the next offer. `track` null: nothing is sent. */
export interface MediaChange {
  readonly kind: MediaKind
  readonly direction: MediaDirection
  readonly track: MediaStreamTrack | null
  /** Sizes in which a new section sends the track; default one. */
  readonly encodings?: RTCRtpEncodingParameters[]
}

/** ICE servers of a call. */
export interface PeerServers {
  readonly iceServers: readonly RTCIceServer[]
  /** Whether to leave out TURN over UDP. */
  readonly disableUdp: boolean | undefined
}

const configurationOf = ({ iceServers, disableUdp }: PeerServers): RTCConfiguration => ({
  bundlePolicy: 'max-compat',
  iceServers: disableUdp ? withoutUdp(iceServers) : [...iceServers],
})

// Without TLS, UDP is the default (RFC 7064, RFC 7065).
const isUdp = (url: string): boolean =>
  url.includes('transport=udp') || (/^(stun|turn):/.test(url) && !url.includes('transport=tcp'))

const withoutUdp = (servers: readonly RTCIceServer[]): RTCIceServer[] =>
  servers
    .map((server) => ({
      ...server,
      urls: [server.urls].flat().filter((url) => !isUdp(url)),
    }))
    .filter((server) => server.urls.length > 0)

/** Whether a direction includes sending. */
export const sends = (direction: string | null): boolean =>
  direction === 'sendrecv' || direction === 'sendonly'
/** Whether a direction includes receiving. */
export const receives = (direction: string | null): boolean =>
  direction === 'sendrecv' || direction === 'recvonly'

/** Returns the SDP direction. `send` and `receive`: whether media is sent, and whether it is received. */
export const directionOf = (send: boolean, receive: boolean): MediaDirection => {
  if (send) return receive ? 'sendrecv' : 'sendonly'
  return receive ? 'recvonly' : 'inactive'
}

/**
 * RTCPeerConnection with at most one audio and one video section, each with its own transport. A camera in
 * several sizes has a section that only sends, and a further one receives video.
 * Offers and answers are made one after another, and carry all candidates. Tracks belong to the owner: they
 * are sent, never stopped.
 */
export class Peer {
  readonly #environment: Environment
  readonly #peer: PeerConnection
  #applied: string | undefined
  #queue: Promise<unknown> = Promise.resolve()
  /** Rejects when the connection is closed. */
  readonly #over = Promise.withResolvers<never>()
  #closed = false

  constructor(environment: Environment, servers: PeerServers, owner: PeerOwner) {
    this.#environment = environment
    this.#over.promise.catch(() => {})
    const peer = environment.createPeer(configurationOf(servers))
    peer.ontrack = ({ track }) => owner.track(track.kind === 'video' ? 'video' : 'audio', track)
    peer.onconnectionstatechange = () => owner.stateChanged()
    this.#peer = peer
  }

  get state(): RTCPeerConnectionState {
    return this.#peer.connectionState
  }

  /** Returns the statistics of the connection. */
  stats(): Promise<ReadonlyMap<string, unknown>> {
    return this.#peer.getStats() as Promise<unknown> as Promise<ReadonlyMap<string, unknown>>
  }

  /** Returns the transceivers of a kind: the one that may send first. */
  transceivers(kind: MediaKind): RTCRtpTransceiver[] {
    return this.#peer
      .getTransceivers()
      .filter(({ receiver, direction }) => receiver.track.kind === kind && direction !== 'stopped')
  }

  /** Returns the transceiver of a kind that may send; undefined if not negotiated. */
  transceiver(kind: MediaKind): RTCRtpTransceiver | undefined {
    return this.transceivers(kind)[0]
  }

  /** Creates the first offer, in the order of the changes. */
  offer(changes: readonly MediaChange[], stream: MediaStream | undefined): Promise<string> {
    return this.#untilClosed(async () => {
      for (const change of changes) this.#add(change, stream)
      return this.#describe(await this.#peer.createOffer())
    })
  }

  /** Answers an offer. Changes without a section in the offer are left out. */
  answer(offer: string, changes: readonly MediaChange[]): Promise<string> {
    return this.#untilClosed(async () => {
      await this.#peer.setRemoteDescription({ type: 'offer', sdp: offer })
      for (const { kind, track, direction } of changes) {
        const transceiver = this.transceiver(kind)
        if (!transceiver) continue
        await transceiver.sender.replaceTrack(track)
        transceiver.direction = direction
      }
      return this.#describe(await this.#peer.createAnswer())
    })
  }

  /**
   * Applies the answer to the first offer. A repeated answer is ignored: it may arrive as early media and
   * again with the pick-up.
   */
  async accept(answer: string): Promise<void> {
    if (this.#applied === answer) return
    this.#applied = answer
    await this.#untilClosed(() => this.#peer.setRemoteDescription({ type: 'answer', sdp: answer }))
  }

  /**
   * Replaces a sent track without renegotiation; null sends nothing. Resolves with false if the kind is not
   * sent.
   */
  async replace(kind: MediaKind, track: MediaStreamTrack | null): Promise<boolean> {
    const transceiver = this.transceiver(kind)
    if (!transceiver || !sends(transceiver.direction)) return false
    await this.#untilClosed(() => transceiver.sender.replaceTrack(track))
    return true
  }

  /** Stops sending a kind, also in the next offer. */
  async quit(kind: MediaKind): Promise<void> {
    const transceiver = this.transceiver(kind)
    if (!transceiver || !sends(transceiver.direction)) return
    transceiver.direction = directionOf(false, receives(transceiver.direction))
    await this.#untilClosed(() => transceiver.sender.replaceTrack(null))
  }

  /**
   * Renegotiates: with other media, or with `restart` for a new path through these servers.
   * `send` sends the offer to the far side and returns its answer. If that fails, the promise rejects and the
   * media is unchanged.
   */
  renegotiate(
    {
      changes = [],
      stream,
      restart,
    }: {
      readonly changes?: readonly MediaChange[]
      readonly stream?: MediaStream
      readonly restart?: PeerServers
    },
    send: (offer: string) => Promise<string>,
  ): Promise<void> {
    const run = async () => {
      const undo: (() => Promise<void> | void)[] = []
      try {
        for (const change of changes) undo.unshift(await this.#change(change, stream))
        // The first credentials may have expired: TURN servers issue passwords for some hours.
        if (restart) this.#peer.setConfiguration(configurationOf(restart))
        const options = restart ? { iceRestart: true } : undefined
        const answer = await send(await this.#describe(await this.#peer.createOffer(options)))
        await this.#peer.setRemoteDescription({ type: 'answer', sdp: answer })
      } catch (error) {
        if (!this.#closed) await this.#rollback(undo)
        throw error
      }
    }
    const done = this.#untilClosed(() => this.#queue.then(run))
    this.#queue = done.catch(() => {})
    return done
  }

  /** Idempotent. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#peer.ontrack = this.#peer.onconnectionstatechange = null
    this.#peer.close()
    this.#over.reject(new ClientError('canceled', 'The call ended before its media was set up.'))
  }

  // A browser never settles operations that were pending when the connection was closed.
  #untilClosed<T>(work: () => Promise<T>): Promise<T> {
    return Promise.race([work(), this.#over.promise])
  }

  #add(
    { kind, direction, track, encodings }: MediaChange,
    stream: MediaStream | undefined,
  ): RTCRtpTransceiver {
    const init = {
      direction,
      ...(track && stream && { streams: [stream] }),
      ...(encodings && { sendEncodings: encodings }),
    }
    return this.#peer.addTransceiver(track ?? kind, init)
  }

  // Returns a function that reverts the change.
  async #change(change: MediaChange, stream: MediaStream | undefined): Promise<() => Promise<void> | void> {
    const transceiver = this.transceiver(change.kind)
    if (!transceiver) {
      const added = this.#add(change, stream)
      return () => added.stop()
    }
    const { direction, sender } = transceiver
    const { track } = sender
    await sender.replaceTrack(change.track)
    transceiver.direction = change.direction
    return async () => {
      transceiver.direction = direction
      await sender.replaceTrack(track)
    }
  }

  async #rollback(undo: readonly (() => Promise<void> | void)[]): Promise<void> {
    try {
      if (this.#peer.signalingState === 'have-local-offer')
        await this.#peer.setLocalDescription({ type: 'rollback' })
      for (const step of undo) await step()
    } catch {
      // If the connection was closed meanwhile, there is nothing to restore.
    }
  }

  async #describe(description: RTCSessionDescriptionInit): Promise<string> {
    await this.#peer.setLocalDescription(description)
    await gathered(this.#peer, this.#environment.clock)
    if (this.#closed) throw new ClientError('canceled', 'The call ended before its media was set up.')
    return withoutLocalNames(this.#peer.localDescription?.sdp ?? '')
  }
}
