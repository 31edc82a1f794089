import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { AgentsConfig } from '../../../config/types.ts'
import { OperatorHttp } from '../../callbacks/operator-http.ts'
import { SystemClock } from '../../core/clock.ts'
import { openStandIns, type StandIns } from '../../stand-ins/open-stand-ins.ts'
import { scriptOf } from '../../stand-ins/read-script.ts'
import { utterance } from '../../stand-ins/testing/caller-audio.ts'
import { ConfiguredEngines } from '../configured-engines.ts'
import type { EngineCall, EngineLink } from '../engine.ts'
import { StreamingHttp } from '../streaming/streaming-http.ts'
import { EngineRecorder, engineRequest } from './session/testing/engine-recorder.ts'

let standIns: StandIns
let engines: ConfiguredEngines
let close: () => Promise<void>

/** Answers without speech, whose rendering takes long on a busy machine. */
const script = scriptOf({
  rules: [
    { when: { contains: ['time', 'clock'], offers: ['time', 'clock'] }, do: [{ call: true }] },
    { when: { on: 'result' }, do: [{ say: 'The function {{function}} answered: {{result}}' }] },
    { when: { contains: ['name'] }, do: [{ say: 'I am the test assistant of Trunkline.' }] },
    { when: { engine: 'chat' }, do: [{ say: 'A summary.' }] },
  ],
})

beforeEach(async () => {
  standIns = await openStandIns({ script })
  const { url, wsUrl } = standIns
  const clock = new SystemClock()
  const http = new StreamingHttp()
  const operator = new OperatorHttp(clock, '')
  const config = {
    engines: {
      live: { kind: 'openai-live', url: `${wsUrl}/v1/live/sessions`, models: ['mind'] },
      written: {
        kind: 'openai-realtime',
        url: `${wsUrl}/v1/realtime`,
        key: 'k',
        model: 'm',
        output: 'text',
        voices: ['built-in'],
      },
      plain: {
        kind: 'openai-realtime',
        url: `${wsUrl}/v1/realtime`,
        key: 'k',
        model: 'm',
        semanticTurns: false,
        serverInterrupts: false,
        truncation: false,
      },
      eleven: { kind: 'elevenlabs-agent', url: `${wsUrl}/v1/convai/conversation`, agentId: 'a' },
      fixed: {
        kind: 'elevenlabs-agent',
        url: `${wsUrl}/v1/convai/conversation`,
        agentId: 'a',
        overrides: false,
      },
      gem: {
        kind: 'gemini-live',
        url: `${wsUrl}/ws/x/BidiGenerateContent`,
        model: 'gemini-2.5',
        notes: false,
      },
    },
    models: {
      mind: { kind: 'openai', url: `${url}/v1`, model: 'm', timeoutMs: 5000, laterRole: 'user' },
    },
    recognisers: {},
    voices: {},
    names: { models: {}, voices: {}, recognisers: {} },
    limits: { callsPerProject: 1, durationMs: 1000, functionTimeoutMs: 1000 },
  } as unknown as AgentsConfig
  const voices = { speak: async () => new Int16Array(1600), close: async () => {} }
  const log = { warn: () => {} } as never
  engines = new ConfiguredEngines(config, { voices, http, send: operator.send, clock, log } as never)
  close = async () => {
    await engines.close()
    await Promise.all([http.close(), operator.close()])
    await standIns.close()
  }
})

afterEach(() => close())

const checkTime = { name: 'check_time', description: 'Tells the time.', parameters: { type: 'object' } }

/** Opens a session of an engine, up to `onReady`. */
const open = async (engine: string) => {
  const events = new EngineRecorder()
  const [chosen] = engines.choose({ engine }, () => {})
  const link = chosen!.open(engineRequest({ functions: [checkTime] }), events)
  await events.until('ready')
  return { events, link }
}

/** The caller is silent until the condition is true. */
const listens = (link: EngineLink, isTrue: () => void): Promise<void> =>
  vi.waitFor(
    () => {
      link.hear(new Int16Array(link.inputRate / 50))
      isTrue()
    },
    { timeout: 15_000, interval: 5 },
  )

/** The caller says a text, and is silent until the condition is true. */
const says = async (link: EngineLink, text: string, isTrue: () => void): Promise<void> => {
  standIns.willHear(text)
  const samples = utterance(600, 900, link.inputRate)
  const length = link.inputRate / 50
  for (let at = 0; at < samples.length; at += length) link.hear(samples.slice(at, at + length))
  await listens(link, isTrue)
}

it('OpenAI Live delegates to the model of the configuration, which calls the function', async () => {
  const { events, link } = await open('live')
  await says(link, 'What time is it?', () => expect(events.of('call')).toHaveLength(1))
  const [, , call] = events.of('call')[0] as unknown as [string, string, EngineCall]
  expect(call).toMatchObject({ name: 'check_time', args: '{}' })
  link.result(call, 'noon', true)
  const comments = () => standIns.log.received('session.commentary.append', 'live')
  await vi.waitFor(() => expect(comments()).toHaveLength(1), { timeout: 10_000 })
  expect(comments()[0]?.message).toMatchObject({ content: 'The function check_time answered: noon' })
})

it('a Realtime server writes, and a voice of the configuration speaks', async () => {
  const { events, link } = await open('written')
  expect(link.outputRate).toBe(16_000)
  await says(link, 'What is your name?', () => expect(events.of('answer-end')).toHaveLength(1))
  expect(events.of('text').map(([, , , text]) => text)).toEqual(['I am the test assistant of Trunkline.'])
  expect(events.of('audio').map(([, , , samples]) => samples)).toEqual([1600])
})

it('a Realtime server is taken as the configuration describes it', async () => {
  const { link } = await open('plain')
  expect(link.abilities.cut).toBe('none')
  const [update] = standIns.log.received('session.update', 'realtime')
  expect(update?.message).toMatchObject({
    session: {
      audio: { input: { turn_detection: { type: 'server_vad', interrupt_response: false } } },
    },
  })
})

it('an agent of ElevenLabs is overridden unless the configuration forbids it', async () => {
  await open('eleven')
  await open('fixed')
  const begins = standIns.log.received('conversation_initiation_client_data', 'elevenlabs-agent')
  expect(begins.map(({ message }) => 'conversation_config_override' in (message as object))).toEqual([
    true,
    false,
  ])
})

it('notes of Gemini wait for the next text if the configuration says so', async () => {
  const { link } = await open('gem')
  link.message({ role: 'system', content: 'It rains.' }, false)
  link.answer('Be short.')
  const received = () => standIns.log.received('realtimeInput', 'gemini').map(({ message }) => message)
  await vi.waitFor(() =>
    expect(received()).toEqual([{ realtimeInput: { text: '(It rains.)\n(Be short.)' } }]),
  )
  expect(standIns.log.received('clientContent', 'gemini')).toEqual([])
})

it('later system messages have the role of the configuration', async () => {
  const [engine] = engines.choose({ engine: 'live' }, () => {})
  const history = [{ role: 'user', content: 'Hi' }] as const
  await engines.complete(engine!, history, 'Summarize.', AbortSignal.timeout(5000))
  const [request] = standIns.log.received('POST', 'chat')
  const { messages } = request!.message as { messages: { role: string }[] }
  expect(messages.map(({ role }) => role)).toEqual(['user', 'user'])
})

it('an agent of ElevenLabs has the format of telephones, without words in its URL', async () => {
  const { link } = await open('eleven')
  expect([link.inputRate, link.outputRate]).toEqual([8000, 8000])
})
