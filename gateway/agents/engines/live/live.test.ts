import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { encode } from '../../../../media/codecs/g711.ts'
import { FakeClock } from '../../../core/clock.ts'
import type { EngineCall, EngineRequest } from '../../engine.ts'
import { EngineRecorder, engineRequest, frameOf } from '../session/testing/engine-recorder.ts'
import { EngineServer, type ServerMessage } from '../session/testing/engine-server.ts'
import { LiveEngine } from './live.ts'
import type { LiveModel } from './live-backend.ts'
import type { LiveOptions } from './live-options.ts'

let server: EngineServer

beforeEach(async () => {
  server = await EngineServer.open()
})

afterEach(() => server.close())

type ModelRequest = Parameters<LiveModel['answer']>[0]
type ModelListener = Parameters<LiveModel['answer']>[1]

/** Model whose answers the test gives. */
class TestModel implements LiveModel {
  readonly requests: ModelRequest[] = []
  readonly listeners: ModelListener[] = []
  cancelled = 0

  answer(request: ModelRequest, listener: ModelListener) {
    this.requests.push(request)
    this.listeners.push(listener)
    return { cancel: () => void this.cancelled++ }
  }

  give(at: number, text: string, calls: readonly EngineCall[] = []): void {
    if (text !== '') this.listeners[at]?.onText(text)
    this.listeners[at]?.onEnd('completed', calls)
  }
}

const setUp = (options: Partial<LiveOptions> = {}, request: Partial<EngineRequest> = {}) => {
  const clock = new FakeClock()
  const events = new EngineRecorder()
  const model = new TestModel()
  const engine = new LiveEngine(
    { name: 'live', url: `${server.url}/live`, key: 'secret', ...options },
    { clock, model },
  )
  const link = engine.open(engineRequest(request), events)
  return { clock, events, engine, link, model }
}

const setUpReady = async (request: Partial<EngineRequest> = {}) => {
  const t = setUp({}, request)
  const far = await server.connection()
  await far.next({ type: 'session.start' })
  far.send({ type: 'session.started', session: { id: 's' } })
  await t.events.until('ready')
  return { ...t, far }
}

const sound = (ms: number, isLoud = true): ServerMessage => ({
  type: 'session.output_audio.delta',
  delta: Buffer.from(encode('PCMU', new Int16Array(ms * 8).fill(isLoud ? 5000 : 0))).toString('base64'),
})
const spoken = (delta: string, start_ms?: number): ServerMessage => ({
  type: 'session.output_transcript.delta',
  delta,
  ...(start_ms !== undefined && { start_ms, end_ms: start_ms + 200 }),
})
const heard = (delta: string): ServerMessage => ({ type: 'session.input_transcript.delta', delta })
const delegated = (id: string): ServerMessage => ({
  type: 'session.delegation.created',
  delegation: { id, target: 'client' },
  offset_ms: 1,
})

describe('the opening of a Live session', () => {
  it('sends model, prompt, format, voice and history', async () => {
    const { link } = setUp({ voice: 'cove' }, { history: [{ role: 'assistant', content: 'Hello' }] })
    const far = await server.connection()
    expect(far.request.headers.authorization).toBe('Bearer secret')
    expect(await far.next({ type: 'session.start' })).toEqual({
      type: 'session.start',
      session: {
        model: 'gpt-live-1',
        instructions: 'You sell tea.',
        audio: { format: { type: 'audio/pcmu', rate: 8000 }, output: { voice: 'cove' } },
        input: [{ role: 'assistant', content: [{ text: 'Hello' }] }],
        delegation: { type: 'client' },
      },
    })
    link.close()
    await far.next({ type: 'session.close' })
  })

  it('greets by commentary, and delivers at most 2 s of earlier audio', async () => {
    const { link, events } = setUp()
    link.say('Good day.')
    for (let i = 0; i < 200; i++) link.hear(frameOf(8000, i))
    const far = await server.connection()
    far.send({ type: 'session.started', session: {} })
    await events.until('ready')
    expect(await far.next({ type: 'session.commentary.append' })).toMatchObject({
      content: 'Good day.',
      delegation_id: null,
    })
    expect(far.all({ type: 'session.input_audio.append' })).toHaveLength(100)
  })

  it('announces the end of the session', async () => {
    const { clock, events } = setUp()
    const far = await server.connection()
    far.send({ type: 'session.started', session: { expires_at: (clock.now() + 61_000) / 1000 } })
    await events.until('ready')
    clock.advance(1000)
    expect(events.of('closing')).toEqual([['closing', 60_000]])
  })
})

