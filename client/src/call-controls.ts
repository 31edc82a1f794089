import { CallCommands, type Channel } from './call-commands.ts'
import type { CallEvents } from './call-events.ts'
import { CallMedia } from './call-media.ts'
import type { CallSetup } from './call-setup.ts'
import { type CallState, isAnswered } from './call-state.ts'
import { ClientError } from './errors.ts'
import { type Json, text } from './frames.ts'
import { LevelWatch } from './level-watch.ts'
import { audioFlagsOf } from './local-media.ts'
import type {
  CallQuality,
  MediaDirection,
  ScreenShareOptions,
  UpdateMediaParams,
  VideoState,
} from './media-types.ts'
import type { Member } from './member-types.ts'
import { Muting } from './muting.ts'
import { QualityWatch } from './quality.ts'
import { Recovery } from './recovery.ts'
import { RoomTracks } from './room-tracks.ts'
import type { ScreenShare } from './screen-share.ts'
import { Screens } from './screens.ts'

/** Media of a call: audio and video sent and received, devices, the media path, and shared screens. */
export abstract class CallControls extends CallCommands {
  readonly #setup: CallSetup
  readonly #media: CallMedia
  readonly #recovery: Recovery
  readonly #levels: LevelWatch
  readonly #qualities: QualityWatch
  #quality: CallQuality | undefined
  /** Separate cameras and screens of a room, with the option `tracks`. */
  readonly tracks: RoomTracks
  readonly #screens: Screens
  readonly #muting: Muting

