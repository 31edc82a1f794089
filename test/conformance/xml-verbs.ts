import { type Row, rowsOf } from './xml-rows.ts'

const action = 'URL of the next document, requested with the outcome when the verb ends'
const method = 'HTTP method of the action: `GET` or `POST`'
const itself = 'the URL of the document; for a document without a URL: none'

const takesAll = 'takes timeout, finishOnKey, maxLength, playBeep and trim'
const hears = 'sends the end to its recordingStatusCallback, with the fields in order'
const asks = 'sends the requested events to its recordingStatusCallback, by its method'

const recordSends =
  'is sent by storageUrlMethod to storageUrl, which its recordingStatusCallback then receives'
const dialSends =
  'is sent by recordingStorageUrlMethod to recordingStorageUrl, which its callback then receives'

const dialTakes = 'takes timeout, timeLimit, answerOnBridge, hangupOnStar and ringTone'
const dialTold = 'sends the requested states to its callback'

/** The verbs, in the order of the documentation. */
export const verbRows: readonly Row[] = [
  ...rowsOf(
    'Say',
    'verbs/sounds.test.ts',
    [
      'speaks its text, at most 4096 characters, which may be SSML',
      'speaks with voice, language and loop, and decodes entities',
    ],
    {
      voice: [
        'name of the voice',
        'as configured',
        'speaks with voice, language and loop, and decodes entities',
      ],
      language: [
        'language, such as `en-US`',
        'as configured',
        'uses the configured voice and language by default, and speaks once',
      ],
      loop: [
        'number of times; 0: until the call ends',
        '1',
        'speaks with voice, language and loop, and decodes entities',
      ],
    },
  ),
  ...rowsOf(
    'Play',
    'verbs/sounds.test.ts',
    [
      'plays the audio at its URL: WAV, AIFF, MP3, Ogg with Opus, or raw µ-law ([sounds](sounds.md)); `file:<name>` is a file of the folder for sounds',
      'plays a file of the folder for sounds',
    ],
    {
      loop: [
        'number of times; 0: until the call ends',
        '1',
        'plays a URL relative to the document, loop times',
      ],
      digits: [
        'digits to send: `0-9 * # A-D`; `w` waits 0.5 s, `W` 1 s',
        '',
        'sends digits, after the audio if any',
      ],
    },
  ),
  ...rowsOf(
    'Pause',
    'verbs/sounds.test.ts',
    ['waits, without answering the call', 'waits a second or its length, and does not answer'],
    {
      length: ['duration in seconds', '1', 'waits a second or its length, and does not answer'],
    },
  ),
  ...rowsOf(
    'Gather',
    'verbs/gather.test.ts',
    [
      'collects digits or speech while the `Say`, `Play` and `Pause` inside it play. Fields of the action: `Digits`, or `SpeechResult` and `Confidence`',
      'posts the digits to the action, whose document replaces the remaining verbs',
    ],
    {
      input: ['`dtmf`, `speech`, `dtmf speech`', '`dtmf`', 'collects digits and speech together'],
      timeout: [
        'maximum seconds without input, from the end of the prompt or from the last digit',
        '5',
        'takes numDigits, finishOnKey and timeout, and stops its prompt at a digit',
      ],
      numDigits: [
        'number of digits that ends the input',
        '128',
        'takes numDigits, finishOnKey and timeout, and stops its prompt at a digit',
      ],
      finishOnKey: [
        'keys that end the input; empty: none',
        '`#`',
        'takes numDigits, finishOnKey and timeout, and stops its prompt at a digit',
      ],
      action: [action, itself, 'requests the document itself without an action'],
      method: [method, '`POST`', 'requests its action by its method'],
      actionOnEmptyResult: [
        'requests the action even without input; otherwise the next verb follows',
        'false',
        'continues with the next verb without input, unless actionOnEmptyResult',
      ],
      language: [
        'language of the speech, such as `en-US`',
        'the recogniser’s own',
        'collects speech alone, with language, hints and speechTimeout',
      ],
      hints: [
        'likely words and phrases, comma-separated',
        '',
        'collects speech alone, with language, hints and speechTimeout',
      ],
      speechTimeout: [
        'seconds of silence that end the speech, or `auto`',
        '`auto`',
        'collects speech alone, with language, hints and speechTimeout',
      ],
      partialResultCallback: [
        'URL that receives `UnstableSpeechResult` whenever more is recognised',
        '',
        'sends partial results to its partialResultCallback in order',
      ],
      partialResultCallbackMethod: [
        'HTTP method of the callback',
        '`POST`',
        'sends partial results to its partialResultCallback in order',
      ],
    },
  ),
  ...rowsOf(
    'Record',
    'verbs/record.test.ts',
    [
      'records the caller. Fields of the action: `RecordingSid`, `RecordingUrl`, `RecordingDuration`, `Digits` (`hangup` if the caller hung up)',
      'sends the URL, the duration and the final key to its action',
    ],
    {
      action: [action, itself, 'requests the document itself without an action'],
      method: [method, '`POST`', 'sends the URL, the duration and the final key to its action'],
      timeout: ['seconds of silence that end the recording', '5', takesAll],
      finishOnKey: ['keys that end the recording; empty: none', 'any', takesAll],
      maxLength: ['maximum duration in seconds; 0: 3600', '3600', takesAll],
      playBeep: ['plays a tone before the recording', 'true', takesAll],
      trim: ['`trim-silence` or `do-not-trim`', '`trim-silence`', takesAll],
      storageUrl: ['URL to which the file is [also sent](#storage-of-recordings)', '', recordSends],
      storageUrlMethod: ['`PUT` or `POST`', '`PUT`', recordSends],
      recordingStatusCallback: ['URL that receives the states of the recording', '', hears],
      recordingStatusCallbackMethod: ['HTTP method of the callback', '`POST`', asks],
      recordingStatusCallbackEvent: ['`in-progress`, `completed`, `absent`', '`completed`', asks],
    },
  ),
  ...rowsOf(
    'Echo',
    'verbs/echo.test.ts',
    ['returns the audio of the caller', 'returns the audio of the caller for a minute, or for timeout'],
    {
      timeout: [
        'maximum duration in seconds, 5 to 120',
        '60',
        'returns the audio of the caller for a minute, or for timeout',
      ],
    },
  ),
  ...rowsOf(
    'Dial',
    'verbs/dial.test.ts',
    [
      'calls all its nouns at once, or its text (a number, or an address `/context/name`), and connects the first callee who answers. Fields of the action: `DialCallStatus`, `DialCallSid`, `DialCallDuration`, `RecordingUrl`; with `Sip` also `DialSipCallId`, `DialSipResponseCode`, `DialSipHeader_X-…`',
      'sends the outcome to the action, and runs its document',
    ],
    {
      action: [action, 'none', 'continues with the next verb without an action'],
      method: [method, '`POST`', 'sends the outcome to the action, and runs its document'],
      timeout: ['ring time in seconds, 5 to 600', '30', dialTakes],
      timeLimit: ['maximum duration of the connection in seconds', '14400', dialTakes],
      callerId: [
        'caller id for the callee',
        'the caller’s own',
        'shows callerId and callerName to every callee',
      ],
      callerName: [
        'display name for the callee, at most 70 characters',
        'the caller’s own',
        'shows callerId and callerName to every callee',
      ],
      answerOnBridge: ['answers the caller only when a callee answers', 'false', dialTakes],
      hangupOnStar: ['ends the connection when the caller presses `*`', 'false', dialTakes],
      ringTone: ['ringing tone of a country, such as `de`', 'early media, else the usual tone', dialTakes],
      record: [
        '`do-not-record`, `record-from-answer`, `record-from-ringing`, each also with `-dual` for one channel per side',
        '`do-not-record`',
        'records by %s, and sends the URL to its action',
        'done; with `answerOnBridge` the ringing is not recorded, because recording would answer the call',
      ],
      trim: ['`trim-silence` or `do-not-trim`', '`do-not-trim`', 'takes recordingTrack and trim'],
      recordingTrack: ['`inbound`, `outbound`, `both`', '`both`', 'takes recordingTrack and trim'],
      recordingStorageUrl: ['URL to which the file is [also sent](#storage-of-recordings)', '', dialSends],
      recordingStorageUrlMethod: ['`PUT` or `POST`', '`PUT`', dialSends],
      recordingStatusCallback: [
        'URL that receives the states of the recording',
        '',
        'sends the states to its callback also after the caller hung up',
      ],
      recordingStatusCallbackMethod: ['HTTP method of the callback', '`POST`', dialTold],
      recordingStatusCallbackEvent: ['`in-progress`, `completed`, `absent`', '`completed`', dialTold],
    },
  ),
  ...rowsOf(
    'Enqueue',
    'verbs/enqueue.test.ts',
    [
      'waits in the queue of this name until another call takes the caller. Fields of the action: `QueueResult`, `QueueSid`, `QueueTime`',
      'waits in the queue with hold music, and continues with the next verb',
    ],
    {
      action: [action, 'none', 'reports to its action that the caller hung up, and runs no further verb'],
      method: [method, '`POST`', 'reports %s to its action as %s'],
      waitUrl: [
        'URL of audio, or of a document that runs repeatedly for the waiting caller (`Say`, `Play`, `Pause`, `Gather`, `Redirect`, `Leave`, `Hangup`); empty: silence',
        'hold music',
        'is a document that runs for the waiting caller, with the fields of the wait',
      ],
      waitUrlMethod: [
        'HTTP method of `waitUrl`',
        '`POST`',
        'is a document that runs for the waiting caller, with the fields of the wait',
      ],
      waitMethod: ['the same as `waitUrlMethod`', '`POST`', 'is also requested by its waitMethod'],
    },
  ),
  ...rowsOf('Leave', 'verbs/enqueue.test.ts', [
    'removes the caller from the queue, in a `waitUrl` document',
    'removes the waiting caller from the queue with Leave',
  ]),
  ...rowsOf(
    'Refer',
    'verbs/refer.test.ts',
    [
      'transfers the caller to its `Sip` by a SIP REFER. Fields of the action: `ReferCallStatus`, `ReferSipResponseCode`, `NotifySipResponseCode`',
      'reports to its action that the call continues elsewhere',
    ],
    {
      action: [action, 'none', 'continues with the next verb without an action'],
      method: [method, '`POST`', 'reports to its action that the call continues elsewhere'],
    },
  ),
  ...rowsOf(
    'Refer/Sip',
    'verbs/refer.test.ts',
    ['SIP URI of the target', 'refers the caller to another SIP URI, with credentials'],
    {
      username: [
        'user name for digest authentication',
        '',
        'refers the caller to another SIP URI, with credentials',
      ],
      password: [
        'password for digest authentication',
        '',
        'refers the caller to another SIP URI, with credentials',
      ],
    },
  ),
  ...rowsOf('Start', 'verbs/streams.test.ts', [
    'starts its streams, and continues with the next verb at once',
    'starts its streams without delaying the next verb',
  ]),
  ...rowsOf('Stop', 'verbs/streams.test.ts', [
    'ends the streams that its `Stream` elements name',
    'ends the stream of each name',
  ]),
  ...rowsOf('Stop/Stream', 'verbs/streams.test.ts', ['stream to end', 'ends the stream of each name'], {
    name: ['name that `Start` gave the stream', 'needed', 'ends the stream of each name'],
  }),
  ...rowsOf(
    'Connect',
    'verbs/connect.test.ts',
    [
      'connects the caller to its `Stream`, `Room`, `AI` or `ConversationRelay` in both directions, until that ends',
      'streams both ways, and delays the next verb until the stream ends',
    ],
    {
      action: [action, 'none', 'requests its action also after the caller has hung up'],
      method: [method, '`POST`', 'requests its action, also after a failed stream, with a warning'],
    },
  ),
  ...rowsOf(
    'Redirect',
    'verbs/control-flow.test.ts',
    [
      'continues with the document at its URL',
      'continues with another document, by its method, relative to its own URL',
    ],
    {
      method: [
        '`GET` or `POST`',
        '`POST`',
        'continues with another document, by its method, relative to its own URL',
      ],
    },
  ),
  ...rowsOf(
    'Reject',
    'verbs/control-flow.test.ts',
    ['rejects the call without answering it', 'rejects the call without an answer, for its reason'],
    {
      reason: ['`rejected` or `busy`', '`rejected`', 'rejects the call without an answer, for its reason'],
    },
  ),
  ...rowsOf('Hangup', 'verbs/control-flow.test.ts', [
    'ends the call; as the first verb, it answers the call first',
    'answers before it hangs up, and runs no further verb',
  ]),
]
