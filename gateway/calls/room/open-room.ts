import { randomUUID } from 'node:crypto'
import { isHttpUrl } from '../../../handlers/common/urls.ts'
import { beep } from '../../../media/record/beep.ts'
import type {
  BrowserSource,
  BrowserVideo,
  MediaPort,
  Mixer,
  MixerInputOptions,
  MixerOptions,
  RoomFile,
  RoomPicture,
  RoomStreamFault,
  RoomVideo,
  Talk,
  WebRtc,
} from '../../../media/types.ts'
import type { RtmpConnector } from '../../callbacks/rtmp-target.ts'
import type { SteadyClock } from '../../core/clock.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import { type CameraSize, CameraSizes } from '../../rooms/camera-sizes.ts'
import { RoomSession } from '../../rooms/room-session.ts'
import type {
  Picture,
  PictureKind,
  PlaybackRequest,
  RecordingTerms,
  RoomMedia,
  RoomMediaPlayback,
  RoomMediaRecording,
  RoomMediaStream,
  RoomMember,
  RoomSettings,
} from '../../rooms/room-types.ts'
import type { RoomRecordingStore } from '../audio/recording-store.ts'
import type { RoomFiles } from '../audio/room-files.ts'
import type { TrackListener } from '../leg/room-seat.ts'
import { FilePlayback, type PlaybackRoom } from './file-playback.ts'
import { MemberTracks } from './member-tracks.ts'
import { RecordAtStart } from './record-at-start.ts'
import { type MemberFigures, RoomFigures } from './room-figures.ts'
import { type RecordedCall, RoomRecordings } from './room-recordings.ts'
import { ServerStream, type StreamFailure } from './server-stream.ts'
import { StreamsAtStart } from './streams-at-start.ts'

/** Rate of the mixer's audio in Hz: full band for browsers with Opus. */
const mixRate = 48_000
/** Rate of tones, in Hz. */
const wideRate = 16_000

/** Collaborators of an {@link OpenRoom}. */
export interface OpenRoomDeps {
  readonly openMixer: (options: MixerOptions) => Promise<Mixer>
  readonly webrtc: Pick<
    WebRtc,
    'heard' | 'openRoom' | 'recordRoom' | 'recordPicture' | 'recordSound' | 'streamRoom' | 'tracks'
  >
  readonly recordings: RoomRecordingStore
  readonly files: Pick<RoomFiles, 'hasFfmpeg' | 'take' | 'takeStream'>
  readonly rtmp: Pick<RtmpConnector, 'target'>
  readonly clock: SteadyClock
  readonly log: Log
  /** Called with each sample of the figures of a member; default nothing. */
  readonly onFigures?: (figures: MemberFigures) => void
  /** Called with each failed attempt to stream a room; default nothing. */
  readonly onStreamFault?: (fault: RoomStreamFault) => void
  /** Reads the URLs of the streams that start with each session of a room; default none. */
  readonly streamUrls?: (roomId: string) => Promise<readonly string[]>
}

/** A room session with its media: one mixer, and the video of its browsers. */
export class OpenRoom implements RoomMedia, PlaybackRoom {
  readonly session: RoomSession
  readonly #deps: OpenRoomDeps
  readonly #log: Log
  readonly #mixer: Mixer
  readonly #ports = new Map<string, MediaPort>()
  readonly #video: RoomVideo
  /** Members that receive the picture of the room. */
  readonly #viewers = new Set<string>()
  /** Separate cameras, by the member that receives them. */
  readonly #tracks = new Map<string, MemberTracks>()
  readonly #cameras: CameraSizes
  /** Listeners of the sizes of cameras by the ids of members. */
  readonly #cameraListeners = new Map<string, (size: CameraSize) => void>()
  readonly #recordings: RoomRecordings
  /** Figures of the members, which are sampled while the session lasts. */
  readonly figures: RoomFigures

