import { recordingTracks, tracksOf } from '../common/recordings.ts'
import type { CallRecording, RecordOptions, RecordResult } from '../verbs.ts'
import { CallEnded } from '../verbs.ts'
import type { ElementReader } from './element-reader.ts'
import {
  keptAs,
  type RecordingCallback,
  RecordingNews,
  readRecordingCallback,
  readStorage,
  recordingCallbackAttributes,
} from './recordings.ts'
import type { Stage } from './verb.ts'

/** How `Dial` records. */
export interface DialRecordingOptions {
  /** From the ringing on, or only from the answer. */
  readonly from: 'ringing' | 'answer'
  readonly options: RecordOptions
  readonly callback: RecordingCallback | undefined
}

/** The attributes that {@link readDialRecording} reads. */
export const dialRecordingAttributes = [
  'record',
  'trim',
  'recordingTrack',
  ...recordingCallbackAttributes,
  'recordingStorageUrl',
  'recordingStorageUrlMethod',
] as const

const ways = {
  'record-from-answer': { from: 'answer', dual: false },
  'record-from-ringing': { from: 'ringing', dual: false },
  'record-from-answer-dual': { from: 'answer', dual: true },
  'record-from-ringing-dual': { from: 'ringing', dual: true },
} as const

/** Reads the attributes for recording; undefined: nothing is recorded. */
export const readDialRecording = (reader: ElementReader): DialRecordingOptions | undefined => {
  const names = Object.keys(ways) as (keyof typeof ways)[]
  const way = reader.choice('record', ['do-not-record', ...names], 'do-not-record')
  const trim = reader.choice('trim', ['trim-silence', 'do-not-trim'], 'do-not-trim') === 'trim-silence'
  const track = reader.choice('recordingTrack', recordingTracks, 'both')
  const callback = readRecordingCallback(reader)
  const storage = readStorage(reader, 'recordingStorageUrl')
  if (way === 'do-not-record') return undefined
  const { from, dual } = ways[way]
  const kept = keptAs('DialVerb', callback)
  return {
    from,
    callback,
    options: { tracks: tracksOf(track, dual), trim, ...kept, ...(storage && { storage }) },
  }
}

/** The recording of one `Dial`; nothing where it says nothing of one. */
export class DialRecording {
  #stage: Stage
  #wanted: DialRecordingOptions | undefined
  #news: RecordingNews
  #recording: Promise<CallRecording | undefined> | undefined

  constructor(stage: Stage, wanted: DialRecordingOptions | undefined) {
    this.#stage = stage
    this.#wanted = wanted
    const channels = wanted?.options.tracks === 'stereo' ? 2 : 1
    this.#news = new RecordingNews(stage, wanted?.callback, { source: 'DialVerb', channels })
  }

  /** It rings, or somebody has answered. A caller whose answer has to wait is not recorded while it rings: that would answer. */
  async reached(point: 'ringing' | 'answer', answerOnBridge: boolean): Promise<void> {
    const from = answerOnBridge ? 'answer' : this.#wanted?.from
    if (!this.#wanted || from !== point) return
    this.#recording = this.#begin(this.#wanted.options)
    await this.#recording
  }

  /** Ends it. */
  async end(): Promise<RecordResult | undefined> {
    const recording = await this.#recording
    if (!recording) return undefined
    recording.stop()
    const result = await recording.ended
    this.#news.ended(result, recording)
    return result
  }

  /** What cannot be recorded is connected all the same. */
  async #begin(options: RecordOptions): Promise<CallRecording | undefined> {
    try {
      const recording = await this.#stage.attempt(this.#stage.call.startRecording(options))
      if (recording) this.#news.begun(recording)
      return recording
    } catch (error) {
      if (error instanceof CallEnded) return undefined
      throw error
    }
  }
}
