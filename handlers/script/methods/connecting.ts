import type { ConnectOptions, ConnectResult } from '../../verbs.ts'
import { CallEnded } from '../../verbs.ts'
import type { SendEvent } from '../events.ts'
import type { Method, Outcome, ScriptContext } from '../method.ts'
import { anything, boolean, list, number, type Schema, statusUrl, text } from '../schema-builders.ts'
import { lineFault, soundFault } from '../value-check.ts'
import { badValue, type Values } from '../values.ts'
import {
  confirmTimeoutOf,
  destinationFault,
  destinationOf,
  destinationProperties,
  deviceOf,
  isQueue,
  isStream,
  streamDestinationProperties,
} from './destinations.ts'
import { soundList } from './playing.ts'
import { sendStreamEvents, streamOptions } from './streaming.ts'

/** Maximum number of destinations of one `connect`. */
const maxDestinations = 100

/** Maximum number of destinations that ring together, as in one `Dial` of XML. */
const maxAtOnce = 10

const destination: Schema = {
  title: 'a destination (an object with to)',
  type: 'object',
  properties: { ...destinationProperties, webrtc_media: { description: 'Accepted; it has no effect.' } },
  required: ['to'],
  additionalProperties: false,
}

const destinations = (description: string, maxItems: number): Schema =>
  list(description, `a list of 1 to ${maxItems} destinations`, destination, { minItems: 1, maxItems })

/** Returns the groups of destinations. Destinations of one group ring at the same time. */
const stepsOf = (values: Values): readonly (readonly Values[])[] => {
  const nested = (items: unknown) => (items as readonly unknown[]).map((item) => values.nested(item))
  if (values.has('serial')) return nested(values.list('serial')).map((item) => [item])
  if (values.has('parallel')) return [nested(values.list('parallel'))]
  if (values.has('serial_parallel')) return values.list('serial_parallel').map(nested)
  return [[values]]
}

/** Returns the options of `connect` from its parameters. */
const connectOptions = (values: Values, script: ScriptContext): ConnectOptions => {
  const timeoutMs = values.seconds('timeout')
  const maxDurationMs = values.seconds('max_duration')
  const steps = stepsOf(values)
  // The verb gets the longest confirmation timeout. A destination with a shorter timeout enforces it itself.
  const longest = steps.flat().flatMap((item) => confirmTimeoutOf(item, values) ?? [])
  const confirmTimeoutMs = longest.length > 0 ? Math.max(...longest) : undefined
  return {
    steps: steps.map((step) => step.map((item) => destinationOf(item, values, script))),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(maxDurationMs !== undefined && { maxDurationMs }),
    ...(confirmTimeoutMs !== undefined && { confirmTimeoutMs }),
    answerOnBridge: values.boolean('answer_on_bridge') ?? false,
    ...(values.has('ringback') && { ringback: values.sounds('ringback') }),
  }
}

const reasonOf = (result: ConnectResult): string | undefined =>
  result.kind === 'failed' ? result.reason.replace('-', '_') : undefined

const sendEnd = (send: SendEvent, script: ScriptContext, result: ConnectResult): void => {
  const { callee } = result
  send({
    connect_state: result.kind === 'failed' ? 'failed' : 'disconnected',
    ...(result.kind === 'failed' && { failed_reason: reasonOf(result) }),
    ...(callee && {
      peer: { call_id: callee.callId, node_id: script.events.nodeId, device: deviceOf(callee) },
    }),
  })
}

/** Calls the destinations and resolves when the bridge has ended. */
const callOthers = async (values: Values, script: ScriptContext): Promise<ConnectResult> => {
  const options = connectOptions(values, script)
  const url = values.url('status_url')
  const send = script.events.sender(url, 'calling.call.connect')
  const onConnected: ConnectOptions['onConnected'] = ({ callee }) =>
    send({
      connect_state: 'connected',
      peer: { call_id: callee.callId, node_id: script.events.nodeId, device: deviceOf(callee) },
    })
  send({ connect_state: 'connecting' })
  const result = await script.call
    .connect({ ...options, ...(url !== undefined && { onConnected }) })
    .catch((error: unknown) => {
      const reason = error instanceof CallEnded || script.call.signal.aborted ? 'cancel' : 'error'
      send({ connect_state: 'failed', failed_reason: reason })
      throw error
    })
  sendEnd(send, script, result)
  return result
}

