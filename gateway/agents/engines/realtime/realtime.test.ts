import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { decode, encode } from '../../../../media/codecs/g711.ts'
import { frameOf } from '../session/testing/engine-recorder.ts'
import { EngineServer } from '../session/testing/engine-server.ts'
import { audio, called, created, done, setUp, setUpReady, words } from './testing/realtime-session.ts'

let server: EngineServer

beforeEach(async () => {
  server = await EngineServer.open()
})

afterEach(() => server.close())

describe('the opening of a Realtime session', () => {
  it('sends model, key, prompt, functions, turns and formats, then the history', async () => {
    const f = { name: 'f', description: 'd', parameters: { type: 'object' } }
    const { far, engine, link } = await setUpReady(
      server,
      { voice: 'marin' },
      {
        functions: [f],
        hints: ['Assam'],
        history: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: 'Hello', calls: [{ id: 'c', name: 'f', args: '{}' }] },
          { role: 'tool', callId: 'c', name: 'f', content: '1' },
        ],
      },
    )
    expect(far.request.url).toBe('/v1/realtime?model=m1')
    expect(far.request.headers.authorization).toBe('Bearer secret')
    expect(far.messages[0]).toEqual({
      type: 'session.update',
      session: {
        type: 'realtime',
        instructions: 'You sell tea.',
        tools: [{ type: 'function', ...f }],
        tool_choice: 'auto',
        output_modalities: ['audio'],
        audio: {
          input: {
            format: { type: 'audio/pcmu' },
            transcription: { model: 'gpt-4o-mini-transcribe', language: 'en', prompt: 'Assam' },
            turn_detection: {
              type: 'semantic_vad',
              eagerness: 'auto',
              create_response: true,
              interrupt_response: true,
            },
          },
          output: { format: { type: 'audio/pcmu' }, voice: 'marin' },
        },
      },
    })
    await vi.waitFor(() => expect(far.all({ type: 'conversation.item.create' })).toHaveLength(4))
    expect(far.all({ type: 'conversation.item.create' }).map(({ item }) => item)).toEqual([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: '1' },
    ])
    link.close()
    expect(engine.sessions).toBe(0)
  })

  it('uses the names of the beta where the server has them', async () => {
    const { far, events } = await setUpReady(server, {
      dialect: 'beta',
      keyHeader: 'api-key',
      format: 'pcm24000',
    })
    expect(far.request.headers).toMatchObject({ 'openai-beta': 'realtime=v1', 'api-key': 'secret' })
    expect(far.messages[0]?.session).toMatchObject({
      modalities: ['audio', 'text'],
      input_audio_format: 'pcm16',
      turn_detection: { type: 'server_vad', silence_duration_ms: 500 },
    })
    far.send(created('r'), audio('r', 'i', 60, 'response.audio.delta'))
    far.send({ type: 'response.audio_transcript.delta', response_id: 'r', item_id: 'i', delta: 'Yes' })
    await events.until('text', 'r', 'i', 'Yes')
    // 480 octets are 240 samples of 24 kHz, and 480 of 48 kHz.
    expect(events.of('audio')).toEqual([['audio', 'r', 'i', 480]])
  })

  it('is not interrupted by the server where the rules forbid it', async () => {
    const { far } = await setUpReady(server, {}, { isInterruptible: false, isSemantic: false })
    expect(JSON.stringify(far.messages[0])).toContain(
      '{"type":"server_vad","silence_duration_ms":500,"create_response":true,"interrupt_response":false}',
    )
  })

  it('keeps the last 5 s of audio until the session is ready, in G.711 without a loss', async () => {
    const { link, events } = setUp(server)
    for (let i = 0; i < 300; i++) link.hear(frameOf(8000, i))
    const far = await server.connection()
    far.send({ type: 'session.updated', session: {} })
    await events.until('ready')
    await vi.waitFor(() => expect(far.all({ type: 'input_audio_buffer.append' })).toHaveLength(250))
    const first = Buffer.from(String(far.all({ type: 'input_audio_buffer.append' })[0]?.audio), 'base64')
    expect([...first]).toEqual([...encode('PCMU', frameOf(8000, 50))])
  })

  it('is ready without `session.updated`, which some servers do not send', async () => {
    const { clock, events } = setUp(server)
    const far = await server.connection()
    far.send({ type: 'session.created', session: {} })
    await far.settled()
    clock.advance(3000)
    await events.until('ready')
  })

  it('announces the end of the session a minute before it', async () => {
    const { clock, events } = setUp(server)
    const far = await server.connection()
    far.send({ type: 'session.updated', session: { expires_at: (clock.now() + 70_000) / 1000 } })
    await events.until('ready')
    clock.advance(9_999)
    expect(events.of('closing')).toEqual([])
    clock.advance(1)
    expect(events.of('closing')).toEqual([['closing', 60_000]])
  })
})

