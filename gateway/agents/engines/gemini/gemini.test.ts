import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FakeClock } from '../../../core/clock.ts'
import type { EngineRequest } from '../../engine.ts'
import { EngineRecorder, engineRequest, frameOf } from '../session/testing/engine-recorder.ts'
import { EngineServer, type ServerMessage } from '../session/testing/engine-server.ts'
import { GeminiEngine } from './gemini.ts'
import { durationMs, hasNotes, rateOf } from './gemini-messages.ts'
import type { GeminiOptions } from './gemini-options.ts'

let server: EngineServer

beforeEach(async () => {
  server = await EngineServer.open()
})

afterEach(() => server.close())

const setUp = (options: Partial<GeminiOptions> = {}, request: Partial<EngineRequest> = {}) => {
  const clock = new FakeClock()
  const events = new EngineRecorder()
  const engine = new GeminiEngine(
    { name: 'gem', url: `${server.url}/live`, key: 'secret', model: 'g1', ...options },
    { clock },
  )
  const link = engine.open(engineRequest(request), events)
  return { clock, events, engine, link }
}

const setUpReady = async (options: Partial<GeminiOptions> = {}, request: Partial<EngineRequest> = {}) => {
  const t = setUp(options, request)
  const far = await server.connection()
  await vi.waitFor(() => expect(far.messages).toHaveLength(1))
  // The server sends JSON in binary frames, too.
  far.send(Buffer.from('{"setupComplete":{}}'))
  await t.events.until('ready')
  return { ...t, far }
}

const content = (members: ServerMessage): ServerMessage => ({ serverContent: members })
const audio = (ms: number): ServerMessage =>
  content({
    modelTurn: {
      parts: [
        { inlineData: { mimeType: 'audio/pcm;rate=24000', data: Buffer.alloc(ms * 48).toString('base64') } },
      ],
    },
  })
const say = (text: string): ServerMessage => content({ outputTranscription: { text } })
const hear = (text: string): ServerMessage => content({ inputTranscription: { text } })
const complete = content({ turnComplete: true })
const call = (id: string): ServerMessage => ({
  toolCall: { functionCalls: [{ id, name: 'f', args: { x: 1 } }] },
})

describe('the opening of a Gemini session', () => {
  it('sends the setup, then the history, and the audio of 16 kHz', async () => {
    const { far, link } = await setUpReady(
      { voice: 'Puck' },
      {
        functions: [
          {
            name: 'f',
            description: 'd',
            parameters: {
              type: 'object',
              properties: { a: { type: 'string' } },
              additionalProperties: false,
            },
          },
        ],
        history: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: 'Hello' },
        ],
      },
    )
    expect(far.request.url).toBe('/live?key=secret')
    expect(far.messages[0]?.setup).toMatchObject({
      model: 'models/g1',
      generationConfig: { speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Puck' } } } },
      systemInstruction: { parts: [{ text: 'You sell tea.' }] },
      tools: [
        {
          functionDeclarations: [
            { name: 'f', parameters: { type: 'object', properties: { a: { type: 'string' } } } },
          ],
        },
      ],
      realtimeInputConfig: { activityHandling: 'START_OF_ACTIVITY_INTERRUPTS' },
      sessionResumption: {},
      historyConfig: { initialHistoryInClientContent: true },
    })
    await vi.waitFor(() => expect(far.messages).toHaveLength(2))
    expect(far.messages[1]).toEqual({
      clientContent: {
        turns: [
          { role: 'user', parts: [{ text: 'Hi' }] },
          { role: 'model', parts: [{ text: 'Hello' }] },
        ],
        turnComplete: true,
      },
    })
    link.hear(frameOf(16_000))
    await vi.waitFor(() => expect(far.messages).toHaveLength(3))
    expect(JSON.stringify(far.messages[2])).toContain('audio/pcm;rate=16000')
  })

  it('sends no empty schema, which the server rejects, and open objects as JSON Schema', async () => {
    const open = { type: 'object', properties: { data: { type: 'object' } } }
    const { far } = await setUpReady(
      {},
      {
        functions: [
          { name: 'a', description: 'd', parameters: { type: 'object', properties: {} } },
          { name: 'b', description: 'd', parameters: {} },
          { name: 'c', description: 'd', parameters: open },
        ],
      },
    )
    expect(far.messages[0]?.setup).toMatchObject({
      tools: [
        {
          functionDeclarations: [
            { name: 'a', description: 'd' },
            { name: 'b', description: 'd' },
            { name: 'c', description: 'd', parametersJsonSchema: open },
          ],
        },
      ],
    })
    const [setup] = far.messages
    expect(JSON.stringify(setup)).not.toContain('"parameters"')
    expect(JSON.stringify(setup)).not.toContain('historyConfig')
  })

  it.each([
    ['50s', 50_000],
    ['9.5s', 9500],
    ['soon', undefined],
    [undefined, undefined],
  ])('reads the duration %s', (text, ms) => expect(durationMs(text)).toBe(ms))

  it.each([
    ['gemini-2.5-flash-native-audio', true],
    ['models/gemini-live-2.5-flash', true],
    ['gemini-3.1-flash-live', false],
    ['gemini-20-flash', false],
  ])('knows whether %s takes notes: %s', (model, is) => expect(hasNotes({ name: 'g', model })).toBe(is))

  it('reads the rate of audio', () => {
    expect(['audio/pcm;rate=16000', 'audio/pcm; rate=8000', 'audio/pcm', ''].map(rateOf)).toEqual([
      16_000, 8000, 24_000, 24_000,
    ])
  })
})

