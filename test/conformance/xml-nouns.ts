import { type Row, rowsOf } from './xml-rows.ts'

const destinations = 'nouns/destinations.test.ts'
const statusTitle = 'receives all requested events, numbered, by its method'

/** Common attributes of `Sip`, `Number` and `Client`. */
const callee = {
  url: [
    'a document that runs for the callee before the two are connected; if it fails they are not',
    'none',
    'is a document that runs for the callee',
  ],
  method: ['its method', '`POST`', 'is a document that runs for the callee'],
  statusCallback: ['receives the states of the call to it', '', 'receives the end, with the fields in order'],
  statusCallbackMethod: ['its method', '`POST`', statusTitle],
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
  ...rowsOf(`${verb}/Stream`, streams, ['a WebSocket that is given the audio', begins], {
    url: ['`wss:` or `ws:`', 'needed', 'rejects the document without a WebSocket URL: %s'],
    name: ['by which `Stop` finds it', '', begins],
    track: ['`inbound_track`, `outbound_track`, `both_tracks`', '`inbound_track`', begins],
    codec: [
      '`PCMU`, `PCMA`, `G722`, `L16`, with a rate (`L16@24000h`) and the length of a message in ms (`@40i`)',
      '`PCMU@8000h`',
      begins,
    ],
    authBearerToken: ['sent to its server in `Authorization`', '', begins],
    statusCallback: ['receives `stream-started`, `stream-stopped`, `stream-error`', '', tells],
    statusCallbackMethod: ['its method', '`POST`', tells],
  }),
  ...rowsOf(`${verb}/Stream/Parameter`, streams, ['a name and a value for its server', begins], {
    name: ['', 'needed', begins],
    value: ['', 'empty', begins],
  }),
]

