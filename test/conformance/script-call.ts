import { noEffect, rowsOf, type ScriptRow } from './script-rows.ts'

const everySound = 'plays every kind of sound with volume, voice and early media'
const ofVariables = 'speaks with the voice of the variables if the step names none'
const everyDigit = 'passes every option for digits'
const everySpeech = 'collects speech alone, or digits and speech, by its parameters'
const withoutEffect = 'warns of parameters without an effect'

const callsOne = 'calls one destination with headers, decoded once, and credentials'
const overrules = 'lets a destination override the values of the method'
const joins = 'streams both ways between the caller and a WebSocket until the stream ends'

/** Methods for the caller, and for the connection to a callee. */
export const callRows: readonly ScriptRow[] = [
  ...rowsOf('answer', 'signalling.test.ts', ['answers once, with a maximum duration'], {
    max_duration: ['14400', 'answers once, with a maximum duration'],
    codecs: ["the carrier's", 'accepts the codecs that it names, or any if it names no known codec'],
    username: ['', withoutEffect, noEffect],
    password: ['', withoutEffect, noEffect],
  }),
  ...rowsOf('hangup', 'signalling.test.ts', ['hangs up with a reason, and runs no further step'], {
    reason: ['hangup', 'hangs up with a reason, and runs no further step'],
  }),
  ...rowsOf('play', 'playing.test.ts', [everySound], {
    url: ['needed, or urls', 'takes a volume and a sound from variables'],
    urls: ['needed, or url', everySound],
    volume: ['0', everySound],
    say_voice: ['variable say_voice, or as configured', ofVariables],
    say_language: ['variable say_language, or as configured', ofVariables],
    auto_answer: ['true', everySound],
    status_url: ['', 'sends playing, finished or error to status_url'],
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
    speech_end_timeout: ['decided by the recogniser, or 1', everySpeech],
    speech_language: ["the recogniser's own", everySpeech],
    speech_hints: ['none', everySpeech],
    speech_engine: ['', everySpeech, 'collects speech, always with the recogniser of the configuration'],
    status_url: ['', 'sends the collected input to status_url'],
    say_gender: ['variable say_gender, or any', everyDigit],
  }),
  ...rowsOf('sleep', 'signalling.test.ts', ['waits for milliseconds, in the short or the long form'], {
    duration: ['needed', 'waits without a limit until the call ends'],
  }),
  ...rowsOf('send_digits', 'signalling.test.ts', ['sends digits'], { digits: ['needed', 'sends digits'] }),
  ...rowsOf(
    'sip_refer',
    'signalling.test.ts',
    ['sends REFER with credentials, and ends the call on success'],
    {
      to_uri: ['needed', 'requires a SIP URI, also from a variable'],
      username: ['', 'sends REFER with credentials, and ends the call on success'],
      password: ['', 'sends REFER with credentials, and ends the call on success'],
      status_url: ['', 'sends the result to status_url'],
    },
  ),
  ...rowsOf('user_event', 'signalling.test.ts', ['sends the event to the browser, with variables replaced'], {
    event: ['needed', 'sends the event to the browser, with variables replaced'],
  }),
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
    confirm: ['', 'runs steps on the callee leg, with the variables of the call and its parent'],
    call_state_url: ['', 'are the end of the callee leg at call_state_url'],
    call_state_events: ['ended', 'are the states that call_state_events names, of one destination or of all'],
    name: ['', joins],
    authorization_bearer_token: ['', joins],
    custom_parameters: ['', joins],
    codec: ['PCMU', joins],
    realtime: ['', joins, 'no effect: a stream is always connected at once'],
    status_url_method: ['POST', joins],
    serial: ['', 'arranges %s'],
    parallel: ['', 'arranges %s'],
    serial_parallel: ['', 'arranges %s'],
    max_duration: ['14400', callsOne],
    answer_on_bridge: ['false', callsOne],
    ringback: ["the far side's early media, or a ringing tone", callsOne],
    confirm_timeout: ['60', 'runs steps on the callee leg, with the variables of the call and its parent'],
    result: ['', 'is the branch of result, chosen by value or by conditions'],
    transfer_after_bridge: ['', 'requires transfer_after_bridge, which runs after the bridge'],
    status_url: ['', 'are calling.call.connect at status_url'],
    webrtc_media: ['', 'warns of webrtc_media, which has no effect', noEffect],
  }),
]
