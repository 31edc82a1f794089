import { asText } from '../../common/as-text.ts'
import { readCodecs } from '../../common/codecs.ts'
import { destinationKinds, readDestination, readNumber } from '../../common/destinations.ts'
import { readHeader } from '../../common/headers.ts'
import type { CallControl, CalleeState, Destination, Header } from '../../verbs.ts'
import { VerbFailed } from '../../verbs.ts'
import { codes } from '../codes.ts'
import type { SendEvent } from '../events.ts'
import type { ScriptContext } from '../method.ts'
import { anything, boolean, choice, list, number, type Schema, text, url } from '../schema-builders.ts'
import { badValue, type Values } from '../values.ts'
import { streamCodec, streamProperties } from './streaming.ts'

const headers = list('Additional headers of the INVITE to a SIP destination.', 'a list of headers', {
  title: 'an object with name and value',
  type: 'object',
  properties: {
    name: text('Name of the header, usually x-….'),
    value: text('Value, URL-encoded; it is decoded once.'),
  },
  required: ['name', 'value'],
  additionalProperties: false,
})

const states = ['created', 'ringing', 'answered', 'ended']

/** Parameters of a destination. On `connect` itself they apply to all destinations. */
export const destinationProperties: Readonly<Record<string, Schema>> = {
  to: text(
    'SIP URI, address /context/name (of a subscriber, an endpoint, or a resource whose handler ' +
      'answers), phone number, queue:<name>, or, as the only destination, stream:<WebSocket URL>.',
  ),
  from: text("Caller id to present; default the caller's own."),
  from_name: text('Display name to present.'),
  headers,
  username: text('User for digest authentication at the carrier.'),
  password: text('Password for digest authentication at the carrier.'),
  timeout: number('Ring time in seconds; default 60.', [1, 600]),
  codecs: text(
    'Comma-separated codecs for a SIP destination, in order of preference: PCMU, PCMA, G722, OPUS, L16. ' +
      'Only codecs of the carrier are offered.',
  ),
  encryption: choice(
    "SRTP policy of a SIP destination; default the carrier's configuration, which cannot be weakened.",
    ['optional', 'mandatory', 'forbidden'],
  ),
  session_timeout: number('Session-Expires to request from a SIP destination, in seconds.', [90, 86_400]),
  confirm: anything(
    'URL of a script, or steps, that run on the callee before the bridge; a hangup there declines the call.',
  ),
  confirm_timeout: number('Maximum duration of confirm in seconds; default 60.', [1, 600]),
  call_state_url: url("URL that receives the callee's calling.call.state events."),
  call_state_events: list(
    'States to report: created, ringing, answered, ended; default ended.',
    'a list of states',
    { title: 'created, ringing, answered or ended', type: 'string', enum: states },
  ),
}

/** Parameters of a stream destination. */
export const streamDestinationProperties: Readonly<Record<string, Schema>> = {
  ...streamProperties,
  codec: streamCodec,
  realtime: boolean('Accepted; a stream is always connected to the call at once.'),
  status_url_method: choice('Method for the status_url of a stream: GET or POST; default POST.', [
    'GET',
    'POST',
  ]),
}

/** Checks a destination. Returns a fault that completes the sentence "to …", or undefined. */
export const destinationFault = (to: string): string | undefined =>
  addressOf(to) === undefined && !isStream(to)
    ? `must be ${destinationKinds}, queue:<name> or stream:<URL>`
    : undefined

/** Whether a destination is `stream:wss://…`. */
export const isStream = (to: string): boolean => /^stream:\s*wss?:\/\//i.test(to.trim())

/** Whether a destination is `queue:<name>`. */
export const isQueue = (to: string): boolean => /^queue:./.test(to.trim())

const addressOf = (to: string): string | undefined => (isQueue(to) ? to.trim() : readDestination(to))

/**
 * Returns a destination from its own parameters; `common` are the method's parameters, which are its
 * defaults.
 */
