import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { encode } from '../../../../media/codecs/g711.ts'
import { FakeClock } from '../../../core/clock.ts'
import type { EngineRequest } from '../../engine.ts'
import { EngineRecorder, engineRequest, frameOf } from '../session/testing/engine-recorder.ts'
import { EngineServer } from '../session/testing/engine-server.ts'
import { DeepgramAgentEngine } from './deepgram.ts'
import type { DeepgramAgentOptions } from './deepgram-options.ts'

let server: EngineServer

beforeEach(async () => {
  server = await EngineServer.open()
})

afterEach(() => server.close())

const setUp = (options: Partial<DeepgramAgentOptions> = {}, request: Partial<EngineRequest> = {}) => {
  const clock = new FakeClock()
  const events = new EngineRecorder()
  const engine = new DeepgramAgentEngine(
    {
      name: 'dg',
      url: server.url,
      key: 'secret',
      think: { provider: { type: 'open_ai', model: 'm1' } },
      ...options,
    },
    { clock },
  )
  return { clock, events, engine, link: engine.open(engineRequest(request), events) }
}

const setUpReady = async (
  options: Partial<DeepgramAgentOptions> = {},
  request: Partial<EngineRequest> = {},
) => {
  const t = setUp(options, request)
  const far = await server.connection()
  far.send({ type: 'Welcome', request_id: 'r' })
  await far.next({ type: 'Settings' })
  far.send({ type: 'SettingsApplied' })
  await t.events.until('ready')
  return { ...t, far }
}

const user = (content: string) => ({ type: 'ConversationText', role: 'user', content })
const agent = (content: string) => ({ type: 'ConversationText', role: 'assistant', content })
const request = (id: string, members = {}) => ({
  type: 'FunctionCallRequest',
  functions: [{ id, name: 'f', arguments: '{}', client_side: true, ...members }],
})

