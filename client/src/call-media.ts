import type { Environment } from './environment.ts'
import { ClientError } from './errors.ts'
import { deviceOf, LocalMedia, type MediaKind, type Wanted } from './local-media.ts'
import type { Log } from './log.ts'
import type { DeviceChange, DeviceName, UpdateMediaParams, VideoState } from './media-types.ts'
import { wantedOf } from './media-wanted.ts'
import { directionOf, type MediaChange, Peer, type PeerServers, receives, sends } from './peer.ts'
import { RemoteMedia } from './remote-media.ts'
import type { CallOptions } from './types.ts'

/** What a call's media tells its owner. */
export interface MediaOwner {
  remoteTrack(track: MediaStreamTrack): void
  /** State of the media path changed. */
  pathChanged(): void
  videoChanged(video: VideoState): void
  deviceChanged(device: 'microphone' | 'camera' | 'speaker', change: DeviceChange): void
  deviceGone(device: 'microphone' | 'camera', name: DeviceName): void
}

type Send = (offer: string) => Promise<string>

const kinds: readonly MediaKind[] = ['audio', 'video']
const deviceNames = { audio: 'microphone', video: 'camera' } as const

/** The sound and the pictures of one call: what is sent of it, the connection, and what plays it. {@link close} releases all. */
export class CallMedia {
  readonly #environment: Environment
  readonly #owner: MediaOwner
  readonly #options: CallOptions
  readonly #local: LocalMedia
  readonly #remote: RemoteMedia
  #peer: Peer | undefined
  #constraints: Record<MediaKind, Wanted>
  #allowed = { audio: true, video: true }
  #video: VideoState = { local: false, remote: false }
  #speaker: DeviceName | undefined
  #updates: Promise<void> = Promise.resolve()
  #closed = false