export const destinationOf = (own: Values, common: Values, script: ScriptContext): Destination => {
  const to = addressOf(own.text('to') ?? '')
  if (to === undefined) throw badValue('to', `must be ${destinationKinds}`)
  const from = (name: string) => (own.has(name) ? own : common)
  const caller = from('from').text('from')
  const fromName = from('from_name').text('from_name')
  const username = from('username').text('username')
  const password = from('password').text('password')
  const codecs = readCodecs(from('codecs').text('codecs') ?? '')
  const encryption = from('encryption').choice<'optional' | 'mandatory' | 'forbidden'>('encryption')
  const sessionTimerSeconds = from('session_timeout').number('session_timeout')
  const timeoutMs = own === common ? undefined : own.seconds('timeout')
  const sent = headersOf(from('headers'))
  const confirm = confirmOf(own, common, script)
  const onState = stateListener(from('call_state_url'), from('call_state_events'), script)
  return {
    to,
    ...(caller !== undefined && { from: caller }),
    ...(fromName !== undefined && { fromName }),
    ...(sent.length > 0 && { headers: sent }),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(codecs.length > 0 && { codecs }),
    ...(encryption && { encryption }),
    ...(sessionTimerSeconds !== undefined && { sessionTimerSeconds }),
    ...(confirm && { confirm }),
    ...(onState && { onState }),
  }
}

const headersOf = (values: Values): readonly Header[] =>
  (values.list('headers') as readonly { readonly name: unknown; readonly value: unknown }[]).map((header) => {
    try {
      // Literal text is already decoded; the value of a variable is sent unchanged.
      return readHeader(asText(header.name), asText(header.value))
    } catch (error) {
      throw badValue('headers', (error as Error).message)
    }
  })

/** Returns the maximum duration of a destination's confirmation, in milliseconds; undefined if not given. */
export const confirmTimeoutOf = (own: Values, common: Values): number | undefined =>
  own.seconds('confirm_timeout') ?? common.seconds('confirm_timeout')

const confirmOf = (own: Values, common: Values, script: ScriptContext): Destination['confirm'] => {
  const values = own.has('confirm') ? own : common
  const source = values.steps('confirm') ?? values.text('confirm')
  if (source === undefined) return undefined
  const maxMs = own === common ? undefined : confirmTimeoutOf(own, common)
  if (maxMs === undefined) return (callee) => script.confirm(callee, source)
  return (callee) => within(maxMs, callee, () => script.confirm(callee, source))
}

/** Runs a function on a callee's leg with a time limit, which ends the leg and thereby the function. */
const within = async (ms: number, callee: CallControl, run: () => Promise<void>): Promise<void> => {
  const over = new AbortController()
  const late = callee.sleep(ms, { signal: over.signal }).then(() => {
    throw new VerbFailed(codes.methodFailed, 'The callee was not confirmed in time.')
  })
  try {
    await Promise.race([run(), late])
  } finally {
    over.abort()
    late.catch(() => {})
  }
}

const reasons = {
  completed: 'hangup',
  busy: 'busy',
  'no-answer': 'no_answer',
  declined: 'declined',
  canceled: 'cancel',
  failed: 'error',
} as const

/** Returns the listener that sends a callee's states to `call_state_url`. */
const stateListener = (where: Values, which: Values, script: ScriptContext): Destination['onState'] => {
  const url = where.url('call_state_url')
  if (url === undefined) return undefined
  const wanted = which.has('call_state_events') ? which.texts('call_state_events') : ['ended']
  const send = script.events.sender(url, 'calling.call.state', { direction: 'outbound' })
  return (state) => sendState(send, wanted, state)
}

const sendState = (send: SendEvent, wanted: readonly string[], state: CalleeState): void => {
  const call_state = state.kind === 'initiated' ? 'created' : state.kind
  if (!wanted.includes(call_state)) return
  const { callee } = state
  send({
    call_state,
    ...(callee && { call_id: callee.callId, segment_id: callee.callId, device: deviceOf(callee) }),
    ...(state.kind === 'ended' && { end_reason: reasons[state.outcome] }),
  })
}

/** Returns the description of a callee in events. */
export const deviceOf = ({
  to,
  from,
  type,
}: {
  readonly to: string
  readonly from: string
  readonly type: 'sip' | 'webrtc'
}) =>
  type === 'sip' && readNumber(to) !== undefined
    ? { type: 'phone', params: { from_number: from, to_number: to } }
    : { type, params: { from, to } }