describe('an agent of Deepgram', () => {
  it('is configured by the first message', async () => {
    const { far, link } = await setUpReady(
      { speak: { type: 'deepgram', model: 'aura-2-thalia-en' } },
      {
        functions: [{ name: 'f', description: 'd', parameters: {} }],
        settings: { temperature: 0.5 },
        history: [
          { role: 'assistant', content: 'Hello', calls: [{ id: 'c', name: 'f', args: '{}' }] },
          { role: 'tool', callId: 'c', name: 'f', content: '1' },
        ],
      },
    )
    expect(far.request.headers.authorization).toBe('Token secret')
    expect(far.messages[0]).toEqual({
      type: 'Settings',
      audio: {
        input: { encoding: 'mulaw', sample_rate: 8000 },
        output: { encoding: 'mulaw', sample_rate: 8000, container: 'none' },
      },
      agent: {
        language: 'en',
        context: {
          messages: [
            { type: 'History', role: 'assistant', content: 'Hello' },
            {
              type: 'History',
              function_calls: [{ id: 'c', name: 'f', client_side: true, arguments: '{}', response: '1' }],
            },
          ],
        },
        listen: { provider: { type: 'deepgram', model: 'flux-general-en', version: 'v2' } },
        think: {
          provider: { type: 'open_ai', model: 'm1', temperature: 0.5 },
          prompt: 'You sell tea.',
          functions: [{ name: 'f', description: 'd', parameters: {} }],
        },
        speak: { provider: { type: 'deepgram', model: 'aura-2-thalia-en' } },
      },
    })
    link.hear(frameOf(8000))
    await vi.waitFor(() => expect(far.binary).toHaveLength(1))
    expect([...far.binary[0]!]).toEqual([...encode('PCMU', frameOf(8000))])
  })

  it('reports turns, text and audio', async () => {
    const { far, events } = await setUpReady()
    far.send(
      { type: 'UserStartedSpeaking' },
      user('Tea'),
      { type: 'AgentThinking', content: '' },
      agent('Yes.'),
    )
    far.send({ type: 'AgentStartedSpeaking', total_latency: 1 }, Buffer.alloc(320, 0xff), agent('Green?'))
    far.send({ type: 'AgentAudioDone' })
    await events.until('answer-end')
    expect(events.events.slice(1)).toEqual([
      ['turn', 'began'],
      ['interrupted'],
      ['heard', { text: 'Tea', isFinal: true }],
      ['turn', 'ended'],
      ['answer', 'answer-1'],
      ['first-token', 'answer-1'],
      ['text', 'answer-1', 'answer-1-audio', 'Yes.'],
      ['audio', 'answer-1', 'answer-1-audio', 320],
      ['text', 'answer-1', 'answer-1-audio', ' Green?'],
      ['item-end', 'answer-1', 'answer-1-audio'],
      ['answer-end', 'answer-1', 'completed'],
    ])
  })

  it('drops the rest of an interrupted answer', async () => {
    const { far, events, link } = await setUpReady()
    far.send(Buffer.alloc(160))
    await events.until('audio')
    link.interrupt(undefined, false)
    far.send(Buffer.alloc(160), agent('late'), { type: 'AgentAudioDone' }, Buffer.alloc(80))
    await events.until('audio', 'answer-2')
    expect(events.of('audio', 'text', 'answer-end')).toEqual([
      ['audio', 'answer-1', 'answer-1-audio', 160],
      ['answer-end', 'answer-1', 'cancelled'],
      ['audio', 'answer-2', 'answer-2-audio', 80],
    ])
  })

  it('reports each call once, and sends its result once', async () => {
    const { far, events, link } = await setUpReady()
    far.send(request('a'), request('a'), request('s', { client_side: false }), request('b'))
    far.send({ type: 'FunctionCallCancelled', functions: [{ id: 'b' }] })
    await events.until('calls-cancelled')
    expect(events.of('call')).toEqual([
      ['call', 'answer-1', { id: 'a', name: 'f', args: '{}' }],
      ['call', 'answer-2', { id: 'b', name: 'f', args: '{}' }],
    ])
    for (const id of ['a', 'a', 'b']) link.result({ id, name: 'f', args: '' }, 'done', true)
    await far.settled()
    expect(far.messages.slice(1)).toEqual([
      { type: 'FunctionCallResponse', id: 'a', name: 'f', content: 'done' },
    ])
  })

  it('speaks given texts, and changes prompt and functions', async () => {
    const { far, link } = await setUpReady()
    link.say('Good day.')
    link.answer('Ask for the name.')
    link.message({ role: 'system', content: 'It rains.' }, false)
    link.change({ functions: [] })
    await far.next({ type: 'UpdateThink' })
    expect(far.messages.slice(1)).toEqual([
      { type: 'InjectAgentMessage', message: 'Good day.', behavior: 'queue' },
      { type: 'InjectUserMessage', content: 'Ask for the name.' },
      { type: 'UpdatePrompt', prompt: 'You sell tea.\n\n(system: It rains.)' },
      {
        type: 'UpdateThink',
        think: { provider: { type: 'open_ai', model: 'm1' }, prompt: 'You sell tea.\n\n(system: It rains.)' },
      },
    ])
  })

  it('keeps messages behind a prompt that changes, the last fifty', async () => {
    const { far, link } = await setUpReady()
    link.message({ role: 'system', content: 'It rains.' }, false)
    link.change({ prompt: 'Sell coffee.' })
    await far.next({ type: 'UpdatePrompt', prompt: 'Sell coffee.\n\n(system: It rains.)' })
    for (let i = 0; i < 50; i++) link.message({ role: 'user', content: `${i}` }, false)
    link.change({ functions: [] })
    const { think } = await far.next({ type: 'UpdateThink' })
    const { prompt } = think as { prompt: string }
    expect(prompt.split('\n\n')).toEqual([
      'Sell coffee.',
      ...Array.from({ length: 50 }, (_, i) => `(user: ${i})`),
    ])
  })

  it('speaks another language, by its voice, also after the next change', async () => {
    const { far, link } = await setUpReady()
    link.change({ language: { name: 'German', code: 'de', voice: 'deepgram.aura-2-julius-de' } })
    link.change({ prompt: 'Sell coffee.' })
    link.change({ settings: { temperature: 0.1 } })
    await far.next({ type: 'UpdateThink' })
    const spoken = 'Speak German from now on.'
    expect(far.messages.slice(1)).toEqual([
      { type: 'UpdateSpeak', speak: { provider: { type: 'deepgram', model: 'aura-2-julius-de' } } },
      { type: 'UpdatePrompt', prompt: `You sell tea.\n\n${spoken}` },
      { type: 'UpdatePrompt', prompt: `Sell coffee.\n\n${spoken}` },
      {
        type: 'UpdateThink',
        think: {
          provider: { type: 'open_ai', model: 'm1', temperature: 0.1 },
          prompt: `Sell coffee.\n\n${spoken}`,
        },
      },
    ])
  })

  it('keeps the connection alive without audio', async () => {
    const { far, clock, link } = await setUpReady()
    clock.advance(5000)
    await far.next({ type: 'KeepAlive' })
    clock.advance(3000)
    link.hear(frameOf(8000))
    clock.advance(2000)
    await far.settled()
    expect(far.all({ type: 'KeepAlive' })).toHaveLength(1)
    link.close()
    await vi.waitFor(() => expect(clock.running).toBe(0))
  })

  it('reports errors of the configuration and of the server', async () => {
    const { events } = setUp()
    const far = await server.connection()
    far.send({ type: 'Error', code: 'INVALID_SETTINGS', description: 'Unknown model' })
    expect(await events.failure()).toEqual({
      kind: 'refused',
      part: 'dg',
      message: 'INVALID_SETTINGS: Unknown model',
    })
    const second = setUp()
    const other = await server.connection(1)
    other.send({ type: 'SettingsApplied' }, { type: 'Warning', code: 'SLOW', description: 'x' })
    other.send({ type: 'Error', code: 'FAILED_TO_THINK', description: 'words of the caller' })
    expect(await second.events.failure()).toMatchObject({ kind: 'server', message: 'FAILED_TO_THINK' })
    expect(second.events.of('warning')).toEqual([['warning', 'engine_warning', 'SLOW']])
  })

  it.each([
    ['INVALID_AUTH', 'unauthorised'],
    ['RATE_LIMIT_EXCEEDED', 'limited'],
    ['INTERNAL_SERVER_ERROR', 'server'],
    ['CLIENT_MESSAGE_TIMEOUT', 'timeout'],
  ])('classifies %s at the opening as %s', async (code, kind) => {
    const { events } = setUp()
    const far = await server.connection()
    far.send({ type: 'Error', code, description: 'x' })
    expect(await events.failure()).toMatchObject({ kind })
  })

  it('is refused for a wrong key', async () => {
    server.status = 401
    const { events } = setUp()
    expect(await events.failure()).toMatchObject({ kind: 'unauthorised' })
  })
})
