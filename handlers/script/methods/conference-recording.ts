import { formRequest } from '../../common/forms.ts'
import { recordingFields } from '../../common/recordings.ts'
import type { ConferenceOptions, RecordResult } from '../../verbs.ts'
import type { ScriptContext } from '../method.ts'
import { choice, pattern, type Schema, url } from '../schema-builders.ts'
import type { Values } from '../values.ts'

/** Events of a recording, as named in `recording_status_callback_event`. */
const events = ['in-progress', 'completed', 'absent'] as const

type RecordingEvent = (typeof events)[number]

/** Parameters of the status callback for a conference's recording. */
export const recordingProperties: Readonly<Record<string, Schema>> = {
  recording_status_callback: url(
    "URL that receives the recording's events; the first participant's URL counts.",
  ),
  recording_status_callback_event: pattern(
    `^((${events.join('|')})[ ,]*)+$`,
    'Events to report: in-progress at the start, completed at the end, absent if there was no sound ' +
      'to keep; default completed.',
    'in-progress, completed or absent',
  ),
  recording_status_callback_event_type: choice(
    'cxml and laml: a form as from XML documents; relay: JSON, calling.call.record. Default cxml.',
    ['cxml', 'laml', 'relay'],
  ),
  recording_status_callback_method: choice('GET or POST; default POST.', ['GET', 'POST']),
}

/** States of `calling.call.record`, by the status of the recording. */
const states = {
  'in-progress': 'recording',
  completed: 'finished',
  absent: 'no_input',
  failed: 'error',
} as const

/** Returns the listeners that send recording events to `recording_status_callback`, as forms or JSON. */
export const conferenceRecordingEvents = (
  values: Values,
  script: ScriptContext,
): Pick<ConferenceOptions, 'onRecording' | 'onRecorded' | 'recordingStatusTarget'> => {
  const url = values.url('recording_status_callback')
  if (url === undefined) return {}
  const words = (values.text('recording_status_callback_event') ?? 'completed').split(/[\s,]+/)
  const method = values.choice<'GET' | 'POST'>('recording_status_callback_method') ?? 'POST'
  const wanted = events.filter((event) => words.includes(event))
  const target = { url, method }
  const isForm = values.choice('recording_status_callback_event_type') !== 'relay'
  const params = { record: { audio: { format: 'wav', direction: 'both', stereo: false } } }
  const send = isForm ? formSender(target, script) : jsonSender(target, params, script)
  return {
    onRecording: (recording) => {
      if (wanted.includes('in-progress')) send('in-progress', recording)
    },
    onRecorded: (recording) => {
      const event: RecordingEvent = recording.bytes === 0 ? 'absent' : 'completed'
      const isFailure = event === 'completed' && recording.reason === 'error'
      if (wanted.includes(event)) send(isFailure ? 'failed' : event, recording)
    },
    recordingStatusTarget: isForm
      ? { ...target, dialect: 'form', events: wanted }
      : { ...target, dialect: 'json', events: wanted, params },
  }
}

type Recording = Pick<RecordResult, 'id' | 'url'> & Partial<RecordResult>
type SendRecordingEvent = (status: keyof typeof states, recording: Recording) => void

interface Target {
  readonly url: string
  readonly method: 'GET' | 'POST'
}

/** Returns the id of the recording whose end a status reports; undefined for the first status. */
const endOf = (status: keyof typeof states, { id }: Recording): string | undefined =>
  status === 'in-progress' ? undefined : id

const formSender =
  (target: Target, { call, context }: ScriptContext): SendRecordingEvent =>
  (status, recording) => {
    const form = recordingFields(call.info, { source: 'Conference', channels: 1 }, status, recording)
    const ends = endOf(status, recording)
    context.notify({
      kind: 'recording',
      ...formRequest(target, form),
      ...(ends !== undefined && { ends }),
    })
  }

const jsonSender = ({ url, method }: Target, params: object, script: ScriptContext): SendRecordingEvent => {
  const send = script.events.sender(url, 'calling.call.record', { ...params }, method)
  return (status, recording) => {
    const { id, url: at, bytes, durationMs } = recording
    const now = script.context.now()
    const over = durationMs !== undefined && {
      size: bytes,
      duration: durationMs / 1000,
      start_time: (now - durationMs) / 1000,
      end_time: now / 1000,
    }
    const file = bytes === 0 ? '' : at
    send({ state: states[status], recording_id: id, url: file, ...over }, endOf(status, recording))
  }
}
