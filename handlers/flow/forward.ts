import { choice, list, number, text, url } from '../script/schema-builders.ts'
import { type Condition, decide, type NodeKind, type Options, pick } from './node.ts'

/** Default ring time in seconds. */
const ringSeconds = 45

/** Outcomes by the result variables of `connect`. */
const outcomes: readonly Condition[] = [
  { name: 'success', when: "connect_result == 'connected'" },
  { name: 'no_answer', when: "connect_failed_reason == 'no_answer'" },
  { name: 'busy', when: "connect_failed_reason == 'busy'" },
  { name: 'decline', when: "connect_failed_reason == 'declined'" },
]

const shared = [
  'answer_on_bridge',
  'max_duration',
  'ringback',
  'call_state_url',
  'call_state_events',
  'status_url',
  'headers',
]

const destination = ({ timeout = ringSeconds, ...rest }: Options): Options => ({ ...rest, timeout })

/** Node that forwards the call to other destinations. */
export const forward: NodeKind = {
  description: 'Forwards the call to one or several telephones, in order or at the same time.',
  properties: {
    to: list(
      'Destinations to call.',
      'a list of 1 to 10 destinations (objects with to)',
      {
        title: 'a destination (an object with to)',
        type: 'object',
        properties: {
          to: text('Number, SIP URI, or address /context/name, also of a resource with a handler.'),
          from: text("Caller id to present; default the caller's own."),
          timeout: number(`Ring time in seconds; default ${ringSeconds}.`, [1, 600]),
          username: text('Digest user name for the carrier.'),
          password: text('Digest password for the carrier.'),
        },
        required: ['to'],
        additionalProperties: false,
      },
      { minItems: 1, maxItems: 10 },
    ),
    order: choice('sequential or simultaneous; default sequential.', ['sequential', 'simultaneous']),
    whisper: url('Script that runs on the leg of the callee before the bridge.'),
    ringback: list('Sounds for the caller until the callee answers.', 'a list of sounds', text('A sound.')),
    headers: list('Additional headers of the INVITE.', 'a list of headers', { type: 'object' }),
    max_duration: number('Maximum duration of the bridge in seconds; default 14400.', [1, 86_400]),
    answer_on_bridge: {
      title: 'true or false',
      description: 'Answers the caller only when the callee answers.',
      type: 'boolean',
    },
    call_state_url: url('URL that receives the states of the outbound calls.'),
    call_state_events: list('States to report.', 'a list of states', text('A state.')),
    status_url: url('URL that receives calling.call.connect events.'),
  },
  required: ['to'],
  outcomes: [...outcomes.map(({ name }) => name), 'error'],
  compile: (options, follow) => {
    const to = (options.to as readonly Options[]).map(destination)
    const parameters = {
      ...(options.order === 'simultaneous' ? { parallel: to } : { serial: to }),
      ...(options.whisper !== undefined && { confirm: options.whisper }),
      ...pick(options, shared),
    }
    return [{ connect: parameters }, ...decide(outcomes, follow, 'error')]
  },
}
