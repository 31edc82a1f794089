import type { MediaClock, MediaTimer } from '../../clock.ts'
import type { RecordingFiles } from '../../record/disk-files.ts'
import { WebmRecorder } from '../../record/webm/webm-recorder.ts'
import { StreamTimeline } from '../../rooms/stream-timeline.ts'
import { opusSilence } from '../../rtp/encoding.ts'
import type {
  Mixer,
  RecordingEnd,
  RecordingResult,
  RoomFrames,
  RoomRecording,
  RoomRecordRequest,
  RoomVideo,
} from '../../types.ts'

/** Duration of a packet of the mix, in ms. */
const packetMs = 20
/** Maximum change of the delay of the mix per packet, in ms: 100 ms in a second. */
const maxDelayStepMs = 2
/** Interval and age of the silence before the first packet of the mix, in ms. */
const silenceAgeMs = 200
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
  readonly #timeline = new StreamTimeline()
  readonly #endAudio: () => void
  readonly #startedAt: number
  #packets = 0
  /** Time up to which silence was added before the first packet. */
  #silentUntil: number
  #silence: MediaTimer | undefined
  /** Time at which the room had video; undefined before that. */
  #videoAt: number | undefined
  #hasFrame = false
  /** Age of the audio when it arrives here, in ms. Pictures come without a buffer. */
  #delayMs: number | undefined
  #frames: RoomFrames | undefined

  constructor(request: RoomRecordRequest, { mixer, clock, files }: RoomRecorderDeps) {
    this.#clock = clock
    this.#startedAt = clock.now()
    this.#silentUntil = this.#startedAt
    this.#recorder = new WebmRecorder({ ...request, channels: 1, clock, ...(files && { files }) })
    this.#endAudio = mixer.onPacket((packet, delayMs) => this.#receive(packet, delayMs))
    this.#fillSilence()
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

  #receive(packet: Uint8Array, delayMs: number): void {
    this.#delayMs ??= delayMs
    this.#delayMs += Math.max(-maxDelayStepMs, Math.min(maxDelayStepMs, delayMs - this.#delayMs))
    const at = this.#timeline.at(this.#clock.now(), this.#packets++ * packetMs)
    this.#recorder.addAudio(at - this.#delayMs, packet)
  }

  /** Adds silence until the first packet of the mix. */
  #fillSilence(): void {
    if (this.#packets > 0) return
    this.#silence = this.#clock.after(silenceAgeMs, () => this.#fillSilence())
    const until = this.#clock.now() - silenceAgeMs - packetMs
    for (; this.#silentUntil <= until; this.#silentUntil += packetMs)
      this.#recorder.addAudio(this.#silentUntil, opusSilence)
  }

  #isBlind({ end, durationMs }: RecordingResult): boolean {
    if (this.#hasFrame || this.#videoAt === undefined || end.kind === 'error') return false
    return durationMs - (this.#videoAt - this.#startedAt) >= maxBlindMs
  }

  #close(): void {
    this.#silence?.cancel()
    this.#endAudio()
    this.#frames?.close()
  }
}

const noPicture: RecordingEnd = {
  kind: 'error',
  code: 'no_picture',
  message: 'the room has video, but no frame arrived',
}
