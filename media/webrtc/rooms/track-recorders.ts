import type { MediaClock, MediaTimer } from '../../clock.ts'
import { failureOf, type RecordingFiles } from '../../record/disk-files.ts'
import { type WebmFrame, WebmRecorder } from '../../record/webm/webm-recorder.ts'
import { OpusTrack } from '../../rooms/opus-track.ts'
import type {
  MediaPort,
  MemberFrames,
  Recording,
  RecordingResult,
  RoomVideo,
  TrackRecording,
  TrackRequest,
} from '../../types.ts'
import type { SoundSource } from './relay-feed.ts'

/** Interval of the checks of a sound for missing packets, in ms. */
const tickMs = 100
/** Sampling rate of WAV files, in Hz. */
const wavRate = 16_000

/** Collaborators of the recordings of tracks. */
export interface TrackRecorderDeps {
  readonly clock: MediaClock
  /** File system; default the machine's. */
  readonly files?: RecordingFiles
}

/** Records the picture of one source of a room, see {@link TrackRecording}. */
export class PictureRecorder implements TrackRecording {
  readonly format = 'webm'
  readonly done: Promise<RecordingResult>
  readonly #recorder: WebmRecorder
  readonly #startedAt: number
  readonly #frames: MemberFrames

  /** `sourceId`: id of the source in the room. */
  constructor(
    { pathOf }: TrackRequest,
    video: Pick<RoomVideo, 'watchMember'>,
    sourceId: string,
    deps: TrackRecorderDeps,
  ) {
    this.#recorder = new WebmRecorder({ path: pathOf('webm'), ...deps })
    this.#startedAt = deps.clock.now()
    this.#frames = video.watchMember(sourceId, ({ at, ...frame }) => this.#add(at, frame))
    this.done = this.#recorder.done.finally(() => this.#frames.close())
  }

  setMuted(isMuted: boolean): void {
    this.#frames.setShown(!isMuted)
  }

  pause(): void {
    this.#frames.flush()
    this.#recorder.pause()
  }

  resume(): void {
    this.#recorder.resume()
    if (this.#recorder.needsKey) this.#frames.requestKeyFrame()
  }

  stop(): void {
    this.#frames.flush()
    this.#frames.close()
    this.#recorder.stop()
  }

  #add(at: number, frame: WebmFrame): void {
    // The first key frame may be from the time before the start. The frames that follow build on it.
    this.#recorder.addVideo(Math.max(at, this.#startedAt), frame)
    // A key frame from the time of a pause is not recorded.
    if (frame.size && this.#recorder.needsKey) this.#frames.requestKeyFrame()
  }
}

/** Records the Opus that a browser sends, see {@link TrackRecording}. */
export class SoundRecorder implements TrackRecording {
  readonly format = 'webm'
  readonly done: Promise<RecordingResult>
  readonly #clock: MediaClock
  readonly #recorder: WebmRecorder
  readonly #track: OpusTrack
  readonly #detach: () => void
  #isMuted = false
  #timer: MediaTimer | undefined

  constructor({ pathOf }: TrackRequest, source: SoundSource, deps: TrackRecorderDeps) {
    const { clock } = deps
    this.#clock = clock
    // The decoder of a mono file mixes the channels of stereo packets (RFC 6716 section 2.1.2).
    this.#recorder = new WebmRecorder({ path: pathOf('webm'), channels: 1, ...deps })
    this.#track = new OpusTrack(clock.now(), (at, packet) => this.#recorder.addAudio(at, packet))
    this.#detach = source.attach(
      (packet, sender) => {
        if (!this.#isMuted) this.#track.receive(clock.now(), packet, sender)
      },
      (fault) => this.#recorder.fail(failureOf(fault)),
    )
    this.#tick()
    this.done = this.#recorder.done.finally(() => this.#close())
  }

  setMuted(isMuted: boolean): void {
    this.#isMuted = isMuted
  }

  pause(): void {
    this.#track.flush()
    this.#recorder.pause()
  }

  resume(): void {
    this.#recorder.resume()
  }

  stop(): void {
    this.#close()
    this.#track.finish(this.#clock.now())
    this.#recorder.stop()
  }

  #tick(): void {
    this.#timer = this.#clock.after(tickMs, () => this.#tick())
    this.#track.tick(this.#clock.now())
  }

  #close(): void {
    this.#timer?.cancel()
    this.#detach()
  }
}

/** Records what a port receives, decoded, as WAV, see {@link TrackRecording}. */
export class PortRecorder implements TrackRecording {
  readonly format = 'wav'
  readonly done: Promise<RecordingResult>
  readonly #recording: Recording
  #isMuted = false
  #isPaused = false
  #present: 'skip' | 'silence' | undefined

  constructor({ pathOf }: TrackRequest, port: Pick<MediaPort, 'record'>) {
    this.#recording = port.record({ path: pathOf('wav'), format: 'wav', tracks: 'in', sampleRate: wavRate })
    this.done = this.#recording.done
  }

  setMuted(isMuted: boolean): void {
    this.#isMuted = isMuted
    this.#apply()
  }

  pause(): void {
    this.#isPaused = true
    this.#apply()
  }

  resume(): void {
    this.#isPaused = false
    this.#apply()
  }

  stop(): void {
    this.#recording.stop()
  }

  #apply(): void {
    const next = this.#isPaused ? 'skip' : this.#isMuted ? 'silence' : undefined
    if (next === this.#present) return
    if (this.#present) this.#recording.resume()
    if (next) this.#recording.pause(next)
    this.#present = next
  }
}