/** Connects the caller to a WebSocket in both directions until the stream ends. */
const joinStream = async (
  to: string,
  values: Values,
  script: ScriptContext,
): Promise<'connected' | 'failed'> => {
  const url = to.trim().replace(/^stream:\s*/i, '')
  const options = streamOptions(url, values.text('codec'), values)
  const stream = await script.call.startStream({ ...options, bidirectional: true })
  const statusUrl = values.url('status_url')
  const method = values.choice<'GET' | 'POST'>('status_url_method')
  const common = { control_id: stream.id, url, name: options.name }
  const send = script.events.sender(statusUrl, 'calling.call.stream', common, method)
  sendStreamEvents(send, 'streaming', stream)
  return (await stream.ended).kind === 'failed' ? 'failed' : 'connected'
}

const connect = async (values: Values, script: ScriptContext): Promise<Outcome> => {
  const all = stepsOf(values)
    .flat()
    .map((item) => item.text('to') ?? '')
  const [first = ''] = all
  if (all.some(isStream) && all.length > 1)
    throw badValue('to', 'can be a stream only where it is the only destination')
  const after = values.text('transfer_after_bridge')
  if (all.some(isQueue) && after === undefined)
    throw badValue('transfer_after_bridge', 'is needed for a destination that is a queue')
  let isConnected: boolean
  if (isStream(first)) {
    const word = await joinStream(first, stepsOf(values)[0]?.[0] ?? values, script)
    isConnected = word === 'connected'
    script.variables.assign({
      connect_result: word,
      return_value: word,
      connect_failed_reason: isConnected ? undefined : 'error',
    })
    if (script.call.signal.aborted) throw new CallEnded()
  } else {
    const result = await callOthers(values, script)
    isConnected = result.kind === 'connected'
    const variables = {
      connect_result: result.kind,
      return_value: result.kind,
      connect_failed_reason: reasonOf(result),
    }
    script.variables.assign(variables)
    if (result.kind === 'connected' && result.endedBy === 'caller') throw new CallEnded()
  }
  const outcome = await script.branch(values.branches('result'), 'connect_result')
  if (outcome || !isConnected || after === undefined) return outcome
  return { kind: 'transfer', to: await script.find(after, {}), params: {} }
}

/** Methods that call destinations. */
export const connecting: Readonly<Record<string, Method>> = {
  connect: {
    description:
      'Calls destinations and bridges the first one that answers. The next step follows after the ' +
      'bridge, or if no destination answers.',
    properties: {
      ...destinationProperties,
      ...streamDestinationProperties,
      serial: destinations(`Called in order; at most ${maxDestinations}.`, maxDestinations),
      parallel: destinations(`Called together; at most ${maxAtOnce}. The first answer wins.`, maxAtOnce),
      serial_parallel: list(
        `Lists called in order, the destinations of a list together; at most ${maxAtOnce} in each, ` +
          `${maxDestinations} in all.`,
        `a list of 1 to ${maxDestinations} lists of destinations`,
        destinations('Called together.', maxAtOnce),
        { minItems: 1, maxItems: maxDestinations },
      ),
      max_duration: number('Maximum duration of the bridge in seconds; default 14400.', [1, 86_400]),
      answer_on_bridge: boolean('Answers the caller only when a destination answers; default false.'),
      ringback: soundList("Sounds for the caller until the answer, instead of the far side's early media."),
      result: anything('Steps after the connection, by the value of connect_result or by conditions.'),
      transfer_after_bridge: text(
        'Section, URL of a script, or script that follows after the bridge. Required for queue:.',
      ),
      status_url: statusUrl('calling.call.connect, or calling.call.stream,'),
    },
    exactlyOne: ['to', 'serial', 'parallel', 'serial_parallel'],
    maxTotalItems: { serial_parallel: maxDestinations },
    withoutEffect: ['webrtc_media'],
    nested: { confirm: 'confirm', result: 'branches' },
    lists: ['serial', 'parallel', 'serial_parallel'],
    decoded: ['headers'],
    texts: {
      to: destinationFault,
      from: lineFault,
      from_name: lineFault,
      username: lineFault,
      password: lineFault,
      ringback: soundFault,
    },
    failed: { connect_result: 'failed', connect_failed_reason: 'error', return_value: 'failed' },
    run: connect,
  },
}
