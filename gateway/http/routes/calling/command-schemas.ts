/** Schemas of the commands of `POST /api/calling/calls`, for the OpenAPI document. */
import { streamFormatPattern } from '../../../../handlers/common/streams.ts'
import { endReasons } from '../../../calling/operations/end-reasons.ts'
import { agentCommandParams } from './agent-command-schemas.ts'
import {
  flag,
  integer,
  list,
  needsOne,
  object,
  oneOf,
  type Schema,
  seconds,
  text,
} from './schema-builders.ts'

const volume: Schema = {
  type: 'number',
  minimum: -40,
  maximum: 40,
  description: 'Change of the volume in dB.',
}
const url = (description: string): Schema => text(description, { format: 'uri' })

const control = text('Id of the operation, chosen by the application. Later commands name it.')
const controlled = object({ 'control_id!': text('Id of the operation, from the command that started it.') })

/** Fields of a call's document and status callback. */
const handling = {
  url: url('URL of a script. One of `url` and `swml` is needed.'),
  swml: {
    description: 'The script itself: an object, or a text in JSON or YAML.',
    anyOf: [{ type: 'object' }, { type: 'string' }],
  },
  fallback_url: url('URL that is requested if `url` fails.'),
  url_method: oneOf(['GET', 'POST'], 'Method of the requests; default POST.'),
  status_url: url('URL that receives the states of the call and the events of its commands.'),
  status_events: list(
    oneOf(['created', 'ringing', 'answered', 'ended'], 'State of the call.'),
    10,
    'States that are reported; default only `ended`.',
  ),
}

const dial = object(
  {
    'from!': text('Caller: a number or a SIP URI.'),
    'to!': text('Callee: a number, a SIP URI, an address `/context/name`, or `client:name`.'),
    ...handling,
    caller_id: text('Number that the callee sees in place of `from`.'),
    username: text('User name for the digest authentication of a SIP callee.'),
    password: text('Password for the digest authentication. No response shows it.'),
    timeout: integer(1, 600, 'Ring time in seconds; default `limits.ring` of the configuration.'),
    codecs: {
      description:
        'Codecs to offer, as a list or separated by commas: PCMU, PCMA, G722, OPUS. Others are ignored.',
      anyOf: [{ type: 'array', maxItems: 20, items: { type: 'string' } }, { type: 'string' }],
    },
    send_digits: text('Digits that are sent after the answer: `0-9 * # A-D`; `w` waits 0.5 s, `W` 1 s.', {
      pattern: '^[0-9*#A-DwW]+$',
    }),
    custom_variables: {
      type: 'object',
      maxProperties: 100,
      additionalProperties: { type: ['string', 'number', 'boolean'] },
      description: 'Further `envs` of the documents of the call.',
    },
  },
  needsOne('url', 'swml'),
)

const update = object(
  {
    'id!': text('Id of the call.'),
    status: oneOf(
      ['canceled', 'completed'],
      '`canceled` ends a call before its answer, `completed` any call. Without it the document is replaced.',
    ),
    ...handling,
  },
  needsOne('status', 'url', 'swml'),
)

const soundParams: Schema = object(
  {
    text: text('Text of `tts`.'),
    language: text('Language of `tts`, such as `en-US`.'),
    gender: text('Gender of the voice of `tts`.'),
    voice: text('Name of the voice of `tts`.'),
    url: text('URL of `audio`.'),
    duration: seconds('Length of `silence` or `ringtone`.'),
    name: text('Country of `ringtone`, such as `de`.'),
  },
  { description: 'Details of the sound.' },
)
const sound = object({
  'type!': oneOf(['tts', 'audio', 'silence', 'ringtone'], 'Kind of the sound.'),
  params: soundParams,
})
const playlist = { ...list(sound, 50, 'Sounds, played in this order.'), minItems: 1 }

const audio = object(
  {
    format: oneOf(['wav', 'mp3'], 'Format of the file; default wav.'),
    stereo: flag('Whether the parties have a channel each; default false.'),
    direction: oneOf(['speak', 'listen', 'both'], 'Recorded party: the caller speaks; default speak.'),
    beep: flag('Whether a tone announces the recording; default false.'),
    terminators: {
      type: 'string',
      maxLength: 16_384,
      description: 'Digits that end the recording; default `#*`. Empty for none.',
    },
    initial_timeout: seconds(
      'Silence before the first sound that ends the recording; default 5, 0 for no limit.',
    ),
    end_silence_timeout: seconds('Silence that ends the recording; default 1, 0 for no limit.'),
    input_sensitivity: {
      type: 'number',
      minimum: 0,
      maximum: 100,
      description: 'Level that counts as a sound.',
    },
  },
  { description: 'Format, parties and end of the recording.' },
)

