import { type Recorded, recordingFields } from '../common/recordings.ts'
import type {
  CallRecording,
  RecordingSource,
  RecordingStorage,
  RecordOptions,
  RecordResult,
} from '../verbs.ts'
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

/** Reads where a finished recording is sent: the attribute `name` and its method, PUT by default. Undefined: nowhere. */
export const readStorage = (reader: ElementReader, name: string): RecordingStorage | undefined => {
  const method = reader.choice(`${name}Method`, ['PUT', 'POST'], 'PUT')
  const url = reader.link(name)
  return url === undefined ? undefined : { url, method }
}

/** How a recording is kept: with what makes it, and who is told of it. */
export const keptAs = (
  source: RecordingSource,
  callback: RecordingCallback | undefined,
): Pick<RecordOptions, 'source' | 'status'> => ({
  source,
  ...(callback && { status: { dialect: 'form', ...callback } }),
})

type Sent = Pick<CallRecording, 'stored'>

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

  /**
   * `absent` where there is no file, as there was no sound to keep. What is sent to a customer's storage is told of when that is over: where it
   * is then, or else where it is kept here.
   */
  ended(result: RecordResult, { stored }: Sent = {}): void {
    if (result.bytes === 0) this.#tell('absent', 'absent', result)
    else if (!stored) this.#completed(result)
    else void stored.then((url = result.url) => this.#completed({ ...result, url }))
  }

  #completed(result: RecordResult): void {
    this.#tell('completed', result.reason === 'error' ? 'failed' : 'completed', result)
  }

  #tell(
    event: RecordingEvent,
    status: Parameters<typeof recordingFields>[2],
    recording: { readonly id: string; readonly url: string; readonly durationMs?: number },
  ): void {
    if (!this.#callback?.events.includes(event)) return
    const { context, call } = this.#stage
    const fields = recordingFields(call.info, this.#what, status, recording)
    tell(context, 'recording', this.#callback, fields, event === 'in-progress' ? undefined : recording.id)
  }
}