  private constructor(deps: OpenRoomDeps, settings: RoomSettings, mixer: Mixer, onClosed: () => void) {
    const { clock } = deps
    const id = randomUUID()
    this.#deps = deps
    this.#mixer = mixer
    this.#log = deps.log.child({ room: settings.name, roomSession: id })
    this.#video = deps.webrtc.openRoom((err) =>
      this.#log.warn({ event: 'room.video-failed', err }, 'video of a member not shown'),
    )
    this.#video.onComposing((canCompose, reason) => this.#composingChanged(canCompose, reason))
    this.#cameras = new CameraSizes({
      clock,
      onChange: (memberId, size) => {
        if (this.#video.limitCamera(memberId, size.bitRate)) this.#cameraListeners.get(memberId)?.(size)
      },
    })
    this.session = new RoomSession(
      { id, settings, pictureKind: kindOf(this.#video.canCompose) },
      { media: this, clock, log: this.#log },
    )
    const { webrtc, recordings: store } = deps
    this.#recordings = new RoomRecordings(
      { session: this.session, video: this.#video, portOf: (memberId) => this.#ports.get(memberId) },
      { mixer, webrtc, store, clock, log: this.#log },
    )
    new RecordAtStart(this.session, { clock, log: this.#log })
    const { streamUrls: urlsOf } = deps
    if (urlsOf) new StreamsAtStart(this.session, { urlsOf, clock, log: this.#log })
    this.figures = new RoomFigures({
      clock,
      members: () =>
        this.session.present.map(({ id, isPhone }) => ({ id, isPhone, port: this.#ports.get(id) })),
      isPresent: (memberId) => this.session.member(memberId) !== undefined,
      heardOf: async (memberId) => {
        const port = this.#ports.get(memberId)
        return port && webrtc.heard(port)
      },
      videoOf: (memberId) => this.#video.figures(memberId),
      onSample: deps.onFigures ?? (() => {}),
    })
    this.session.listen((event) => {
      if (event.kind === 'member.left') this.#removeMedia(event.member)
      if (event.kind !== 'room.ended') return
      this.#close()
      onClosed()
    })
  }

  /** Opens a session. Rejects if the edge has no mixer. */
  static async open(deps: OpenRoomDeps, settings: RoomSettings, onClosed: () => void): Promise<OpenRoom> {
    const room = new OpenRoom(deps, settings, await deps.openMixer({ rate: mixRate }), onClosed)
    // The mixer's thread has died: no audio is left.
    void room.#mixer.closed.then(() => room.session.end())
    room.#mixer.onTalking((port, talk) => room.#talks(port, talk))
    room.#log.info({ event: 'room.started', projectId: settings.projectId }, 'room session started')
    return room
  }

  /** Adds a call whose caller joins. Returns a function that removes it. */
  addCall(call: RecordedCall): () => void {
    return this.#recordings.addCall(call)
  }

  /** Adds the audio of a member; no effect after the member has left. */
  addVoice(member: RoomMember, port: MediaPort): void {
    if (!this.session.member(member.id)) return
    const former = this.#ports.get(member.id)
    if (former && former !== port) this.#mixer.remove(former)
    this.#ports.set(member.id, port)
    this.setAudio(member)
    for (const each of this.session.members) if (each.parentId === member.id) this.setAudio(each)
  }

  /** Shows the camera of a member to the room, and the room's picture to the member. */
  addVideo(memberId: string, video: BrowserVideo): void {
    if (!this.session.member(memberId)) return
    this.#video.add(memberId, video)
    this.#viewers.add(memberId)
    this.#recordings.addVideo()
    this.#cameras.add(memberId)
    this.#video.limitCamera(memberId, this.#cameras.sizeOf(memberId).bitRate)
  }

  /**
   * Calls `listener` with the size that the camera of a present member shall have, at once and after each
   * change. Replaces its listener.
   */
  onCameraSize(memberId: string, listener: (size: CameraSize) => void): void {
    if (!this.session.member(memberId)) return
    this.#cameraListeners.set(memberId, listener)
    listener(this.#cameras.sizeOf(memberId))
  }

  /** Adds the picture and the sound of a screen or a device. No effect after the member has left. */
  addSource(member: RoomMember, source: BrowserSource): void {
    if (!this.session.member(member.id)) return
    if (source.port) {
      this.#ports.set(member.id, source.port)
      this.setAudio(member)
    }
    if (!source.hasVideo) return
    if (member.type === 'screen') this.#video.addScreen(member.id, source)
    else this.#video.addCamera(member.id, source)
    this.#recordings.addVideo()
  }

  /** Removes the picture of a member. No effect if it has none. */
  removeVideo(memberId: string): void {
    this.#video.remove(memberId)
    this.#viewers.delete(memberId)
  }

  /**
   * Opens lines for separate cameras, in place of former ones of the member. Rejects with `room_failed` if
   * the media has no room for them, and with `room_member_unknown` if the member has left or has no media.
   */
  async openTracks(memberId: string, lines: number, listener: TrackListener): Promise<MemberTracks> {
    const { webrtc } = this.#deps
    const tracks = await webrtc.tracks(memberId, lines).catch((cause: unknown) => {
      throw new TrunklineError('room_failed', undefined, { reason: String(cause) })
    })
    if (!this.#viewers.has(memberId)) {
      await tracks.close()
      throw new TrunklineError('room_member_unknown', undefined, { member: memberId })
    }
    this.#tracks.get(memberId)?.close()
    const { session } = this
    const opened = new MemberTracks({ session, video: this.#video, tracks, memberId, lines, listener })
    this.#tracks.set(memberId, opened)
    return opened
  }

  setAudio(member: RoomMember): void {
    const port = this.#ports.get(member.id)
    if (!port) return
    const { audio_muted, deaf, input_volume: inDb, output_volume: outDb } = member.state
    const { canSpeak, canHear } = member.media
    port.setVolumes({ inDb, outDb })
    // A member on hold hears what its call plays, such as music.
    if (member.isOnHold) this.#mixer.remove(port)
    else {
      const canBeHeard = canSpeak && !audio_muted
      this.#mixer.add(port, { canSpeak: canBeHeard, canHear: canHear && !deaf, ...this.#sourceInput(member) })
    }
    this.#recordings.update()
  }

  /** Returns the options of the sound of a screen or a device. Its owner has it already. */
  #sourceInput({ type, parentId = '' }: RoomMember): MixerInputOptions {
    const owner = this.#ports.get(parentId)
    return {
      ...(owner && { inaudibleTo: [owner] }),
      // The sound of a screen is often music, and the voice of no member.
      ...(type === 'screen' && { isVoice: false }),
    }
  }

  show(picture: Picture): void {
    this.#cameras.show(picture)
    this.#video.show(mediaPicture(picture))
  }

  expect(memberId: string): void {
    this.#video.expect(memberId)
  }

  playTone(): void {
    this.#mixer.play({ prompt: { sampleRate: wideRate, samples: beep(wideRate) } })
  }

  record(terms: RecordingTerms): RoomMediaRecording {
    return this.#recordings.start(terms)
  }

  get hasFfmpeg(): boolean {
    return this.#deps.files.hasFfmpeg
  }

  play(request: PlaybackRequest, onPicture: () => void): RoomMediaPlayback {
    if (!isHttpUrl(request.url)) throw new TrunklineError('bad_playback_url')
    const { files, clock } = this.#deps
    const seated = files.take(this.session.settings.projectId)
    const playback = new FilePlayback(request, { seated, room: this, clock, onPicture })
    const { id, url } = playback
    this.#log.info({ event: 'room.playback-started', playback: id, url }, 'file played into a room')
    void playback.done.then(({ failure, detail }) => {
      const level = failure === undefined ? 'info' : 'warn'
      const reason = detail ?? failure
      this.#log[level]({ event: 'room.playback-ended', playback: id, url, reason }, 'playback ended')
    })
    return playback
  }

  stream(text: string): RoomMediaStream {
    const { files, rtmp, webrtc, clock } = this.#deps
    const target = rtmp.target(text)
    const release = files.takeStream(this.session.settings.projectId)
    const room = { mixer: this.#mixer, video: this.#video }
    const stream: ServerStream = new ServerStream(target, target.masked, {
      start: (to) => webrtc.streamRoom(room, to),
      clock,
      onFailure: (failure) => this.#streamFailed(stream, failure),
    })
    const { id, url, done } = stream
    this.#log.info({ event: 'room.stream-started', stream: id, url }, 'room streamed')
    void done.then(({ failure: reason }) => {
      release()
      this.#log.info({ event: 'room.stream-ended', stream: id, url, reason }, 'stream ended')
    })
    return stream
  }

  #streamFailed({ id, url }: ServerStream, { fault, failure, detail, waitMs }: StreamFailure): void {
    if (fault !== undefined) this.#deps.onStreamFault?.(fault)
    this.#log.warn(
      { event: 'room.stream-failed', stream: id, url, fault, reason: failure, detail, waitMs },
      waitMs === undefined ? 'stream failed' : 'stream failed, a further attempt follows',
    )
  }

  addFile(id: string, file: RoomFile, volume: number): void {
    const { port } = file
    if (port) {
      port.setVolumes({ inDb: volume, outDb: 0 })
      // Its sound is often music, and the voice of no member.
      this.#mixer.add(port, { canHear: false, isVoice: false })
    }
    if (!file.hasVideo) return
    this.#video.addFile(id, file)
    this.#recordings.addVideo()
  }

  removeFile(id: string, { port }: RoomFile): void {
    if (port) this.#mixer.remove(port)
    this.#video.remove(id)
  }

  #removeMedia({ id, isPhone }: RoomMember): void {
    const port = this.#ports.get(id)
    if (port) this.#mixer.remove(port)
    // A page keeps its volumes after the room, and applies them itself.
    if (isPhone) port?.setVolumes({ inDb: 0, outDb: 0 })
    this.#ports.delete(id)
    this.figures.remove(id)
    this.#cameras.remove(id)
    this.#cameraListeners.delete(id)
    this.#tracks.get(id)?.close()
    this.#tracks.delete(id)
    this.removeVideo(id)
  }

  #talks(port: MediaPort, talk: Talk): void {
    for (const [memberId, known] of this.#ports)
      if (known === port) this.session.setTalking(memberId, talk !== 'silent', talk === 'speaking')
  }

  #composingChanged(canCompose: boolean, reason: string): void {
    if (this.session.isEnded) return
    const kind = kindOf(canCompose)
    const level = canCompose ? 'info' : 'warn'
    this.#log[level]({ event: 'room.picture-changed', kind, reason }, 'picture of a room changed')
    this.session.setPictureKind(kind)
  }

  #close(): void {
    void this.#mixer.close()
    this.figures.close()
    this.#cameras.close()
    this.#video.close()
    this.#log.info(
      { event: 'room.ended', ms: this.#deps.clock.now() - this.session.startedAt },
      'room session ended',
    )
  }
}

const kindOf = (canCompose: boolean): PictureKind => (canCompose ? 'composed' : 'speaker')

/** Returns a picture in the terms of the media. */
const mediaPicture = (picture: Picture): RoomPicture =>
  picture.kind === 'speaker'
    ? picture
    : {
        kind: 'composed',
        layers: picture.layers.map(({ memberId: id, ...layer }) => ({ id, ...layer })),
      }
