import { type Callback, readCallback, tell } from './callbacks.ts'
import type { ElementReader } from './element-reader.ts'
import { seconds } from './form.ts'
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

/** Which recordings are told of. */
interface Recorded {
  readonly source: 'RecordVerb' | 'DialVerb' | 'Conference'
  /** Two: one for each side. */
  readonly channels: 1 | 2
  readonly conferenceSid?: string
}

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
    status: string,
    { id, url, durationMs }: { readonly id: string; readonly url: string; readonly durationMs?: number },
  ): void {
    if (!this.#callback?.events.includes(event)) return
    const { source, channels, conferenceSid } = this.#what
    const { callId, projectId } = this.#stage.call.info
    tell(this.#stage.context, 'recording', this.#callback, {
      AccountSid: projectId,
      CallSid: callId,
      ...(conferenceSid !== undefined && { ConferenceSid: conferenceSid }),
      RecordingSid: id,
      ...(event !== 'absent' && { RecordingUrl: url }),
      RecordingStatus: status,
      ...(durationMs !== undefined && { RecordingDuration: seconds(durationMs) }),
      RecordingChannels: String(channels),
      RecordingSource: source,
    })
  }
}
