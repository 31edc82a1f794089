/** @schedule tones: listens for tones that pass through a WebSocket. */

import { afterAll, beforeAll, expect, it } from 'vitest'
import { TestVoskServer } from '../../gateway/speech/testing/vosk-server.ts'
import { TestStreamServer } from '../../gateway/streams/testing/stream-server.ts'
import { decode, encode } from '../../media/codecs/g711.ts'
import { goertzel, sine } from '../../media/codecs/tone.ts'
import { application } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

let gateway: Gateway
let documents: DocumentServer
let agent: TestStreamServer
let recogniser: TestVoskServer

beforeAll(async () => {
  documents = await DocumentServer.open()
  agent = await TestStreamServer.open()
  recogniser = await TestVoskServer.open()
  const over = documents.put('/over', '<Response><Hangup/></Response>')
  const connect = `<Connect action="${over}"><Stream url="${agent.url}"><Parameter name="who" value="Ann"/></Stream></Connect>`
  const gather = `<Gather input="dtmf speech" language="de" hints="ja" action="${over}"><Say>Please say yes or no, and there is a lot more to be said.</Say></Gather>`
  gateway = await Gateway.start({
    domains: [
      application('stream.test', {
        kind: 'xml',
        url: documents.put('/connect', `<Response>${connect}</Response>`),
      }),
      application('speech.test', {
        kind: 'xml',
        url: documents.put('/gather', `<Response>${gather}</Response>`),
      }),
    ],
    media: { speech: { recogniser: { url: recogniser.url, sampleRate: 8000 } } },
  })
})

afterAll(async () => {
  await gateway?.stop()
  await documents?.close()
  await agent?.close()
  await recogniser?.close()
})

/** Returns the last 200 ms of audio that the WebSocket server has received. */
const lately = (): Int16Array => {
  const payloads = agent
    .of('media')
    .slice(-10)
    .map(({ media }) => Buffer.from((media as { payload: string }).payload, 'base64'))
  return decode('PCMU', Buffer.concat(payloads))
}

it('a stream sends the caller’s audio and digits to a WebSocket server, and plays the server’s audio to the caller', async () => {
  const carrier = await Carrier.calls(gateway, { domain: 'stream.test', scenario: 'caller-released' })
  await carrier.talks('answered', 440)
  await until(
    'the server receives 440 Hz',
    () => goertzel(lately(), 440),
    (share) => share > 0.9,
  )
  expect(agent.of('start')[0]).toMatchObject({
    start: { customParameters: { who: 'Ann' }, mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000 } },
  })
  const payload = Buffer.from(encode('PCMU', sine(700, 2000))).toString('base64')
  agent.tell({ event: 'media', media: { payload } })
  agent.tell({ event: 'mark', mark: { name: 'said' } })
  await carrier.hears(700)
  expect(agent.of('mark')).toEqual([])
  await until('the mark comes back', () => agent.of('mark')[0])
  carrier.media.press('7')
  expect((await until('the server receives the digit', () => agent.of('dtmf')[0]))?.dtmf).toMatchObject({
    digit: '7',
  })
  agent.sockets[0]?.close()
  await until('the action was asked for', () => documents.requests.some(({ path }) => path === '/over'))
  await carrier.done()
  await gateway.settled()
})

it('Gather with speech sends the caller’s audio to the recogniser, and the recognised text to the action', async () => {
  const carrier = await Carrier.calls(gateway, { domain: 'speech.test', scenario: 'caller-released' })
  await carrier.talks('answered', 500)
  await carrier.hearsVoice()
  const session = await until('the recogniser is asked', () => recogniser.sessions[0])
  const heard = (): number => {
    const end = (session?.heard.length ?? 0) & ~1
    const bytes = Uint8Array.from(session?.heard.subarray(Math.max(0, end - 3200), end) ?? [])
    return goertzel(new Int16Array(bytes.buffer), 500)
  }
  await until('it hears 500 Hz', heard, (share) => share > 0.9)
  expect(session?.config).toEqual([{ sample_rate: 8000, phrase_list: ['ja', '[unk]'] }])
  session?.send({ partial: 'ja' })
  session?.send({ text: 'ja', result: [{ conf: 0.875, word: 'ja' }] })
  const request = await until('the action was asked for', () =>
    documents.requests.find(({ fields }) => fields.SpeechResult),
  )
  expect(request?.fields).toMatchObject({ SpeechResult: 'ja', Confidence: '0.875' })
  await carrier.done()
  await gateway.settled()
})
