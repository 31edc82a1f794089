import type { Mixer, RoomRecording, RoomRecordRequest, WebRtc } from '../../../media/types.ts'
import type { SteadyClock } from '../../core/clock.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { RecordingTerms, RoomMediaRecording } from '../../rooms/room-types.ts'
import type { MemberPlace, RoomRecordingOrder, RoomRecordingStore } from '../audio/recording-store.ts'
import { MemberRecordings, type RecordedRoom } from './member-recordings.ts'
import { RecordedTime } from './recorded-time.ts'

/** Collaborators of {@link RoomRecordings}. */
export interface RoomRecordingsDeps {
  readonly mixer: Pick<Mixer, 'onPacket'>
  readonly webrtc: Pick<WebRtc, 'recordRoom' | 'recordPicture' | 'recordSound'>
  readonly store: RoomRecordingStore
  readonly clock: Pick<SteadyClock, 'now' | 'uptime'>
  readonly log: Log
}

/** Call of a room, which its recordings name. */
export type RecordedCall = Pick<RoomRecordingOrder, 'callId' | 'legId'>

/** Makes the recordings of one room session. */
export class RoomRecordings {
  readonly #room: RecordedRoom
  readonly #deps: RoomRecordingsDeps
  readonly #calls = new Set<RecordedCall>()
  readonly #inProgress = new Set<RoomRecording>()
  readonly #members = new Set<MemberRecordings>()
  #hasVideo = false

  constructor(room: RecordedRoom, deps: RoomRecordingsDeps) {
    this.#room = room
    this.#deps = deps
  }

  /** Records the video of the room from now on, also in recordings in progress. */
  addVideo(): void {
    this.#hasVideo = true
    for (const recording of this.#inProgress) recording.setVideo(this.#room.video)
  }

  /** Applies a change of the media of a member. */
  update(): void {
    for (const members of this.#members) members.update()
  }

  /** Adds a call of the room. Returns a function that removes it. */
  addCall(call: RecordedCall): () => void {
    this.#calls.add(call)
    return () => void this.#calls.delete(call)
  }

  /** Starts a recording. Throws `recording_failed` without a call, and as the store does. */
  start({ hasMembers }: RecordingTerms): RoomMediaRecording {
    const [call] = this.#calls
    if (!call) throw new TrunklineError('recording_failed', 'The room has no call.')
    const { id: roomSessionId, settings } = this.#room.session
    const { projectId, recordingStorage: storage } = settings
    return this.#deps.store.startRoom((request, place) => this.#record(request, place), {
      projectId,
      roomSessionId,
      ...call,
      ...(hasMembers && { hasMembers }),
      ...(storage && { storage }),
    })
  }

  #record(request: RoomRecordRequest, place: MemberPlace | undefined): RoomRecording {
    const { mixer, webrtc, clock } = this.#deps
    const time = new RecordedTime(clock)
    const recording = webrtc.recordRoom(mixer, request)
    if (this.#hasVideo) recording.setVideo(this.#room.video)
    this.#inProgress.add(recording)
    void recording.done.then(() => this.#inProgress.delete(recording))
    return place ? this.#withMembers(recording, place, time) : recording
  }

  /** Adds the files of members to a recording. They end with it. */
  #withMembers(recording: RoomRecording, place: MemberPlace, time: RecordedTime): RoomRecording {
    const { webrtc, log } = this.#deps
    const members = new MemberRecordings(this.#room, { webrtc, place, time, log })
    this.#members.add(members)
    const done = recording.done.then(async (result) => {
      this.#members.delete(members)
      members.stop()
      await members.done
      return result
    })
    return {
      done,
      setVideo: (video) => recording.setVideo(video),
      pause: () => {
        recording.pause()
        members.pause()
      },
      resume: () => {
        recording.resume()
        members.resume()
      },
      stop: () => {
        recording.stop()
        members.stop()
      },
    }
  }
}
