import type { types } from 'mediasoup'
import { systemClock } from '../clock.ts'
import type { Ffmpeg } from '../ffmpeg/ffmpeg.ts'
import { readFileFacts } from '../ffmpeg/file-facts.ts'
import type {
  AudioCodec,
  BrowserMedia,
  BrowserSource,
  BrowserTracks,
  BrowserVideo,
  Composers,
  Edge,
  HeardAudio,
  MediaPort,
  Mixer,
  RoomFile,
  RoomRecording,
  RoomRecordRequest,
  RoomStream,
  RoomStreamTarget,
  RoomVideo,
  StreamedRoom,
  TrackRecording,
  TrackRequest,
  WebRtc,
} from '../types.ts'
import { BrowserSession } from './browser-session.ts'
import { WebRtcError } from './errors.ts'
import { listenAddresses } from './listen-addresses.ts'
import { Relay } from './relay.ts'
import { ComposingAdmission } from './rooms/composing-admission.ts'
import { FileSource } from './rooms/file-source.ts'
import { openFileStreams } from './rooms/file-streams.ts'
import { RelayFeed } from './rooms/relay-feed.ts'
import type { ComposingService } from './rooms/room-composing.ts'
import { RoomRecorder } from './rooms/room-recorder.ts'
import { RoomStreamer } from './rooms/room-streamer.ts'
import { PictureRecorder, PortRecorder, SoundRecorder } from './rooms/track-recorders.ts'
import { VideoRoom } from './rooms/video-room.ts'
import { type AudioFormat, ownFormat, planAnswer, planSource, withFormat } from './sdp/negotiate.ts'
import { readSdp } from './sdp/read-sdp.ts'
import { SourceSession, type SourceSound } from './source-session.ts'
import { TracksSession } from './tracks/tracks-session.ts'
import { sessionVideo } from './video/session-video.ts'
import { leastLoaded, type MediaWorker, WorkerSupervisor } from './worker-supervisor.ts'

/** Options of {@link createWebRtc}. */
export interface WebRtcOptions {
  readonly edge: Pick<Edge, 'open'>
  /** Local address; 0.0.0.0 for all. */
  readonly bind: string
  /** Addresses for candidates; empty: `bind`, or every IPv4 address of the machine if that is 0.0.0.0. */
  readonly announce: readonly string[]
  /** UDP and TCP port for all browsers; each further worker uses the next port. */
  readonly port: number
  /** Number of mediasoup processes; default 1. Plan one per 350 calls. */
  readonly workers?: number
  /** Log level of the mediasoup processes; default `error`. */
  readonly logLevel?: types.WorkerLogLevel
  /**
   * Ports on 127.0.0.1, inclusive, between mediasoup and the edge and between mediasoup routers; default
   * 30000 to 39999. An audio session uses one. Video between browsers with different payload types or
   * processes uses four.
   */
  readonly relayPorts?: { readonly from: number; readonly to: number }
  /** Path of the mediasoup-worker program; default mediasoup's own choice. */
  readonly program?: string
  /** Program that reads files; default none. */
  readonly ffmpeg?: Ffmpeg | undefined
  /** Processes that compose the pictures of rooms, owned by the caller; default none. */
  readonly composers?: Composers | undefined
}

/** {@link WebRtc} with the functions for its owner. */
export interface WebRtcService extends WebRtc {
  /**
   * Sets the listener for the death of a mediasoup process. Its sessions have failed before; a new process is
   * started.
   */
  onFailure(listener: (reason: Error) => void): void
  /** Number of rooms with a composed picture. */
  readonly composedRooms: number
}

/**
 * Starts the mediasoup processes. If one does not start (missing program, port in use), ends all and rejects.
 */
export const createWebRtc = async (options: WebRtcOptions): Promise<WebRtcService> => {
  const service = new Service(options)
  await service.start()
  return service
}

class Service implements WebRtcService {
  readonly #edge: Pick<Edge, 'open'>
  readonly #supervisors: readonly WorkerSupervisor[]
  readonly #composing: ComposingService | undefined
  /** Audio of browsers by its edge port. */
  readonly #relays = new WeakMap<MediaPort, Relay>()
  readonly #ffmpeg: Ffmpeg | undefined
  #onFailure: ((reason: Error) => void) | undefined