const digitInput = object(
  {
    max: integer(1, 1_000, 'Number of digits after which the input ends.'),
    digit_timeout: seconds('Wait for the next digit.'),
    terminators: { type: 'string', maxLength: 16_384, description: 'Digits that end the input.' },
  },
  { description: 'Collects digits.' },
)
const speechInput = object(
  {
    language: text('Language, such as `en-US`.'),
    hints: list({ type: 'string', minLength: 1 }, 100, 'Words that the caller may say.'),
    end_silence_timeout: seconds('Silence that ends the input.'),
    speech_timeout: seconds('Longest input.'),
  },
  { description: 'Recognizes speech.' },
)
const input = {
  digits: digitInput,
  speech: speechInput,
  initial_timeout: seconds('Wait for the first input; default 4.'),
  partial_results: flag('Whether results are reported during the input; default false.'),
}
const anyInput = {
  description: 'Input to collect: digits, speech, or the first of both.',
  ...needsOne('digits', 'speech'),
}

const detect = object(
  {
    'type!': oneOf(['machine', 'fax', 'digit'], 'Sound that is detected.'),
    params: object(
      {
        initial_timeout: seconds('`machine`: wait for a sound.'),
        end_silence_timeout: seconds('`machine`: silence that ends the greeting.'),
        machine_ready_timeout: seconds('`machine`: wait for the end of the greeting.'),
        machine_voice_threshold: seconds('`machine`: speech of a machine is longer than this.'),
        machine_words_threshold: integer(1, 100, '`machine`: words of a machine are more than this.'),
        tone: oneOf(['CED', 'CNG'], '`fax`: tone; default CED.'),
        digits: text('`digit`: digits to report; default all.'),
      },
      { description: 'Limits of the detection.' },
    ),
  },
  { description: 'Kind and limits of the detection.' },
)

const tapDevice = object(
  {
    'type!': oneOf(['ws', 'rtp'], 'Receiver: a WebSocket, or an RTP address.'),
    params: object(
      {
        uri: text('`ws`: URL of the server.'),
        codec: oneOf(['PCMU', 'PCMA', 'G722', 'L16'], 'Codec; `rtp` has PCMU and PCMA. Default PCMU.'),
        rate: { type: 'number', minimum: 8_000, maximum: 48_000, description: '`ws`: sample rate in Hz.' },
        addr: text('`rtp`: IP address.'),
        port: integer(1, 65_535, '`rtp`: port.'),
      },
      { description: 'Address and codec of the receiver.' },
    ),
  },
  { description: 'Receiver of the copy.' },
)

const stream = {
  'url!': text('URL of the server, with `ws`, `wss`, `rtp` or another scheme of streams.'),
  name: text('Name of the stream.'),
  track: oneOf(
    ['inbound_track', 'outbound_track', 'both_tracks'],
    'Audio that is sent; default inbound_track.',
  ),
  codec: text('Codec and sample rate, such as `L16@16000h`; default PCMU.', { pattern: streamFormatPattern }),
  custom_parameters: { type: 'object', description: 'Values that the server receives with the start.' },
  authorization_bearer_token: text('Token that the server receives.'),
}

const digitsToSend = text('Digits: `0-9 * # A-D`; `w` waits 0.5 s, `W` 1 s.', { pattern: '^[0-9*#A-DwW]+$' })
const device = object(
  {
    type: oneOf(['sip'], 'Kind of the device.'),
    'params!': object(
      {
        'to!': text('SIP URI of the new destination.'),
        username: text('User name for digest authentication.'),
        password: text('Password for digest authentication.'),
      },
      { description: 'New destination and its credentials.' },
    ),
  },
  { description: 'SIP device that is called.' },
)
const noParams = object({})
const withVolume = object({ 'control_id!': control, 'volume!': volume })

