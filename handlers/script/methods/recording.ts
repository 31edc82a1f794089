import { randomUUID } from 'node:crypto'
import type { RecordOptions, RecordResult } from '../../verbs.ts'
import { CallEnded } from '../../verbs.ts'
import type { SendEvent } from '../events.ts'
import type { Method, ScriptContext } from '../method.ts'
import { boolean, choice, keys, number, type Schema, statusUrl, text } from '../schema-builders.ts'
import { badValue, type Values } from '../values.ts'

interface Defaults {
  readonly direction: 'speak' | 'both'
  readonly terminators: string
  /** Initial silence that ends the recording, in seconds; 0 is no limit. */
  readonly initial: number
  readonly end: number
}

const foreground: Defaults = { direction: 'speak', terminators: '#', initial: 4, end: 5 }
const background: Defaults = { direction: 'both', terminators: '', initial: 0, end: 0 }

const properties = ({
  direction,
  terminators,
  initial,
  end,
}: Defaults): Readonly<Record<string, Schema>> => ({
  format: choice('wav or mp3; default wav.', ['wav', 'mp3']),
  direction: choice(`Audio from the caller (speak), to the caller (listen), or both; default ${direction}.`, [
    'speak',
    'listen',
    'both',
  ]),
  stereo: boolean('Records each direction on its own channel; direction must then be both. Default false.'),
  beep: boolean('Plays a tone before the recording; default false.'),
  terminators: keys(`DTMF digits that end the recording; default ${terminators || 'none'}.`),
  initial_timeout: number(
    `Seconds of initial silence that end the recording; 0 is no limit. Default ${initial}.`,
    [0, 600],
  ),
  end_silence_timeout: number(
    `Seconds of silence that end the recording; 0 is no limit. Default ${end}.`,
    [0, 600],
  ),
  input_sensitivity: number(
    'Sensitivity of voice detection, 0 (loud sounds only) to 100 (soft sounds too); default 44.',
    [0, 100],
  ),
  max_length: number('Maximum duration in seconds; default that of the call.', [1, 86_400]),
  status_url: statusUrl('calling.call.record'),
})

const recordOptions = (values: Values, defaults: Defaults): RecordOptions => {
  const maxMs = values.seconds('max_length')
  const sensitivity = values.number('input_sensitivity')
  return {
    format: values.choice<'wav' | 'mp3'>('format') ?? 'wav',
    tracks: tracksOf(values, defaults),
    beep: values.boolean('beep') ?? false,
    terminators: values.has('terminators') ? (values.text('terminators') ?? '') : defaults.terminators,
    initialSilenceMs: silenceLimit(values, 'initial_timeout', defaults.initial),
    endSilenceMs: silenceLimit(values, 'end_silence_timeout', defaults.end),
    ...(sensitivity !== undefined && { sensitivity }),
    ...(maxMs !== undefined && { maxMs }),
  }
}

const tracksOf = (values: Values, { direction }: Defaults): RecordOptions['tracks'] => {
  const given = values.choice<'speak' | 'listen' | 'both'>('direction')
  if (values.boolean('stereo')) {
    if (given !== undefined && given !== 'both')
      throw badValue('stereo', 'records both sides, so direction can only be both')
    return 'stereo'
  }
  return ({ speak: 'in', listen: 'out', both: 'both' } as const)[given ?? direction]
}

/** Returns a limit of silence in milliseconds; 0 in a document means no limit. */
const silenceLimit = (values: Values, name: string, fallback: number): number =>
  (values.seconds(name) ?? fallback * 1000) || Number.POSITIVE_INFINITY

const wordOf = ({ reason }: RecordResult): string =>
  reason === 'no-input' ? 'no_input' : reason === 'error' ? 'failed' : 'success'

/** Fields of each event that describe the audio. */
const audioFieldsOf = ({ tracks = 'in', format }: RecordOptions): Readonly<Record<string, unknown>> => {
  const direction = { in: 'speak', out: 'listen', both: 'both', stereo: 'both' }[tracks]
  return { record: { audio: { format, direction, stereo: tracks === 'stereo' } } }
}

/** Returns a function that sends the events of one recording. */
const eventSender = (
  values: Values,
  script: ScriptContext,
  options: RecordOptions,
  controlId: string,
): SendEvent => {
  const common = { control_id: controlId, ...audioFieldsOf(options) }
  return script.events.sender(values.url('status_url'), 'calling.call.record', common)
}

/** Returns the status target in case the gateway dies. The default control id is the recording's own. */
const statusTargetOf = (
  values: Values,
  options: RecordOptions,
  controlId: string | undefined,
): Pick<RecordOptions, 'statusTarget'> => {
  const url = values.url('status_url')
  if (url === undefined) return {}
  const params = { ...(controlId !== undefined && { control_id: controlId }), ...audioFieldsOf(options) }
  return { statusTarget: { dialect: 'json', url, method: 'POST', params } }
}

const sendEnd = (send: SendEvent, script: ScriptContext, result: RecordResult): void => {
  const end = script.context.now()
  const word = wordOf(result)
  send(
    {
      state: word === 'success' ? 'finished' : word === 'failed' ? 'error' : word,
      url: result.bytes > 0 ? result.url : '',
      recording_id: result.id,
      size: result.bytes,
      duration: result.durationMs / 1000,
      start_time: (end - result.durationMs) / 1000,
      end_time: end / 1000,
    },
    result.id,
  )
}

const record = async (values: Values, script: ScriptContext): Promise<undefined> => {
  const options = recordOptions(values, foreground)
  const controlId = randomUUID()
  const send = eventSender(values, script, options, controlId)
  send({ state: 'recording' })
  const recorded = script.call.record({ ...options, ...statusTargetOf(values, options, controlId) })
  const result = await recorded.catch((error: unknown) => {
    send({ state: 'error' })
    throw error
  })
  sendEnd(send, script, result)
  script.variables.assign({ record_url: result.bytes > 0 ? result.url : '', record_result: wordOf(result) })
  if (result.reason === 'hangup') throw new CallEnded()
}

const recordCall = async (values: Values, script: ScriptContext): Promise<undefined> => {
  const named = values.text('control_id')
  script.recordings.check(named)
  const options = recordOptions(values, background)
  const recording = await script.call.startRecording({
    ...options,
    ...statusTargetOf(values, options, named),
  })
  const id = script.recordings.add(recording, named)
  const send = eventSender(values, script, options, id)
  send({ state: 'recording', recording_id: recording.id, url: recording.url })
  void recording.ended.then((result) => sendEnd(send, script, result))
  script.variables.assign({
    record_call_url: recording.url,
    record_call_result: 'success',
    record_control_id: id,
  })
}

/** Methods that record calls. */
export const recording: Readonly<Record<string, Method>> = {
  record: {
    description: 'Records the caller. The next step follows at the end of the recording.',
    properties: properties(foreground),
    failed: { record_result: 'failed', record_url: '' },
    run: record,
  },
  record_call: {
    description: 'Starts to record the call, and continues with the next step.',
    properties: {
      control_id: text('Name for stop_record_call; default a new id.'),
      ...properties(background),
    },
    failed: { record_call_result: 'failed' },
    run: recordCall,
  },
  stop_record_call: {
    description: 'Stops a recording of record_call.',
    properties: { control_id: text('Name of the recording; default the most recent one.') },
    failed: { stop_record_call_result: 'failed' },
    run: async (values, { recordings, variables }) => {
      const { reason } = await recordings.stop(values.text('control_id')).ended
      variables.assign({ stop_record_call_result: reason === 'error' ? 'failed' : 'success' })
      return undefined
    },
  },
}