describe('the turns of a Gemini session', () => {
  it('reports turns, text and audio', async () => {
    const { far, events } = await setUpReady()
    far.send(hear(' Green'), hear(' tea'), audio(20), say('Yes'), content({ generationComplete: true }))
    far.send(say('!'), complete, { usageMetadata: { promptTokenCount: 5, responseTokenCount: 6 } })
    await events.until('usage')
    const id = 'answer-1'
    const item = 'answer-1-audio'
    expect(events.events.slice(1)).toEqual([
      ['turn', 'began'],
      ['heard', { text: 'Green', isFinal: false }],
      ['heard', { text: 'Green tea', isFinal: false }],
      ['heard', { text: 'Green tea', isFinal: true }],
      ['turn', 'ended'],
      ['answer', id],
      ['first-token', id],
      ['audio', id, item, 960],
      ['text', id, item, 'Yes'],
      ['item-end', id, item],
      ['text', id, item, '!'],
      ['answer-end', id, 'completed'],
      ['usage', { inputTokens: 5, outputTokens: 6 }],
    ])
  })

  it('reports an interruption by the server, and begins anew after it', async () => {
    const { far, events } = await setUpReady()
    far.send(audio(20), content({ interrupted: true }), complete, audio(20), complete)
    await events.until('answer-end', 'answer-2', 'completed')
    expect(events.of('interrupted', 'answer', 'answer-end')).toEqual([
      ['answer', 'answer-1'],
      ['answer-end', 'answer-1', 'cancelled'],
      ['interrupted'],
      ['answer', 'answer-2'],
      ['answer-end', 'answer-2', 'completed'],
    ])
  })

  it('reports a text that comes after the begin of its answer, and begins no turn', async () => {
    const { far, events } = await setUpReady()
    far.send(audio(20), hear('Green'), hear(' tea'), say('Yes'), complete, hear('More'))
    await events.until('turn', 'began')
    expect(events.of('turn', 'heard', 'answer', 'answer-end', 'interrupted')).toEqual([
      ['answer', 'answer-1'],
      ['heard', { text: 'Green', isFinal: false }],
      ['heard', { text: 'Green tea', isFinal: false }],
      ['heard', { text: 'Green tea', isFinal: true }],
      ['answer-end', 'answer-1', 'completed'],
      ['turn', 'began'],
      ['heard', { text: 'More', isFinal: false }],
    ])
  })

  it('keeps the text of an interruption for the turn that it begins', async () => {
    const { far, events } = await setUpReady()
    far.send(audio(20), hear('No'), content({ interrupted: true }), complete, hear(', wait'), audio(20))
    await events.until('audio', 'answer-2')
    expect(events.of('turn', 'heard', 'interrupted')).toEqual([
      ['heard', { text: 'No', isFinal: false }],
      ['interrupted'],
      ['heard', { text: 'No, wait', isFinal: false }],
      ['heard', { text: 'No, wait', isFinal: true }],
      ['turn', 'ended'],
    ])
  })

  it('asks for answers by texts, as later models refuse other content after the begin', async () => {
    const { far, link } = await setUpReady()
    link.say('Good day.')
    link.answer('Be short.')
    link.message({ role: 'user', content: '42' }, true)
    await vi.waitFor(() => expect(far.messages).toHaveLength(4))
    expect(far.messages.slice(1)).toEqual([
      { realtimeInput: { text: '(Say exactly these words, and nothing else: <<<Good day.>>>)' } },
      { realtimeInput: { text: '(Be short.)' } },
      { realtimeInput: { text: '42' } },
    ])
  })

  it('sends notes with the next text where the server takes none by themselves', async () => {
    const { far, events, link } = await setUpReady({ model: 'gemini-3.1-flash-live' })
    far.send(audio(20))
    await events.until('audio')
    link.interrupt({ answer: 'answer-1', item: 'answer-1-audio', ms: 20, text: 'We ha' }, false)
    link.message({ role: 'system', content: 'It rains.' }, false)
    link.answer(undefined)
    await vi.waitFor(() => expect(far.messages).toHaveLength(2))
    const { text } = far.messages[1]!.realtimeInput as { text: string }
    expect(text.split('\n')).toEqual([
      '(The caller interrupted you, and heard only: <<<We ha>>>)',
      '(It rains.)',
      '(Speak now.)',
    ])
  })

  it('drops the rest of an answer that we interrupt, and notes the words heard', async () => {
    const { far, events, link } = await setUpReady({ notes: true })
    far.send(audio(20))
    await events.until('audio')
    link.interrupt({ answer: 'answer-1', item: 'answer-1-audio', ms: 20, text: 'We ha' }, false)
    await vi.waitFor(() => expect(JSON.stringify(far.messages.at(-1))).toContain('<<<We ha>>>'))
    far.send(audio(20), say('late'), call('x'), content({ interrupted: true }), audio(40))
    await events.until('audio', 'answer-2')
    expect(events.of('audio').map(([, id]) => id)).toEqual(['answer-1', 'answer-2'])
    expect(events.of('call', 'interrupted', 'text')).toEqual([])
    await vi.waitFor(() => expect(JSON.stringify(far.messages.at(-1))).toContain('"error":"cancelled"'))
  })
})