  constructor(environment: Environment, log: Log, options: CallOptions, owner: MediaOwner) {
    this.#environment = environment
    this.#options = options
    this.#owner = owner
    this.#constraints = { audio: options.audio ?? true, video: options.video ?? false }
    this.#local = new LocalMedia(environment, (kind, name) => {
      owner.deviceGone(deviceNames[kind], name)
      this.#videoChanged()
    })
    this.#remote = new RemoteMedia(environment, log, options.rootElement, () => this.#videoChanged())
  }

  /** What the far side sends. */
  get remote(): MediaStream {
    return this.#remote.stream
  }

  get local(): MediaStream | undefined {
    return this.#local.stream
  }

  /** The track of ours that is sent of a kind, or would be if it were not muted. */
  track(kind: MediaKind): MediaStreamTrack | undefined {
    return this.#local.track(kind)
  }

  get path(): RTCPeerConnectionState {
    return this.#peer?.state ?? 'new'
  }

  get video(): VideoState {
    return this.#video
  }

  /** Whether a kind is negotiated to come from the far side. */
  receives(kind: MediaKind): boolean {
    return receives(this.#peer?.transceiver(kind)?.currentDirection ?? null)
  }

  /** Makes the offer of a new call. Rejects as {@link LocalMedia.open} does. */
  async offer(iceServers: readonly RTCIceServer[]): Promise<string> {
    const { negotiateAudio = true, negotiateVideo = Boolean(this.#constraints.video) } = this.#options
    await this.#local.open(this.#constraints)
    const changes = kinds
      .map((kind) => this.#first(kind, kind === 'audio' ? negotiateAudio : negotiateVideo))
      .filter(({ kind, direction }) => kind === 'audio' || direction !== 'inactive')
    return this.#connect(iceServers).offer(changes, this.#local.stream)
  }

  /** Answers an offer: opens of the microphone and the camera what it has a section for. */
  async answer(offer: string, iceServers: readonly RTCIceServer[]): Promise<string> {
    const { negotiateAudio = true, negotiateVideo = true } = this.#options
    const offered = (kind: MediaKind) => new RegExp(`^m=${kind} [1-9]`, 'm').test(offer)
    const { audio, video } = this.#constraints
    await this.#local.open({ audio: offered('audio') && audio, video: offered('video') && video })
    const changes = kinds.map((kind) => this.#first(kind, kind === 'audio' ? negotiateAudio : negotiateVideo))
    const answer = await this.#connect(iceServers).answer(offer, changes)
    this.#negotiated()
    return answer
  }

  /** Takes the answer to our offer. */
  async accept(answer: string): Promise<void> {
    await this.#require().accept(answer)
    this.#negotiated()
  }

  /** Negotiates a new path. */
  async restart(iceServers: readonly RTCIceServer[], send: Send): Promise<void> {
    await this.#require().renegotiate({ restart: this.#servers(iceServers) }, send)
    this.#negotiated()
  }

  /** Adds, changes or gives up kinds of media, one update after another. When one fails all is as before it. */
  update(params: UpdateMediaParams, send: Send): Promise<void> {
    return this.#serially(() => this.#update(params, send))
  }

  async #update(params: UpdateMediaParams, send: Send): Promise<void> {
    const peer = this.#require()
    const wanted = kinds.flatMap((kind) => wantedOf(kind, params[kind]))
    if (wanted.length === 0) throw new ClientError('bad_argument', 'expected audio or video')
    const opened: MediaStreamTrack[] = []
    try {
      const changes: MediaChange[] = []
      for (const { kind, direction, constraints } of wanted)
        changes.push({ kind, direction, track: await this.#source(kind, direction, constraints, opened) })
      // A section needs a stream to belong to, and that is to be the one that the page shows.
      const stream = this.#local.stream ?? this.#environment.createStream()
      await peer.renegotiate({ changes, stream }, send)
      for (const change of changes) this.#settle(change, opened)
    } catch (error) {
      for (const track of opened) track.stop()
      throw error
    }
    for (const { kind, constraints } of wanted) if (constraints) this.#constraints[kind] = constraints
    this.#negotiated()
  }

  /** Sends another microphone or camera. Rejects with `bad_state` where none is sent. */
  choose(kind: MediaKind, constraints: MediaTrackConstraints): Promise<void> {
    return this.#serially(() => this.#choose(kind, constraints))
  }

  async #choose(kind: MediaKind, constraints: MediaTrackConstraints): Promise<void> {
    const peer = this.#require()
    if (!sends(peer.transceiver(kind)?.direction ?? null))
      throw new ClientError('bad_state', `The call sends no ${kind}; updateMedia() adds it.`)
    const track = await this.#local.another(kind, constraints, (again) => this.#use(kind, again))
    await this.#use(kind, track)
    this.#constraints[kind] = constraints
  }

  /** Plays the call on another loudspeaker. */
  async chooseSpeaker(deviceId: string): Promise<void> {
    await this.#remote.players.speaker(deviceId)
    const [previous, current] = [this.#speaker, { deviceId, label: '' }]
    this.#speaker = current
    this.#owner.deviceChanged('speaker', { previous, current })
  }

  /** How loud the call is played: 0 to 1. */
  volume(volume: number): void {
    this.#remote.players.volume(volume)
  }

  /** Has the browser treat what it sends of a kind otherwise. */
  async constrain(kind: MediaKind, constraints: MediaTrackConstraints): Promise<void> {
    const track = this.#local.track(kind)
    await track?.applyConstraints({ ...track.getConstraints(), ...constraints })
  }

  /** Lets tracks of a kind through, or sends silence (black) in their place. */
  allow(kind: MediaKind, on: boolean): void {
    this.#allowed[kind] = on
    this.#local.allow(kind, on)
    this.#videoChanged()
  }

  /** Whether the far side sends pictures, as far as the gateway tells. */
  farVideo(sent: boolean): void {
    this.#remote.setSent(sent)
  }

  /** Releases microphone, connection and players. Idempotent. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#local.close()
    this.#peer?.close()
    this.#remote.players.close()
  }

  // What was asked for last is what there is in the end, whichever device opens first.
  #serially(run: () => Promise<void>): Promise<void> {
    const done = this.#updates.then(run)
    this.#updates = done.catch(() => {})
    return done
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

  #first(kind: MediaKind, receive: boolean): MediaChange {
    const track = this.#local.track(kind) ?? null
    return { kind, track, direction: directionOf(track !== null, receive) }
  }

  // What is to be sent in a direction: what is sent already, or a device that is opened for it.
  async #source(
    kind: MediaKind,
    direction: string,
    constraints: MediaTrackConstraints | undefined,
    opened: MediaStreamTrack[],
  ): Promise<MediaStreamTrack | null> {
    if (!sends(direction)) return null
    const present = this.#local.track(kind)
    if (present && !constraints) return present
    const wanted = constraints ?? (this.#constraints[kind] || true)
    const track = await this.#local.another(kind, wanted, (again) => this.#use(kind, again))
    track.enabled = this.#allowed[kind]
    opened.push(track)
    return track
  }

  #settle({ kind, track }: MediaChange, opened: MediaStreamTrack[]): void {
    if (track && opened.includes(track)) {
      const old = this.#local.track(kind)
      this.#local.put(track)
      this.#told(kind, old, track)
    } else if (!track) this.#local.drop(kind)
  }

  async #use(kind: MediaKind, track: MediaStreamTrack): Promise<void> {
    track.enabled = this.#allowed[kind]
    const taken = !this.#closed && (await this.#peer?.replace(kind, track))
    if (!taken || this.#closed) {
      track.stop()
      throw new ClientError('bad_state', `The call does not send ${kind} any more.`)
    }
    const old = this.#local.track(kind)
    this.#local.put(track)
    this.#told(kind, old, track)
  }

  #told(kind: MediaKind, old: MediaStreamTrack | undefined, track: MediaStreamTrack): void {
    const change = { previous: old && deviceOf(old), current: deviceOf(track) }
    this.#owner.deviceChanged(deviceNames[kind], change)
  }

  #arrived(kind: MediaKind, track: MediaStreamTrack): void {
    if (this.#closed) return
    this.#remote.arrived(kind, track)
    this.#owner.remoteTrack(track)
    this.#videoChanged()
  }

  #negotiated(): void {
    if (this.#closed) return
    for (const kind of kinds) {
      const transceiver = this.#peer?.transceiver(kind)
      if (transceiver && !receives(transceiver.currentDirection))
        this.#remote.left(kind, transceiver.receiver.track)
    }
    this.#videoChanged()
  }

  #videoChanged(): void {
    if (this.#closed) return
    const remote = this.#remote.hasVideo
    const sent = this.#local.track('video')
    const sending = sends(this.#peer?.transceiver('video')?.currentDirection ?? null)
    const local = sending && sent !== undefined && sent.readyState !== 'ended' && this.#allowed.video
    this.#remote.players.show(remote)
    if (local === this.#video.local && remote === this.#video.remote) return
    this.#video = { local, remote }
    this.#owner.videoChanged(this.#video)
  }
}
