import { digitsPattern, terminatorsPattern } from '../common/destinations.ts'
import { boolean, type MethodSpec, number, pattern, type Schema, text } from './schema-parts.ts'
import { recordingMethods } from './schema-recording.ts'

export { type MethodSpec, ranges, type Schema } from './schema-parts.ts'

const sounds = 'say:<text>, silence:<seconds>, ring:[<seconds>:]<country>, file:<name>, or an http(s) URL'
const sound = text(`What to play: ${sounds}.`, `a sound (${sounds})`)
const soundList = (description: string): Schema => ({
  title: 'a list of sounds',
  description,
  type: 'array',
  items: sound,
  minItems: 1,
})

const speaking: Readonly<Record<string, Schema>> = {
  volume: number('volume', 'Decibels, -40 to 40; default 0.'),
  say_voice: text('Voice for say:.'),
  say_language: text('Language for say:, such as en-US.'),
}

const headers: Schema = {
  title: 'a list of headers',
  description: 'Further headers of the INVITE to a SIP destination.',
  type: 'array',
  items: {
    title: 'an object with name and value',
    type: 'object',
    properties: {
      name: text('Name of the header, usually x-….'),
      value: text('Value, URL-encoded; it is decoded once.'),
    },
    required: ['name', 'value'],
    additionalProperties: false,
  },
}

const destinationProperties: Readonly<Record<string, Schema>> = {
  to: text('A SIP URI, an address /context/name, or a phone number.'),
  from: text("Caller id; default the caller's own."),
  from_name: text("Caller's name to present."),
  headers,
  username: text('User for digest authentication at the carrier.'),
  password: text('Password for digest authentication at the carrier.'),
  timeout: number('timeout', 'Seconds to ring; default 60.'),
  codecs: text(
    'Codecs to offer to a SIP destination, with commas, in this order: of PCMU, PCMA, G722, OPUS and L16 those that the carrier has in its configuration.',
  ),
}

/** Parameters of a destination that change nothing here. */
export const destinationWithoutEffect = [
  'encryption',
  'webrtc_media',
  'session_timeout',
  'call_state_url',
  'call_state_events',
]

const noted = (names: readonly string[] = []): Readonly<Record<string, Schema>> =>
  Object.fromEntries(names.map((name) => [name, { description: 'Accepted; it has no effect here.' }]))

const destination: Schema = {
  title: 'a destination (an object with to)',
  type: 'object',
  properties: { ...destinationProperties, ...noted(destinationWithoutEffect) },
  required: ['to'],
  additionalProperties: false,
}

/** Most destinations of one `connect`. */
const maxDestinations = 100
/** Most destinations that ring together, as in one `Dial` of XML: each is a call of its own. */
const maxAtOnce = 10

const destinations = (description: string, maxItems: number): Schema => ({
  title: `a list of 1 to ${maxItems} destinations`,
  description,
  type: 'array',
  items: destination,
  minItems: 1,
  maxItems,
})