  constructor(setup: CallSetup) {
    const { environment, log, signalling } = setup
    super(setup.id, log, (method, params) => signalling.request(method, params))
    this.#setup = setup
    this.#screens = new Screens(setup)
    this.#media = new CallMedia(environment, log, setup.options, {
      remoteTrack: (track) => this.emit('track', { track, stream: this.#media.remote }),
      pathChanged: () => this.pathChanged(),
      videoChanged: (video) => this.emit('video', video),
      deviceChanged: (device, change) => this.emit(`${device}.updated`, change),
      deviceGone: (device, name) => this.emit(`${device}.disconnected`, name),
    })
    this.#recovery = new Recovery(environment.clock, {
      path: () => this.#media.path,
      isConnected: () => signalling.isConnected,
      restart: () => this.#media.restart(signalling.iceServers, (sdp) => this.#modify(sdp)),
      seeking: () => this.#seeking(),
      found: () => this.emit('media.connected', {}),
      givenUp: (cause) => this.#givenUp(cause),
    })
    const media = this.#media
    const members = this.memberState
    this.tracks = new RoomTracks(setup.options.tracks, {
      environment,
      log,
      iceServers: () => signalling.iceServers,
      request: (method, params) => members.plainCommand(method, params),
      memberIds: () => members.all.map(({ member_id: id }) => id),
      changed: (tracks) => this.emit('tracks', tracks),
    })
    this.#muting = new Muting({
      allow: (kind, on) => media.allow(kind, on),
      close: (kind) => media.mute(kind),
      open: (kind) => media.unmute(kind),
      changed: (muted) => this.emit('mute', muted),
      require: (capability) => members.require(capability),
      may: (capability) => members.isJoined && members.may(capability),
      tell: (method, kind) => members.command(method, undefined, { channels: [kind] }),
      failed: (error) => log.warn('mute change rejected', error),
    })
    const source = {
      get local() {
        return media.local
      },
      remote: media.remote,
    }
    this.#levels = new LevelWatch(environment.clock, environment.createMeter, source, (levels) => {
      this.emit('level', levels)
      // A `once` listener is gone after its event.
      this.#measure()
    })
    const stats = () => (this.state === 'active' && !this.isHeldByOthers ? media.stats() : undefined)
    this.#qualities = new QualityWatch(environment.clock, stats, (quality) => {
      this.#quality = quality
      this.emit('quality', quality)
      this.#measure()
    })
  }

  abstract get state(): CallState

  protected abstract verto(method: string, params: Json): Promise<Json>

  /** Ends the call because the media path cannot be restored. */
  protected abstract mediaLost(reason: ClientError): void

  /** Gateway node that holds the call; undefined until known. */
  protected abstract get node(): string | undefined

  protected get media(): CallMedia {
    return this.#media
  }

  /** Whether the call is answered and not ended. */
  get active(): boolean {
    return isAnswered(this.state)
  }

  /**
   * Microphone and camera, for a preview. The object stays the same while tracks change; undefined until the
   * first device is open.
   */
  get localStream(): MediaStream | undefined {
    return this.#media.local
  }

  /** Media of the far side; empty until its first track. The object stays the same while tracks change. */
  get remoteStream(): MediaStream {
    return this.#media.remote
  }

  get localAudioTrack(): MediaStreamTrack | null {
    return this.#media.track('audio') ?? null
  }

  get localVideoTrack(): MediaStreamTrack | null {
    return this.#media.track('video') ?? null
  }

  /** Id of the microphone in use; null if none. */
  get microphoneId(): string | null {
    return this.localAudioTrack?.getSettings().deviceId ?? null
  }

  /** Id of the camera in use; null if none. */
  get cameraId(): string | null {
    return this.localVideoTrack?.getSettings().deviceId ?? null
  }

  /** Whether receiving audio is negotiated. */
  get withAudio(): boolean {
    return this.#media.receives('audio')
  }

  /** Whether receiving video is negotiated; `video.remote` says whether it arrives. */
  get withVideo(): boolean {
    return this.#media.receives('video')
  }

  /** Video sent and received now; the event `video` reports changes. */
  get video(): VideoState {
    return this.#media.video
  }

  /**
   * Whether media has flowed since the answer or before: the event `media.connected` has occurred. A path
   * that fails later does not change it.
   */
  get hasMedia(): boolean {
    return this.#recovery.hasFlowed
  }

  /**
   * Whether all other parties have put the call on hold. The event `memberList.updated` reports changes.
   */
  get isHeldByOthers(): boolean {
    return this.memberState.isHeldByOthers
  }

  /** Latest measured quality; undefined before the first event `quality`, and after a hold. */
  get quality(): CallQuality | undefined {
    return this.#quality
  }

  /** Whether audio or video is muted, by {@link mute} or by the gateway. */
  get muted(): Readonly<Record<Channel, boolean>> {
    return this.#muting.muted
  }

  /** Screens that this call shares. */
  get screenShareList(): readonly ScreenShare[] {
    return this.#screens.all
  }

  protected override listened(): void {
    this.#measure()
  }

  protected override emit<Name extends keyof CallEvents>(name: Name, payload: CallEvents[Name]): void {
    if (name === 'memberList.updated') {
      this.#media.farVideo(this.memberState.farVideo)
      if (this.isHeldByOthers) {
        this.#quality = undefined
        // A measurement must not reach back to before the hold.
        this.#qualities.stop()
        this.#measure()
      }
    }
    super.emit(name, payload)
  }

  /**
   * Mutes the microphone, or blackens and then closes the camera, at once, and informs the gateway.
   * The same as `audioMute()` and `videoMute()`.
   */
  mute(channel: Channel = 'audio'): Promise<void> {
    return this.setMuted(channel, true)
  }

  /** Undoes {@link mute}. Opens the camera again; rejects with a `microphone_…` code if that fails. */
  unmute(channel: Channel = 'audio'): Promise<void> {
    return this.setMuted(channel, false)
  }

  /**
   * Adds media to a running call, or removes it: opens or closes the microphone or camera, and renegotiates.
   * Rejects with a `microphone_…` code, `bad_argument`, `bad_state`, or the gateway's error; the media is
   * then unchanged.
   */
  async updateMedia(params: UpdateMediaParams): Promise<void> {
    this.#require('updateMedia')
    await this.#media.update(params, (sdp) => this.#modify(sdp))
  }

  /** See {@link CallMedia.openDevices}. Rejects like {@link updateMedia}. */
  protected openDevices(): Promise<void> {
    return this.#media.openDevices((sdp) => this.#modify(sdp))
  }

  /** Same as `updateMedia({ audio: { direction } })`. */
  setAudioDirection(direction: MediaDirection): Promise<void> {
    return this.updateMedia({ audio: { direction } })
  }

  /** Same as `updateMedia({ video: { direction } })`. */
  setVideoDirection(direction: MediaDirection): Promise<void> {
    return this.updateMedia({ video: { direction } })
  }

  /**
   * Replaces the camera in use, without renegotiation. Rejects with a `microphone_…` code, or with
   * `bad_state` if no camera is in use.
   */
  async updateCamera(constraints: MediaTrackConstraints): Promise<void> {
    this.#require('updateCamera')
    await this.#media.choose('video', constraints)
  }

  /** Replaces the microphone in use; see {@link updateCamera}. */
  async updateMicrophone(constraints: MediaTrackConstraints): Promise<void> {
    this.#require('updateMicrophone')
    await this.#media.choose('audio', constraints)
  }

  /**
   * Plays the call on another loudspeaker; possible before the call starts. Rejects with `unsupported` or
   * `bad_argument`.
   */
  async updateSpeaker({ deviceId }: { readonly deviceId: string }): Promise<void> {
    if (this.state === 'ended') throw new ClientError('bad_state', 'The call has ended.')
    await this.#media.chooseSpeaker(deviceId)
  }

  /**
   * Lets the user choose a screen, a window or a tab, and shows it to the others in place of the camera.
   * Resolves when the gateway has accepted it.
   * The share ends with {@link ScreenShare.leave}, through the browser's own control, or with the call.
   * Rejects with `screen_refused`, `screen_failed`, `unsupported`, `no_capability`, `bad_state`, or the
   * gateway's error.
   */
  async startScreenShare(options: ScreenShareOptions = {}): Promise<ScreenShare> {
    this.#require('startScreenShare')
    this.memberState.require('screenshare')
    return this.#screens.start(options, this.memberId, this.node)
  }

  /** Handles the return (`up`) or loss of the connection to the gateway. For the client only. */
  connectionChanged(up: boolean): void {
    this.#recovery.connectionChanged(up)
  }

  /** For the client only: the browser changed to another network. */
  networkChanged(): void {
    if (this.active) this.#recovery.pathLost()
  }

  /** Handles the death of the gateway's media server: this page makes a new offer. */
  protected pathLost(): void {
    this.#recovery.pathLost()
  }

  protected setHolding(holding: boolean): void {
    this.#muting.hold(holding)
  }

  protected async setMuted(channel: Channel, muted: boolean): Promise<void> {
    if (this.state === 'ended') throw new ClientError('bad_state', 'The call has ended.')
    await this.#muting.set(channel, muted)
  }

  protected selfJoined(member: Member): void {
    this.#muting.joined(member)
  }

  protected selfUpdated(member: Member, updated: readonly string[]): void {
    this.#muting.updated(member, updated)
    const flags = audioFlagsOf(member, updated)
    if (Object.keys(flags).length > 0) this.constrain('audio', flags)
  }

  /** Applies constraints to the microphone or camera, as far as the browser can. */
  protected constrain(channel: Channel, constraints: MediaTrackConstraints): void {
    this.#media
      .constrain(channel, constraints)
      .catch((error: unknown) => this.#setup.log.warn('browser rejected the constraints of a device', error))
  }

  /**
   * Handles a change of the media path or of the call's state. A path that fails before the answer is not
   * restored.
   */
  protected pathChanged(): void {
    if (this.active || this.#media.path === 'connected') this.#recovery.pathChanged()
  }

  /**
   * Releases all media and ends the screens. The gateway is informed unless it no longer has the call
   * (`known` is false).
   */
  protected release(known: boolean, reason: ClientError): void {
    this.#recovery.close()
    this.#levels.stop()
    this.#qualities.stop()
    this.#media.close()
    this.tracks.close()
    this.#screens.end(known, reason)
  }

  async #modify(sdp: string): Promise<string> {
    const reply = await this.verto('verto.modify', { sdp, action: 'updateMedia' })
    const answer = text(reply.sdp)
    if (answer === undefined) throw new ClientError('server', 'The gateway gave no answer to the offer.')
    return answer
  }

  #seeking(): void {
    this.#setup.log.warn('media path of a call failed; negotiating a new one')
    this.emit('media.reconnecting', {})
  }

  #givenUp(cause: unknown): void {
    this.emit('media.disconnected', {})
    this.mediaLost(
      new ClientError('media_lost', 'The media path broke and could not be restored.', { cause }),
    )
  }

  #require(what: string): void {
    if (!this.active)
      throw new ClientError('bad_state', `${what}: not possible while the call is ${this.state}.`)
  }

  #measure(): void {
    if (this.has('level') && this.state !== 'ended') this.#levels.start()
    else this.#levels.stop()
    if (this.has('quality') && this.state !== 'ended') this.#qualities.start()
    else this.#qualities.stop()
  }
}
