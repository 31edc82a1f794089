import type {
  MediaPort,
  RecordingEnd,
  RecordingResult,
  RoomRecording,
  RoomRecordRequest,
  RoomVideo,
  TrackRecording,
  TrackRequest,
} from '../../../media/types.ts'

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
    this.finish({ kind: 'stopped' })
  }
  /** Ends it by itself. */
  finish = (end: RecordingEnd, hasFile = true): void =>
    this.#finish({ end, durationMs: 1500, bytes: hasFile ? 1 : 0, hasFile })
}

/** Recording of a track without a file. */
export class FakeTrackRecording extends FakeRoomRecording implements TrackRecording {
  readonly format: 'webm' | 'wav'

  constructor(format: 'webm' | 'wav', path: string) {
    super({ path })
    this.format = format
  }

  setMuted = (isMuted: boolean): void => void this.calls.push(isMuted ? 'mute' : 'unmute')
}

/** Part of `WebRtc` that records rooms. */
export class FakeRoomRecorder {
  readonly recordings: FakeRoomRecording[] = []
  /** Tracks of members, in the order of their start. */
  readonly tracks: FakeTrackRecording[] = []
  /** Ports of browsers with Opus. */
  readonly opus = new Set<MediaPort>()

  recordRoom = (_mixer: unknown, request: RoomRecordRequest): FakeRoomRecording => {
    const recording = new FakeRoomRecording(request)
    this.recordings.push(recording)
    return recording
  }

  recordPicture = (_video: unknown, _id: string, { pathOf }: TrackRequest): FakeTrackRecording =>
    this.#track('webm', pathOf)

  /** Ports of fake calls are those of telephones unless {@link opus} has them. */
  recordSound = (port: MediaPort, { pathOf }: TrackRequest): FakeTrackRecording =>
    this.#track(this.opus.has(port) ? 'webm' : 'wav', pathOf)

  #track(format: 'webm' | 'wav', pathOf: TrackRequest['pathOf']): FakeTrackRecording {
    const track = new FakeTrackRecording(format, pathOf(format))
    this.tracks.push(track)
    return track
  }
}