/** Every method that runs here. */
export const methods: Readonly<Record<string, MethodSpec>> = {
  answer: {
    description: 'Answers the call; nothing when it is answered already.',
    properties: { max_duration: number('max_duration', 'Longest call in seconds; default 14400.') },
    withoutEffect: ['codecs', 'username', 'password'],
  },
  hangup: {
    description: 'Ends the call. Before an answer, busy and decline refuse it.',
    properties: {
      reason: {
        title: 'hangup, busy or decline',
        description: 'Default hangup.',
        type: 'string',
        enum: ['hangup', 'busy', 'decline'],
      },
    },
  },
  play: {
    description: 'Plays sounds, one after the other.',
    properties: {
      url: sound,
      urls: soundList('Sounds to play in order.'),
      ...speaking,
      auto_answer: boolean('Answer first; default true. false plays as early media.'),
    },
    exactlyOne: ['url', 'urls'],
    withoutEffect: ['say_gender', 'status_url'],
  },
  prompt: {
    description:
      'Plays sounds and collects digits, or speech where a parameter of it is there, or both; a digit or speech stops the sounds.',
    properties: {
      play: {
        title: 'a sound or a list of sounds',
        description: 'What to play.',
        anyOf: [sound, soundList('In order.')],
      },
      ...speaking,
      max_digits: number('max_digits', 'Stop after so many digits; default 1.'),
      terminators: pattern(terminatorsPattern, 'Keys that end the input.', 'any of 0-9 * # A-D'),
      digit_timeout: number('digit_timeout', 'Seconds between digits; default 5.'),
      speech_timeout: number('speech_timeout', 'Longest speech in seconds; default 60.'),
      speech_end_timeout: number(
        'speech_end_timeout',
        'Seconds of silence after which speech is over; default: as the recogniser says, or after 1.',
      ),
      speech_language: text('Language of the speech, such as en-US.'),
      speech_hints: {
        title: 'a list of texts',
        description: 'Words and phrases that are likely.',
        type: 'array',
        items: text('A word or phrase.'),
        maxItems: 500,
      },
      initial_timeout: number(
        'initial_timeout',
        'Seconds for the first digit or the beginning of speech; default 5.',
        [0.1, 600],
      ),
    },
    required: ['play'],
    withoutEffect: ['say_gender', 'speech_engine', 'status_url'],
  },
  sleep: {
    description: 'Waits.',
    properties: { duration: number('duration', 'Milliseconds; -1 waits until the call ends.') },
    required: ['duration'],
    shorthand: 'duration',
  },
  send_digits: {
    description: 'Sends key presses to the caller.',
    properties: { digits: pattern(digitsPattern, 'w waits 0.5 s, W 1 s.', 'key presses (0-9 * # A-D w W)') },
    required: ['digits'],
  },
  ...recordingMethods,
  connect: {
    description:
      'Calls others and joins the first who answers. The next step comes when they have hung up or nobody could be had.',
    properties: {
      ...destinationProperties,
      serial: destinations(`Called one after the other; at most ${maxDestinations}.`, maxDestinations),
      parallel: destinations(`Called together, at most ${maxAtOnce}; the first answer wins.`, maxAtOnce),
      serial_parallel: {
        title: `a list of 1 to ${maxDestinations} lists of destinations`,
        description: `The lists one after the other, those in a list together: at most ${maxAtOnce} in each, ${maxDestinations} in all.`,
        type: 'array',
        items: destinations('Called together.', maxAtOnce),
        minItems: 1,
        maxItems: maxDestinations,
      },
      max_duration: number('max_duration', 'Longest time together in seconds; default 14400.'),
      answer_on_bridge: boolean('Leave the caller ringing until somebody answers; default false.'),
      ringback: soundList("What the caller hears meanwhile, instead of the far side's early media."),
    },
    exactlyOne: ['to', 'serial', 'parallel', 'serial_parallel'],
    mostTogether: { serial_parallel: maxDestinations },
    withoutEffect: [...destinationWithoutEffect, 'status_url'],
  },
}

/** Methods of the language that do not run here yet; a script that uses one is refused with a message that says so. */
export const laterMethods: readonly string[] = (
  'sip_refer join_conference join_room enter_queue detect_machine execute transfer return goto label cond switch set unset request ' +
  'user_event tap stop_tap stream stop_stream denoise stop_denoise live_transcribe live_translate ' +
  'transcribe transcribe_stop send_fax receive_fax send_sms pay ai ai_sidecar amazon_bedrock'
).split(' ')

/** Parameters of the language that change what a script does, and are not there yet; they refuse the script. */
export const laterParameters: readonly string[] = [
  'result',
  'confirm',
  'confirm_timeout',
  'transfer_after_bridge',
  'input_sensitivity',
  'status_url',
]

/** The schema of a method's parameters as an object. */
export const parametersSchema = (spec: MethodSpec): Schema => ({
  title: 'an object of parameters',
  description: spec.description,
  type: 'object',
  properties: { ...spec.properties, ...noted(spec.withoutEffect) },
  required: [...(spec.required ?? [])],
  additionalProperties: false,
})

const stepOf = ([name, spec]: readonly [string, MethodSpec]): Schema => {
  const alone = spec.exactlyOne?.map((key) => ({ required: [key] }))
  const object = { ...parametersSchema(spec), ...(alone && { oneOf: alone }) }
  const short = spec.shorthand === undefined ? undefined : spec.properties[spec.shorthand]
  const free = !spec.required && !spec.exactlyOne
  const value =
    short || free
      ? { anyOf: [object, ...(short ? [short] : []), ...(free ? [{ type: 'null' }] : [])] }
      : object
  return { type: 'object', properties: { [name]: value }, required: [name], additionalProperties: false }
}

const bareNames = Object.entries(methods).flatMap(([name, spec]) =>
  spec.required || spec.exactlyOne ? [] : [name],
)

/** JSON Schema of the whole language as far as it runs here, for editors and documentation. */
export const scriptSchema: Schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Trunkline script document',
  type: 'object',
  properties: {
    version: { description: 'Version of the language; default 1.0.0.', const: '1.0.0' },
    sections: {
      description: 'Lists of steps by name; main is run.',
      type: 'object',
      properties: { main: { $ref: '#/definitions/steps' } },
      required: ['main'],
      additionalProperties: { $ref: '#/definitions/steps' },
    },
  },
  required: ['sections'],
  additionalProperties: false,
  definitions: {
    steps: {
      type: 'array',
      items: { anyOf: [{ type: 'string', enum: bareNames }, ...Object.entries(methods).map(stepOf)] },
    },
  },
}
