import { type Row, rowsOf } from './xml-rows.ts'

const destinations = 'nouns/destinations.test.ts'
const statusTitle = 'receives all requested events, numbered, by its method'

/** Common attributes of `Sip`, `Number` and `Client`. */
const callee = {
  url: [
    'URL of a document that runs for the callee before the connection; if it fails, the callee is not connected',
    'none',
    'is a document that runs for the callee',
  ],
  method: ['HTTP method of `url`', '`POST`', 'is a document that runs for the callee'],
  statusCallback: [
    'URL that receives the states of the call to the callee',
    '',
    'receives the end, with the fields in order',
  ],
  statusCallbackMethod: ['HTTP method of `statusCallback`', '`POST`', statusTitle],
  statusCallbackEvent: ['`initiated`, `ringing`, `answered`, `completed`', '`completed`', statusTitle],
} as const

const conference = 'nouns/conference.test.ts'
const takes = 'takes its attributes'
const recorded = 'receive the URL of the recording'

const streams = 'verbs/streams.test.ts'
const begins = 'starts its streams without delaying the next verb'
const tells = 'sends its start and end to its statusCallback: %j'

/** A `Stream`, in `Start` and in `Connect`. */
const stream = (verb: string): readonly Row[] => [
  ...rowsOf(`${verb}/Stream`, streams, ['sends the audio of the call to a WebSocket', begins], {
    url: ['`wss:` or `ws:` URL', 'needed', 'rejects the document without a WebSocket URL: %s'],
    name: ['name of the stream, for `Stop`', '', begins],
    track: ['`inbound_track`, `outbound_track`, `both_tracks`', '`inbound_track`', begins],
    codec: [
      '`PCMU`, `PCMA`, `G722`, `L16`, optionally with a rate (`L16@24000h`) and the duration of a message in ms (`@40i`)',
      '`PCMU@8000h`',
      begins,
    ],
    authBearerToken: ['token that the server receives as `Authorization: Bearer`', '', begins],
    statusCallback: ['URL that receives `stream-started`, `stream-stopped`, `stream-error`', '', tells],
    statusCallbackMethod: ['HTTP method of `statusCallback`', '`POST`', tells],
  }),
  ...rowsOf(
    `${verb}/Stream/Parameter`,
    streams,
    ['name and value that the server receives at the start', begins],
    {
      name: ['', 'needed', begins],
      value: ['', 'empty', begins],
    },
  ),
]

