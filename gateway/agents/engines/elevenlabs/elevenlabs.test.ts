import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { OperatorHttp } from '../../../callbacks/operator-http.ts'
import { FakeClock } from '../../../core/clock.ts'
import type { EngineRequest } from '../../engine.ts'
import { EngineRecorder, engineRequest, frameOf } from '../session/testing/engine-recorder.ts'
import { EngineServer } from '../session/testing/engine-server.ts'
import { ElevenLabsAgentEngine } from './elevenlabs.ts'
import type { ElevenLabsAgentOptions } from './elevenlabs-options.ts'

let server: EngineServer
let http: OperatorHttp

beforeEach(async () => {
  server = await EngineServer.open()
  http = new OperatorHttp(new FakeClock(), '')
})

afterEach(async () => {
  await http.close()
  await server.close()
})

const setUp = (options: Partial<ElevenLabsAgentOptions> = {}, request: Partial<EngineRequest> = {}) => {
  const clock = new FakeClock()
  const events = new EngineRecorder()
  const engine = new ElevenLabsAgentEngine(
    { name: 'el', url: server.url, key: 'secret', agent: 'a1', ...options },
    { clock, send: http.send },
  )
  return { clock, events, engine, link: engine.open(engineRequest(request), events) }
}

const metadata = (output = 'ulaw_8000', input = 'ulaw_8000') => ({
  type: 'conversation_initiation_metadata',
  conversation_initiation_metadata_event: {
    conversation_id: 'c',
    agent_output_audio_format: output,
    user_input_audio_format: input,
  },
})

const setUpReady = async (options: Partial<ElevenLabsAgentOptions> = {}) => {
  const t = setUp(options)
  const far = await server.connection()
  await far.next({ type: 'conversation_initiation_client_data' })
  far.send(metadata())
  await t.events.until('ready')
  return { ...t, far }
}

const audio = (event_id: number, octets = 160) => ({
  type: 'audio',
  audio_event: { event_id, audio_base_64: Buffer.alloc(octets, 0xff).toString('base64') },
})
const response = (agent_response: string) => ({
  type: 'agent_response',
  agent_response_event: { agent_response },
})