  constructor(options: WebRtcOptions) {
    const { workers = 1, logLevel = 'error', relayPorts = { from: 30_000, to: 39_999 } } = options
    const { composers } = options
    this.#edge = options.edge
    this.#ffmpeg = options.ffmpeg
    this.#composing = composers && {
      composers,
      admission: new ComposingAdmission({ load: () => composers.load, clock: systemClock }),
    }
    const { listen, addresses } = listenAddresses(options.bind, options.announce)
    this.#supervisors = Array.from({ length: workers }, (_, index) => {
      const port = options.port + index
      const settings = { listen, addresses, port, relayPorts, logLevel, program: options.program }
      return new WorkerSupervisor(settings, (reason) => this.#onFailure?.(reason))
    })
  }

  get transports(): number {
    return this.#supervisors.reduce((sum, supervisor) => sum + supervisor.transports, 0)
  }

  get composedRooms(): number {
    return this.#composing?.admission.composed ?? 0
  }

  async start(): Promise<void> {
    try {
      await Promise.all(this.#supervisors.map((supervisor) => supervisor.start()))
    } catch (error) {
      await this.close()
      throw error
    }
  }

  onFailure(listener: (reason: Error) => void): void {
    this.#onFailure = listener
  }

  async answer(
    group: string,
    offer: string,
    codecs: readonly AudioCodec[],
    { video = true } = {},
  ): Promise<BrowserMedia> {
    // The offer is checked before anything is opened, so that most rejections are cheap.
    const plans = planAnswer(readSdp(offer, 'offer'), codecs, video)
    const audio = plans.find((plan) => plan.kind === 'audio')
    if (!audio) throw new WebRtcError('bad_sdp', 'SDP, session: an audio m-line expected')
    return this.#build(group, audio.audio, (session) => session.answer(plans), video)
  }

  offer(group: string, codec: AudioCodec, { video = false } = {}): Promise<BrowserMedia> {
    return this.#build(group, ownFormat(codec), (session) => session.offer(video))
  }

  async source(group: string, offer: string, codecs: readonly AudioCodec[] = []): Promise<BrowserSource> {
    const plans = planSource(readSdp(offer, 'offer'), codecs)
    const audio = plans.find((plan) => plan.kind === 'audio')
    const worker = await leastLoaded(this.#supervisors)
    const sound = audio && (await this.#openSound(worker, group, audio.audio))
    const session = new SourceSession(worker, () => leastLoaded(this.#supervisors), sound)
    try {
      await session.answer(sound ? plans.map((plan) => withFormat(plan, sound.relay.format)) : plans)
      return session
    } catch (error) {
      await session.close()
      throw error
    }
  }

  async tracks(_group: string, lines: number): Promise<BrowserTracks> {
    return TracksSession.open(await leastLoaded(this.#supervisors), lines)
  }

  joinVideo(a: BrowserVideo, b: BrowserVideo, onFault: (fault: Error) => void = () => {}): { close(): void } {
    const one = sessionVideo(a)
    const other = sessionVideo(b)
    const unwatches = [one.watch(other, onFault), other.watch(one, onFault)]
    return {
      close: () => {
        for (const unwatch of unwatches.splice(0)) unwatch()
      },
    }
  }

  openRoom(onFault?: (fault: Error) => void): RoomVideo {
    return new VideoRoom({ onFault, composing: this.#composing })
  }

  async heard(port: MediaPort): Promise<HeardAudio | undefined> {
    return this.#relays.get(port)?.heard()
  }

  recordRoom(mixer: Pick<Mixer, 'onPacket'>, request: RoomRecordRequest): RoomRecording {
    return new RoomRecorder(request, { mixer, clock: systemClock })
  }

  recordPicture(video: RoomVideo, sourceId: string, request: TrackRequest): TrackRecording {
    return new PictureRecorder(request, video, sourceId, { clock: systemClock })
  }

  recordSound(port: MediaPort, request: TrackRequest): TrackRecording {
    const relay = this.#relays.get(port)
    if (relay?.format.codec !== 'opus') return new PortRecorder(request, port)
    return new SoundRecorder(request, new RelayFeed(relay, systemClock), { clock: systemClock })
  }

  streamRoom(room: StreamedRoom, target: RoomStreamTarget): RoomStream {
    if (!this.#ffmpeg) throw new WebRtcError('closed', 'ffmpeg expected')
    return new RoomStreamer(room, target, { ffmpeg: this.#ffmpeg, clock: systemClock })
  }

  async openFile(group: string, file: number, signal?: AbortSignal): Promise<RoomFile> {
    const ffmpeg = this.#ffmpeg
    if (!ffmpeg) throw new WebRtcError('closed', 'ffmpeg expected')
    const facts = await readFileFacts(ffmpeg, file, signal)
    const worker = await leastLoaded(this.#supervisors)
    const sound = facts.hasAudio ? await this.#openSound(worker, group, ownFormat('opus')) : undefined
    try {
      const streams = await openFileStreams(worker, facts.hasVideo, sound)
      return new FileSource({ file, facts }, { ffmpeg, clock: systemClock, streams, sound })
    } catch (error) {
      sound?.relay.close()
      if (sound) await closePort(sound.port)
      throw error
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#supervisors.map((supervisor) => supervisor.close()))
  }

  async #openSound(worker: MediaWorker, group: string, format: AudioFormat): Promise<SourceSound> {
    const port = await this.#edge.open({ group, kind: 'loopback' })
    try {
      const relay = await Relay.open(worker, port, format, 'recvonly')
      this.#relays.set(port, relay)
      return { port, relay }
    } catch (error) {
      await closePort(port)
      throw error
    }
  }

  async #build(
    group: string,
    format: AudioFormat,
    negotiate: (session: BrowserSession) => Promise<void>,
    takesVideo = true,
  ): Promise<BrowserMedia> {
    const worker = await leastLoaded(this.#supervisors)
    const port = await this.#edge.open({ group, kind: 'loopback' })
    let undo: () => Promise<unknown> = () => closePort(port)
    try {
      const relay = await Relay.open(worker, port, format)
      this.#relays.set(port, relay)
      const session = new BrowserSession({
        worker,
        nextWorker: () => leastLoaded(this.#supervisors),
        port,
        relay,
        format: relay.format,
        isVideoAccepted: takesVideo,
      })
      undo = () => Promise.all([session.close(), closePort(port)])
      await negotiate(session)
      return session
    } catch (error) {
      await undo()
      throw error
    }
  }
}

// An error while closing is ignored: the first error is the one to report.
const closePort = (port: MediaPort): Promise<unknown> => port.close().catch(() => undefined)