describe('function calls of a Gemini session', () => {
  it('reports each once, and sends its result once', async () => {
    const { far, events, link } = await setUpReady()
    far.send(call('a'), call('a'), call('b'), { toolCallCancellation: { ids: ['b', 'z'] } })
    await events.until('calls-cancelled')
    expect(events.of('call', 'calls-cancelled')).toEqual([
      ['call', 'answer-1', { id: 'a', name: 'f', args: '{"x":1}' }],
      ['call', 'answer-3', { id: 'b', name: 'f', args: '{"x":1}' }],
      ['calls-cancelled', ['b']],
    ])
    for (const id of ['a', 'a', 'b']) link.result({ id, name: 'f', args: '' }, 'done', false)
    await far.settled()
    expect(far.messages.slice(1)).toEqual([
      {
        toolResponse: {
          functionResponses: [{ id: 'a', name: 'f', response: { result: 'done' }, scheduling: 'SILENT' }],
        },
      },
    ])
  })
})

describe('the connections of a Gemini session', () => {
  const update = { sessionResumptionUpdate: { newHandle: 'h1', resumable: true } }

  it('continues on another one after the answer, when the server goes away', async () => {
    const { far, events, link, clock } = await setUpReady()
    far.send(update, audio(20), { goAway: { timeLeft: '50s' } })
    await events.until('audio')
    await far.settled()
    expect(server.connections).toHaveLength(1)
    far.send(complete)
    await events.until('answer-end')
    const next = await server.connection(1)
    await vi.waitFor(() =>
      expect(next.messages[0]?.setup).toMatchObject({ sessionResumption: { handle: 'h1' } }),
    )
    link.hear(frameOf(16_000))
    next.send({ setupComplete: {} })
    await vi.waitFor(() => expect(next.messages).toHaveLength(2))
    next.send(audio(20), complete)
    await events.until('answer-end', 'answer-2', 'completed')
    expect(events.of('ready')).toHaveLength(1)
    expect(events.of('closing', 'failure')).toEqual([])
    link.close()
    await vi.waitFor(() => expect(clock.running).toBe(0))
  })

  it('leaves also in the middle of an answer, 5 s before the end', async () => {
    const { far, events, clock } = await setUpReady()
    far.send(update, audio(20), { goAway: { timeLeft: '10s' } })
    await events.until('audio')
    await far.settled()
    clock.advance(5000)
    await server.connection(1)
    expect(events.of('answer-end')).toEqual([['answer-end', 'answer-1', 'cancelled']])
  })

  it('announces the end where the session cannot continue', async () => {
    const { far, events } = await setUpReady()
    far.send({ goAway: { timeLeft: '50s' } })
    expect(await events.until('closing')).toEqual([['closing', 50_000]])
  })

  it('keeps the last handle while the server cannot resume', async () => {
    const { far } = await setUpReady()
    far.send(update, { sessionResumptionUpdate: { resumable: false } })
    far.send(
      { sessionResumptionUpdate: { newHandle: '', resumable: false } },
      { sessionResumptionUpdate: {} },
    )
    await far.settled()
    far.socket.terminate()
    const next = await server.connection(1)
    await vi.waitFor(() =>
      expect(next.messages[0]?.setup).toMatchObject({ sessionResumption: { handle: 'h1' } }),
    )
  })

  it('continues after a lost connection, once', async () => {
    const { far, events } = await setUpReady()
    far.send(update)
    await far.settled()
    far.socket.terminate()
    const next = await server.connection(1)
    next.socket.terminate()
    expect(await events.failure()).toMatchObject({ kind: 'connection' })
    expect(server.connections).toHaveLength(2)
  })

  /** A session that was lost, and goes on with a second connection. */
  const continued = async () => {
    const t = await setUpReady()
    t.far.send(update)
    await t.far.settled()
    t.far.socket.terminate()
    const next = await server.connection(1)
    next.send({ setupComplete: {} })
    await next.settled()
    return { ...t, next }
  }

  it('fails if the server drops the next connection, too, soon after its setup', async () => {
    const { next, events } = await continued()
    next.socket.terminate()
    expect(await events.failure()).toMatchObject({ kind: 'connection' })
    expect(server.connections).toHaveLength(2)
  })

  it('announces the end if the server goes away again at once', async () => {
    const { next, events } = await continued()
    next.send({ goAway: { timeLeft: '50s' } })
    expect(await events.until('closing')).toEqual([['closing', 50_000]])
    expect(server.connections).toHaveLength(2)
  })

  it('continues again after a while', async () => {
    const { next, clock, events } = await continued()
    clock.advance(5_000)
    next.socket.terminate()
    await server.connection(2)
    expect(events.of('failure')).toEqual([])
  })

  it.each([
    [1007, 'API key not valid. Please pass a valid API key.', 'unauthorised'],
    [1011, 'You exceeded your current quota', 'limited'],
    [1008, 'models/g1 is not found', 'refused'],
  ])('classifies the close %i "%s" as %s', async (code, reason, kind) => {
    const { events, engine, clock } = setUp()
    const far = await server.connection()
    far.socket.close(code, reason)
    expect(await events.failure()).toMatchObject({ kind, part: 'gem' })
    expect([engine.sessions, clock.running]).toEqual([0, 0])
  })

  it('fails for audio of another rate', async () => {
    const { far, events } = await setUpReady()
    const inlineData = { mimeType: 'audio/pcm;rate=16000', data: 'AAAA' }
    far.send(content({ modelTurn: { parts: [{ inlineData }] } }))
    expect(await events.failure()).toMatchObject({ kind: 'protocol' })
  })
})
