import { terminatorsPattern } from '../../common/destinations.ts'
import { type Fields, seconds } from '../../common/forms.ts'
import type { RecordOptions, RecordResult } from '../../verbs.ts'
import type { ElementReader } from '../element-reader.ts'
import {
  keptAs,
  RecordingNews,
  readRecordingCallback,
  readStorage,
  recordingCallbackAttributes,
} from '../recordings.ts'
import type { VerbKind } from '../verb.ts'
import { asked } from '../verb.ts'

/** Seconds of a recording without a limit of the document's. */
const longest = 3600

/**
 * `Record` records the caller. Its action is asked when that is over, also when the caller has hung up; without one the document's own URL.
 * An inline document has none, and goes on with its next verb.
 */
export const record: VerbKind = {
  name: 'Record',
  attributes: [
    'action',
    'method',
    'timeout',
    'finishOnKey',
    'maxLength',
    'playBeep',
    'trim',
    'storageUrl',
    'storageUrlMethod',
    ...recordingCallbackAttributes,
  ],
  read: (reader) => {
    const options = readOptions(reader)
    const action = reader.action(true)
    const callback = readRecordingCallback(reader)
    return async (stage) => {
      const news = new RecordingNews(stage, callback, { source: 'RecordVerb', channels: 1 })
      const recording = await stage.call.startRecording({ ...options, ...keptAs('RecordVerb', callback) })
      news.begun(recording)
      const result = await recording.ended
      news.ended(result, recording)
      return asked(action, resultFields(result))
    }
  },
}

const readOptions = (reader: ElementReader): RecordOptions => {
  const terminators = reader.matching('finishOnKey', terminatorsPattern, 'any of 0-9 * # A-D', '0123456789*#')
  const storage = readStorage(reader, 'storageUrl')
  return {
    terminators,
    beep: reader.boolean('playBeep', true),
    trim: reader.choice('trim', ['trim-silence', 'do-not-trim'], 'trim-silence') === 'trim-silence',
    ...(storage && { storage }),
    endSilenceMs: reader.integer('timeout', 1, 600, 5) * 1000,
    maxMs: (reader.integer('maxLength', 0, 14_400, longest) || longest) * 1000,
  }
}

const resultFields = ({ id, url, reason, terminator, durationMs, bytes }: RecordResult): Fields => ({
  RecordingSid: id,
  ...(bytes > 0 && { RecordingUrl: url }),
  RecordingDuration: seconds(durationMs),
  Digits: reason === 'hangup' ? 'hangup' : (terminator ?? ''),
})