describe('the turns of a Realtime session', () => {
  it('reports turn, transcript and answer in their order', async () => {
    const { far, events } = await setUpReady(server)
    far.send(
      { type: 'input_audio_buffer.speech_started', audio_start_ms: 0, item_id: 'u' },
      { type: 'input_audio_buffer.speech_stopped', audio_end_ms: 900, item_id: 'u' },
      { type: 'input_audio_buffer.committed', item_id: 'u' },
      { type: 'conversation.item.added', item: { id: 'u' } },
      created('r'),
      { type: 'response.output_item.added', response_id: 'r', item: { id: 'i', type: 'message' } },
      words('r', 'i', 'Good '),
      audio('r', 'i', 40),
      { type: 'conversation.item.input_audio_transcription.delta', item_id: 'u', delta: 'Te' },
      { type: 'conversation.item.input_audio_transcription.delta', item_id: 'u', delta: 'a' },
      { type: 'conversation.item.input_audio_transcription.completed', item_id: 'u', transcript: 'Tea.' },
      { type: 'an.event.of.the.future' },
      { type: 'response.output_item.done', response_id: 'r', item: { id: 'i', type: 'message' } },
      done('r', { usage: { input_tokens: 3, output_tokens: 4 } }),
    )
    await events.until('answer-end', 'r', 'completed')
    expect(events.events.slice(1)).toEqual([
      ['turn', 'began'],
      ['turn', 'ended'],
      ['answer', 'r'],
      ['first-token', 'r'],
      ['text', 'r', 'i', 'Good '],
      ['audio', 'r', 'i', 320],
      ['heard', { text: 'Te', isFinal: false }],
      ['heard', { text: 'Tea', isFinal: false }],
      ['heard', { text: 'Tea.', isFinal: true }],
      ['item-end', 'r', 'i'],
      ['usage', { inputTokens: 3, outputTokens: 4 }],
      ['answer-end', 'r', 'completed'],
    ])
    expect(events.audio[0]).toEqual(decode('PCMU', Buffer.alloc(320, 0xff)))
  })

  it('drops deltas that come after the server has cancelled', async () => {
    const { far, events } = await setUpReady(server)
    far.send(
      created('r'),
      audio('r', 'i', 40),
      { type: 'input_audio_buffer.speech_started', item_id: 'u' },
      done('r', { status: 'cancelled', status_details: { reason: 'turn_detected' } }),
      audio('r', 'i', 40),
      words('r', 'i', 'late'),
      done('r', { status: 'cancelled' }),
    )
    await far.settled()
    expect(events.of('audio', 'text', 'interrupted', 'answer-end')).toEqual([
      ['audio', 'r', 'i', 320],
      ['interrupted'],
      ['answer-end', 'r', 'cancelled'],
    ])
  })

  it('cancels an answer under way, and truncates it to the sound that was heard', async () => {
    const { far, events, link } = await setUpReady(server)
    far.send(created('r'), audio('r', 'i', 200), audio('r', 'j', 100))
    await events.until('audio', 'r', 'j', 800)
    link.interrupt({ answer: 'r', item: 'i', ms: 120.7, text: 'Goo' }, false)
    expect(await far.next({ type: 'response.cancel' })).toEqual({ type: 'response.cancel', response_id: 'r' })
    expect(await far.next({ type: 'conversation.item.truncate' })).toEqual({
      type: 'conversation.item.truncate',
      item_id: 'i',
      content_index: 0,
      audio_end_ms: 120,
    })
    expect(await far.next({ type: 'conversation.item.delete' })).toMatchObject({ item_id: 'j' })
    far.send(audio('r', 'i', 40), done('r', { status: 'cancelled' }))
    await events.until('answer-end', 'r', 'cancelled')
    expect(events.of('audio')).toHaveLength(2)
    expect(events.of('interrupted')).toEqual([])
  })

  it('never truncates beyond the audio that it received, nor before any', async () => {
    const { far, events, link } = await setUpReady(server)
    far.send(created('r'), audio('r', 'i', 200), done('r'))
    await events.until('answer-end')
    link.interrupt({ answer: 'r', item: 'i', ms: 999, text: 'Good' }, false)
    expect(await far.next({ type: 'conversation.item.truncate' })).toMatchObject({ audio_end_ms: 200 })
    far.send(created('s'), words('s', 'k', 'Well'))
    await events.until('text')
    link.interrupt({ answer: 's', item: 'k', ms: 20, text: '' }, false)
    await far.next({ type: 'response.cancel' })
    expect(await far.next({ type: 'conversation.item.delete' })).toMatchObject({ item_id: 'k' })
    expect(far.all({ type: 'response.cancel' })).toHaveLength(1)
    expect(far.all({ type: 'conversation.item.truncate' })).toHaveLength(1)
  })

  it('deletes an answer that never happened', async () => {
    const { far, events, link } = await setUpReady(server)
    far.send(created('r'), audio('r', 'i', 200), done('r'))
    await events.until('answer-end')
    link.interrupt({ answer: 'r', item: 'i', ms: 60, text: 'Go' }, true)
    expect(await far.next({ type: 'conversation.item.delete' })).toMatchObject({ item_id: 'i' })
    expect(far.all({ type: 'conversation.item.truncate' })).toEqual([])
  })

  it('deletes every answer behind the one that was heard, also those that are complete', async () => {
    const { far, events, link } = await setUpReady(server)
    far.send(created('r'), audio('r', 'i', 200), done('r'))
    far.send(created('s'), audio('s', 'k', 100), done('s'), created('t'), audio('t', 'm', 100), done('t'))
    await events.until('answer-end', 't', 'completed')
    link.interrupt({ answer: 'r', item: 'i', ms: 60, text: 'Go' }, false)
    expect(await far.next({ type: 'conversation.item.truncate' })).toMatchObject({ item_id: 'i' })
    await far.next({ type: 'conversation.item.delete', item_id: 'm' })
    expect(far.all({ type: 'conversation.item.delete' }).map(({ item_id }) => item_id)).toEqual(['k', 'm'])
  })

  it('deletes complete answers of which nothing was heard, but none that may have been heard', async () => {
    const { far, clock, events, link } = await setUpReady(server)
    far.send(created('q'), audio('q', 'h', 1000), done('q'))
    await events.until('answer-end', 'q')
    clock.advance(1000)
    link.interrupt(undefined, false)
    far.send(created('r'), audio('r', 'i', 1000), done('r'), created('s'), audio('s', 'k', 100), done('s'))
    await events.until('answer-end', 's')
    clock.advance(200)
    link.interrupt(undefined, false)
    await far.next({ type: 'conversation.item.delete', item_id: 'k' })
    far.send(created('t'), audio('t', 'm', 1000), done('t'))
    await events.until('answer-end', 't')
    link.interrupt({ answer: 't', item: 'm', ms: 400, text: 'Go' }, false)
    link.interrupt(undefined, false)
    await far.settled()
    expect(far.all({ type: 'conversation.item.delete' }).map(({ item_id }) => item_id)).toEqual(['i', 'k'])
    expect(far.all({ type: 'conversation.item.truncate' })).toMatchObject([{ item_id: 'm' }])
  })

  it('deletes an answer under way although the one that was heard is forgotten', async () => {
    const { far, events, link } = await setUpReady(server)
    far.send(created('r'), audio('r', 'i', 200))
    await events.until('audio')
    link.interrupt({ answer: 'long-ago', item: 'x', ms: 60, text: 'Go' }, false)
    await far.next({ type: 'response.cancel' })
    await far.next({ type: 'conversation.item.delete', item_id: 'i' })
  })

  it('goes on after an error that follows a truncation', async () => {
    const { far, events } = await setUpReady(server)
    far.send({
      type: 'error',
      error: { type: 'invalid_request_error', code: 'invalid_value', message: 'Audio is already shorter' },
    })
    expect(await events.until('warning')).toEqual([['warning', 'engine_error', 'invalid_value']])
    far.send(created('r'), audio('r', 'i', 20))
    await events.until('audio')
  })
})

