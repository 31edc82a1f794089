import { noEffect, rowsOf, type ScriptRow } from './script-rows.ts'

const everySound = 'plays every kind of sound with volume, voice and early media'
const ofVariables = 'speaks with the voice of the variables where a step has none'
const everyDigit = 'passes every option of digits'
const everySpeech = 'collects speech alone, or both, as its parameters say'
const withoutEffect = 'warns of parameters without an effect'

const callsOne = 'calls one destination with headers, decoded once, and credentials'
const overrules = 'lets a destination overrule what the method says for all'
const joins = 'joins the caller to a WebSocket, both ways, until that is over'

/** Methods for the caller, and for the connection to a callee. */
export const callRows: readonly ScriptRow[] = [
  ...rowsOf('answer', 'signalling.test.ts', ['answers once, for as long as it says'], {
    max_duration: ['14400', 'answers once, for as long as it says'],
    codecs: ["the carrier's", 'takes the codecs that it names, and any where it names none that is known'],
    username: ['', withoutEffect, noEffect],
    password: ['', withoutEffect, noEffect],
  }),
  ...rowsOf('hangup', 'signalling.test.ts', ['hangs up with a reason, and runs nothing after'], {
    reason: ['hangup', 'hangs up with a reason, and runs nothing after'],
  }),
  ...rowsOf('play', 'playing.test.ts', [everySound], {
    url: ['needed, or urls', 'takes a volume and a sound from variables'],
    urls: ['needed, or url', everySound],
    volume: ['0', everySound],
    say_voice: ['variable say_voice, or as configured', ofVariables],
    say_language: ['variable say_language, or as configured', ofVariables],
    auto_answer: ['true', everySound],
    status_url: ['', 'tells status_url that it plays and has finished, or that it failed'],
    say_gender: ['variable say_gender, or any', ofVariables],
  }),
  ...rowsOf('prompt', 'playing.test.ts', ['has the defaults of the language'], {
    play: ['needed', everyDigit],
    volume: ['0', everyDigit],
    say_voice: ['variable say_voice, or as configured', everyDigit],
    say_language: ['variable say_language, or as configured', everyDigit],
    max_digits: ['1', everyDigit],
    terminators: ['none', everyDigit],
    digit_timeout: ['5', everyDigit],
    initial_timeout: ['5', everyDigit],
    speech_timeout: ['60', everySpeech],
    speech_end_timeout: ['as the recogniser says, or 1', everySpeech],
    speech_language: ["the recogniser's own", everySpeech],
    speech_hints: ['none', everySpeech],
    speech_engine: ['', everySpeech, 'collects speech, always with the recogniser of the configuration'],
    status_url: ['', 'tells status_url what was collected'],
    say_gender: ['variable say_gender, or any', everyDigit],
  }),
  ...rowsOf('sleep', 'signalling.test.ts', ['waits for milliseconds, written short or long'], {
    duration: ['needed', 'waits for ever until the call ends'],
  }),
  ...rowsOf('send_digits', 'signalling.test.ts', ['sends digits'], { digits: ['needed', 'sends digits'] }),
  ...rowsOf(
    'sip_refer',
    'signalling.test.ts',
    ['asks with credentials, and the call is over where that worked'],
    {
      to_uri: ['needed', 'wants a SIP URI, also from a variable'],
      username: ['', 'asks with credentials, and the call is over where that worked'],
      password: ['', 'asks with credentials, and the call is over where that worked'],
      status_url: ['', 'tells status_url what came of it'],
    },
  ),
  ...rowsOf(
    'user_event',
    'signalling.test.ts',
    ['tells the browser, with variables replaced inside of the event'],
    {
      event: ['needed', 'tells the browser, with variables replaced inside of the event'],
    },
  ),
  ...rowsOf('connect', 'connecting.test.ts', [callsOne], {
    to: ['needed, or one of the lists', callsOne],
    from: ["the caller's own", overrules],
    from_name: ["the caller's own", callsOne],
    headers: ['none', callsOne],
    username: ['', callsOne],
    password: ['', callsOne],
    timeout: ['60', overrules],
    codecs: ["the carrier's", overrules],
    encryption: ["the carrier's", overrules],
    session_timeout: ["the carrier's", overrules],
    confirm: ['', 'runs steps on the callee, with the variables of the call and its parent'],
    call_state_url: ['', "is the end of the callee's leg at call_state_url"],
    call_state_events: ['ended', 'is every state that call_state_events names, of one destination or of all'],
    name: ['', joins],
    authorization_bearer_token: ['', joins],
    custom_parameters: ['', joins],
    codec: ['PCMU', joins],
    realtime: ['', joins, 'nothing changes: a stream is always at once'],
    status_url_method: ['POST', joins],
    serial: ['', 'arranges %s'],
    parallel: ['', 'arranges %s'],
    serial_parallel: ['', 'arranges %s'],
    max_duration: ['14400', callsOne],
    answer_on_bridge: ['false', callsOne],
    ringback: ["the far side's early media, or a ringing tone", callsOne],
    confirm_timeout: ['60', 'runs steps on the callee, with the variables of the call and its parent'],
    result: ['', 'is the branch of result for connect_result, by value or by conditions'],
    transfer_after_bridge: ['', 'needs transfer_after_bridge, which runs when the two were parted'],
    status_url: ['', 'is calling.call.connect at status_url'],
    webrtc_media: ['', 'warns of webrtc_media, which has no effect', noEffect],
  }),
]
