import { terminatorsPattern } from '../../common/destinations.ts'
import { type Fields, seconds } from '../../common/forms.ts'
import type { RecordOptions, RecordResult } from '../../verbs.ts'
import type { ElementReader } from '../element-reader.ts'
import {
  RecordingReports,
  readRecordingCallback,
  readStorage,
  recordingCallbackAttributes,
  recordingOrigin,
} from '../recordings.ts'
import type { VerbKind } from '../verb.ts'
import { continueWith } from '../verb.ts'

/** Maximum duration of a recording without `maxLength`, in seconds. */
const defaultMaxSeconds = 3600

/**
 * Verb `Record`: records the caller. The action receives the result, also after the caller has hung up. The
 * default action is the document's own URL; an inline document without an action continues with its next
 * verb.
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
    return async (context) => {
      const reports = new RecordingReports(context, callback, { source: 'RecordVerb', channels: 1 })
      const recording = await context.call.startRecording({
        ...options,
        ...recordingOrigin('RecordVerb', callback),
      })
      reports.reportStart(recording)
      const result = await recording.ended
      reports.reportEnd(result, recording)
      return continueWith(action, resultFields(result))
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
    maxMs: (reader.integer('maxLength', 0, 14_400, defaultMaxSeconds) || defaultMaxSeconds) * 1000,
  }
}

const resultFields = ({ id, url, reason, terminator, durationMs, bytes }: RecordResult): Fields => ({
  RecordingSid: id,
  ...(bytes > 0 && { RecordingUrl: url }),
  RecordingDuration: seconds(durationMs),
  Digits: reason === 'hangup' ? 'hangup' : (terminator ?? ''),
})