describe('the answers that a Realtime session is asked for', () => {
  it('asks for one after the other', async () => {
    const { far, events, link } = await setUpReady(server)
    link.say('Good day.')
    link.answer('Be short.')
    const first = await far.next({ type: 'response.create' })
    expect(first.response).toMatchObject({ tool_choice: 'none' })
    expect(JSON.stringify(first)).toContain('<<<Good day.>>>')
    far.send(created('r'), audio('r', 'i', 20))
    await events.until('audio')
    expect(far.all({ type: 'response.create' })).toHaveLength(1)
    far.send(done('r'))
    const second = await far.next({ type: 'response.create' })
    expect(second.response).toEqual({ instructions: 'You sell tea.\n\nBe short.' })
  })

  it('asks again after the answer that was in the way', async () => {
    const { far, events, link } = await setUpReady(server)
    link.answer('Now.')
    const { event_id, response } = await far.next({ type: 'response.create' })
    far.send(created('own'), {
      type: 'error',
      error: { code: 'conversation_already_has_active_response', event_id },
    })
    await events.until('warning')
    far.send(done('own'))
    expect((await far.next({ type: 'response.create' })).response).toEqual(response)
  })

  it('cancels an answer that was asked for before the interruption and begins after it', async () => {
    const { far, events, link } = await setUpReady(server)
    link.answer(undefined)
    link.answer('Never.')
    await far.next({ type: 'response.create' })
    link.interrupt(undefined, false)
    far.send(created('r'), audio('r', 'i', 20))
    expect(await far.next({ type: 'response.cancel' })).toMatchObject({ response_id: 'r' })
    far.send(done('r', { status: 'cancelled' }))
    await events.until('answer-end', 'r', 'cancelled')
    expect(events.of('answer', 'audio')).toEqual([])
    expect(far.all({ type: 'response.create' })).toHaveLength(1)
  })

  it('does not wait for ever for an answer that the server never begins', async () => {
    const { far, clock, link } = await setUpReady(server)
    link.answer('One.')
    link.answer('Two.')
    await far.next({ type: 'response.create' })
    clock.advance(4_900)
    await far.settled()
    clock.advance(4_900)
    await far.settled()
    clock.advance(200)
    expect(JSON.stringify(await far.next({ type: 'response.create' }))).toContain('Two.')
  })

  it('changes prompt, functions, turns and history', async () => {
    const { far, link } = await setUpReady(server)
    far.send({ type: 'conversation.item.added', item: { id: 'u' } })
    await far.settled()
    link.change({ prompt: 'Sell coffee.', functions: [], endOfSpeechMs: 300, settings: { maxTokens: 9999 } })
    expect((await far.next({ type: 'session.update' })).session).toMatchObject({
      type: 'realtime',
      instructions: 'Sell coffee.',
      tools: [],
      max_output_tokens: 4096,
      audio: { input: { turn_detection: { type: 'semantic_vad' } } },
    })
    link.change({ history: [{ role: 'system', content: 'Summary.' }] })
    expect(await far.next({ type: 'conversation.item.delete' })).toMatchObject({ item_id: 'u' })
    await far.next({ type: 'conversation.item.create' })
    expect(far.all({ type: 'session.update' })).toHaveLength(2)
  })
})

