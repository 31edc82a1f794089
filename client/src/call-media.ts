import type { Environment } from './environment.ts'
import { ClientError } from './errors.ts'
import type { MediaKind } from './local-media.ts'
import type { Log } from './log.ts'
import type { MediaOwner } from './media-owner.ts'
import type { DeviceName, UpdateMediaParams, VideoState } from './media-types.ts'
import { wantedOf } from './media-wanted.ts'
import { directionOf, type MediaChange, Peer, type PeerServers, receives, sends } from './peer.ts'
import { RemoteMedia } from './remote-media.ts'
import { SentMedia } from './sent-media.ts'
import { inSizes, withLargeCamera } from './simulcast.ts'
import type { CallOptions } from './types.ts'

type Send = (offer: string) => Promise<string>

const kinds: readonly MediaKind[] = ['audio', 'video']

/** Media of one call: local tracks, the peer connection, and players. {@link close} releases all. */
export class CallMedia {
  readonly #environment: Environment
  readonly #owner: MediaOwner
  readonly #options: CallOptions
  readonly #sent: SentMedia
  readonly #remote: RemoteMedia
  #peer: Peer | undefined
  #video: VideoState = { local: false, remote: false }
  #speaker: DeviceName | undefined
  #closed = false

  constructor(environment: Environment, log: Log, options: CallOptions, owner: MediaOwner) {
    this.#environment = environment
    this.#options = options.tracks === undefined ? options : withLargeCamera(options)
    this.#owner = owner
    const changed = () => this.#videoChanged()
    this.#sent = new SentMedia(environment, this.#options, owner, () => this.#peer, changed)
    this.#remote = new RemoteMedia(environment, log, options.rootElement, changed)
  }

  /** Media of the far side. */
  get remote(): MediaStream {
    return this.#remote.stream
  }

  get local(): MediaStream | undefined {
    return this.#sent.stream
  }

  /** Local track that is sent for a kind, muted or not. */
  track(kind: MediaKind): MediaStreamTrack | undefined {
    return this.#sent.track(kind)
  }

  get path(): RTCPeerConnectionState {
    return this.#peer?.state ?? 'new'
  }

  get video(): VideoState {
    return this.#video
  }

  /** Whether receiving a kind is negotiated. */
  receives(kind: MediaKind): boolean {
    return this.#peer?.transceivers(kind).some(({ currentDirection }) => receives(currentDirection)) ?? false
  }

  /** Returns the statistics of the connection; undefined while no audio is expected. */
  stats(): Promise<ReadonlyMap<string, unknown>> | undefined {
    return this.receives('audio') ? this.#peer?.stats() : undefined
  }

