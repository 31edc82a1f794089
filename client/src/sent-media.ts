import type { Environment } from './environment.ts'
import { ClientError } from './errors.ts'
import { deviceOf, LocalMedia, type MediaKind, type Wanted } from './local-media.ts'
import type { MediaOwner } from './media-owner.ts'
import type { MediaWanted } from './media-wanted.ts'
import { MutedCamera } from './muted-camera.ts'
import { directionOf, type MediaChange, type Peer, sends } from './peer.ts'
import type { CallOptions } from './types.ts'

const deviceNames = { audio: 'microphone', video: 'camera' } as const

// An m-line, and what of ours the far side takes by it.
const offers = (offer: string, kind: MediaKind): boolean => new RegExp(`^m=${kind} [1-9]`, 'm').test(offer)
const takesVideo = (offer: string): boolean =>
  offer
    .split(/^m=/m)
    .some((section) => /^video [1-9]/.test(section) && !/^a=(sendonly|inactive)/m.test(section))

/** What of ours a call sends: the microphone and the camera, opened, chosen, muted and closed. */
export class SentMedia {
  readonly #owner: Pick<MediaOwner, 'deviceChanged' | 'deviceGone'>
  readonly #peer: () => Peer | undefined
  readonly #local: LocalMedia
  readonly #camera: MutedCamera
  readonly #constraints: Record<MediaKind, Wanted>
  readonly #allowed: Record<MediaKind, boolean> = { audio: true, video: true }
  #work: Promise<unknown> = Promise.resolve()
  #closed = false

