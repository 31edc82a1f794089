import type { MediaClock } from '../../clock.ts'
import type { RecordingFiles } from '../../record/disk-files.ts'
import { WebmRecorder } from '../../record/webm/webm-recorder.ts'
import type {
  Mixer,
  RecordingEnd,
  RecordingResult,
  RoomFrames,
  RoomRecording,
  RoomRecordRequest,
  RoomVideo,
} from '../../types.ts'
import { MixFeed } from './mix-feed.ts'

/** Recorded time after which video without a single frame is a fault, in ms. */
const maxBlindMs = 3000

/** Collaborators of a {@link RoomRecorder}. */
export interface RoomRecorderDeps {
  readonly mixer: Pick<Mixer, 'onPacket'>
  readonly clock: MediaClock
  /** File system; default the machine's. */
  readonly files?: RecordingFiles
}

/** Records a room, see {@link RoomRecording}. */
export class RoomRecorder implements RoomRecording {
  readonly done: Promise<RecordingResult>
  readonly #clock: MediaClock
  readonly #recorder: WebmRecorder
  readonly #mix: MixFeed
  readonly #startedAt: number
  /** Time at which the room had video; undefined before that. */
  #videoAt: number | undefined
  #hasFrame = false
  #frames: RoomFrames | undefined

  constructor(request: RoomRecordRequest, { mixer, clock, files }: RoomRecorderDeps) {
    this.#clock = clock
    this.#startedAt = clock.now()
    this.#recorder = new WebmRecorder({ ...request, channels: 1, clock, ...(files && { files }) })
    this.#mix = new MixFeed(mixer, clock, (at, packet) => this.#recorder.addAudio(at, packet))
    // It also ends by itself, for example on a full disk.
    this.done = this.#recorder.done.then((result) => {
      this.#close()
      return this.#isBlind(result) ? { ...result, end: noPicture } : result
    })
  }

  setVideo(video: Pick<RoomVideo, 'watchFrames'>): void {
    if (this.#recorder.hasEnded) return
    this.#videoAt ??= this.#clock.now()
    this.#frames ??= video.watchFrames(({ at, ...frame }) => {
      this.#hasFrame = true
      this.#recorder.addVideo(at, frame)
    })
  }

  pause(): void {
    this.#recorder.pause()
  }

  resume(): void {
    this.#recorder.resume()
    if (this.#recorder.needsKey) this.#frames?.requestKeyFrame()
  }

  stop(): void {
    this.#close()
    this.#recorder.stop()
  }

  #isBlind({ end, durationMs }: RecordingResult): boolean {
    if (this.#hasFrame || this.#videoAt === undefined || end.kind === 'error') return false
    return durationMs - (this.#videoAt - this.#startedAt) >= maxBlindMs
  }

  #close(): void {
    this.#mix.close()
    this.#frames?.close()
  }
}

const noPicture: RecordingEnd = {
  kind: 'error',
  code: 'no_picture',
  message: 'the room has video, but no frame arrived',
}
