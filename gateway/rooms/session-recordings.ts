import type { Clock } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import { LatestRecords } from './latest-records.ts'
import type { RecordingTerms, RoomEvent, RoomMediaRecording, RoomRecording } from './room-types.ts'

/** Maximum number of recordings in progress. */
const maxInProgress = 3

/** Collaborators of {@link SessionRecordings}. */
export interface SessionRecordingsDeps {
  /** Starts a recording of the media. Throws an error with a code of the catalogue. */
  readonly record: (terms: Partial<RecordingTerms>) => RoomMediaRecording
  readonly clock: Pick<Clock, 'now'>
  readonly emit: (...events: readonly RoomEvent[]) => void
}

/** One recording with its media. */
interface KnownRecording {
  readonly media: RoomMediaRecording
  readonly startedAt: number
  state: RoomRecording['state']
  /** Time of the last start or resumption; undefined while paused and after the end. */
  runsSince: number | undefined
  /** Recorded time before {@link runsSince}. */
  recordedMs: number
  endedAt: number | undefined
}

/** Recordings of a room session, which end with it at the latest. */
export class SessionRecordings {
  readonly #deps: SessionRecordingsDeps
  readonly #known = new LatestRecords<KnownRecording>(isOver)

  constructor(deps: SessionRecordingsDeps) {
    this.#deps = deps
  }

  /** Recordings of the session, the earliest first. */
  get list(): readonly RoomRecording[] {
    return this.#known.all.map((each) => this.#view(each))
  }

  /** Whether a recording is in progress, also a paused one. */
  get isRecording(): boolean {
    return this.#known.inProgress.length > 0
  }

  /**
   * Starts a recording. `terms`: default those of the room. Throws `too_many_recordings` if three are in
   * progress, `recording_no_space` and `recording_failed`.
   */
  start(terms: Partial<RecordingTerms> = {}): RoomRecording {
    if (this.#known.inProgress.length >= maxInProgress)
      throw new TrunklineError('too_many_recordings', 'The room has too many recordings in progress.')
    const media = this.#deps.record(terms)
    const startedAt = this.#deps.clock.now()
    const recording: KnownRecording = {
      media,
      startedAt,
      state: 'recording',
      runsSince: startedAt,
      recordedMs: 0,
      endedAt: undefined,
    }
    this.#known.add(media.id, recording)
    const view = this.#view(recording)
    this.#emit({ kind: 'recording.started', recording: view }, this.#known.inProgress.length === 1)
    // It also ends by itself, for example on a full disk.
    void media.done.then((result) => this.#ended(recording, result))
    return view
  }

  /** Pauses a recording. Throws `unknown_recording` unless it is in progress. */
  pause(id: string): RoomRecording {
    const recording = this.#find(id)
    if (recording.state === 'recording') {
      recording.media.pause()
      this.#hold(recording)
      this.#change(recording, 'paused')
    }
    return this.#view(recording)
  }

  /** Resumes a recording. Throws `unknown_recording` unless it is in progress. */
  resume(id: string): RoomRecording {
    const recording = this.#find(id)
    if (recording.state === 'paused') {
      recording.media.resume()
      recording.runsSince = this.#deps.clock.now()
      this.#change(recording, 'recording')
    }
    return this.#view(recording)
  }

  /**
   * Stops a recording, which ends when its file is complete. Throws `unknown_recording` unless it is in
   * progress.
   */
  stop(id: string): RoomRecording {
    const recording = this.#find(id)
    recording.media.stop()
    return this.#view(recording)
  }

  /** Ends all recordings at once: their files are completed after that. */
  close(): void {
    for (const recording of this.#known.inProgress) {
      recording.media.stop()
      this.#ended(recording)
    }
  }

  #find(id: string): KnownRecording {
    const recording = this.#known.get(id)
    if (!recording || isOver(recording)) throw new TrunklineError('unknown_recording')
    return recording
  }

  #hold(recording: KnownRecording): void {
    const { runsSince } = recording
    if (runsSince !== undefined) recording.recordedMs += this.#deps.clock.now() - runsSince
    recording.runsSince = undefined
  }

  #change(recording: KnownRecording, state: 'recording' | 'paused'): void {
    recording.state = state
    this.#emit({ kind: 'recording.updated', recording: this.#view(recording) })
  }

  /** `result`: absent if the session ends first; the duration is then the time that was recorded. */
  #ended(recording: KnownRecording, result?: Awaited<RoomMediaRecording['done']>): void {
    if (isOver(recording)) return
    this.#hold(recording)
    recording.state = result?.end.kind === 'error' ? 'failed' : 'completed'
    recording.endedAt = this.#deps.clock.now()
    recording.recordedMs = result?.durationMs ?? recording.recordedMs
    this.#emit({ kind: 'recording.ended', recording: this.#view(recording) }, !this.isRecording)
  }

  #emit(event: RoomEvent, isRoomChanged = false): void {
    this.#deps.emit(event, ...(isRoomChanged ? [roomUpdated] : []))
  }

  #view({ media, state, startedAt, endedAt, runsSince, recordedMs }: KnownRecording): RoomRecording {
    const sinceMs = runsSince === undefined ? 0 : this.#deps.clock.now() - runsSince
    return {
      id: media.id,
      state,
      startedAt,
      ...(endedAt !== undefined && { endedAt }),
      durationMs: recordedMs + sinceMs,
    }
  }
}

const isOver = ({ state }: Pick<RoomRecording, 'state'>): boolean =>
  state === 'completed' || state === 'failed'

const roomUpdated: RoomEvent = { kind: 'room.updated', updated: ['recording'] }
