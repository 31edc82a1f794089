import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { OperatorHttp } from '../../../callbacks/operator-http.ts'
import { FakeClock } from '../../../core/clock.ts'
import type { EngineRequest } from '../../engine.ts'
import { EngineRecorder, engineRequest, frameOf } from '../session/testing/engine-recorder.ts'
import { EngineServer } from '../session/testing/engine-server.ts'
import { UltravoxEngine } from './ultravox.ts'
import type { UltravoxOptions } from './ultravox-options.ts'

let server: EngineServer
let http: OperatorHttp
let requests: { readonly key: unknown; readonly body: Record<string, unknown> }[]

beforeEach(async () => {
  server = await EngineServer.open()
  http = new OperatorHttp(new FakeClock(), '')
  requests = []
  server.onRequest = ({ headers }, body) => {
    requests.push({ key: headers['x-api-key'], body: JSON.parse(body) as Record<string, unknown> })
    return { status: 201, body: JSON.stringify({ callId: 'c', joinUrl: `${server.url}/join` }) }
  }
})

afterEach(async () => {
  await http.close()
  await server.close()
})

const setUp = (options: Partial<UltravoxOptions> = {}, request: Partial<EngineRequest> = {}) => {
  const clock = new FakeClock()
  const events = new EngineRecorder()
  const engine = new UltravoxEngine(
    { name: 'uv', url: `${server.url.replace('ws', 'http')}/api/calls`, key: 'secret', ...options },
    { clock, send: http.send },
  )
  return { clock, events, engine, link: engine.open(engineRequest(request), events) }
}

const setUpReady = async (options: Partial<UltravoxOptions> = {}) => {
  const t = setUp(options)
  const far = await server.connection()
  await t.events.until('ready')
  return { ...t, far }
}

const state = (name: string) => ({ type: 'state', state: name })
const said = (role: string, members: object) => ({ type: 'transcript', role, medium: 'voice', ...members })
const invoked = (invocationId: string) => ({
  type: 'client_tool_invocation',
  toolName: 'f',
  invocationId,
  parameters: { x: 1 },
})

describe('a session with Ultravox', () => {
  it('creates a call, and joins it with the audio that was kept', async () => {
    const f = {
      name: 'f',
      description: 'd',
      parameters: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] },
    }
    const { link } = setUp(
      { voice: 'Mark', longestMs: 60_000 },
      { functions: [f], history: [{ role: 'assistant', content: 'Hello' }] },
    )
    link.hear(frameOf(8000))
    const far = await server.connection()
    await vi.waitFor(() => expect(far.binary).toHaveLength(1))
    expect(far.binary[0]?.readInt16LE(2)).toBe(frameOf(8000)[1])
    expect(far.request.url).toBe('/join')
    expect(requests).toEqual([
      {
        key: 'secret',
        body: {
          systemPrompt: 'You sell tea.',
          voice: 'Mark',
          languageHint: 'en',
          maxDuration: '60s',
          initialMessages: [{ role: 'MESSAGE_ROLE_AGENT', text: 'Hello' }],
          firstSpeakerSettings: { user: {} },
          vadSettings: { turnEndpointDelay: '0.5s' },
          selectedTools: [
            {
              temporaryTool: {
                modelToolName: 'f',
                description: 'd',
                dynamicParameters: [
                  {
                    name: 'x',
                    location: 'PARAMETER_LOCATION_BODY',
                    schema: { type: 'number' },
                    required: true,
                  },
                ],
                client: {},
              },
            },
          ],
          medium: {
            serverWebSocket: { inputSampleRate: 8000, outputSampleRate: 8000, clientBufferSizeMs: 30_000 },
          },
        },
      },
    ])
    link.close()
    await far.next({ type: 'hang_up' })
  })

  it('reports turns, text and audio, also of divided samples', async () => {
    const { far, events } = await setUpReady()
    far.send(said('user', { text: 'Te', final: false }), said('user', { text: 'Tea', final: true }))
    far.send(state('thinking'), state('speaking'), said('agent', { delta: 'Yes' }), Buffer.alloc(321))
    far.send(Buffer.alloc(319), said('agent', { text: 'Yes sir', final: true }), state('listening'))
    await events.until('answer-end')
    expect(events.events.slice(1)).toEqual([
      ['turn', 'began'],
      ['heard', { text: 'Te', isFinal: false }],
      ['heard', { text: 'Tea', isFinal: true }],
      ['turn', 'ended'],
      ['answer', 'answer-1'],
      ['first-token', 'answer-1'],
      ['text', 'answer-1', 'answer-1-audio', 'Yes'],
      ['audio', 'answer-1', 'answer-1-audio', 160],
      ['audio', 'answer-1', 'answer-1-audio', 160],
      ['text', 'answer-1', 'answer-1-audio', ' sir'],
      ['item-end', 'answer-1', 'answer-1-audio'],
      ['answer-end', 'answer-1', 'completed'],
    ])
  })

  it('reports a text that comes after the begin of its answer, and begins no turn', async () => {
    const { far, events } = await setUpReady()
    far.send(state('speaking'), Buffer.alloc(320), said('user', { text: 'Te', final: false }))
    far.send(Buffer.alloc(320), said('user', { text: 'Tea', final: true }), state('listening'))
    await events.until('answer-end')
    expect(events.of('turn', 'heard', 'answer-end')).toEqual([
      ['heard', { text: 'Te', isFinal: false }],
      ['heard', { text: 'Tea', isFinal: true }],
      ['answer-end', 'answer-1', 'completed'],
    ])
  })

  it('reports that the server voids its audio, unless the gateway did', async () => {
    const { far, events, link } = await setUpReady()
    far.send(Buffer.alloc(320), { type: 'playback_clear_buffer' }, Buffer.alloc(320))
    await events.until('audio', 'answer-2')
    link.interrupt(undefined, false)
    far.send(Buffer.alloc(320), { type: 'playback_clear_buffer' }, state('listening'), Buffer.alloc(320))
    await events.until('audio', 'answer-3')
    expect(events.of('interrupted')).toHaveLength(1)
    expect(events.of('audio')).toHaveLength(3)
  })

  it('reports each call once, and sends its result once', async () => {
    const { far, events, link } = await setUpReady()
    far.send(invoked('a'), invoked('a'))
    await events.until('answer-end')
    await far.settled()
    const call = { id: 'a', name: 'f', args: '{"x":1}' }
    expect(events.of('call')).toEqual([['call', 'answer-1', call]])
    link.result(call, 'done', false)
    link.result(call, 'twice', true)
    link.say('Good day.')
    await far.next({ type: 'user_text_message', urgency: 'immediate' })
    expect(far.all({ type: 'client_tool_result' })).toEqual([
      { type: 'client_tool_result', invocationId: 'a', result: 'done', agentReaction: 'listens' },
    ])
  })

  it.each([
    [402, 'limited'],
    [403, 'unauthorised'],
    [307, 'refused'],
    [500, 'server'],
  ])('fails when the request is answered with %i: %s', async (status, kind) => {
    server.onRequest = () => ({ status, body: '' })
    const { events, engine, clock } = setUp()
    expect(await events.failure()).toMatchObject({ kind, part: 'uv' })
    expect([engine.sessions, clock.running]).toEqual([0, 0])
  })

  it('gives the request up with the session', async () => {
    const { events, engine, link } = setUp()
    link.close()
    await vi.waitFor(() => expect(engine.sessions).toBe(0))
    expect(events.events).toEqual([])
  })
})