/** Elements within verbs. */
export const nounRows: readonly Row[] = [
  ...rowsOf(
    'Dial/Number',
    destinations,
    ['a phone number, by the default carrier', 'is a phone number, and sends sendDigits'],
    {
      ...callee,
      sendDigits: [
        'pressed after the answer and before the two are joined',
        '',
        'is a phone number, and sends sendDigits',
      ],
    },
  ),
  ...rowsOf(
    'Dial/Sip',
    destinations,
    [
      'a SIP URI; `;transport=` counts, and what follows `?` becomes `X-` headers of the INVITE (`User-to-User`, RFC 7433, keeps its name), which also has `X-CallSid` (the `DialCallSid`), `X-AccountSid` and `X-ApiVersion`',
      'adds the ids of call and project to the INVITE, regardless of the URL headers',
    ],
    {
      ...callee,
      username: [
        'for digest authentication',
        '',
        'takes credentials, transport, and URL headers that become X- headers',
      ],
      password: [
        'for digest authentication',
        '',
        'takes credentials, transport, and URL headers that become X- headers',
      ],
      codecs: [
        'of `PCMU,PCMA,G722,OPUS,L16`, in this order',
        'as configured',
        'takes codecs and sessionTimeout',
        'done but `G729`, which is passed over',
      ],
      sessionTimeout: [
        'seconds of a session timer (RFC 4028), from 90',
        'as configured',
        'takes codecs and sessionTimeout',
      ],
    },
  ),
  ...rowsOf(
    'Dial/Client',
    destinations,
    [
      'a subscriber: `alice` stands for `/public/alice`; or an address `/context/name`, also [one that runs a handler](handlers.md#addresses-that-run-a-handler)',
      'is a subscriber by name, or by address, or by Identity',
    ],
    callee,
  ),
  ...rowsOf('Dial/Client/Identity', destinations, [
    'the name of the `Client`',
    'is a subscriber by name, or by address, or by Identity',
  ]),
  ...rowsOf(
    'Dial/Client/Parameter',
    destinations,
    [
      'a name and a value for the browser (`userVariables` of its invite), or for the handler of the address; 2,048 characters together',
      'sends its Parameters to the browser by name and value',
    ],
    {
      name: ['', 'needed', 'sends its Parameters to the browser by name and value'],
      value: ['', 'empty', 'sends its Parameters to the browser by name and value'],
    },
  ),
  ...rowsOf('Dial/Verto', destinations, [
    '`name@host`: the subscriber `/public/name`, where the host is `http.publicHost` or the domain of an application of the project, with or without a label `verto`',
    'is a subscriber by name, at a host name of the gateway',
  ]),
  ...rowsOf(
    'Dial/Queue',
    'nouns/queue.test.ts',
    [
      'who has waited longest in the queue',
      'runs its document for the queued caller, with the fields of the wait',
    ],
    {
      url: [
        'a document that runs on who waited, with `QueueSid`, `QueueTime`, `DequeingCallSid`',
        'none',
        'runs its document for the queued caller, with the fields of the wait',
      ],
      method: [
        'its method',
        '`POST`',
        'runs its document for the queued caller, with the fields of the wait',
      ],
    },
  ),
  ...rowsOf(
    'Dial/Conference',
    conference,
    ['the conference of this name', 'sends its duration to the action of Dial'],
    {
      muted: ['is not heard', 'false', takes],
      beep: ['`true`, `false`, `onEnter`, `onExit`', '`true`', 'beeps for %s as %s'],
      startConferenceOnEnter: ['others wait until a participant with this is there', 'true', takes],
      endConferenceOnExit: ['ends it for all', 'false', takes],
      maxParticipants: ['2 to 250; that of who made it holds', '100', takes],
      coach: ['`CallSid` of the only participant who hears the caller', '', takes],
      waitUrl: [
        'a document that runs again and again on who waits for the beginning, or audio; empty: silence',
        'hold music',
        'runs its waitUrl for the waiting caller, by its %s',
      ],
      waitUrlMethod: ['its method', '`POST`', 'runs its waitUrl for the waiting caller, by its %s'],
      waitMethod: ['the same', '`POST`', 'runs its waitUrl for the waiting caller, by its %s'],
      record: ['`do-not-record` or `record-from-start`', '`do-not-record`', takes],
      trim: ['`trim-silence` or `do-not-trim`', '`trim-silence`', takes],
      eventCallbackUrl: ['receives `RecordingUrl` and `Duration` after a recording', '', recorded],
      statusCallback: [
        'receives the events; the URL of the conference’s creator holds',
        '',
        'receive start, end, join and leave by default, with the fields in order',
      ],
      statusCallbackMethod: ['its method', '`POST`', 'receive the requested events, by their method'],
      statusCallbackEvent: [
        '`start`, `end`, `join`, `leave`, `mute`, `hold`, `speaker`',
        '`start end join leave`',
        'receive the requested events, by their method',
        'done except for the end of speaking, which is not reported',
      ],
      recordingStatusCallback: [
        'receives the states of the recording; the URL of the conference’s creator holds',
        '',
        recorded,
      ],
      recordingStatusCallbackMethod: ['its method', '`POST`', recorded],
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
    'the room of this name or address; where it is full, the next verb has its turn',
    'joins the caller to the conference of its room until the conference ends',
    'audio; video in rooms is not there',
  ]),
]

const unknown = 'document.test.ts'
const passedOver = 'is skipped if it is a verb, with warning 12200 at its location'
const warned = 'causes a warning at its own location if it is an attribute, even if another value looks alike'
const none = (element: string, means: string, attribute?: string): Row => ({
  element,
  means,
  fallback: '',
  state: 'not there: warning 12200, no effect',
  ...(attribute === undefined ? { test: [unknown, passedOver] } : { attribute, test: [unknown, warned] }),
})

/** Elements and attributes of this family's languages without support. */
export const absentRows: readonly Row[] = [
  none('Gather', 'which recogniser', 'speechModel'),
  none('Gather', 'which recogniser', 'enhanced'),
  none('Gather', 'leaves out swear words', 'profanityFilter'),
  none('Record', 'makes text of it', 'transcribe'),
  none('Record', 'receives the text', 'transcribeCallback'),
  none('Start/Stream', 'how fast it is sent', 'realtime'),
  none('Connect/Stream', 'how fast it is sent', 'realtime'),
  none('Dial/Sim', 'a SIM card'),
  none('Start/Siprec', 'SIPREC'),
  none('Connect/VirtualAgent', 'an agent of others'),
  none('Connect/Autopilot', 'an agent of others'),
  none('Sms', 'sends a message'),
  none('Denoise', 'less noise'),
  none('Pay', 'takes a payment'),
  none('Prompt', 'part of `Pay`'),
]