describe('an agent of ElevenLabs', () => {
  it('is opened with its id, and overrides of prompt and voice', async () => {
    const { link } = setUp({ voice: 'v1' }, { history: [{ role: 'user', content: 'Hi' }] })
    const far = await server.connection()
    expect(far.request.url).toBe('/?agent_id=a1')
    expect(far.request.headers['xi-api-key']).toBe('secret')
    expect(await far.next({ type: 'conversation_initiation_client_data' })).toMatchObject({
      conversation_config_override: {
        agent: {
          prompt: { prompt: 'You sell tea.\n\nThe conversation so far:\nuser: Hi' },
          first_message: '',
          language: 'en',
        },
        tts: { voice_id: 'v1' },
      },
    })
    far.send(metadata())
    link.hear(frameOf(8000))
    await vi.waitFor(() => expect(far.messages).toHaveLength(2))
    expect(Buffer.from(String(far.messages[1]?.user_audio_chunk), 'base64')).toHaveLength(160)
  })

  it('is opened by a signed URL where the agent needs one', async () => {
    const requests: unknown[] = []
    server.onRequest = ({ url, headers }) => {
      requests.push([url, headers['xi-api-key']])
      return { status: 200, body: JSON.stringify({ signed_url: `${server.url}/signed?token=t` }) }
    }
    setUp({ signingUrl: `${server.url.replace('ws', 'http')}/sign?agent_id=a1` })
    const far = await server.connection()
    expect(requests).toEqual([['/sign?agent_id=a1', 'secret']])
    expect([far.request.url, far.request.headers['xi-api-key']]).toEqual(['/signed?token=t', undefined])
  })

  it.each([
    [401, '', 'unauthorised'],
    [302, '', 'refused'],
    [200, '{"signed_url":"file:///etc/passwd"}', 'protocol'],
    [200, '<html>', 'protocol'],
  ])('fails when signing gives %i %s', async (status, body, kind) => {
    server.onRequest = () => ({ status, body })
    const { events, clock } = setUp({ signingUrl: server.url.replace('ws', 'http') })
    expect(await events.failure()).toMatchObject({ kind })
    expect(clock.running).toBe(0)
  })

  it('reports text and audio, and the end of an answer after a second without audio', async () => {
    const { far, events, clock } = await setUpReady()
    far.send({ type: 'user_transcript', user_transcription_event: { user_transcript: 'Tea' } })
    far.send(response('Yes.'), audio(1), audio(2))
    await events.until('audio')
    await far.settled()
    clock.advance(1000)
    expect(events.events.slice(1)).toEqual([
      ['heard', { text: 'Tea', isFinal: true }],
      ['turn', 'ended'],
      ['answer', 'answer-1'],
      ['first-token', 'answer-1'],
      ['text', 'answer-1', 'answer-1-audio', 'Yes.'],
      ['audio', 'answer-1', 'answer-1-audio', 160],
      ['audio', 'answer-1', 'answer-1-audio', 160],
      ['item-end', 'answer-1', 'answer-1-audio'],
      ['answer-end', 'answer-1', 'completed'],
    ])
  })

  it('drops audio that an interruption makes void', async () => {
    const { far, events, link } = await setUpReady()
    far.send(audio(1), { type: 'interruption', interruption_event: { event_id: 3 } }, audio(2), audio(4))
    await events.until('audio', 'answer-2')
    expect(events.of('audio', 'interrupted', 'answer-end').map(([name]) => name)).toEqual([
      'audio',
      'answer-end',
      'interrupted',
      'audio',
    ])
    link.interrupt(undefined, false)
    far.send(audio(4), response('Next.'), audio(5))
    await events.until('audio', 'answer-3')
    expect(events.of('audio')).toHaveLength(3)
  })

  it('speaks the answer to a text, whose audio has the id of the interruption', async () => {
    const { far, events, link } = await setUpReady()
    far.send(audio(1), audio(1))
    await events.until('audio')
    link.message({ role: 'user', content: '42' }, true)
    await far.next({ type: 'user_message' })
    far.send(audio(1), { type: 'interruption', interruption_event: { event_id: 2 } }, audio(2), audio(2))
    await events.until('audio', 'answer-2')
    await far.settled()
    expect(events.of('audio').map(([, answer]) => answer)).toEqual([
      'answer-1',
      'answer-1',
      'answer-1',
      'answer-2',
      'answer-2',
    ])
  })

  it('begins an answer by its id directly after the rest of one that was cut, without texts', async () => {
    const { far, events, link } = await setUpReady()
    far.send(audio(1), audio(1))
    await events.until('audio')
    link.interrupt(undefined, false)
    link.message({ role: 'user', content: '42' }, true)
    await far.next({ type: 'user_message' })
    far.send(audio(1), audio(1), audio(2), audio(2))
    await events.until('audio', 'answer-2')
    await far.settled()
    expect(events.of('audio').map(([, answer]) => answer)).toEqual([
      'answer-1',
      'answer-1',
      'answer-2',
      'answer-2',
    ])
    // The answer that follows a call within the same turn has its id.
    link.interrupt(undefined, false)
    const call = { tool_name: 'open', tool_call_id: 'c', parameters: {} }
    far.send(audio(2), { type: 'client_tool_call', client_tool_call: call }, audio(2))
    await events.until('audio', 'answer-4')
  })

  it.each([
    ['two pieces', [audio(1), audio(1)]],
    ['one piece', [audio(1)]],
  ])(
    'speaks nothing of an answer that was cut before its first audio, after one of %s',
    async (_what, former) => {
      const { far, events, link } = await setUpReady()
      const heard = { type: 'user_transcript', user_transcription_event: { user_transcript: 'Tea' } }
      far.send(...former, heard, response('Long story.'))
      await events.until('text', 'answer-2')
      link.interrupt(undefined, false)
      far.send(audio(2), audio(2), audio(2), audio(3), audio(3))
      await events.until('audio', 'answer-3')
      await far.settled()
      expect(events.of('audio').slice(former.length)).toEqual([
        ['audio', 'answer-3', 'answer-3-audio', 160],
        ['audio', 'answer-3', 'answer-3-audio', 160],
      ])
    },
  )

  it('drops the rest of an interrupted answer whose id the interruption has', async () => {
    const { far, events } = await setUpReady()
    const interruption = { type: 'interruption', interruption_event: { event_id: 1 } }
    far.send(audio(1), audio(1), interruption, audio(1), audio(2))
    await events.until('audio', 'answer-2')
    await far.settled()
    expect(events.of('audio').map(([, answer]) => answer)).toEqual(['answer-1', 'answer-1', 'answer-2'])
  })

  it('begins no answer with audio that was on its way when the gateway cut one', async () => {
    const { far, events, link } = await setUpReady()
    far.send(response('Long story.'), audio(1))
    await events.until('audio')
    link.interrupt(undefined, false)
    far.send(audio(2), audio(3), { type: 'interruption', interruption_event: { event_id: 4 } }, audio(4))
    await events.until('interrupted')
    far.send(audio(5))
    await events.until('audio', 'answer-2')
    expect(events.of('answer', 'audio')).toEqual([
      ['answer', 'answer-1'],
      ['audio', 'answer-1', 'answer-1-audio', 160],
      ['answer', 'answer-2'],
      ['audio', 'answer-2', 'answer-2-audio', 160],
    ])
  })

  it('takes audio for a new answer after a pause, if no event says that the cut one is over', async () => {
    const { far, events, link, clock } = await setUpReady()
    far.send(audio(1))
    await events.until('audio')
    link.interrupt(undefined, false)
    clock.advance(900)
    far.send(audio(2), { type: 'ping', ping_event: { event_id: 3 } })
    await far.next({ type: 'pong' })
    clock.advance(900)
    link.interrupt(undefined, false)
    clock.advance(999)
    far.send(audio(4), { type: 'ping', ping_event: { event_id: 5 } })
    await vi.waitFor(() => expect(far.all({ type: 'pong' })).toHaveLength(2))
    clock.advance(1000)
    far.send(audio(6))
    await events.until('audio', 'answer-2')
    expect(events.of('audio')).toHaveLength(2)
  })

  it('speaks the answer after a function that was called after a cut', async () => {
    const { far, events, link } = await setUpReady()
    far.send(audio(1))
    await events.until('audio')
    link.interrupt(undefined, false)
    const call = { tool_name: 'open', tool_call_id: 'c', parameters: {} }
    far.send({ type: 'client_tool_call', client_tool_call: call }, audio(2))
    await events.until('audio', 'answer-3')
    expect(events.of('audio')).toHaveLength(2)
  })

  it('takes no interruption by a text of the gateway for a turn of the caller', async () => {
    const { far, events, link } = await setUpReady()
    far.send(response('Long story.'), audio(1), audio(2))
    await events.until('audio')
    link.message({ role: 'user', content: '42' }, true)
    await far.next({ type: 'user_message' })
    far.send({ type: 'interruption', interruption_event: { event_id: 2 } }, audio(2))
    far.send(response('Fine.'), audio(3))
    await events.until('audio', 'answer-2')
    expect(events.of('turn', 'interrupted', 'answer-end')).toEqual([['answer-end', 'answer-1', 'cancelled']])
    far.send({ type: 'interruption', interruption_event: { event_id: 3 } })
    await events.until('interrupted')
    expect(events.of('turn')).toEqual([['turn', 'began']])
  })

  it('takes an interruption of its first answer for the caller, also without texts', async () => {
    const { far, events, link } = await setUpReady()
    link.answer(undefined)
    await far.next({ type: 'user_message' })
    far.send(audio(1), { type: 'interruption', interruption_event: { event_id: 1 } })
    await events.until('interrupted')
  })

  it('waits for the interruption by its text after it has cut an answer', async () => {
    const { far, events, link } = await setUpReady()
    far.send(response('Long story.'), audio(1))
    await events.until('audio')
    link.interrupt(undefined, false)
    link.message({ role: 'user', content: '42' }, true)
    await far.next({ type: 'user_message' })
    far.send(audio(2), { type: 'interruption', interruption_event: { event_id: 2 } }, response('Fine.'))
    await events.until('text', 'answer-2')
    expect(events.of('interrupted', 'turn')).toEqual([])
  })

  it('answers pings, and calls once', async () => {
    const { far, events, link } = await setUpReady()
    const call = { tool_name: 'f', tool_call_id: 'x', parameters: { y: 1 } }
    far.send({ type: 'ping', ping_event: { event_id: 9, ping_ms: 5 } })
    expect(await far.next({ type: 'pong' })).toEqual({ type: 'pong', event_id: 9 })
    far.send({ type: 'client_tool_call', client_tool_call: call })
    far.send({ type: 'client_tool_call', client_tool_call: call })
    await far.settled()
    expect(events.of('call')).toEqual([['call', 'answer-1', { id: 'x', name: 'f', args: '{"y":1}' }]])
    for (let i = 0; i < 2; i++) link.result({ id: 'x', name: 'f', args: '' }, 'done', true)
    await far.settled()
    expect(far.all({ type: 'client_tool_result' })).toEqual([
      { type: 'client_tool_result', tool_call_id: 'x', result: 'done', is_error: false },
    ])
  })

  it('converts another format of the agent, and fails for one of the caller', async () => {
    const first = setUp()
    const far = await server.connection()
    far.send(metadata('pcm_16000'), audio(1, 640))
    await first.events.until('audio', 'answer-1', 'answer-1-audio', 160)
    const second = setUp()
    const other = await server.connection(1)
    other.send(metadata('ulaw_8000', 'pcm_44100'))
    expect(await second.events.failure()).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('pcm_44100'),
    })
  })

  it.each([
    ['unauthorized_access', 'unauthorised'],
    ['quota_exceeded', 'limited'],
    ['internal_error', 'server'],
    ['agent_not_found', 'refused'],
  ])('classifies %s at the opening as %s', async (code, kind) => {
    const { events } = setUp()
    const far = await server.connection()
    far.send({ type: 'error', error_event: { code, message: 'x' } })
    expect(await events.failure()).toMatchObject({ kind })
  })

  it('survives an error whose code is no text', async () => {
    const { far, events } = await setUpReady()
    far.send({ type: 'error', error_event: { code: { toString: 1 }, error_type: 'odd' } })
    far.send({ type: 'error', error_event: { code: 1011 } })
    await events.until('warning', 'engine_error', '1011')
    expect(events.of('warning', 'failure').map(([, , text]) => text)).toEqual(['odd', '1011'])
  })

  it('fails for a call whose parameters are nested too deeply to be written', async () => {
    const { far, events, clock } = await setUpReady()
    far.send(
      '{"type":"client_tool_call","client_tool_call":{"tool_name":"f","tool_call_id":"x","parameters":' +
        `${'['.repeat(200_000)}${']'.repeat(200_000)}}}`,
    )
    expect(await events.failure()).toEqual({
      kind: 'protocol',
      part: 'el',
      message: 'a message of the server cannot be processed (RangeError)',
    })
    expect([events.of('call'), clock.running]).toEqual([[], 0])
  })

  it('asks for answers by messages', async () => {
    const { far, link } = await setUpReady()
    link.say('Good day.')
    link.message({ role: 'system', content: 'It rains.' }, false)
    expect((await far.next({ type: 'user_message' })).text).toContain('<<<Good day.>>>')
    expect((await far.next({ type: 'contextual_update' })).text).toBe('system: It rains.')
  })
})
