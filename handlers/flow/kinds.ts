import { methods } from '../script/methods/index.ts'
import { anyObject, list, type Schema, text } from '../script/schema-builders.ts'
import { agent } from './agent.ts'
import { conditionList, conditionNames, conditionsOf } from './conditions.ts'
import { forward } from './forward.ts'
import { gather } from './gather.ts'
import { decide, type NodeKind, pick } from './node.ts'

/** Returns the parameters of a method as options. */
const ofMethod = (name: string, without: readonly string[] = []): Readonly<Record<string, Schema>> => {
  const { properties = {} } = methods.get(name) ?? {}
  return Object.fromEntries(Object.entries(properties).filter(([key]) => !without.includes(key)))
}

/** Returns a node that runs one method and has one outcome. */
const single = (method: string, description: string, required: readonly string[] = []): NodeKind => ({
  description,
  properties: ofMethod(method),
  required,
  outcomes: ['next'],
  compile: (options, follow) => [{ [method]: options }, ...follow('next')],
})

const recordingName: Schema = {
  ...text('Name of the recording.', 'a name of letters, digits, _ and -'),
  pattern: '^[A-Za-z0-9_-]{1,64}$',
}

const greeting: Schema = {
  title: 'a sound or a list of sounds',
  description: 'Sounds before the recording.',
  anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 100 }],
}

/** Parameters of a recording that apply to a voicemail message. */
const voicemailOptions = [
  'beep',
  'format',
  'terminators',
  'initial_timeout',
  'end_silence_timeout',
  'max_length',
  'status_url',
]

const notOfVoicemail = Object.keys(ofMethod('record')).filter((name) => !voicemailOptions.includes(name))

const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

const request: NodeKind = {
  description: 'Sends a request to a server, and continues by its response.',
  properties: {
    ...ofMethod('request'),
    conditions: conditionList(
      'Outcomes by the response, which is in request_response and similar variables.',
    ),
  },
  required: ['url', 'method'],
  outcomes: ['else', 'failure'],
  named: conditionNames,
  compile: (options, follow) => {
    const { conditions: _, ...parameters } = options
    const failure = { name: 'failure', when: "request_result == 'failed'" }
    return [{ request: parameters }, ...decide([failure, ...conditionsOf(options)], follow, 'else')]
  },
}

/** All kinds of nodes, by name. */
export const kinds: Readonly<Record<string, NodeKind>> = {
  start: {
    description: 'Entry of the flow, where the call arrives.',
    properties: {},
    outcomes: ['next'],
    compile: (_, follow) => follow('next'),
  },
  answer: single('answer', 'Answers the call.'),
  hang_up: {
    description: 'Ends the call.',
    properties: ofMethod('hangup'),
    outcomes: [],
    compile: (options) => [{ hangup: options }],
  },
  play: single('play', 'Plays audio or speaks text.'),
  forward,
  agent,
  gather,
  request,
  conditions: {
    description: 'Continues by the first true condition.',
    properties: { conditions: conditionList('In order.') },
    required: ['conditions'],
    outcomes: ['else'],
    named: conditionNames,
    compile: (options, follow) => decide(conditionsOf(options), follow, 'else'),
  },
  execute: {
    description: 'Runs a script, and continues by its return value.',
    properties: {
      dest: text('URL of a script, or a script as JSON text.'),
      params: anyObject('Values that the script can read as params.'),
      conditions: conditionList('Outcomes by return_value.'),
    },
    required: ['dest'],
    outcomes: ['else'],
    named: conditionNames,
    compile: (options, follow) => [
      { execute: pick(options, ['dest', 'params']) },
      ...decide(conditionsOf(options), follow, 'else'),
    ],
  },
  set: {
    description: 'Sets variables.',
    properties: { variables: anyObject('Values by name.') },
    required: ['variables'],
    outcomes: ['next'],
    compile: ({ variables }, follow) => [{ set: variables }, ...follow('next')],
  },
  unset: {
    description: 'Removes variables.',
    properties: { variables: list('Names.', 'a list of names', text('A name.'), { minItems: 1 }) },
    required: ['variables'],
    outcomes: ['next'],
    compile: ({ variables }, follow) => [{ unset: variables }, ...follow('next')],
  },
  start_recording: {
    description: 'Starts a recording in the background.',
    properties: { name: recordingName, ...ofMethod('record_call', ['control_id']) },
    required: ['name'],
    outcomes: ['next'],
    compile: ({ name, ...options }, follow) => [
      { record_call: { control_id: name, ...options } },
      ...follow('next'),
    ],
  },
  stop_recording: {
    description: 'Stops a recording.',
    properties: { name: recordingName },
    required: ['name'],
    outcomes: ['next'],
    compile: ({ name }, follow) => [{ stop_record_call: { control_id: name } }, ...follow('next')],
  },
  voicemail: {
    description: 'Records a message; record_url is the link to it.',
    properties: { greeting, ...ofMethod('record', notOfVoicemail) },
    outcomes: ['recorded', 'no_message'],
    compile: (options, follow) => [
      ...(options.greeting === undefined ? [] : [{ play: { urls: listed(options.greeting) } }]),
      { record: { beep: true, ...pick(options, voicemailOptions) } },
      ...decide([{ name: 'recorded', when: "record_result == 'success'" }], follow, 'no_message'),
    ],
  },
  hours: {
    description: 'Continues by the opening hours.',
    properties: ofMethod('check_hours'),
    required: ['open'],
    outcomes: ['open', 'closed'],
    compile: (options, follow) => [
      { check_hours: options },
      ...decide([{ name: 'open', when: "hours_result == 'open'" }], follow, 'closed'),
    ],
  },
}