describe('changes of a Realtime session', () => {
  const f = { id: 'a', name: 'f', args: '{}' }
  const added = (id: string, members = {}) => ({ type: 'conversation.item.added', item: { id, ...members } })

  it('keep calls whose result is awaited, in whatever history there is', async () => {
    const { far, events, link } = await setUpReady(server)
    far.send(added('u', { type: 'message' }), created('r'))
    for (const id of ['a', 'b'])
      far.send(added(`i-${id}`, { type: 'function_call', call_id: id }), called('r', id))
    far.send(done('r'))
    await events.until('answer-end')
    link.result({ ...f, id: 'b' }, 'done', false)
    link.change({
      history: [
        { role: 'user', content: 'Tea?' },
        { role: 'assistant', content: '', calls: [f] },
      ],
    })
    await vi.waitFor(() => expect(far.all({ type: 'conversation.item.create' })).toHaveLength(2))
    expect(far.all({ type: 'conversation.item.delete' }).map(({ item_id }) => item_id)).toEqual(['u', 'i-b'])
    expect(far.all({ type: 'conversation.item.create' }).at(-1)?.item).toMatchObject({ role: 'user' })
    link.result(f, 'one', true)
    link.change({ history: [] })
    await far.next({ type: 'conversation.item.delete', item_id: 'i-a' })
  })

  it('keep the language that the agent was asked to speak', async () => {
    const { far, link } = await setUpReady(server)
    link.change({ language: { name: 'German', code: 'de-DE' } })
    expect((await far.next({ type: 'session.update' })).session).toMatchObject({
      instructions: 'You sell tea.\n\nSpeak German from now on.',
      audio: { input: { transcription: { language: 'de' } } },
    })
    link.change({ prompt: 'Sell coffee.', hints: ['Assam'] })
    expect((await far.next({ type: 'session.update' })).session).toMatchObject({
      instructions: 'Sell coffee.\n\nSpeak German from now on.',
      audio: { input: { transcription: { language: 'de', prompt: 'Assam' } } },
    })
    link.answer('Be short.')
    expect((await far.next({ type: 'response.create' })).response).toEqual({
      instructions: 'Sell coffee.\n\nSpeak German from now on.\n\nBe short.',
    })
  })
})

