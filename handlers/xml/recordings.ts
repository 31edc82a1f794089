import { type RecordingFacts, recordingFields } from '../common/recordings.ts'
import type {
  CallRecording,
  RecordingSource,
  RecordingStorage,
  RecordOptions,
  RecordResult,
} from '../verbs.ts'
import { type Callback, readCallback, sendCallback } from './callbacks.ts'
import type { ElementReader } from './element-reader.ts'
import type { VerbContext } from './verb.ts'

/** Event of a recording, as named in `recordingStatusCallbackEvent`. */
type RecordingEvent = 'in-progress' | 'completed' | 'absent'

/** Callback that receives the events of a recording. */
export type RecordingCallback = Callback<RecordingEvent>

/** Attributes that {@link readRecordingCallback} reads. */
export const recordingCallbackAttributes = [
  'recordingStatusCallback',
  'recordingStatusCallbackMethod',
  'recordingStatusCallbackEvent',
] as const

/** Reads `recordingStatusCallback` with its method and events; default event `completed`. */
export const readRecordingCallback = (reader: ElementReader): RecordingCallback | undefined =>
  readCallback(reader, 'recordingStatusCallback', ['in-progress', 'completed', 'absent'], ['completed'])

/**
 * Reads the storage for a finished recording: the attribute `name` and its method, default PUT. Undefined
 * without a URL.
 */
export const readStorage = (reader: ElementReader, name: string): RecordingStorage | undefined => {
  const method = reader.choice(`${name}Method`, ['PUT', 'POST'], 'PUT')
  const url = reader.link(name)
  return url === undefined ? undefined : { url, method }
}

/** Returns the recording options for its origin and its status callback. */
export const recordingOrigin = (
  source: RecordingSource,
  callback: RecordingCallback | undefined,
): Pick<RecordOptions, 'source' | 'statusTarget'> => ({
  source,
  ...(callback && { statusTarget: { dialect: 'form', ...callback } }),
})

/** Sends the status callbacks of recordings; none without a callback. */
export class RecordingReports {
  #context: VerbContext
  #callback: RecordingCallback | undefined
  #facts: RecordingFacts

  constructor(context: VerbContext, callback: RecordingCallback | undefined, facts: RecordingFacts) {
    this.#context = context
    this.#callback = callback
    this.#facts = facts
  }

  reportStart(recording: { readonly id: string; readonly url: string }): void {
    this.#send('in-progress', 'in-progress', recording)
  }

  /**
   * Sends `completed`, or `absent` for a recording without a file. With customer storage, the
   * report follows the copy. It has the URL of the copy, or the gateway's own URL if the copy failed.
   */
  reportEnd(result: RecordResult, { stored }: Pick<CallRecording, 'stored'> = {}): void {
    if (result.bytes === 0) this.#send('absent', 'absent', result)
    else if (!stored) this.#completed(result)
    else void stored.then((url = result.url) => this.#completed({ ...result, url }))
  }

  #completed(result: RecordResult): void {
    this.#send('completed', result.reason === 'error' ? 'failed' : 'completed', result)
  }

  #send(
    event: RecordingEvent,
    status: Parameters<typeof recordingFields>[2],
    recording: { readonly id: string; readonly url: string; readonly durationMs?: number },
  ): void {
    if (!this.#callback?.events.includes(event)) return
    const { handler, call } = this.#context
    const fields = recordingFields(call.info, this.#facts, status, recording)
    const endOf = event === 'in-progress' ? undefined : recording.id
    sendCallback(handler, 'recording', this.#callback, fields, endOf)
  }
}