describe('the stream of a Live session', () => {
  it('divides sound into answers by its silences', async () => {
    const { far, events } = await setUpReady()
    far.send(sound(200, false), heard('Tea, '), heard('please'), spoken('Yes'), sound(100), sound(200, false))
    far.send(spoken(' sir'), sound(100), sound(900, false), sound(500, false), sound(20))
    await events.until('audio', 'answer-2')
    expect(events.events.slice(1)).toEqual([
      ['heard', { text: 'Tea,', isFinal: false }],
      ['heard', { text: 'Tea, please', isFinal: false }],
      ['heard', { text: 'Tea, please', isFinal: true }],
      ['answer', 'answer-1'],
      ['first-token', 'answer-1'],
      ['text', 'answer-1', 'answer-1-audio', 'Yes'],
      ['audio', 'answer-1', 'answer-1-audio', 800],
      ['audio', 'answer-1', 'answer-1-audio', 1600],
      ['text', 'answer-1', 'answer-1-audio', ' sir'],
      ['audio', 'answer-1', 'answer-1-audio', 800],
      ['audio', 'answer-1', 'answer-1-audio', 7200],
      ['item-end', 'answer-1', 'answer-1-audio'],
      ['answer-end', 'answer-1', 'completed'],
      ['answer', 'answer-2'],
      ['first-token', 'answer-2'],
      ['audio', 'answer-2', 'answer-2-audio', 160],
    ])
  })

  it('reports words of the caller before its next answer, and not during one', async () => {
    const { far, events } = await setUpReady()
    far.send(heard('Tea?'), sound(100), spoken('We have'), heard(' Mm-hm.'), spoken(' green'), sound(100))
    far.send(sound(900, false), spoken(' tea.', 100), sound(500, false))
    await events.until('text', 'answer-1', 'answer-1-audio', ' tea.')
    expect(events.of('heard', 'answer', 'answer-end')).toEqual([
      ['heard', { text: 'Tea?', isFinal: false }],
      ['heard', { text: 'Tea?', isFinal: true }],
      ['answer', 'answer-1'],
      ['heard', { text: 'Mm-hm.', isFinal: false }],
      ['answer-end', 'answer-1', 'completed'],
    ])
    far.send(heard(' Black?'), sound(100))
    await events.until('answer', 'answer-2')
    expect(events.of('heard', 'answer').slice(-2)).toEqual([
      ['heard', { text: 'Mm-hm. Black?', isFinal: true }],
      ['answer', 'answer-2'],
    ])
  })

  it('begins no answer with a text that comes after its sound, or before it', async () => {
    const { far, events } = await setUpReady()
    far.send(sound(200, false), sound(200), spoken('Good'), sound(900, false))
    far.send(spoken(' day.', 300), spoken('How', 1900), sound(600, false))
    await events.until('text', 'answer-1', 'answer-1-audio', ' day.')
    await far.settled()
    expect(events.of('answer')).toHaveLength(1)
    far.send(sound(100))
    await events.until('audio', 'answer-2')
    expect(events.of('answer', 'text', 'answer-end')).toEqual([
      ['answer', 'answer-1'],
      ['text', 'answer-1', 'answer-1-audio', 'Good'],
      ['answer-end', 'answer-1', 'completed'],
      ['text', 'answer-1', 'answer-1-audio', ' day.'],
      ['answer', 'answer-2'],
      ['text', 'answer-2', 'answer-2-audio', 'How'],
    ])
  })

  it('drops an interrupted answer up to its next silence', async () => {
    const { far, events, link } = await setUpReady()
    far.send(sound(100))
    await events.until('audio')
    link.interrupt({ answer: 'answer-1', item: 'answer-1-audio', ms: 50, text: '' }, false)
    far.send(sound(100), spoken('unheard'), sound(900, false), sound(60))
    await events.until('audio', 'answer-2')
    expect(events.of('audio', 'text')).toHaveLength(2)
  })

  it('sends silence where the audio of the caller stops', async () => {
    const { far, clock, link } = await setUpReady()
    link.hear(frameOf(8000))
    clock.advance(200)
    await far.settled()
    expect(far.all({ type: 'session.input_audio.append' })).toHaveLength(1)
    clock.advance(300)
    await vi.waitFor(() => expect(far.all({ type: 'session.input_audio.append' })).toHaveLength(4))
  })

  it('changes instructions, and learns texts', async () => {
    const { far, link } = await setUpReady()
    link.change({ prompt: 'Sell coffee.' })
    expect((await far.next({ type: 'session.instructions.append' })).content).toContain('Sell coffee.')
    link.change({ language: { name: 'German', code: 'de' } })
    expect((await far.next({ type: 'session.instructions.append' })).content).toBe(
      'Speak German from now on.',
    )
    link.change({ prompt: 'Sell milk.' })
    expect((await far.next({ type: 'session.instructions.append' })).content).toMatch(
      /Sell milk\.\n\nSpeak German from now on\.$/,
    )
    link.message({ role: 'user', content: '42' }, false)
    expect((await far.next({ type: 'session.thinking.append' })).content).toContain('42')
    link.answer('Ask for the name.')
    expect((await far.next({ type: 'session.commentary.append' })).content).toBe('Ask for the name.')
  })
})

