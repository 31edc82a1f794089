import type { Environment } from './environment.ts'
import { ClientError } from './errors.ts'
import { deviceOf, LocalMedia, type MediaKind, type Wanted } from './local-media.ts'
import type { MediaOwner } from './media-owner.ts'
import type { MediaWanted } from './media-wanted.ts'
import { MutedCamera } from './muted-camera.ts'
import { directionOf, type MediaChange, type Peer, sends } from './peer.ts'
import type { CallOptions } from './types.ts'

const deviceNames = { audio: 'microphone', video: 'camera' } as const

// An offer has a section for a kind if the port of that section is not 0.
const offers = (offer: string, kind: MediaKind): boolean => new RegExp(`^m=${kind} [1-9]`, 'm').test(offer)
const takesVideo = (offer: string): boolean =>
  offer
    .split(/^m=/m)
    .some((section) => /^video [1-9]/.test(section) && !/^a=(sendonly|inactive)/m.test(section))

/** Media that a call sends: opens, replaces, mutes and closes the microphone and the camera. */
export class SentMedia {
  readonly #owner: Pick<MediaOwner, 'deviceChanged' | 'deviceGone'>
  readonly #peer: () => Peer | undefined
  readonly #local: LocalMedia
  readonly #camera: MutedCamera
  readonly #constraints: Record<MediaKind, Wanted>
  readonly #allowed: Record<MediaKind, boolean> = { audio: true, video: true }
  #work: Promise<unknown> = Promise.resolve()
  #closed = false

  /** `peer` returns the call's connection, once it exists; `changed` is called when a device is lost. */
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

  /** Local track of a kind, silenced or not. */
  track(kind: MediaKind): MediaStreamTrack | undefined {
    return this.#local.track(kind)
  }

  /** Whether a camera is requested. */
  get wantsVideo(): boolean {
    return Boolean(this.#constraints.video)
  }

  /** Whether a camera is open and not muted. */
  get films(): boolean {
    const track = this.#local.track('video')
    return track !== undefined && track.readyState !== 'ended' && this.#allowed.video
  }

  /** Changes run one after another, so that the last request decides, whichever device opens first. */
  serially<T>(run: () => Promise<T>): Promise<T> {
    const done = this.#work.then(run)
    this.#work = done.catch(() => {})
    return done
  }

  /**
   * Opens the devices with which the call starts; with an offer, only devices whose kind has a section in it.
   * Rejects like {@link LocalMedia.open}.
   */
  async open(offer?: string): Promise<void> {
    const { audio, video } = this.#constraints
    const wanted = (offer === undefined || takesVideo(offer)) && video
    await this.#local.open({
      audio: (offer === undefined || offers(offer, 'audio')) && audio,
      video: !this.#camera.isMuted && wanted,
    })
    // The user may mute or unmute the camera while the browser's permission prompt is open.
    if (wanted && !this.#camera.isMuted && !this.#local.track('video'))
      this.#local.put(await this.#local.request('video', wanted))
    if (this.#camera.isMuted) this.#camera.mute()
  }

  /** Returns the first state of a kind. */
  first(kind: MediaKind, receive: boolean): MediaChange {
    const track = this.#local.track(kind) ?? null
    const later = this.#isMuted(kind) && this.wantsVideo
    return { kind, track, direction: directionOf(track !== null || later, receive) }
  }

  /**
   * Returns the change for a direction, with the current track or a newly opened device, which is added to
   * `opened`.
   */
  async change(
    { kind, direction, constraints }: MediaWanted,
    opened: MediaStreamTrack[],
  ): Promise<MediaChange> {
    if (!sends(direction)) return { kind, direction, track: null }
    // The device is opened when the kind is unmuted.
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

  /** Applies a change after it was negotiated. */
  settle(
    { kind, track }: MediaChange,
    { constraints }: MediaWanted,
    opened: readonly MediaStreamTrack[],
  ): void {
    if (constraints) this.#constraints[kind] = constraints
    if (!track) this.#local.drop(kind)
    else if (opened.includes(track)) {
      // The device is not used if the gateway rejected its kind.
      if (sends(this.#peer()?.transceiver(kind)?.currentDirection ?? null)) this.#put(kind, track)
      else track.stop()
    }
  }

  /** Handles the end of a negotiation: a camera that is not sent must not stay open. */
  negotiated(): void {
    const peer = this.#peer()
    if (sends(peer?.transceiver('video')?.currentDirection ?? null)) return
    this.#local.drop('video')
    peer?.quit('video').catch(() => {})
  }

  /**
   * Replaces the microphone or camera in use. Rejects with a `microphone_…` code, or with `bad_state` if none
   * is in use.
   */
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

  /** Applies constraints to the device of a kind. */
  async constrain(kind: MediaKind, constraints: MediaTrackConstraints): Promise<void> {
    const track = this.#local.track(kind)
    await track?.applyConstraints({ ...track.getConstraints(), ...constraints })
  }

  /** Sends the tracks of a kind if `on`, otherwise silence or black frames. */
  allow(kind: MediaKind, on: boolean): void {
    this.#allowed[kind] = on
    this.#local.allow(kind, on)
  }

  /** Handles muting of a kind: closes the camera; a microphone stays open. */
  mute(kind: MediaKind): void {
    if (kind === 'video' && !this.#closed) this.#camera.mute()
  }

  /** Prepares unmuting of a kind, before {@link allow}; see {@link MutedCamera.unmute}. */
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
    const isReplaced = !this.#closed && (await this.#peer()?.replace(kind, track))
    if (!isReplaced || this.#closed) {
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