/** Elements within verbs. */
export const nounRows: readonly Row[] = [
  ...rowsOf(
    'Dial/Number',
    destinations,
    ['telephone number, called through the default carrier', 'is a phone number, and sends sendDigits'],
    {
      ...callee,
      sendDigits: [
        'digits that are sent after the answer, before the connection',
        '',
        'is a phone number, and sends sendDigits',
      ],
    },
  ),
  ...rowsOf(
    'Dial/Sip',
    destinations,
    [
      'SIP URI; its `;transport=` is used. Parameters after `?` become `X-` headers of the INVITE, except `User-to-User` (RFC 7433), which keeps its name. The INVITE also has `X-CallSid` (the `DialCallSid`), `X-AccountSid` and `X-ApiVersion`',
      'adds the ids of call and project to the INVITE, regardless of the URL headers',
    ],
    {
      ...callee,
      username: [
        'user name for digest authentication',
        '',
        'takes credentials, transport, and URL headers that become X- headers',
      ],
      password: [
        'password for digest authentication',
        '',
        'takes credentials, transport, and URL headers that become X- headers',
      ],
      codecs: [
        'codecs to offer, in order of preference, of `PCMU,PCMA,G722,OPUS,L16`',
        'as configured',
        'takes codecs and sessionTimeout',
        'done, except for `G729`, which is ignored',
      ],
      sessionTimeout: [
        'session interval to request, in seconds (RFC 4028); at least 90',
        'as configured',
        'takes codecs and sessionTimeout',
      ],
    },
  ),
  ...rowsOf(
    'Dial/Client',
    destinations,
    [
      'subscriber, by a name (`alice` is `/public/alice`) or by an address `/context/name`, also of a resource that [runs a handler](handlers.md#addresses-that-run-a-handler)',
      'is a subscriber by name, or by address, or by Identity',
    ],
    callee,
  ),
  ...rowsOf('Dial/Client/Identity', destinations, [
    'name or address of the `Client`',
    'is a subscriber by name, or by address, or by Identity',
  ]),
  ...rowsOf(
    'Dial/Client/Parameter',
    destinations,
    [
      'name and value for the browser (`userVariables` of its invite), or for the handler of the address; all parameters together at most 2,048 characters',
      'sends its Parameters to the browser by name and value',
    ],
    {
      name: ['', 'needed', 'sends its Parameters to the browser by name and value'],
      value: ['', 'empty', 'sends its Parameters to the browser by name and value'],
    },
  ),
  ...rowsOf('Dial/Verto', destinations, [
    '`name@host`: the subscriber `/public/name`. The host is `http.publicHost` or the domain of a domain application of the project, with or without a label `verto`',
    'is a subscriber by name, at a host name of the gateway',
  ]),
  ...rowsOf(
    'Dial/Queue',
    'nouns/queue.test.ts',
    [
      'caller who has waited longest in the queue of this name',
      'runs its document for the queued caller, with the fields of the wait',
    ],
    {
      url: [
        'URL of a document that runs for the queued caller before the connection, with `QueueSid`, `QueueTime`, `DequeingCallSid`',
        'none',
        'runs its document for the queued caller, with the fields of the wait',
      ],
      method: [
        'HTTP method of `url`',
        '`POST`',
        'runs its document for the queued caller, with the fields of the wait',
      ],
    },
  ),
  ...rowsOf(
    'Dial/Conference',
    conference,
    ['conference of this name', 'sends its duration to the action of Dial'],
    {
      muted: ['joins muted', 'false', takes],
      beep: [
        'when the participants hear a beep: `true` (on entry and exit), `false`, `onEnter`, `onExit`',
        '`true`',
        'beeps for %s as %s',
      ],
      startConferenceOnEnter: [
        'starts the conference; until a participant with `true` joins, the others wait',
        'true',
        takes,
      ],
      endConferenceOnExit: ['ends the conference for all when this participant leaves', 'false', takes],
      maxParticipants: [
        'maximum number of participants, 2 to 250; the first participant’s value counts',
        '100',
        takes,
      ],
      coach: ['`CallSid` of the only participant who hears the caller', '', takes],
      waitUrl: [
        'URL of audio, or of a document that runs repeatedly for a participant who waits for the start; empty: silence',
        'hold music',
        'runs its waitUrl for the waiting caller, by its %s',
      ],
      waitUrlMethod: [
        'HTTP method of `waitUrl`',
        '`POST`',
        'runs its waitUrl for the waiting caller, by its %s',
      ],
      waitMethod: [
        'the same as `waitUrlMethod`',
        '`POST`',
        'runs its waitUrl for the waiting caller, by its %s',
      ],
      record: ['`do-not-record` or `record-from-start`', '`do-not-record`', takes],
      trim: ['`trim-silence` or `do-not-trim`', '`trim-silence`', takes],
      eventCallbackUrl: ['URL that receives `RecordingUrl` and `Duration` after a recording', '', recorded],
      statusCallback: [
        'URL that receives the events; the first participant’s URL counts',
        '',
        'receive start, end, join and leave by default, with the fields in order',
      ],
      statusCallbackMethod: [
        'HTTP method of `statusCallback`',
        '`POST`',
        'receive the requested events, by their method',
      ],
      statusCallbackEvent: [
        '`start`, `end`, `join`, `leave`, `mute`, `hold`, `speaker`',
        '`start end join leave`',
        'receive the requested events, by their method',
        'done except for the end of speaking, which is not reported',
      ],
      recordingStatusCallback: [
        'URL that receives the states of the recording; the first participant’s URL counts',
        '',
        recorded,
      ],
      recordingStatusCallbackMethod: ['HTTP method of `recordingStatusCallback`', '`POST`', recorded],
      recordingStatusCallbackEvent: [
        '`in-progress`, `completed`, `absent`',
        '`completed`',
        'receive the start and the absence of a recording if requested',
      ],
    },
  ),
  ...stream('Start'),
  ...stream('Connect'),
  ...rowsOf('Connect/Room', 'verbs/connect.test.ts', [
    'room of this name or address; if the room does not admit the caller, the next verb follows',
    'makes the caller a member of its room until the caller leaves',
  ]),
]

const unknown = 'document.test.ts'
const passedOver = 'is skipped if it is a verb, with warning 12200 at its location'
const warned = 'causes a warning at its own location if it is an attribute, even if another value looks alike'
const none = (element: string, means: string, attribute?: string): Row => ({
  element,
  means,
  fallback: '',
  state: 'not supported: warning 12200, no effect',
  ...(attribute === undefined ? { test: [unknown, passedOver] } : { attribute, test: [unknown, warned] }),
})

/** Elements and attributes of this family's languages without support. */
export const absentRows: readonly Row[] = [
  none('Gather', 'model of the speech recogniser', 'speechModel'),
  none('Gather', 'model of the speech recogniser', 'enhanced'),
  none('Gather', 'removes swear words', 'profanityFilter'),
  none('Record', 'transcribes the recording', 'transcribe'),
  none('Record', 'URL that receives the transcript', 'transcribeCallback'),
  none('Start/Stream', 'speed of the transmission', 'realtime'),
  none('Connect/Stream', 'speed of the transmission', 'realtime'),
  none('Connect/ConversationRelay', 'removes swear words', 'profanityFilter'),
  none('Connect/ConversationRelay', 'writes numbers and dates in short', 'deepgramSmartFormat'),
  none('Connect/ConversationRelay', 'reads numbers and dates aloud', 'elevenlabsTextNormalization'),
  none('Connect/ConversationRelay', 'reduces noise', 'backgroundNoiseReduction'),
  none('Connect/ConversationRelay', 'confidence of the end of a turn', 'eotThreshold'),
  none('Connect/ConversationRelay', 'transcripts of another product', 'intelligenceService'),
  none('Connect/ConversationRelay', 'memory of another product', 'conversationConfiguration'),
  none('Connect/AiSession', 'session of another product'),
  none('Connect/Assistant', 'agent of another product'),
  none('Dial/Sim', 'calls a SIM card'),
  none('Start/Siprec', 'records by SIPREC'),
  none('Connect/VirtualAgent', 'connects an agent of another provider'),
  none('Connect/Autopilot', 'connects an agent of another provider'),
  none('Sms', 'sends a message'),
  none('Denoise', 'reduces noise'),
  none('Pay', 'takes a payment'),
  none('Prompt', 'part of `Pay`'),
]
