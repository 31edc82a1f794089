import type { Environment, PeerConnection } from './environment.ts'
import { ClientError } from './errors.ts'
import { gathered, withoutLocalNames } from './gathering.ts'
import type { MediaKind } from './local-media.ts'
import type { MediaDirection } from './media-types.ts'

/** What a peer tells its owner. */
export interface PeerOwner {
  /** A track of the far side begins to come, or to come anew. */
  track(kind: MediaKind, track: MediaStreamTrack): void
  stateChanged(): void
}

/** What of one kind of media is to change with the next offer. `track` null: nothing is sent. */
export interface MediaChange {
  readonly kind: MediaKind
  readonly direction: MediaDirection
  readonly track: MediaStreamTrack | null
}

/** The ICE servers of a call. */
export interface PeerServers {
  readonly iceServers: readonly RTCIceServer[]
  /** TURN over UDP is left out. */
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

/** Whether the browser sends, and receives, in a direction. */
export const sends = (direction: string | null): boolean =>
  direction === 'sendrecv' || direction === 'sendonly'
/** Whether the browser receives in a direction. */
export const receives = (direction: string | null): boolean =>
  direction === 'sendrecv' || direction === 'recvonly'

/** The direction that sends and receives so. */
export const directionOf = (send: boolean, receive: boolean): MediaDirection => {
  if (send) return receive ? 'sendrecv' : 'sendonly'
  return receive ? 'recvonly' : 'inactive'
}

/**
 * One RTCPeerConnection, with one section of audio at most and one of video, each with a transport of its own. Offers and answers are made
 * one after another; each carries all of its candidates. Tracks are the owner's: they are sent, and never stopped.
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

  /** What was negotiated for a kind, and what we want of it. */
  transceiver(kind: MediaKind): RTCRtpTransceiver | undefined {
    return this.#peer
      .getTransceivers()
      .find(({ receiver, direction }) => receiver.track.kind === kind && direction !== 'stopped')
  }

  /** Makes the first offer, in the order of the changes. */
  offer(changes: readonly MediaChange[], stream: MediaStream | undefined): Promise<string> {
    return this.#untilClosed(async () => {
      for (const change of changes) this.#add(change, stream)
      return this.#describe(await this.#peer.createOffer())
    })
  }

  /** Answers an offer. What it has no section for is left out. */
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

  /** Takes the answer to our first offer. The same answer again is ignored: an answer may follow as early media and at pick-up. */
  async accept(answer: string): Promise<void> {
    if (this.#applied === answer) return
    this.#applied = answer
    await this.#untilClosed(() => this.#peer.setRemoteDescription({ type: 'answer', sdp: answer }))
  }

  /** Sends another track from now on, or none, without a new offer. False when nothing of its kind is sent. */
  async replace(kind: MediaKind, track: MediaStreamTrack | null): Promise<boolean> {
    const transceiver = this.transceiver(kind)
    if (!transceiver || !sends(transceiver.direction)) return false
    await this.#untilClosed(() => transceiver.sender.replaceTrack(track))
    return true
  }

  /** Sends nothing of a kind, and does not offer to with the next offer. */
  async quit(kind: MediaKind): Promise<void> {
    const transceiver = this.transceiver(kind)
    if (!transceiver || !sends(transceiver.direction)) return
    transceiver.direction = directionOf(false, receives(transceiver.direction))
    await this.#untilClosed(() => transceiver.sender.replaceTrack(null))
  }

  /**
   * Negotiates anew: with other media, or with `restart` for a new path, by these servers. `send` takes the offer to the far side and gives its answer. When
   * it is not taken all is as before, and the promise rejects.
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
        // What the peer was made with may have run out: TURN servers give passwords for some hours.
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

  // A browser never settles what was under way when its connection was closed.
  #untilClosed<T>(work: () => Promise<T>): Promise<T> {
    return Promise.race([work(), this.#over.promise])
  }

  #add({ kind, direction, track }: MediaChange, stream: MediaStream | undefined): RTCRtpTransceiver {
    const init = { direction, ...(track && stream && { streams: [stream] }) }
    return this.#peer.addTransceiver(track ?? kind, init)
  }

  // Gives what undoes it.
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
      // Closed meanwhile: there is nothing to go back to.
    }
  }

  async #describe(description: RTCSessionDescriptionInit): Promise<string> {
    await this.#peer.setLocalDescription(description)
    await gathered(this.#peer, this.#environment.clock)
    if (this.#closed) throw new ClientError('canceled', 'The call ended before its media was set up.')
    return withoutLocalNames(this.#peer.localDescription?.sdp ?? '')
  }
}