/** Parameters by command, with the text of the command. */
export const commandParams: Readonly<Record<string, readonly [text: string, params: Schema]>> = {
  dial: ['Places a call.', dial],
  update: ['Ends a call, or replaces the document of an answered call.', update],
  'calling.end': [
    'Ends a call.',
    object({ reason: oneOf(endReasons, 'Reason; default hangup. An unanswered call is rejected with it.') }),
  ],
  'calling.disconnect': ['Parts a call from its connected party. Its document continues.', noParams],
  'calling.transfer': [
    'Continues a call with a script, or connects it to another destination.',
    object({ 'dest!': text('URL or JSON text of a script, an address, a SIP URI or a number.') }),
  ],
  'calling.play': ['Plays sounds.', object({ 'control_id!': control, 'play!': playlist, volume })],
  'calling.play.pause': ['Pauses sounds.', controlled],
  'calling.play.resume': ['Resumes paused sounds.', controlled],
  'calling.play.stop': ['Stops sounds.', controlled],
  'calling.play.volume': ['Changes the volume of sounds.', withVolume],
  'calling.record': [
    'Records a call.',
    object({ 'control_id!': control, record: object({ audio }, { description: 'Form of the recording.' }) }),
  ],
  'calling.record.pause': [
    'Pauses a recording.',
    object({
      'control_id!': control,
      behavior: oneOf(['skip', 'silence'], 'Content of the pause: nothing, or silence; default silence.'),
    }),
  ],
  'calling.record.resume': ['Resumes a paused recording.', controlled],
  'calling.record.stop': ['Ends a recording.', controlled],
  'calling.play_and_collect': [
    'Plays sounds, and collects digits or speech.',
    object({
      'control_id!': control,
      'play!': playlist,
      volume,
      'collect!': object(input, anyInput),
    }),
  ],
  'calling.play_and_collect.stop': ['Ends the input and its sounds.', controlled],
  'calling.play_and_collect.volume': ['Changes the volume of the sounds of an input.', withVolume],
  'calling.collect': [
    'Collects digits or speech.',
    object(
      {
        'control_id!': control,
        ...input,
        continuous: flag('Whether the input is repeated until it is stopped; default false.'),
        send_start_of_input: flag('Whether the start of the input is reported; default false.'),
        start_input_timers: flag('Whether the wait begins at once; default false.'),
      },
      anyInput,
    ),
  ],
  'calling.collect.stop': ['Ends an input.', controlled],
  'calling.collect.start_input_timers': ['Begins the wait for the first input.', controlled],
  'calling.detect': [
    'Detects an answering machine, a fax or digits.',
    object({ 'control_id!': control, 'detect!': detect, timeout: seconds('Longest detection.') }),
  ],
  'calling.detect.stop': ['Ends a detection.', controlled],
  'calling.tap': [
    'Sends a copy of the audio to a server.',
    object({
      'control_id!': control,
      tap: object(
        {
          type: oneOf(['audio'], 'Kind of the copy.'),
          params: object(
            { direction: oneOf(['speak', 'listen', 'both'], 'Copied party; default speak.') },
            { description: 'Copied party.' },
          ),
        },
        { description: 'Copied audio.' },
      ),
      'device!': tapDevice,
    }),
  ],
  'calling.tap.stop': ['Ends the copy.', controlled],
  'calling.stream': ['Streams the audio to a server.', object({ 'control_id!': control, ...stream })],
  'calling.stream.stop': ['Ends a stream.', controlled],
  'calling.send_digits': [
    'Sends digits to the party of the call.',
    object({ 'control_id!': control, 'digits!': digitsToSend }),
  ],
  'calling.refer': [
    'Asks the SIP party of a call to call another destination (RFC 3515).',
    object({ 'control_id!': control, 'device!': device }),
  ],
  'calling.hold': ['Puts a call on hold.', noParams],
  'calling.unhold': ['Resumes a held call.', noParams],
  'calling.user_event': [
    'Sends an event to the page of a browser call.',
    object({ 'event!': { type: 'object', description: 'Content of the event.' } }),
  ],
  ...agentCommandParams,
}

/** Returns the name of a command's schema, such as `CallPlayStop` for `calling.play.stop`. */
export const schemaNameOf = (command: string): string => {
  const words = command.replace(/^calling\./, '').split(/[._]/)
  return `Call${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}`
}

/** Commands that create a call, or name their call in `params`. */
const withoutId: ReadonlySet<string> = new Set(['dial', 'update'])

/** Shared schemas of the requests: one for each command. */
export const commandSchemas: readonly (Schema & { readonly $id: string })[] = Object.entries(
  commandParams,
).map(([command, [description, params]]) => ({
  $id: schemaNameOf(command),
  ...object({
    'command!': { type: 'string', enum: [command], description: 'Name of the command.' },
    ...(!withoutId.has(command) && {
      'id!': { type: 'string', maxLength: 64, description: 'Id of the call.' },
    }),
    'params!': { description: 'Parameters of the command.', ...params },
  }),
  description,
}))

/** Schema of the body: one of the commands, which the field `command` names. */
export const commandBody: Schema = {
  oneOf: commandSchemas.map(({ $id }) => ({ $ref: `${$id}#` })),
  discriminator: {
    propertyName: 'command',
    mapping: Object.fromEntries(
      Object.keys(commandParams).map((command) => [command, `#/components/schemas/${schemaNameOf(command)}`]),
    ),
  },
}