describe('function calls of a Realtime session', () => {
  it('reports each once, and asks for one answer when all have results', async () => {
    const { far, events, link } = await setUpReady(server)
    const item = { id: 'i-b', type: 'function_call', call_id: 'b', name: 'g', arguments: '{"x":1}' }
    far.send(
      created('r'),
      called('r', 'a'),
      called('r', 'a'),
      { type: 'response.output_item.done', response_id: 'r', item },
      called('r', 'b', { name: 'g', arguments: '{"x":1}' }),
      done('r', { output: [item] }),
      done('r', { output: [item] }),
    )
    await events.until('answer-end')
    const a = { id: 'a', name: 'f', args: '{}' }
    const b = { id: 'b', name: 'g', args: '{"x":1}' }
    expect(events.of('call')).toEqual([
      ['call', 'r', a],
      ['call', 'r', b],
    ])
    link.result(a, 'one', true)
    link.result(a, 'twice', true)
    await far.next({ type: 'conversation.item.create' })
    expect(far.all({ type: 'response.create' })).toEqual([])
    link.result(b, 'two', false)
    expect((await far.next({ type: 'conversation.item.create' })).item).toEqual({
      type: 'function_call_output',
      call_id: 'b',
      output: 'two',
    })
    await far.next({ type: 'response.create' })
    expect(far.all({ type: 'conversation.item.create' })).toHaveLength(2)
    expect(far.all({ type: 'response.create' })).toHaveLength(1)
  })

  it('takes the name from the item where the event has none', async () => {
    const { far, events } = await setUpReady(server)
    const item = { id: 'i-a', type: 'function_call', call_id: 'a', name: 'f', arguments: '' }
    far.send(created('r'), { type: 'response.output_item.added', response_id: 'r', item })
    far.send(called('r', 'a', { name: undefined, arguments: 'not json' }), done('r'))
    await events.until('answer-end')
    expect(events.of('call')).toEqual([['call', 'r', { id: 'a', name: 'f', args: 'not json' }]])
  })

  it('never makes the calls of a cancelled answer, and deletes them', async () => {
    const { far, events, link } = await setUpReady(server)
    far.send(created('r'), called('r', 'a'))
    await events.until('first-token')
    link.interrupt(undefined, false)
    far.send(done('r', { status: 'completed' }))
    await events.until('answer-end', 'r', 'cancelled')
    expect(events.of('call')).toEqual([])
    expect(await far.next({ type: 'conversation.item.delete' })).toMatchObject({ item_id: 'i-a' })
    link.result({ id: 'a', name: 'f', args: '' }, 'nothing', true)
    await far.settled()
    expect(far.all({ type: 'conversation.item.create' })).toEqual([])
  })
})