  /** Creates the offer of a new call. Rejects like {@link LocalMedia.open}. */
  async offer(iceServers: readonly RTCIceServer[]): Promise<string> {
    const { tracks } = this.#options
    const { negotiateAudio = true, negotiateVideo = this.#sent.wantsVideo || tracks !== undefined } =
      this.#options
    if (!this.#options.devicesAfterAnswer) await this.#sent.open()
    const changes = kinds
      .map((kind) => this.#sent.first(kind, kind === 'audio' ? negotiateAudio : negotiateVideo))
      .flatMap((change) => (tracks === undefined ? change : inSizes(change)))
      .filter(({ kind, direction }) => kind === 'audio' || direction !== 'inactive')
    return this.#connect(iceServers).offer(changes, this.#sent.stream)
  }

  /**
   * Creates the answer to an offer. Opens the microphone and the camera if the offer has a section for them.
   */
  async answer(offer: string, iceServers: readonly RTCIceServer[]): Promise<string> {
    const { negotiateAudio = true, negotiateVideo = true } = this.#options
    await this.#sent.open(offer)
    const changes = kinds.map((kind) =>
      this.#sent.first(kind, kind === 'audio' ? negotiateAudio : negotiateVideo),
    )
    const answer = await this.#connect(iceServers).answer(offer, changes)
    this.#negotiated()
    return answer
  }

  /** Applies the remote answer to the local offer. */
  async accept(answer: string): Promise<void> {
    await this.#require().accept(answer)
    this.#negotiated()
  }

  /** Negotiates a new media path (ICE restart). */
  async restart(iceServers: readonly RTCIceServer[], send: Send): Promise<void> {
    await this.#require().renegotiate({ restart: this.#servers(iceServers) }, send)
    this.#negotiated()
  }

  /**
   * Adds, changes or removes kinds of media. Updates run one after another. A failed update leaves the media
   * unchanged.
   */
  update(params: UpdateMediaParams, send: Send): Promise<void> {
    return this.#sent.serially(() => this.#update(params, send))
  }

  /**
   * Opens the devices of an outgoing call that has begun without them. A camera that cannot be opened is
   * reported as disconnected, and the call goes on with the microphone. Rejects like {@link update}.
   */
  openDevices(send: Send): Promise<void> {
    const { audio = true, video = false, negotiateAudio = true, negotiateVideo = true } = this.#options
    if (!audio && !video) return Promise.resolve()
    const params = {
      ...(audio && { audio: { direction: directionOf(true, negotiateAudio) } }),
      ...(video && { video: { direction: directionOf(true, negotiateVideo) } }),
    }
    const withoutCamera = () => this.#owner.deviceGone('camera', { deviceId: '', label: '' })
    return this.#sent.serially(() => this.#update(params, send, withoutCamera))
  }

  /** `withoutCamera`: called after a change in which the camera could not be opened; else that rejects. */
  async #update(params: UpdateMediaParams, send: Send, withoutCamera?: () => void): Promise<void> {
    const peer = this.#require()
    const wanted = kinds.flatMap((kind) => wantedOf(kind, params[kind]))
    if (wanted.length === 0) throw new ClientError('bad_argument', 'expected audio or video')
    const opened: MediaStreamTrack[] = []
    const changes: MediaChange[] = []
    try {
      for (const each of wanted)
        try {
          changes.push(await this.#sent.change(each, opened))
        } catch (error) {
          if (!withoutCamera || each.kind === 'audio') throw error
        }
      // Each media section must name a stream (`msid`): the local stream, which the page may already show.
      const stream = this.#sent.stream ?? this.#environment.createStream()
      await peer.renegotiate({ changes, stream }, send)
    } catch (error) {
      for (const track of opened) track.stop()
      throw error
    }
    // Video is the last kind: without its change, the others keep their places.
    for (const [at, change] of changes.entries()) this.#sent.settle(change, wanted[at]!, opened)
    this.#negotiated()
    if (changes.length < wanted.length) withoutCamera?.()
  }

  /** Replaces the microphone or camera in use. Rejects with `bad_state` if none is in use. */
  choose(kind: MediaKind, constraints: MediaTrackConstraints): Promise<void> {
    return this.#sent.serially(async () => {
      this.#require()
      await this.#sent.choose(kind, constraints)
    })
  }

  /** Plays the call on the given loudspeaker. */
  async chooseSpeaker(deviceId: string): Promise<void> {
    await this.#remote.players.speaker(deviceId)
    const previous = this.#speaker
    const current = { deviceId, label: '' }
    this.#speaker = current
    this.#owner.deviceChanged('speaker', { previous, current })
  }

  /** Sends the tracks of a kind if `on`, otherwise silence or black frames. */
  allow(kind: MediaKind, on: boolean): void {
    this.#sent.allow(kind, on)
    this.#videoChanged()
  }

  /** See {@link SentMedia.mute}. */
  mute(kind: MediaKind): void {
    this.#sent.mute(kind)
  }

  /** See {@link SentMedia.unmute}. */
  unmute(kind: MediaKind): Promise<boolean> | undefined {
    return this.#sent.unmute(kind)
  }

  /** See {@link SentMedia.constrain}. */
  constrain(kind: MediaKind, constraints: MediaTrackConstraints): Promise<void> {
    return this.#sent.constrain(kind, constraints)
  }

  /** Records whether the far side sends video, as reported by the gateway. */
  farVideo(sent: boolean): void {
    this.#remote.setSent(sent)
  }

  /** Releases the microphone, the connection and the players. Idempotent. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#sent.close()
    this.#peer?.close()
    this.#remote.players.close()
  }

  #require(): Peer {
    if (!this.#peer || this.#closed) throw new ClientError('bad_state', 'The call has no media connection.')
    return this.#peer
  }

  #connect(iceServers: readonly RTCIceServer[]): Peer {
    if (this.#closed) throw new ClientError('canceled', 'The call ended before its media was set up.')
    this.#peer = new Peer(this.#environment, this.#servers(iceServers), {
      track: (kind, track) => this.#arrived(kind, track),
      stateChanged: () => this.#owner.pathChanged(),
    })
    return this.#peer
  }

  #servers(iceServers: readonly RTCIceServer[]): PeerServers {
    return { iceServers, disableUdp: this.#options.disableUdpIceServers }
  }

  #arrived(kind: MediaKind, track: MediaStreamTrack): void {
    if (this.#closed) return
    this.#remote.arrived(kind, track)
    this.#owner.remoteTrack(track)
    this.#videoChanged()
  }

  #negotiated(): void {
    if (this.#closed) return
    this.#sent.negotiated()
    for (const kind of kinds) {
      for (const { currentDirection, receiver } of this.#peer?.transceivers(kind) ?? [])
        if (!receives(currentDirection)) this.#remote.left(kind, receiver.track)
    }
    this.#videoChanged()
  }

  #videoChanged(): void {
    if (this.#closed) return
    const remote = this.#remote.hasVideo
    const sending = sends(this.#peer?.transceiver('video')?.currentDirection ?? null)
    const local = sending && this.#sent.films
    this.#remote.players.show(remote)
    if (local === this.#video.local && remote === this.#video.remote) return
    this.#video = { local, remote }
    this.#owner.videoChanged(this.#video)
  }
}
