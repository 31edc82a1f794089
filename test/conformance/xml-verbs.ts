import { type Row, rowsOf } from './xml-rows.ts'

const action = 'requested for the next document at its end, with the outcome'
const method = 'of the action: `GET` or `POST`'
const itself = 'the document itself; in place: none'

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
      'speaks its text, at most 4096 characters; may hold SSML',
      'speaks with voice, language and loop, and decodes entities',
    ],
    {
      voice: [
        'a voice by its name',
        'as configured',
        'speaks with voice, language and loop, and decodes entities',
      ],
      language: [
        'such as `en-US`',
        'as configured',
        'uses the configured voice and language by default, and speaks once',
      ],
      loop: ['rounds; 0: without end', '1', 'speaks with voice, language and loop, and decodes entities'],
    },
  ),
  ...rowsOf(
    'Play',
    'verbs/sounds.test.ts',
    [
      'plays the audio at its URL: WAV, AIFF, MP3, Ogg with Opus, or raw µ-law ([sounds](sounds.md)); `file:` is the folder for sounds',
      'plays a file of the folder for sounds',
    ],
    {
      loop: ['rounds; 0: without end', '1', 'plays a URL relative to the document, loop times'],
      digits: [
        'keys to press: `0-9 * # A-D`, `w` waits 0.5 s, `W` 1 s',
        '',
        'sends digits, after the audio if any',
      ],
    },
  ),
  ...rowsOf(
    'Pause',
    'verbs/sounds.test.ts',
    ['waits; does not answer', 'waits a second or its length, and does not answer'],
    {
      length: ['seconds', '1', 'waits a second or its length, and does not answer'],
    },
  ),
  ...rowsOf(
    'Gather',
    'verbs/gather.test.ts',
    [
      'collects digits or speech while `Say`, `Play` and `Pause` in it play. Action: `Digits`, or `SpeechResult` and `Confidence`',
      'posts the digits to the action, whose document replaces the remaining verbs',
    ],
    {
      input: ['`dtmf`, `speech`, `dtmf speech`', '`dtmf`', 'collects digits and speech together'],
      timeout: [
        'seconds without input, from the end of the prompt or the last digit',
        '5',
        'takes numDigits, finishOnKey and timeout, and stops its prompt at a digit',
      ],
      numDigits: [
        'ends after so many digits',
        '128',
        'takes numDigits, finishOnKey and timeout, and stops its prompt at a digit',
      ],
      finishOnKey: [
        'keys that end it; empty: none',
        '`#`',
        'takes numDigits, finishOnKey and timeout, and stops its prompt at a digit',
      ],
      action: [action, itself, 'requests the document itself without an action'],
      method: [method, '`POST`', 'requests its action by its method'],
      actionOnEmptyResult: [
        'asks the action without input too; otherwise the next verb comes',
        'false',
        'continues with the next verb without input, unless actionOnEmptyResult',
      ],
      language: [
        'of the speech, such as `en-US`',
        'the recogniser’s own',
        'collects speech alone, with language, hints and speechTimeout',
      ],
      hints: [
        'likely words and phrases, with commas',
        '',
        'collects speech alone, with language, hints and speechTimeout',
      ],
      speechTimeout: [
        'seconds of silence that end the speech, or `auto`',
        '`auto`',
        'collects speech alone, with language, hints and speechTimeout',
      ],
      partialResultCallback: [
        'receives `UnstableSpeechResult` each time that more is recognised',
        '',
        'sends partial results to its partialResultCallback in order',
      ],
      partialResultCallbackMethod: [
        'its method',
        '`POST`',
        'sends partial results to its partialResultCallback in order',
      ],
    },
  ),
  ...rowsOf(
    'Record',
    'verbs/record.test.ts',
    [
      'records the caller. Action: `RecordingSid`, `RecordingUrl`, `RecordingDuration`, `Digits` (`hangup` where the caller hung up)',
      'sends the URL, the duration and the final key to its action',
    ],
    {
      action: [action, itself, 'requests the document itself without an action'],
      method: [method, '`POST`', 'sends the URL, the duration and the final key to its action'],
      timeout: ['seconds of silence that end it', '5', takesAll],
      finishOnKey: ['keys that end it; empty: none', 'any', takesAll],
      maxLength: ['seconds; 0: 3600', '3600', takesAll],
      playBeep: ['a tone before the beginning', 'true', takesAll],
      trim: ['`trim-silence` or `do-not-trim`', '`trim-silence`', takesAll],
      storageUrl: ['where the file is [sent besides](#storage-of-recordings)', '', recordSends],
      storageUrlMethod: ['`PUT` or `POST`', '`PUT`', recordSends],
      recordingStatusCallback: ['receives the states of the recording', '', hears],
      recordingStatusCallbackMethod: ['its method', '`POST`', asks],
      recordingStatusCallbackEvent: ['`in-progress`, `completed`, `absent`', '`completed`', asks],
    },
  ),
  ...rowsOf(
    'Echo',
    'verbs/echo.test.ts',
    ['what the caller says comes back', 'returns the audio of the caller for a minute, or for timeout'],
    {
      timeout: ['seconds, 5 to 120', '60', 'returns the audio of the caller for a minute, or for timeout'],
    },
  ),
  ...rowsOf(
    'Dial',
    'verbs/dial.test.ts',
    [
      'calls its nouns together, or its text (a number, or an address `/context/name`), and joins the first who answers. Action: `DialCallStatus`, `DialCallSid`, `DialCallDuration`, `RecordingUrl`; with `Sip` also `DialSipCallId`, `DialSipResponseCode`, `DialSipHeader_X-…`',
      'sends the outcome to the action, and runs its document',
    ],
    {
      action: [action, 'none', 'continues with the next verb without an action'],
      method: [method, '`POST`', 'sends the outcome to the action, and runs its document'],
      timeout: ['seconds to ring, 5 to 600', '30', dialTakes],
      timeLimit: ['seconds together', '14400', dialTakes],
      callerId: ['shown to the callee', 'the caller’s own', 'shows callerId and callerName to every callee'],
      callerName: [
        'at most 70 characters',
        'the caller’s own',
        'shows callerId and callerName to every callee',
      ],
      answerOnBridge: ['leaves the caller ringing until a callee answers', 'false', dialTakes],
      hangupOnStar: ['the caller leaves by `*`', 'false', dialTakes],
      ringTone: ['ringing tone of a country, such as `de`', 'early media, else the usual tone', dialTakes],
      record: [
        '`do-not-record`, `record-from-answer`, `record-from-ringing`, each also with `-dual`: one channel for each side',
        '`do-not-record`',
        'records by %s, and sends the URL to its action',
        'done; with `answerOnBridge` the ringing is not recorded: that would answer',
      ],
      trim: ['`trim-silence` or `do-not-trim`', '`do-not-trim`', 'takes recordingTrack and trim'],
      recordingTrack: ['`inbound`, `outbound`, `both`', '`both`', 'takes recordingTrack and trim'],
      recordingStorageUrl: ['where the file is [sent besides](#storage-of-recordings)', '', dialSends],
      recordingStorageUrlMethod: ['`PUT` or `POST`', '`PUT`', dialSends],
      recordingStatusCallback: [
        'receives the states of the recording',
        '',
        'sends the states to its callback also after the caller hung up',
      ],
      recordingStatusCallbackMethod: ['its method', '`POST`', dialTold],
      recordingStatusCallbackEvent: ['`in-progress`, `completed`, `absent`', '`completed`', dialTold],
    },
  ),
  ...rowsOf(
    'Enqueue',
    'verbs/enqueue.test.ts',
    [
      'waits in the queue of this name until an agent takes the caller. Action: `QueueResult`, `QueueSid`, `QueueTime`',
      'waits in the queue with hold music, and continues with the next verb',
    ],
    {
      action: [action, 'none', 'reports to its action that the caller hung up, and runs no further verb'],
      method: [method, '`POST`', 'reports %s to its action as %s'],
      waitUrl: [
        'a document that runs again and again on who waits (`Say`, `Play`, `Pause`, `Gather`, `Redirect`, `Leave`, `Hangup`), or audio; empty: silence',
        'hold music',
        'is a document that runs for the waiting caller, with the fields of the wait',
      ],
      waitUrlMethod: [
        'its method',
        '`POST`',
        'is a document that runs for the waiting caller, with the fields of the wait',
      ],
      waitMethod: ['the same', '`POST`', 'is also requested by its waitMethod'],
    },
  ),
  ...rowsOf('Leave', 'verbs/enqueue.test.ts', [
    'in a `waitUrl` document: leaves the queue',
    'removes the waiting caller from the queue with Leave',
  ]),
  ...rowsOf(
    'Refer',
    'verbs/refer.test.ts',
    [
      'asks the caller’s telephone to call the `Sip` in it (SIP REFER). Action: `ReferCallStatus`, `ReferSipResponseCode`, `NotifySipResponseCode`',
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
    ['a SIP URI', 'refers the caller to another SIP URI, with credentials'],
    {
      username: ['for digest authentication', '', 'refers the caller to another SIP URI, with credentials'],
      password: ['for digest authentication', '', 'refers the caller to another SIP URI, with credentials'],
    },
  ),
  ...rowsOf('Start', 'verbs/streams.test.ts', [
    'begins each `Stream` in it, and goes on at once',
    'starts its streams without delaying the next verb',
  ]),
  ...rowsOf('Stop', 'verbs/streams.test.ts', [
    'ends each `Stream` in it by its `name`',
    'ends the stream of each name',
  ]),
  ...rowsOf(
    'Stop/Stream',
    'verbs/streams.test.ts',
    ['the stream of this name', 'ends the stream of each name'],
    {
      name: ['as in `Start`', 'needed', 'ends the stream of each name'],
    },
  ),
  ...rowsOf(
    'Connect',
    'verbs/connect.test.ts',
    [
      'joins the caller to its `Stream` or `Room`, both ways, until that is over',
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
      'goes on with another document',
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
    ['refuses the call without an answer', 'rejects the call without an answer, for its reason'],
    {
      reason: ['`rejected` or `busy`', '`rejected`', 'rejects the call without an answer, for its reason'],
    },
  ),
  ...rowsOf('Hangup', 'verbs/control-flow.test.ts', [
    'ends the call; as the first verb it answers before',
    'answers before it hangs up, and runs no further verb',
  ]),
]
