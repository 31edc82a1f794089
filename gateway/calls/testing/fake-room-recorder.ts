import type { RecordingResult, RoomRecording, RoomRecordRequest, RoomVideo } from '../../../media/types.ts'

/** Recording of a room without a file; {@link stop} ends it at once. */
export class FakeRoomRecording implements RoomRecording {
  readonly request: RoomRecordRequest
  readonly done: Promise<RecordingResult>
  /** Calls, in order. */
  readonly calls: string[] = []
  readonly #finish: (result: RecordingResult) => void

  constructor(request: RoomRecordRequest) {
    this.request = request
    const { promise, resolve } = Promise.withResolvers<RecordingResult>()
    this.done = promise
    this.#finish = resolve
  }

  setVideo = (_video: Pick<RoomVideo, 'watchFrames'>): void => void this.calls.push('video')
  pause = (): void => void this.calls.push('pause')
  resume = (): void => void this.calls.push('resume')
  stop = (): void => {
    this.calls.push('stop')
    this.#finish({ end: { kind: 'stopped' }, durationMs: 1500, bytes: 1, hasFile: true })
  }
}

/** Part of `WebRtc` that records rooms. */
export class FakeRoomRecorder {
  readonly recordings: FakeRoomRecording[] = []

  recordRoom = (_mixer: unknown, request: RoomRecordRequest): FakeRoomRecording => {
    const recording = new FakeRoomRecording(request)
    this.recordings.push(recording)
    return recording
  }
}