  /** `peer` is the call's connection, once there is one; `changed` is told when a device is gone. */
  constructor(
    environment: Environment,
    options: CallOptions,
    owner: Pick<MediaOwner, 'deviceChanged' | 'deviceGone'>,
    peer: () => Peer | undefined,
    changed: () => void,
  ) {
    this.#owner = owner
    this.#peer = peer
    this.#constraints = { audio: options.audio ?? true, video: options.video ?? false }
    this.#local = new LocalMedia(environment, (kind, name) => {
      owner.deviceGone(deviceNames[kind], name)
      changed()
    })
    this.#camera = new MutedCamera(environment.clock, {
      serially: (run) => this.serially(run),
      track: () => this.#local.track('video'),
      wanted: () => sends(peer()?.transceiver('video')?.direction ?? null),
      open: (before) => this.#openCamera(before),
      close: () => this.#closeCamera(),
    })
  }

  get stream(): MediaStream | undefined {
    return this.#local.stream
  }

  /** The track that is sent of a kind, or would be if it were not silenced. */
  track(kind: MediaKind): MediaStreamTrack | undefined {
    return this.#local.track(kind)
  }

  /** Whether a camera is asked for. */
  get wantsVideo(): boolean {
    return Boolean(this.#constraints.video)
  }

  /** Whether the camera gives pictures, and may. */
  get films(): boolean {
    const track = this.#local.track('video')
    return track !== undefined && track.readyState !== 'ended' && this.#allowed.video
  }

  /** What was asked for last is what there is in the end, whichever device opens first. */
  serially<T>(run: () => Promise<T>): Promise<T> {
    const done = this.#work.then(run)
    this.#work = done.catch(() => {})
    return done
  }

  /** Opens what the call starts with: of an offer what it has a place for. Rejects as {@link LocalMedia.open} does. */
  async open(offer?: string): Promise<void> {
    const { audio, video } = this.#constraints
    const wanted = (offer === undefined || takesVideo(offer)) && video
    await this.#local.open({
      audio: (offer === undefined || offers(offer, 'audio')) && audio,
      video: !this.#camera.isMuted && wanted,
    })
    // A person who is asked takes their time, and may mute the camera meanwhile, or let it through.
    if (wanted && !this.#camera.isMuted && !this.#local.track('video'))
      this.#local.put(await this.#local.request('video', wanted))
    if (this.#camera.isMuted) this.#camera.mute()
  }

  /** How a call starts with a kind. */
  first(kind: MediaKind, receive: boolean): MediaChange {
    const track = this.#local.track(kind) ?? null
    const later = this.#isMuted(kind) && this.wantsVideo
    return { kind, track, direction: directionOf(track !== null || later, receive) }
  }

  /** What is to be sent in a direction: what is sent already, or a device that is opened for it, and then among `opened`. */
  async change(
    { kind, direction, constraints }: MediaWanted,
    opened: MediaStreamTrack[],
  ): Promise<MediaChange> {
    if (!sends(direction)) return { kind, direction, track: null }
    // Opened when it is let through.
    if (constraints && this.#isMuted(kind)) await this.#camera.forget()
    const present = this.#local.track(kind)
    if (this.#isMuted(kind)) return { kind, direction, track: present ?? null }
    if (present && !constraints) return { kind, direction, track: present }
    const wanted = constraints ?? (this.#constraints[kind] || true)
    const track = await this.#local.another(kind, wanted, (again) => this.#use(kind, again))
    track.enabled = this.#allowed[kind]
    opened.push(track)
    return { kind, direction, track }
  }

  /** The change was negotiated. */
  settle(
    { kind, track }: MediaChange,
    { constraints }: MediaWanted,
    opened: readonly MediaStreamTrack[],
  ): void {
    if (constraints) this.#constraints[kind] = constraints
    if (!track) this.#local.drop(kind)
    else if (opened.includes(track)) {
      // What the gateway refuses is nobody's new device.
      if (sends(this.#peer()?.transceiver(kind)?.currentDirection ?? null)) this.#put(kind, track)
      else track.stop()
    }
  }

  /** Something was negotiated: a camera that nobody is sent is not to stay on. */
  negotiated(): void {
    const peer = this.#peer()
    if (sends(peer?.transceiver('video')?.currentDirection ?? null)) return
    this.#local.drop('video')
    peer?.quit('video').catch(() => {})
  }

  /** Sends another microphone or camera. Rejects with a `microphone_…` code, or with `bad_state` where none is sent. */
  async choose(kind: MediaKind, constraints: MediaTrackConstraints): Promise<void> {
    if (!sends(this.#peer()?.transceiver(kind)?.direction ?? null))
      throw new ClientError('bad_state', `The call sends no ${kind}; updateMedia() adds it.`)
    if (this.#isMuted(kind)) await this.#camera.forget()
    else {
      const track = await this.#local.another(kind, constraints, (again) => this.#use(kind, again))
      await this.#use(kind, track)
    }
    this.#constraints[kind] = constraints
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
  }

  /** A kind is muted from now on: its camera is closed. A microphone stays open. */
  mute(kind: MediaKind): void {
    if (kind === 'video' && !this.#closed) this.#camera.mute()
  }

  /** Before {@link allow} lets a kind through again; see {@link MutedCamera.unmute}. */
  unmute(kind: MediaKind): Promise<boolean> | undefined {
    return kind === 'video' ? this.#camera.unmute() : undefined
  }

  /** Stops everything. Idempotent. */
  close(): void {
    this.#closed = true
    this.#camera.stop()
    this.#local.close()
  }

  async #use(kind: MediaKind, track: MediaStreamTrack): Promise<void> {
    await this.#send(kind, track)
    this.#put(kind, track)
  }

  async #send(kind: MediaKind, track: MediaStreamTrack): Promise<void> {
    track.enabled = this.#allowed[kind]
    const taken = !this.#closed && (await this.#peer()?.replace(kind, track))
    if (!taken || this.#closed) {
      track.stop()
      throw new ClientError('bad_state', `The call does not send ${kind} any more.`)
    }
  }

  #put(kind: MediaKind, track: MediaStreamTrack): void {
    const old = this.#local.track(kind)
    this.#local.put(track)
    const change = { previous: old && deviceOf(old), current: deviceOf(track) }
    this.#owner.deviceChanged(deviceNames[kind], change)
  }

  #isMuted(kind: MediaKind): boolean {
    return kind === 'video' && this.#camera.isMuted
  }

  async #openCamera(before: MediaTrackConstraints | undefined): Promise<void> {
    const track = await this.#local.request('video', before ?? (this.#constraints.video || true))
    await this.#send('video', track)
    this.#local.put(track)
  }

  async #closeCamera(): Promise<void> {
    this.#local.drop('video')
    await this.#peer()?.replace('video', null)
  }
}
