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

/** Call of a member, which recordings of the room are found by. */
export type RecordedCall = Pick<RoomRecordingOrder, 'callId' | 'legId'>

/** Makes the recordings of one room session. */
export class RoomRecordings {
  readonly #deps: RoomRecordingsDeps
  readonly #calls = new Map<string, RecordedCall>()
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

  /** Sets the call of a member; undefined after it has left. */
  setCall(memberId: string, call: RecordedCall | undefined): void {
    if (call) this.#calls.set(memberId, call)
    else this.#calls.delete(memberId)
  }

  /** Starts a recording. Throws `recording_failed` before a member has audio, and as the store does. */
  start(room: Pick<RoomRecordingOrder, 'projectId' | 'roomSessionId'>): RoomMediaRecording {
    const [call] = this.#calls.values()
    if (!call) throw new TrunklineError('recording_failed', 'The room has no member with audio yet.')
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
