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
import { asText } from '../variables.ts'
import { streamCodec, streamProperties } from './streaming.ts'

const headers = list('Further headers of the INVITE to a SIP destination.', 'a list of headers', {
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

/** Parameters of one destination, which `connect` has too, for all. */
export const destinationProperties: Readonly<Record<string, Schema>> = {
  to: text(
    'A SIP URI, an address /context/name (of a subscriber, an endpoint, or a resource with a handler, which answers then), a phone number, queue:<name>, or, as the only destination, stream:<WebSocket URL>.',
  ),
  from: text("Caller id; default the caller's own."),
  from_name: text("Caller's name to present."),
  headers,
  username: text('User for digest authentication at the carrier.'),
  password: text('Password for digest authentication at the carrier.'),
  timeout: number('Seconds to ring; default 60.', [1, 600]),
  codecs: text(
    'Codecs to offer to a SIP destination, with commas, in this order: of PCMU, PCMA, G722, OPUS and L16 those that the carrier has in its configuration.',
  ),
  encryption: choice(
    "SRTP of a SIP destination; default as the carrier's configuration says, which is never loosened.",
    ['optional', 'mandatory', 'forbidden'],
  ),
  session_timeout: number('Session-Expires to ask a SIP destination for, in seconds.', [90, 86_400]),
  confirm: anything(
    'The URL of a script, or steps: run on the callee before the two are joined; a hangup there refuses.',
  ),
  confirm_timeout: number('Longest confirm in seconds; default 60.', [1, 600]),
  call_state_url: url("Told of the callee's calling.call.state events."),
  call_state_events: list(
    'Which ones: created, ringing, answered, ended; default ended.',
    'a list of states',
    { title: 'created, ringing, answered or ended', type: 'string', enum: states },
  ),
}

/** Parameters of a destination that is a stream. */
export const streamDestinationProperties: Readonly<Record<string, Schema>> = {
  ...streamProperties,
  codec: streamCodec,
  realtime: boolean('A stream is always joined to the call at once.'),
  status_url_method: choice('For the status_url of a stream: GET or POST; default POST.', ['GET', 'POST']),
}

/** Completes the sentence "to …" where a text is no destination. */
export const destinationFault = (to: string): string | undefined =>
  addressOf(to) === undefined && !isStream(to)
    ? `must be ${destinationKinds}, queue:<name> or stream:<URL>`
    : undefined

/** True for `stream:wss://…`. */
export const isStream = (to: string): boolean => /^stream:\s*wss?:\/\//i.test(to.trim())

/** True for `queue:<name>`. */
export const isQueue = (to: string): boolean => /^queue:./.test(to.trim())

const addressOf = (to: string): string | undefined => (isQueue(to) ? to.trim() : readDestination(to))

/** One destination; what it does not say, the method's own parameters say. */
export const destinationOf = (own: Values, common: Values, script: ScriptContext): Destination => {
  const to = addressOf(own.text('to') ?? '')
  if (to === undefined) throw badValue('to', `must be ${destinationKinds}`)
  const from = (name: string) => (own.has(name) ? own : common)
  const [caller, fromName] = [from('from').text('from'), from('from_name').text('from_name')]
  const [username, password] = [from('username').text('username'), from('password').text('password')]
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
      // What the author wrote is decoded already; what a variable holds goes on the wire as it is.
      return readHeader(asText(header.name), asText(header.value))
    } catch (error) {
      throw badValue('headers', (error as Error).message)
    }
  })

/** Longest confirmation of a destination, where it or its method says one. */
export const confirmTimeoutOf = (own: Values, common: Values): number | undefined =>
  own.seconds('confirm_timeout') ?? common.seconds('confirm_timeout')

const confirmOf = (own: Values, common: Values, script: ScriptContext): Destination['confirm'] => {
  const values = own.has('confirm') ? own : common
  const source = values.steps('confirm') ?? values.text('confirm')
  if (source === undefined) return undefined
  const longestMs = own === common ? undefined : confirmTimeoutOf(own, common)
  if (longestMs === undefined) return (callee) => script.confirm(callee, source)
  return (callee) => within(longestMs, callee, () => script.confirm(callee, source))
}

/** Runs something on a callee's leg, and gives it up after a time: the leg ends then, and what runs on it with the leg. */
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

/** Tells `call_state_url` how a callee's leg goes. */
const stateListener = (where: Values, which: Values, script: ScriptContext): Destination['onState'] => {
  const told = where.url('call_state_url')
  if (told === undefined) return undefined
  const wanted = which.has('call_state_events') ? which.texts('call_state_events') : ['ended']
  const tell = script.events.sender({ url: told }, 'calling.call.state', { direction: 'outbound' })
  return (state) => sendState(tell, wanted, state)
}

const sendState = (tell: SendEvent, wanted: readonly string[], state: CalleeState): void => {
  const call_state = state.kind === 'initiated' ? 'created' : state.kind
  if (!wanted.includes(call_state)) return
  const { callee } = state
  tell({
    call_state,
    ...(callee && { call_id: callee.callId, segment_id: callee.callId, device: deviceOf(callee) }),
    ...(state.kind === 'ended' && { end_reason: reasons[state.outcome] }),
  })
}

/** A callee as events describe it. */
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
