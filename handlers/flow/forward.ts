import { choice, list, number, text, url } from '../script/schema-builders.ts'
import { type Condition, decide, type NodeKind, type Options, pick } from './node.ts'

/** Seconds that a telephone rings. */
const ringSeconds = 45

/** What `connect` says of a failure, and the outcome that it is. */
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

/** Calls somebody else. */
export const forward: NodeKind = {
  description: 'Forwards the call to one or several telephones, one after the other or all together.',
  properties: {
    to: list(
      'Whom to call.',
      'a list of 1 to 10 destinations (objects with to)',
      {
        title: 'a destination (an object with to)',
        type: 'object',
        properties: {
          to: text('A number, a SIP URI or an address /context/name, also one that runs a handler.'),
          from: text('Caller id; default that of the caller.'),
          timeout: number(`Seconds that it rings; default ${ringSeconds}.`, [1, 600]),
          username: text('User for the carrier.'),
          password: text('Password for the carrier.'),
        },
        required: ['to'],
        additionalProperties: false,
      },
      { minItems: 1, maxItems: 10 },
    ),
    order: choice('sequential or simultaneous; default sequential.', ['sequential', 'simultaneous']),
    whisper: url('A script that is run on the leg of who answers, before the two are joined.'),
    ringback: list('What the caller hears meanwhile.', 'a list of sounds', text('A sound.')),
    headers: list('Further headers of the INVITE.', 'a list of headers', { type: 'object' }),
    max_duration: number('Longest time together in seconds; default 14400.', [1, 86_400]),
    answer_on_bridge: {
      title: 'true or false',
      description: 'Leave the caller unanswered meanwhile.',
      type: 'boolean',
    },
    call_state_url: url('Told of the states of the calls that are made.'),
    call_state_events: list('Of which ones.', 'a list of states', text('A state.')),
    status_url: url('Told of calling.call.connect events.'),
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
