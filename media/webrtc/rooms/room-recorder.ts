import type { MediaClock } from '../../clock.ts'
import type { RecordingFiles } from '../../record/disk-files.ts'
import { WebmRecorder } from '../../record/webm/webm-recorder.ts'
import { StreamTimeline } from '../../rooms/stream-timeline.ts'
import type {
  Mixer,
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
  #packets = 0
  /** Age of the audio when it arrives here, in ms. Pictures come without a buffer. */
  #delayMs: number | undefined
  #frames: RoomFrames | undefined

  constructor(request: RoomRecordRequest, { mixer, clock, files }: RoomRecorderDeps) {
    this.#clock = clock
    this.#recorder = new WebmRecorder({ ...request, channels: 1, clock, ...(files && { files }) })
    this.#endAudio = mixer.onPacket((packet, delayMs) => this.#receive(packet, delayMs))
    // It also ends by itself, for example on a full disk.
    this.done = this.#recorder.done.finally(() => this.#close())
  }

  setVideo(video: Pick<RoomVideo, 'watchFrames'>): void {
    if (this.#recorder.hasEnded) return
    this.#frames ??= video.watchFrames(({ at, ...frame }) => this.#recorder.addVideo(at, frame))
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

  #close(): void {
    this.#endAudio()
    this.#frames?.close()
  }
}
