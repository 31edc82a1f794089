/** `scripts/demo-call`: places one call like a carrier and prints its progress. */
import { lastTone, levels } from '../../test/support/hearing.ts'
import { RtpPeer } from '../../test/support/rtp-peer.ts'
import { Sipp } from '../../test/support/sipp.ts'

const [target = 'anything@127.0.0.1', to = '127.0.0.1:5060', seconds = '30'] = process.argv.slice(2)
const [user = 'anything', domain = '127.0.0.1'] = target.split('@')
const talkMs = Number(seconds) * 1000
const toneHz = 440

const words: Readonly<Record<string, string>> = {
  ringing: 'It rings.',
  early: 'Early media.',
  answered: 'Answered.',
  released: 'Hung up.',
  bye: 'The other side hung up.',
}

const media = await RtpPeer.open()
const sipp = await Sipp.start({
  scenario: 'caller-either',
  to,
  mediaPorts: [media.port],
  timeoutMs: talkMs + 60_000,
  values: {
    user,
    domain,
    hold: talkMs,
    payloads: '0 101',
    codecs: 'a=rtpmap:0 PCMU/8000\na=rtpmap:101 telephone-event/8000',
  },
})
console.log(`Calling sip:${target} at ${to} for ${seconds} s with a tone of ${toneHz} Hz.`)

let printed = 0
const progress = setInterval(() => {
  for (const event of sipp.events.slice(printed)) {
    const [word = '', port] = event.split(' ')
    console.log(words[word] ?? event)
    if (word === 'answered' && port) media.send(port, toneHz)
    printed++
  }
  const [level = 0] = levels(media.packets.slice(-10), 200)
  const tone = lastTone(media.packets)
  const hz = tone ? `, mostly ${tone} Hz` : ''
  if (level > 100) console.log(`received audio: level ${level.toFixed(0)}${hz}`)
}, 1000)

const done = await sipp.succeeded().then(
  () => 'The call is over.',
  // The first lines have the essential facts.
  (error: Error) => error.message.split('\n').slice(0, 6).join('\n'),
)
clearInterval(progress)
media.close()
console.log(done)
