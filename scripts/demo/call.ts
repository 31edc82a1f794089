/** `scripts/demo-call`: places one call like a carrier and prints its progress. */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { lastTone, levels } from '../../test/support/hearing.ts'
import { RtpPeer } from '../../test/support/rtp-peer.ts'
import { DemoPhone, localAddress, type PhoneEvent } from './phone.ts'
import { talk } from './talk.ts'
import { endText } from './words.ts'

const help = `Usage: scripts/demo-call [options] [user@domain] [host[:port]] [seconds]

Calls a running gateway like a carrier, sends a tone, and reports the received audio.

  user@domain         called address, also with sip: in front; default anything@127.0.0.1
  host[:port]         SIP address of the gateway; default 127.0.0.1:5060
  seconds             time after which the call is hung up; default 30

  --keys <keys>       presses keys after the answer: 0-9 * # A-D, and w for a pause of a second
  --tone <Hz>         frequency of the sent tone; 0 sends silence; default 440, with --say 0
  --say <text>        says this text when the other side has spoken; may be repeated
  --engines <URL>     stand-ins of \`trunkline engines\` that are to understand the texts
  -h, --help          prints this help

Examples:
  scripts/demo-call                                calls the example configuration
  scripts/demo-call --keys ww1 anything@ivr.localhost    presses 1 after two seconds
  scripts/demo-call anything@192.0.2.5 192.0.2.5:5062 10
  scripts/demo-call --say "Good morning." anything@agent.localhost    talks to a voice agent

Exit codes: 0 the call was answered, 1 it was refused or nothing answered, 2 wrong arguments`

/** Duration in ms below which a call of the gateway ended before a person answered. */
const shortMs = 15_000

const fail = (reason: string): never => {
  process.stderr.write(`demo-call: ${reason}\nRun \`scripts/demo-call --help\` for its usage.\n`)
  process.exit(2)
}

const readArguments = () => {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        keys: { type: 'string', default: '' },
        tone: { type: 'string' },
        say: { type: 'string', multiple: true, default: [] },
        engines: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    return fail(error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error))
  }
}

const { values, positionals } = readArguments()
if (values.help) {
  console.log(help)
  process.exit(0)
}
const [address = 'anything@127.0.0.1', to = '127.0.0.1:5060', seconds = '30', ...more] = positionals
const [, host = '', port = '5060'] = /^([^:]+)(?::(\d{1,5}))?$/.exec(to) ?? []
if (more.length > 0) fail('there are too many arguments')
const target = address.replace(/^sip:/i, '')
if (!/^[^\s@<>]+@[^\s@<>]+$/.test(target)) fail(`${target} must have the form user@domain`)
if (host === '' || Number(port) < 1 || Number(port) > 65_535) fail(`${to} must have the form host:port`)
if (!(Number(seconds) > 0)) fail(`${seconds} must be a number of seconds`)
if (!/^[0-9*#A-Dw]*$/i.test(values.keys)) fail(`--keys ${values.keys} may have 0-9, *, #, A-D and w`)
const tone = values.tone ?? (values.say.length > 0 ? '0' : '440')
if (!/^\d{1,4}$/.test(tone)) fail(`--tone ${tone} must be a frequency in Hz`)
const { engines, say: texts } = values
if (engines !== undefined && !/^https?:/.test(URL.parse(engines)?.protocol ?? ''))
  fail(`--engines ${engines} must be a URL such as http://127.0.0.1:8089`)

const ended = Promise.withResolvers<Extract<PhoneEvent, { kind: 'ended' }>>()
const answered = Promise.withResolvers<void>()
let answeredAt: number | undefined
const onEvent = (event: PhoneEvent): void => {
  if (event.kind === 'ringing') console.log('It rings.')
  else if (event.kind === 'media') media.send(event.port, Number(tone), event.host)
  else if (event.kind === 'ended') ended.resolve(event)
  else {
    console.log('Answered.')
    answeredAt = performance.now()
    answered.resolve()
  }
}

const unreachable = (error: Error): never => {
  console.error(`The host ${host} cannot be reached: ${error.message}`)
  process.exit(1)
}
const sent = tone === '0' ? 'silence' : `a tone of ${tone} Hz`
const media = await RtpPeer.open('PCMU', await localAddress(host, Number(port)).catch(unreachable))
console.log(`Calling sip:${target} at ${host}:${port} for ${seconds} s with ${sent}.`)
const phone = await DemoPhone.call(
  { uri: `sip:${target}`, host, port: Number(port), mediaPort: media.port },
  onEvent,
).catch(unreachable)
process.once('SIGINT', () => phone.hangUp())

const pressKeys = async (): Promise<void> => {
  await answered.promise
  for (const key of values.keys.toUpperCase()) {
    if (key === 'W') await sleep(1000)
    else {
      console.log(`Pressing ${key}.`)
      media.press(key)
      while (media.isPressing) await sleep(50)
    }
  }
}
void pressKeys()
if (texts.length > 0)
  void answered.promise
    .then(() => talk(media, { texts, ...(engines !== undefined && { engines }) }))
    .catch((error: Error) => {
      console.error(`The texts cannot be said: ${error.message}`)
      phone.hangUp()
    })
void answered.promise.then(() => sleep(Number(seconds) * 1000)).then(() => phone.hangUp())

const hearing = setInterval(() => {
  const [level = 0] = levels(media.packets.slice(-10), 200)
  const tone = lastTone(media.packets)
  if (level > 100)
    console.log(`received audio: level ${level.toFixed(0)}${tone ? `, mostly ${tone} Hz` : ''}`)
}, 1000)

const { by } = await ended.promise
clearInterval(hearing)
media.close()
console.log(endText(await ended.promise, `${host}:${port}`))
const isShort = answeredAt !== undefined && performance.now() - answeredAt < shortMs
if (by === 'far' && isShort)
  console.log('If the document calls a person: is the person online? The log of the gateway says it.')
setTimeout(() => process.exit(answeredAt === undefined ? 1 : 0), 250)
