/** @schedule tones: listens to agents and talks to them in real time. */

import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStandIns, type StandIns } from '../../gateway/stand-ins/open-stand-ins.ts'
import { scriptOf } from '../../gateway/stand-ins/read-script.ts'
import { decode } from '../../media/codecs/g711.ts'
import { levelDb } from '../../media/rtp/voice-activity.ts'
import { application, scripted } from '../support/applications.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { RtpPeer } from '../support/rtp-peer.ts'
import { SipCaller } from '../support/sip-caller.ts'
import { SpokenWords } from '../support/spoken-words.ts'
import { until } from '../support/until.ts'

/** Script of the engines: the greeting comes from the documents. */
const behaviour = scriptOf({
  rules: [
    { when: { contains: ['book'], offers: ['book'] }, do: [{ say: 'One moment.' }, { call: 'book_table' }] },
    { when: { on: 'result' }, do: [{ say: 'Your table is booked. Anything else?' }] },
    {
      when: { contains: ['four'] },
      do: [{ say: 'A table for four people. I note that down for you right now.' }],
    },
    {
      when: { contains: ['goodbye'], offers: ['hangup'] },
      do: [{ say: 'Goodbye, and thank you.' }, { call: 'hangup' }],
    },
    { when: 'any', do: [{ say: 'Please go on.' }] },
  ],
})

let standIns: StandIns
let gateway: Gateway
let server: DocumentServer
let words: SpokenWords

beforeAll(async () => {
  words = new SpokenWords()
  standIns = await openStandIns({ script: behaviour })
  await standIns.prepare(['One moment.', 'Your table is booked. Anything else?', 'Goodbye, and thank you.'])
  server = await DocumentServer.open()
  const report = server.put('/report', '{}')
  const book = server.put('/swaig', JSON.stringify({ response: 'Booked for 8 p.m.' }))
  const ai = {
    prompt: { text: 'You book tables.' },
    post_prompt: { text: 'Summarize.' },
    post_prompt_url: report,
    params: { static_greeting: 'Welcome to the restaurant.', end_of_speech_timeout: 300 },
    SWAIG: {
      functions: [
        {
          function: 'book_table',
          description: 'Books a table.',
          parameters: { type: 'object', properties: { guests: { type: 'integer' } } },
          web_hook_url: book,
        },
      ],
    },
  }
  gateway = await Gateway.start({
    limits: { documentNetworks: ['127.0.0.0/8'] },
    agents: {
      default: 'parts',
      engines: {
        parts: { kind: 'pipeline', recognisers: 'ears', models: 'mind', voices: 'built-in' },
        whole: {
          kind: 'openai-realtime',
          url: `${standIns.wsUrl}/v1/realtime`,
          key: 'k',
          model: 'gpt-realtime-2',
        },
      },
      recognisers: { ears: { kind: 'vosk', url: `${standIns.wsUrl}/vosk` } },
      models: { mind: { kind: 'openai', url: `${standIns.url}/v1`, key: 'k', model: 'any' } },
    },
    domains: [
      application('parts.test', scripted({ answer: {} }, { ai })),
      application(
        'whole.test',
        scripted({ answer: {} }, { ai: { ...ai, params: { ...ai.params, engine: 'whole' } } }),
      ),
    ],
  })
})

afterAll(async () => {
  await gateway?.stop()
  await standIns?.close()
  await server?.close()
  await words?.close()
})

/** Level of a packet in dBov. */
const levelOf = (payload: Uint8Array): number => levelDb(decode('PCMU', payload))

/** Speaks to the agent; the recognisers understand the text. */
const talks = async (peer: RtpPeer, text: string): Promise<void> => {
  standIns.willHear(text)
  peer.say(await words.of(text))
}

/** Telephone of a caller. */
const dial = async (uri: string) => {
  const peer = await RtpPeer.open('PCMU')
  const caller = await SipCaller.open(gateway.sipPort, '127.0.0.1')
  const call = await caller.call(uri, { media: { address: '127.0.0.1', port: peer.port } })
  expect(call.status).toBe(200)
  peer.send(Number(/^m=audio (\d+)/m.exec(call.response)?.[1]), 0)
  const speaks = (what: string) =>
    until(
      what,
      () => peer.packets.slice(-10),
      (last) => last.filter(({ payload }) => levelOf(payload) > -45).length > 6,
    )
  const isSilent = (what: string) =>
    until(
      what,
      () => peer.packets.slice(-25),
      (last) => last.length === 25 && last.every(({ payload }) => levelOf(payload) < -55),
    )
  return { peer, call, caller, speaks, isSilent }
}

it.each(['parts', 'whole'])(
  'an agent of the engine %s greets, calls a function and hangs up after its goodbye',
  async (name) => {
    standIns.log.clear()
    const { peer, speaks, isSilent, caller } = await dial(`sip:desk@${name}.test`)
    await speaks('the greeting')
    await isSilent('the greeting is over')
    await talks(peer, 'I want to book a table.')
    await until(
      'the function was called',
      () => server.asked('/swaig').length,
      (n) => n === 1,
    )
    expect(JSON.parse(server.asked('/swaig')[0]?.body ?? '')).toMatchObject({
      function: 'book_table',
      argument: { parsed: [{}] },
    })
    await speaks('the answer to the function')
    await isSilent('the answer is over')
    await talks(peer, 'Thank you, goodbye.')
    await until(
      'the call has ended',
      () => gateway.log.filter(({ event }) => event === 'call.ended').length,
      (n) => n >= 1,
      8_000,
    )
    peer.close()
    caller.close()
  },
)
