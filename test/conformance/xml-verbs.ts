import { type Row, rowsOf } from './xml-rows.ts'

const action = 'requested for the next document at its end, with the outcome'
const method = 'of the action: `GET` or `POST`'
const itself = 'the document itself; in place: none'

const takesAll = 'takes timeout, finishOnKey, maxLength, playBeep and trim'
const hears = 'tells its recordingStatusCallback of the end, with the fields in order'
const asks = 'tells it of the events that it asks for, by its method'

const recordSends =
  'is sent by storageUrlMethod to storageUrl, and tells its recordingStatusCallback where it is then'
const dialSends =
  'is sent by recordingStorageUrlMethod to recordingStorageUrl, and tells its callback where it is then'

const dialTakes = 'takes timeout, timeLimit, answerOnBridge, hangupOnStar and ringTone'
const dialTold = 'tells its callback what becomes of that'

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
        'leaves voice and language to the configuration, and speaks once',
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
      loop: [
        'rounds; 0: without end',
        '1',
        'plays a URL, which starts from the document, as often as loop says',
      ],
      digits: [
        'keys to press: `0-9 * # A-D`, `w` waits 0.5 s, `W` 1 s',
        '',
        'presses digits, after the audio where there is some',
      ],
    },
  ),
  ...rowsOf(
    'Pause',
    'verbs/sounds.test.ts',
    ['waits; does not answer', 'waits a second, or as long as it says, and does not answer'],
    {
      length: ['seconds', '1', 'waits a second, or as long as it says, and does not answer'],
    },
  ),
  ...rowsOf(
    'Gather',
    'verbs/gather.test.ts',
    [
      'collects digits or speech while `Say`, `Play` and `Pause` in it play. Action: `Digits`, or `SpeechResult` and `Confidence`',
      'posts the digits to the action, whose document replaces the rest',
    ],
    {
      input: ['`dtmf`, `speech`, `dtmf speech`', '`dtmf`', 'collects digits and speech together'],
      timeout: [
        'seconds without input, from the end of the prompt or the last digit',
        '5',
        'takes numDigits, finishOnKey and timeout, and stops what it plays at a digit',
      ],
      numDigits: [
        'ends after so many digits',
        '128',
        'takes numDigits, finishOnKey and timeout, and stops what it plays at a digit',
      ],
      finishOnKey: [
        'keys that end it; empty: none',
        '`#`',
        'takes numDigits, finishOnKey and timeout, and stops what it plays at a digit',
      ],
      action: [action, itself, 'asks the document itself where it names no action'],
      method: [method, '`POST`', 'asks its action by the method that it names'],
      actionOnEmptyResult: [
        'asks the action without input too; otherwise the next verb comes',
        'false',
        'goes on with the next verb without input, unless actionOnEmptyResult',
      ],
      language: [
        'of the speech, such as `en-US`',
        'the recogniser’s own',
        'collects speech alone, as language, hints and speechTimeout say',
      ],
      hints: [
        'likely words and phrases, with commas',
        '',
        'collects speech alone, as language, hints and speechTimeout say',
      ],
      speechTimeout: [
        'seconds of silence that end the speech, or `auto`',
        '`auto`',
        'collects speech alone, as language, hints and speechTimeout say',
      ],
      partialResultCallback: [
        'receives `UnstableSpeechResult` each time that more is recognised',
        '',
        'tells its partialResultCallback what was understood so far, in order',
      ],
      partialResultCallbackMethod: [
        'its method',
        '`POST`',
        'tells its partialResultCallback what was understood so far, in order',
      ],
    },
  ),
  ...rowsOf(
    'Record',
    'verbs/record.test.ts',
    [
      'records the caller. Action: `RecordingSid`, `RecordingUrl`, `RecordingDuration`, `Digits` (`hangup` where the caller hung up)',
      'tells its action where the recording is, how long it is, and the key that ended it',
    ],
    {
      action: [action, itself, 'asks the document itself where it names no action'],
      method: [
        method,
        '`POST`',
        'tells its action where the recording is, how long it is, and the key that ended it',
      ],
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
    [
      'what the caller says comes back',
      'lets the caller hear what it says for a minute, or as long as timeout says',
    ],
    {
      timeout: [
        'seconds, 5 to 120',
        '60',
        'lets the caller hear what it says for a minute, or as long as timeout says',
      ],
    },
  ),
  ...rowsOf(
    'Dial',
    'verbs/dial.test.ts',
    [
      'calls its nouns together, or its text (a number, or an address `/context/name`), and joins the first who answers. Action: `DialCallStatus`, `DialCallSid`, `DialCallDuration`, `RecordingUrl`; with `Sip` also `DialSipCallId`, `DialSipResponseCode`, `DialSipHeader_X-…`',
      'tells the action how it went, and runs its document',
    ],
    {
      action: [action, 'none', 'goes on with the next verb when there is no action'],
      method: [method, '`POST`', 'tells the action how it went, and runs its document'],
      timeout: ['seconds to ring, 5 to 600', '30', dialTakes],
      timeLimit: ['seconds together', '14400', dialTakes],
      callerId: [
        'shown to the callee',
        'the caller’s own',
        'shows callerId and callerName to all that it calls',
      ],
      callerName: [
        'at most 70 characters',
        'the caller’s own',
        'shows callerId and callerName to all that it calls',
      ],
      answerOnBridge: ['leaves the caller ringing until a callee answers', 'false', dialTakes],
      hangupOnStar: ['the caller leaves by `*`', 'false', dialTakes],
      ringTone: ['ringing tone of a country, such as `de`', 'early media, else the usual tone', dialTakes],
      record: [
        '`do-not-record`, `record-from-answer`, `record-from-ringing`, each also with `-dual`: one channel for each side',
        '`do-not-record`',
        'does so by %s, and tells its action where that is',
        'done; with `answerOnBridge` the ringing is not recorded: that would answer',
      ],
      trim: ['`trim-silence` or `do-not-trim`', '`do-not-trim`', 'takes recordingTrack and trim'],
      recordingTrack: ['`inbound`, `outbound`, `both`', '`both`', 'takes recordingTrack and trim'],
      recordingStorageUrl: ['where the file is [sent besides](#storage-of-recordings)', '', dialSends],
      recordingStorageUrlMethod: ['`PUT` or `POST`', '`PUT`', dialSends],
      recordingStatusCallback: [
        'receives the states of the recording',
        '',
        'tells its callback also when the caller hung up',
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
      'waits in the queue with hold music, and goes on with the next verb',
    ],
    {
      action: [action, 'none', 'tells its action also that the caller has hung up, and runs nothing more'],
      method: [method, '`POST`', 'tells its action of %s as %s'],
      waitUrl: [
        'a document that runs again and again on who waits (`Say`, `Play`, `Pause`, `Gather`, `Redirect`, `Leave`, `Hangup`), or audio; empty: silence',
        'hold music',
        'is a document that runs on who waits, and hears of the wait',
      ],
      waitUrlMethod: ['its method', '`POST`', 'is a document that runs on who waits, and hears of the wait'],
      waitMethod: ['the same', '`POST`', 'is asked by its waitMethod too'],
    },
  ),
  ...rowsOf('Leave', 'verbs/enqueue.test.ts', [
    'in a `waitUrl` document: leaves the queue',
    'takes who waits out of the queue with Leave',
  ]),
  ...rowsOf(
    'Refer',
    'verbs/refer.test.ts',
    [
      'asks the caller’s telephone to call the `Sip` in it (SIP REFER). Action: `ReferCallStatus`, `ReferSipResponseCode`, `NotifySipResponseCode`',
      'tells its action that the call is in progress elsewhere',
    ],
    {
      action: [action, 'none', 'goes on with the next verb without an action'],
      method: [method, '`POST`', 'tells its action that the call is in progress elsewhere'],
    },
  ),
  ...rowsOf(
    'Refer/Sip',
    'verbs/refer.test.ts',
    ['a SIP URI', 'asks the caller to call somebody else, with credentials'],
    {
      username: ['for digest authentication', '', 'asks the caller to call somebody else, with credentials'],
      password: ['for digest authentication', '', 'asks the caller to call somebody else, with credentials'],
    },
  ),
  ...rowsOf('Start', 'verbs/streams.test.ts', [
    'begins each `Stream` in it, and goes on at once',
    'begins its streams, and does not keep the next verb waiting',
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
      'joins the caller to its stream both ways, and the next verb waits for the end',
    ],
    {
      action: [action, 'none', 'tells its action also when the caller has hung up'],
      method: [method, '`POST`', 'asks its action, also when the stream failed, which is a warning'],
    },
  ),
  ...rowsOf(
    'Redirect',
    'verbs/control-flow.test.ts',
    ['goes on with another document', 'goes on with another document, by its method, from its own place'],
    {
      method: [
        '`GET` or `POST`',
        '`POST`',
        'goes on with another document, by its method, from its own place',
      ],
    },
  ),
  ...rowsOf(
    'Reject',
    'verbs/control-flow.test.ts',
    ['refuses the call without an answer', 'refuses without an answer, for its reason'],
    {
      reason: ['`rejected` or `busy`', '`rejected`', 'refuses without an answer, for its reason'],
    },
  ),
  ...rowsOf('Hangup', 'verbs/control-flow.test.ts', [
    'ends the call; as the first verb it answers before',
    'answers before it hangs up, and nothing comes after it',
  ]),
]
