import type { Mixer, RoomRecording, RoomVideo, WebRtc } from '../../../media/types.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { RoomMediaRecording } from '../../rooms/room-types.ts'
import type { RoomRecordingOrder, RoomRecordingStore } from '../audio/recording-store.ts'

/** Collaborators of {@link RoomRecordings}. */
export interface RoomRecordingsDeps {
  readonly mixer: Pick<Mixer, 'onPacket'>
  readonly webrtc: Pick<WebRtc, 'recordRoom'>
  readonly store: RoomRecordingStore
}

/** Call of a room, which its recordings name. */
export type RecordedCall = Pick<RoomRecordingOrder, 'callId' | 'legId'>

/** Makes the recordings of one room session. */
export class RoomRecordings {
  readonly #deps: RoomRecordingsDeps
  readonly #calls = new Set<RecordedCall>()
  readonly #inProgress = new Set<RoomRecording>()
  #video: RoomVideo | undefined

  constructor(deps: RoomRecordingsDeps) {
    this.#deps = deps
  }

  /** Sets the video of the room. Recordings in progress have it from now on. */
  setVideo(video: RoomVideo): void {
    this.#video = video
    for (const recording of this.#inProgress) recording.setVideo(video)
  }

  /** Adds a call of the room. Returns a function that removes it. */
  addCall(call: RecordedCall): () => void {
    this.#calls.add(call)
    return () => void this.#calls.delete(call)
  }

  /** Starts a recording. Throws `recording_failed` without a call, and as the store does. */
  start(room: Pick<RoomRecordingOrder, 'projectId' | 'roomSessionId'>): RoomMediaRecording {
    const [call] = this.#calls
    if (!call) throw new TrunklineError('recording_failed', 'The room has no call.')
    const { mixer, webrtc, store } = this.#deps
    return store.startRoom(
      (request) => {
        const recording = webrtc.recordRoom(mixer, request)
        if (this.#video) recording.setVideo(this.#video)
        this.#inProgress.add(recording)
        void recording.done.then(() => this.#inProgress.delete(recording))
        return recording
      },
      { ...room, ...call },
    )
  }
}
