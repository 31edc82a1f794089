import { type Recorded, recordingFields } from '../common/recordings.ts'
import { type Callback, readCallback, tell } from './callbacks.ts'
import type { ElementReader } from './element-reader.ts'
import type { Stage } from './verb.ts'

/** What becomes of a recording, in the words of `recordingStatusCallbackEvent`. */
type RecordingEvent = 'in-progress' | 'completed' | 'absent'

/** A URL that is told what becomes of a recording. */
export type RecordingCallback = Callback<RecordingEvent>

/** The attributes that {@link readRecordingCallback} reads. */
export const recordingCallbackAttributes = [
  'recordingStatusCallback',
  'recordingStatusCallbackMethod',
  'recordingStatusCallbackEvent',
] as const

/** Reads `recordingStatusCallback` with its method and events; by default it is told of the end alone. */
export const readRecordingCallback = (reader: ElementReader): RecordingCallback | undefined =>
  readCallback(reader, 'recordingStatusCallback', ['in-progress', 'completed', 'absent'], ['completed'])

/** Tells of recordings. Nothing happens without a callback. */
export class RecordingNews {
  #stage: Stage
  #callback: RecordingCallback | undefined
  #what: Recorded

  constructor(stage: Stage, callback: RecordingCallback | undefined, what: Recorded) {
    this.#stage = stage
    this.#callback = callback
    this.#what = what
  }

  begun(recording: { readonly id: string; readonly url: string }): void {
    this.#tell('in-progress', 'in-progress', recording)
  }

  /** `absent` where there is no file, as there was no sound to keep. */
  ended(recording: {
    readonly id: string
    readonly url: string
    readonly durationMs: number
    readonly bytes?: number
    readonly reason?: string
  }): void {
    if (recording.bytes === 0) this.#tell('absent', 'absent', recording)
    else this.#tell('completed', recording.reason === 'error' ? 'failed' : 'completed', recording)
  }

  #tell(
    event: RecordingEvent,
    status: Parameters<typeof recordingFields>[2],
    recording: { readonly id: string; readonly url: string; readonly durationMs?: number },
  ): void {
    if (!this.#callback?.events.includes(event)) return
    const { context, call } = this.#stage
    tell(context, 'recording', this.#callback, recordingFields(call.info, this.#what, status, recording))
  }
}
