import { terminatorsPattern } from '../common/destinations.ts'
import type { ElementReader } from './element-reader.ts'
import { codes } from './faults.ts'
import type { RecordVerb } from './program.ts'

/** Seconds of a recording without a limit of the document's. */
const longest = 3600

/** What would be lost without a word, if it were passed over: attributes that are not there yet. */
const later = [
  'recordingStatusCallback',
  'recordingStatusCallbackMethod',
  'recordingStatusCallbackEvent',
  'transcribeCallback',
  'storageUrl',
  'storageUrlMethod',
]

/** Reads `Record`. Without an action the document's own URL is asked; an inline document has none, and goes on with its next verb. */
export const readRecord = (reader: ElementReader): RecordVerb => {
  const timeout = reader.integer('timeout', 1, 600, 5)
  const terminators = reader.matching('finishOnKey', terminatorsPattern, 'any of 0-9 * # A-D', '0123456789*#')
  const length = reader.integer('maxLength', 0, 14_400, longest)
  const beep = reader.choice('playBeep', ['true', 'false'], 'true') === 'true'
  const trim = reader.choice('trim', ['trim-silence', 'do-not-trim'], 'trim-silence') === 'trim-silence'
  const action = actionOf(reader)
  refuseLater(reader)
  reader.done()
  reader.noElements()
  return {
    path: reader.element.path,
    kind: 'record',
    record: { terminators, beep, trim, endSilenceMs: timeout * 1000, maxMs: (length || longest) * 1000 },
    action,
  }
}

const actionOf = (reader: ElementReader): RecordVerb['action'] => {
  if (reader.element.attributes.has('action')) return reader.action()
  const method = reader.method()
  return reader.base === undefined ? undefined : { url: reader.base, method }
}

const refuseLater = (reader: ElementReader): void => {
  if (reader.boolean('transcribe'))
    reader.error(codes.schema, 'Record cannot transcribe here yet.', 'transcribe')
  for (const name of later) {
    if (reader.text(name) !== undefined)
      reader.error(codes.schema, `The attribute ${name} of Record is not supported here yet.`, name)
  }
}
