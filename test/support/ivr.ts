// biome-ignore-all lint/suspicious/noThenProperty: it is a name of the script language
/**
 * One IVR in four forms. It greets the caller and asks for a digit. Digit 1 calls the desk with the German
 * ringing tone, and plays a sound afterwards. Digit 2 records a message. Any other digit, or none, leads to
 * an apology and the question again, up to two times, and then to a goodbye.
 */
import type { Call } from '../../realtime/src/index.ts'
import type { DocumentServer } from './documents.ts'

/** Frequencies of its sounds, in Hz. */
export const ivrTones = {
  greeting: 500,
  question: 600,
  sorry: 700,
  goodbye: 1300,
  after: 900,
  leave: 1100,
  thanks: 1200,
  ringing: 425,
  beep: 1000,
} as const

/** Servers and addresses of the IVR. */
export interface IvrUrls {
  readonly server: DocumentServer
  /** SIP URI of the desk. */
  readonly desk: () => string
}

/** Time for the caller to press a key, in seconds. */
const patience = 1
const mostTries = 3

const soundsOf = ({ server }: IvrUrls) => {
  const url = (name: keyof typeof ivrTones): string => server.urlOf(`/sounds/${name}.wav`)
  return {
    greeting: url('greeting'),
    question: url('question'),
    sorry: url('sorry'),
    goodbye: url('goodbye'),
    after: url('after'),
    leave: url('leave'),
    thanks: url('thanks'),
  }
}

/** Puts the IVR on the customer's server as XML documents, and returns the URL of the first. */
export const ivrInXml = (parts: IvrUrls): string => {
  const { server } = parts
  const sounds = soundsOf(parts)
  const play = (name: keyof typeof sounds): string => `<Play>${sounds[name]}</Play>`
  const respond = (...verbs: readonly string[]): string => `<Response>${verbs.join('')}</Response>`
  for (let tries = 1; tries <= mostTries; tries++) {
    const gather = `<Gather numDigits="1" timeout="${patience}" actionOnEmptyResult="true" action="chosen${tries}">`
    server.put(`/ivr/ask${tries}`, respond(gather, play('question'), '</Gather>'))
    server.put(`/ivr/chosen${tries}`, ({ fields: { Digits } }) => {
      if (Digits === '1')
        return respond(`<Dial ringTone="de" action="after"><Sip>${parts.desk()}</Sip></Dial>`)
      if (Digits === '2')
        return respond(play('leave'), '<Record finishOnKey="#" timeout="30" action="thanks"/>')
      if (tries === mostTries) return respond(play('goodbye'))
      return respond(play('sorry'), `<Redirect>ask${tries + 1}</Redirect>`)
    })
  }
  server.put('/ivr/after', respond(play('after')))
  server.put('/ivr/thanks', respond(play('thanks')))
  return server.put('/ivr/begin', respond(play('greeting'), '<Redirect>ask1</Redirect>'))
}

/** Returns the IVR as a script. */
export const ivrInScript = (parts: IvrUrls): object => {
  const sounds = soundsOf(parts)
  const play = (name: keyof typeof sounds) => ({ play: { url: sounds[name] } })
  return {
    version: '1.0.0',
    sections: {
      main: [
        play('greeting'),
        { set: { tries: 1 } },
        { label: 'ask' },
        { prompt: { play: sounds.question, max_digits: 1, initial_timeout: patience } },
        {
          switch: {
            variable: 'prompt_value',
            case: { 1: [{ transfer: { dest: 'desk' } }], 2: [{ transfer: { dest: 'message' } }] },
            default: [{ cond: [{ when: `tries == ${mostTries}`, then: [play('goodbye'), 'hangup'] }] }],
          },
        },
        play('sorry'),
        { set: { tries: '%{tries + 1}' } },
        { goto: { label: 'ask' } },
      ],
      desk: [{ connect: { to: parts.desk(), ringback: ['ring:de'] } }, play('after')],
      message: [
        play('leave'),
        { record: { beep: true, terminators: '#', end_silence_timeout: 30 } },
        play('thanks'),
      ],
    },
  }
}

/** Returns the IVR as a call flow. */
export const ivrInFlow = (parts: IvrUrls): object => {
  const sounds = soundsOf(parts)
  const play = (name: keyof typeof sounds, next?: string) => ({
    kind: 'play',
    options: { url: sounds[name] },
    ...(next && { edges: { next } }),
  })
  const after = { success: 'after', no_answer: 'after', busy: 'after', decline: 'after', error: 'after' }
  return {
    version: '1.0.0',
    nodes: {
      start: { kind: 'start', edges: { next: 'greeting' } },
      greeting: play('greeting', 'begin'),
      begin: { kind: 'set', options: { variables: { tries: 1 } }, edges: { next: 'ask' } },
      ask: {
        kind: 'gather',
        options: {
          play: sounds.question,
          initial_timeout: patience,
          choices: [
            { name: 'desk', digits: '1' },
            { name: 'message', digits: '2' },
          ],
        },
        edges: { desk: 'desk', message: 'message', unknown: 'count', no_input: 'count' },
      },
      count: {
        kind: 'conditions',
        options: { conditions: [{ name: 'enough', when: `tries == ${mostTries}` }] },
        edges: { enough: 'goodbye', else: 'sorry' },
      },
      sorry: play('sorry', 'again'),
      again: { kind: 'set', options: { variables: { tries: '%{tries + 1}' } }, edges: { next: 'ask' } },
      goodbye: play('goodbye'),
      desk: {
        kind: 'forward',
        options: { to: [{ to: parts.desk() }], ringback: ['ring:de'] },
        edges: after,
      },
      after: play('after'),
      message: {
        kind: 'voicemail',
        options: { greeting: sounds.leave, terminators: '#', end_silence_timeout: 30 },
        edges: { recorded: 'thanks', no_message: 'thanks' },
      },
      thanks: play('thanks'),
    },
  }
}

/** Runs the IVR for a call of a realtime application. */
export const ivrInRealtime = async (call: Call, parts: IvrUrls): Promise<void> => {
  const sounds = soundsOf(parts)
  const play = (name: keyof typeof sounds) => call.playAudio({ url: sounds[name] })
  const ask = async (tries = 1): Promise<string> => {
    const options = { initialTimeout: patience, digits: { max: 1 } }
    const input = await call.promptAudio({ url: sounds.question, ...options })
    const digits = input.type === 'digits' ? input.digits : ''
    if (/^[12]$/.test(digits) || tries === mostTries) return digits
    await play('sorry')
    return ask(tries + 1)
  }
  await call.answer()
  await play('greeting')
  const digit = await ask()
  if (digit === '1') {
    const device = { type: 'sip', from: call.from, to: parts.desk() } as const
    const peer = await call
      .connect([[device]], { ringback: [{ type: 'ringtone', name: 'de' }] })
      .catch(() => undefined)
    await peer?.waitFor('ended')
    await play('after')
  } else if (digit === '2') {
    await play('leave')
    await call.record({ beep: true, terminators: '#', endSilenceTimeout: 30 })
    await play('thanks')
  } else await play('goodbye')
  await call.hangup()
}
