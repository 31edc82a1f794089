import { recordingTracks, tracksOf } from '../common/recordings.ts'
import type { CallRecording, RecordOptions, RecordResult } from '../verbs.ts'
import { CallEnded } from '../verbs.ts'
import type { ElementReader } from './element-reader.ts'
import {
  type RecordingCallback,
  RecordingReports,
  readRecordingCallback,
  readStorage,
  recordingCallbackAttributes,
  recordingOrigin,
} from './recordings.ts'
import type { VerbContext } from './verb.ts'

/** Recording options of a `Dial`. */
export interface DialRecordingOptions {
  /** Start of the recording. */
  readonly from: 'ringing' | 'answer'
  readonly options: RecordOptions
  readonly callback: RecordingCallback | undefined
}

/** Attributes that {@link readDialRecording} reads. */
export const dialRecordingAttributes = [
  'record',
  'trim',
  'recordingTrack',
  ...recordingCallbackAttributes,
  'recordingStorageUrl',
  'recordingStorageUrlMethod',
] as const

const modes = {
  'record-from-answer': { from: 'answer', isDual: false },
  'record-from-ringing': { from: 'ringing', isDual: false },
  'record-from-answer-dual': { from: 'answer', isDual: true },
  'record-from-ringing-dual': { from: 'ringing', isDual: true },
} as const

/** Reads the recording attributes of a `Dial`. Undefined if it is not recorded. */
export const readDialRecording = (reader: ElementReader): DialRecordingOptions | undefined => {
  const names = Object.keys(modes) as (keyof typeof modes)[]
  const mode = reader.choice('record', ['do-not-record', ...names], 'do-not-record')
  const trim = reader.choice('trim', ['trim-silence', 'do-not-trim'], 'do-not-trim') === 'trim-silence'
  const track = reader.choice('recordingTrack', recordingTracks, 'both')
  const callback = readRecordingCallback(reader)
  const storage = readStorage(reader, 'recordingStorageUrl')
  if (mode === 'do-not-record') return undefined
  const { from, isDual } = modes[mode]
  const origin = recordingOrigin('DialVerb', callback)
  return {
    from,
    callback,
    options: { tracks: tracksOf(track, isDual), trim, ...origin, ...(storage && { storage }) },
  }
}

/** Recording of one `Dial`; inactive if the `Dial` has no recording attributes. */
export class DialRecording {
  #context: VerbContext
  #options: DialRecordingOptions | undefined
  #reports: RecordingReports
  #recording: Promise<CallRecording | undefined> | undefined

  constructor(context: VerbContext, options: DialRecordingOptions | undefined) {
    this.#context = context
    this.#options = options
    const channels = options?.options.tracks === 'stereo' ? 2 : 1
    this.#reports = new RecordingReports(context, options?.callback, { source: 'DialVerb', channels })
  }

  /**
   * Starts the recording if it begins at `point`. With `answerOnBridge` it begins at the answer: a recording
   * during the ringing would answer the caller.
   */
  async startAt(point: 'ringing' | 'answer', answerOnBridge: boolean): Promise<void> {
    const from = answerOnBridge ? 'answer' : this.#options?.from
    if (!this.#options || from !== point) return
    this.#recording = this.#start(this.#options.options)
    await this.#recording
  }

  /** Stops the recording. Resolves with its result; undefined without a recording. */
  async end(): Promise<RecordResult | undefined> {
    const recording = await this.#recording
    if (!recording) return undefined
    recording.stop()
    const result = await recording.ended
    this.#reports.reportEnd(result, recording)
    return result
  }

  /** Starts the recording. The call is connected even if that fails. */
  async #start(options: RecordOptions): Promise<CallRecording | undefined> {
    try {
      const recording = await this.#context.warnIfFailed(this.#context.call.startRecording(options))
      if (recording) this.#reports.reportStart(recording)
      return recording
    } catch (error) {
      if (error instanceof CallEnded) return undefined
      throw error
    }
  }
}