describe('the work behind a Live session', () => {
  const functions = [{ name: 'f', description: 'd', parameters: {} }]

  it('runs functions with our model, and speaks the result', async () => {
    const { far, events, link, model } = await setUpReady({ functions })
    far.send(heard('Is tea there?'), spoken('Let me see.'), delegated('d1'), delegated('d1'))
    await vi.waitFor(() => expect(model.requests).toHaveLength(1))
    expect(model.requests[0]?.functions).toEqual(functions)
    expect(model.requests[0]?.messages.slice(1)).toEqual([
      { role: 'user', content: 'Is tea there?' },
      { role: 'assistant', content: 'Let me see.' },
    ])
    const a = { id: 'call_0', name: 'f', args: '{}' }
    const b = { id: 'call_1', name: 'f', args: '{}' }
    model.give(0, '', [a, b])
    expect(events.of('call')).toEqual([
      ['call', 'work-1', a],
      ['call', 'work-1', b],
    ])
    link.result(a, 'yes', true)
    link.result(a, 'twice', true)
    link.result(b, 'green', false)
    expect(model.requests[1]?.messages.slice(3)).toEqual([
      { role: 'assistant', content: '', calls: [a, b] },
      { role: 'tool', callId: 'call_0', name: 'f', content: 'yes' },
      { role: 'tool', callId: 'call_1', name: 'f', content: 'green' },
    ])
    model.give(1, 'There is green tea.')
    expect(await far.next({ type: 'session.commentary.append' })).toMatchObject({
      content: 'There is green tea.',
      delegation_id: 'd1',
    })
    far.send(delegated('d2'))
    await vi.waitFor(() => expect(model.requests).toHaveLength(3))
    model.give(2, '', [a])
    expect(events.of('call').at(-1)).toEqual(['call', 'work-2', { ...a, id: 'call_0-2' }])
  })

  it('gives results silently where no answer is wanted', async () => {
    const { far, link, model } = await setUpReady({ functions })
    far.send(delegated('d1'))
    await vi.waitFor(() => expect(model.requests).toHaveLength(1))
    const call = { id: 'a', name: 'f', args: '{}' }
    model.give(0, '', [call])
    link.result(call, 'noted', false)
    expect(await far.next({ type: 'session.thinking.append' })).toMatchObject({
      content: 'noted',
      delegation_id: 'd1',
    })
    expect(model.requests).toHaveLength(1)
  })

  it('ends work that fails, or takes too long', async () => {
    const { far, clock, events, model } = await setUpReady()
    far.send(delegated('d1'))
    await vi.waitFor(() => expect(model.requests).toHaveLength(1))
    model.listeners[0]?.onFailure(new Error('the model is away'))
    await far.next({ type: 'session.commentary.append', delegation_id: 'd1' })
    far.send(delegated('d2'))
    await vi.waitFor(() => expect(model.requests).toHaveLength(2))
    for (let i = 0; i < 15; i++) {
      clock.advance(4000)
      await far.settled()
    }
    await far.next({ type: 'session.commentary.append', delegation_id: 'd2' })
    expect(model.cancelled).toBe(1)
    expect(events.of('warning')).toHaveLength(2)
  })

  it('stops with the session', async () => {
    const { far, clock, link, model } = await setUpReady()
    far.send(delegated('d1'))
    await vi.waitFor(() => expect(model.requests).toHaveLength(1))
    link.close()
    model.give(0, 'late')
    expect(model.cancelled).toBe(1)
    await vi.waitFor(() => expect(far.socket.readyState).toBe(far.socket.CLOSED))
    await vi.waitFor(() => expect(clock.running).toBe(0))
  })
})

describe('failures of a Live session', () => {
  it.each([
    ['expired', 'connection'],
    ['content', 'refused'],
  ])('classifies the end "%s" as %s', async (reason, kind) => {
    const { far, events } = await setUpReady()
    far.send({ type: 'session.closed', reason })
    expect(await events.failure()).toMatchObject({ kind })
  })

  it('names the fault of the opening, and goes on after later ones', async () => {
    const { far, events } = await setUpReady()
    far.send({ type: 'error', error: { type: 'invalid_request_error', code: 'unknown_field', message: 'x' } })
    expect(await events.until('warning')).toEqual([['warning', 'engine_error', 'unknown_field']])
    const second = setUp()
    const other = await server.connection(1)
    other.send({ type: 'error', error: { code: 'invalid_value', message: 'Unknown voice' } })
    expect(await second.events.failure()).toMatchObject({
      kind: 'refused',
      message: 'invalid_value: Unknown voice',
    })
    const third = setUp()
    const last = await server.connection(2)
    last.send({ type: 'error', error: { code: 'request_timeout', message: 'x' } })
    expect(await third.events.failure()).toMatchObject({ kind: 'timeout' })
  })
})
