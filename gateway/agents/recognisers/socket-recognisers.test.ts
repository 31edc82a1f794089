import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { decode } from '../../../media/codecs/g711.ts'
import { FakeClock, type SteadyClock } from '../../core/clock.ts'
import { EngineServer } from '../engines/session/testing/engine-server.ts'
import type { EngineError } from '../streaming/engine-error.ts'
import { deepgramRecogniser, fluxRecogniser } from './deepgram-recogniser.ts'
import { elevenLabsRecogniser } from './elevenlabs-recogniser.ts'
import { openAiTranscription } from './openai-transcription.ts'
import type { AgentRecognitionRequest } from './recogniser.ts'
import type { SocketRecogniser, SocketRecogniserOptions } from './socket-recogniser.ts'

let server: EngineServer
let clock: FakeClock

beforeEach(async () => {
  server = await EngineServer.open()
  clock = new FakeClock()
})

afterEach(async () => {
  await server.close()
})

type Make = (options: SocketRecogniserOptions, clock: SteadyClock) => SocketRecogniser

const key = 'very-secret-key'

/** Opens a recognition, whose events are lines. */
const open = (
  make: Make,
  request: Partial<AgentRecognitionRequest> = {},
  options: Partial<SocketRecogniserOptions> = {},
) => {
  const recogniser = make({ name: 'r', url: server.url, key, ...options }, clock)
  const events: string[] = []
  const failure = Promise.withResolvers<EngineError>()
  const recognition = recogniser.open(
    {
      rate: 8000,
      language: 'en-US',
      hints: ['Trunk line'],
      isSemantic: true,
      endOfSpeechMs: 500,
      ...request,
    },
    {
      onTranscript: ({ text, isFinal, ...more }) =>
        events.push(`${isFinal ? 'final' : 'partial'} ${text} ${JSON.stringify(more)}`),
      onTurn: (state) => events.push(state),
      onLanguage: (language) => events.push(`language ${language}`),
      onFailure: (error) => {
        events.push(`failed ${error.kind}`)
        failure.resolve(error)
      },
    },
  )
  return { recogniser, recognition, events, failure: failure.promise }
}

const frame = (seed = 0) => Int16Array.from({ length: 160 }, (_, i) => ((i * 37 + seed * 101) % 2000) - 1000)

const queryOf = (url: string | undefined) => {
  const query = new URL(url ?? '', 'ws://x').searchParams
  return Object.fromEntries([...new Set(query.keys())].map((name) => [name, query.getAll(name).join('|')]))
}

test('Deepgram: parameters, audio, texts, final text at the end of the voice', async () => {
  const { recognition, events } = open(deepgramRecogniser)
  recognition.write(frame())
  const connection = await server.connection()
  expect(connection.request.headers.authorization).toBe(`Token ${key}`)
  expect(queryOf(connection.request.url)).toEqual({
    model: 'nova-3',
    encoding: 'mulaw',
    sample_rate: '8000',
    interim_results: 'true',
    endpointing: '300',
    smart_format: 'true',
    language: 'en-US',
    keyterm: 'Trunk line',
  })
  await vi.waitFor(() => expect(connection.binary).toHaveLength(1))
  expect(decode('PCMU', connection.binary[0]!)).toHaveLength(160)
  const results = (transcript: string, more: object) => ({
    type: 'Results',
    channel: { alternatives: [{ transcript, confidence: 0.9 }] },
    ...more,
  })
  connection.send(
    { type: 'Metadata' },
    results('', { is_final: false }),
    results('hel', { is_final: false }),
    results('Hello.', { is_final: true, speech_final: true }),
    results('', { is_final: true }),
    results('uh', { is_final: false }),
    results('', { is_final: true }),
    { type: 'UtteranceEnd', last_word_end: 1 },
  )
  recognition.voice(true)
  recognition.voice(false)
  await connection.next({ type: 'Finalize' })
  await connection.settled()
  expect(events).toEqual([
    'partial hel {"confidence":0.9}',
    'final Hello. {"confidence":0.9}',
    'partial uh {"confidence":0.9}',
    'final  {"confidence":0.9}',
  ])
  clock.advance(4000)
  await connection.next({ type: 'KeepAlive' })
  recognition.close()
  await connection.next({ type: 'CloseStream' })
})

test('Deepgram: an error ends the recognition, once, without the server’s words', async () => {
  const { recogniser, events, failure, recognition } = open(deepgramRecogniser)
  const connection = await server.connection()
  connection.send({ type: 'Error', description: 'your words', code: 'NET-0001' }, { type: 'Error' })
  expect((await failure).message).toBe('the server reported an error (NET-0001)')
  recognition.write(frame())
  recognition.close()
  expect(events).toEqual(['failed server'])
  expect(recogniser.running).toBe(0)
})

test('Flux: turns, in the order of their texts', async () => {
  const { recognition, events } = open(
    fluxRecogniser,
    { rate: 16_000, language: 'de' },
    { model: 'flux-general-multi' },
  )
  const connection = await server.connection()
  expect(queryOf(connection.request.url)).toEqual({
    model: 'flux-general-multi',
    encoding: 'linear16',
    sample_rate: '16000',
    eager_eot_threshold: '0.5',
    keyterm: 'Trunk line',
    language_hint: 'de',
  })
  for (let i = 0; i < 5; i++) recognition.write(new Int16Array(320))
  connection.send({ type: 'Connected' })
  await vi.waitFor(() => expect(connection.binary).toHaveLength(1))
  // 80 ms in one message.
  expect(connection.binary[0]).toHaveLength(2560)
  const turn = (event: string, transcript: string, words: object[] = []) => ({
    type: 'TurnInfo',
    event,
    transcript,
    words,
  })
  connection.send(
    turn('StartOfTurn', 'I'),
    turn('Update', 'I want', [{ confidence: 0.5 }, { confidence: 1 }]),
    turn('EagerEndOfTurn', 'I want'),
    turn('TurnResumed', 'I want to'),
    turn('EndOfTurn', 'I want to pay'),
    turn('toString', ''),
  )
  await connection.settled()
  expect(events).toEqual([
    'began',
    'partial I {}',
    'partial I want {"confidence":0.75}',
    'partial I want {}',
    'eager',
    'resumed',
    'partial I want to {}',
    'final I want to pay {}',
    'ended',
  ])
  recognition.close()
})

test('Flux: without meaning, no probable ends are asked for', async () => {
  open(fluxRecogniser, { isSemantic: false, hints: [] })
  const { request } = await server.connection()
  expect(queryOf(request.url)).toEqual({ model: 'flux-general-en', encoding: 'mulaw', sample_rate: '8000' })
})

test('Flux: a configured model for English decides about the language', () => {
  const ofModel = (model?: string) => open(fluxRecogniser, {}, { ...(model && { model }) }).recogniser
  const models = [undefined, 'flux-general-multi', 'flux-general-en']
  expect(models.map((model) => ofModel(model).hasOwnLanguage)).toEqual([false, false, true])
})

test('OpenAI: session, audio and segments', async () => {
  const { recognition, events } = open(openAiTranscription, {}, { model: 'gpt-transcribe' })
  recognition.write(frame())
  const connection = await server.connection()
  expect(queryOf(connection.request.url)).toEqual({ intent: 'transcription' })
  expect(await connection.next({ type: 'session.update' })).toMatchObject({
    session: {
      type: 'transcription',
      audio: {
        input: {
          format: { type: 'audio/pcmu' },
          transcription: { model: 'gpt-transcribe', language: 'en', prompt: 'Trunk line' },
        },
      },
    },
  })
  expect(connection.messages).toHaveLength(1)
  connection.send({ type: 'session.created' }, { type: 'session.updated' })
  const { audio } = await connection.next({ type: 'input_audio_buffer.append' })
  expect(Buffer.from(String(audio), 'base64')).toHaveLength(160)
  const event = (name: string, more: object) => ({
    type: `conversation.item.input_audio_transcription.${name}`,
    ...more,
  })
  connection.send(
    event('delta', { item_id: 'a', delta: 'Hel' }),
    event('delta', { item_id: 'b', delta: 'You' }),
    event('delta', { item_id: 'a', delta: 'lo' }),
    event('completed', { item_id: 'a', transcript: 'Hello.' }),
    event('failed', { item_id: 'b' }),
    { type: 'error', error: { code: 'input_audio_buffer_commit_empty' } },
    { type: 'something.new' },
  )
  await connection.settled()
  expect(events).toEqual(['partial Hel {}', 'partial You {}', 'partial Hello {}', 'final Hello. {}'])
  recognition.close()
})

test('OpenAI: a session that is rejected has failed', async () => {
  const { failure } = open(openAiTranscription)
  const connection = await server.connection()
  connection.send({ type: 'error', error: { code: 'invalid_api_key', message: `Incorrect: ${key}` } })
  expect(await failure).toMatchObject({
    kind: 'unauthorised',
    message: 'the server rejected the session (invalid_api_key)',
  })
})

test.each([
  ['server_error', 'server'],
  ['request_timeout', 'timeout'],
  ['rate_limit_exceeded', 'limited'],
  ['invalid_value', 'refused'],
])('OpenAI: the error %s at the opening is %s', async (code, kind) => {
  const { failure } = open(openAiTranscription)
  const connection = await server.connection()
  connection.send({ type: 'error', error: { code, message: 'x' } })
  expect(await failure).toMatchObject({ kind })
})

test.each([
  [100, '0.3'],
  [700, '0.7'],
  [9000, '3'],
])('ElevenLabs: a silence of %i ms ends a segment after %s s', async (endOfSpeechMs, seconds) => {
  open(elevenLabsRecogniser, { endOfSpeechMs })
  const { request } = await server.connection()
  expect(queryOf(request.url)).toMatchObject({ vad_silence_threshold_secs: seconds })
})

test.each([
  ['nova-3', 'en-US', ['es-MX', 'de'], 'multi'],
  ['nova-3', 'en-US', ['pl'], 'en-US'],
  ['nova-2', 'en-US', ['es-MX'], 'en-US'],
  ['nova-3', 'multi', undefined, 'multi'],
])('Deepgram: the model %s of %s and %j follows %s', async (model, language, others, wanted) => {
  open(deepgramRecogniser, { language, ...(others && { others }) }, { model })
  const { request } = await server.connection()
  expect(queryOf(request.url)).toMatchObject({ language: wanted })
})

test('Deepgram and Flux: the language that was heard', async () => {
  const nova = open(deepgramRecogniser, { language: 'multi' })
  const first = await server.connection()
  const alternatives = [{ transcript: 'Hola', confidence: 0.9, languages: ['es', 'en'] }]
  first.send({ type: 'Results', channel: { alternatives }, is_final: true })
  await vi.waitFor(() => expect(nova.events).toEqual(['final Hola {"confidence":0.9,"language":"es"}']))
  const flux = open(fluxRecogniser, { language: 'en', others: ['es'], hints: [] })
  const second = await server.connection(1)
  expect(queryOf(second.request.url)).toMatchObject({
    model: 'flux-general-multi',
    language_hint: 'en|es',
  })
  second.send({ type: 'TurnInfo', event: 'EndOfTurn', transcript: 'Hola', words: [], languages: ['es'] })
  await vi.waitFor(() => expect(flux.events).toEqual(['final Hola {"language":"es"}', 'ended']))
})

test('OpenAI: no language is named if the caller may speak several', async () => {
  open(openAiTranscription, { others: ['es'] })
  const update = JSON.stringify(await (await server.connection()).next({ type: 'session.update' }))
  expect(update).not.toContain('"language"')
})

test('ElevenLabs: the language of several comes after the text', async () => {
  const { events } = open(elevenLabsRecogniser, { others: ['es-MX'] })
  const connection = await server.connection()
  const query = queryOf(connection.request.url)
  expect(query).toMatchObject({ include_language_detection: 'true' })
  expect(query).not.toHaveProperty('language_code')
  connection.send(
    { message_type: 'session_started' },
    { message_type: 'committed_transcript', text: 'Hola' },
    { message_type: 'committed_transcript_with_timestamps', text: 'Hola', language_code: 'spa' },
  )
  await vi.waitFor(() => expect(events).toEqual(['final Hola {}', 'language spa']))
})

test('ElevenLabs: parameters, audio and texts', async () => {
  const { recognition, events, failure } = open(elevenLabsRecogniser)
  for (let i = 0; i < 5; i++) recognition.write(frame(i))
  const connection = await server.connection()
  expect(connection.request.headers['xi-api-key']).toBe(key)
  expect(queryOf(connection.request.url)).toEqual({
    model_id: 'scribe_v2_realtime',
    audio_format: 'ulaw_8000',
    commit_strategy: 'vad',
    vad_silence_threshold_secs: '0.5',
    language_code: 'en',
  })
  connection.send({ message_type: 'session_started' })
  const chunk = await connection.next({ message_type: 'input_audio_chunk', commit: false, sample_rate: 8000 })
  expect(Buffer.from(String(chunk.audio_base_64), 'base64')).toHaveLength(800)
  connection.send(
    { message_type: 'partial_transcript', text: 'Hel' },
    { message_type: 'committed_transcript', text: ' Hello. ' },
    { message_type: 'committed_transcript_with_timestamps', text: 'Hello.' },
    { message_type: 'quota_exceeded', error: 'x' },
  )
  expect(await failure).toMatchObject({ kind: 'limited' })
  expect(events).toEqual(['partial Hel {}', 'final Hello. {}', 'failed limited'])
})

const all: readonly (readonly [string, Make])[] = [
  ['Deepgram', deepgramRecogniser],
  ['Flux', fluxRecogniser],
  ['OpenAI', openAiTranscription],
  ['ElevenLabs', elevenLabsRecogniser],
]

test.each(all)(
  '%s: a rejected key, a lost connection, a silent and a wordy server are failures',
  async (_name, make) => {
    server.status = 401
    const rejected = await open(make).failure
    expect(rejected).toMatchObject({ kind: 'unauthorised' })
    expect(rejected.message).not.toContain(key)
    server.status = undefined
    const lost = open(make)
    ;(await server.connection(0)).socket.terminate()
    expect(await lost.failure).toMatchObject({ kind: 'connection' })
    const wordy = open(make)
    const connection = await server.connection(1)
    for (let i = 0; i < 30; i++) connection.send('no json')
    expect(await wordy.failure).toMatchObject({ kind: 'protocol' })
    const late = open(make, {}, { readyMs: 500, url: `${server.url}` })
    clock.advance(500)
    expect(await late.failure).toMatchObject({ kind: 'timeout' })
  },
)

test.each(all)('%s: a half-open connection is found', async (_name, make) => {
  const { failure } = open(make)
  const connection = await server.connection()
  connection.send({ type: 'Connected' }, { type: 'session.updated' }, { message_type: 'session_started' })
  await connection.settled()
  connection.socket.pause()
  clock.advance(20_000)
  expect(await failure).toMatchObject({ kind: 'timeout' })
})

test('closing the recogniser closes its recognitions', async () => {
  const { recogniser, events } = open(deepgramRecogniser)
  const { socket } = await server.connection()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await recogniser.close()
  await closed
  expect(events).toEqual([])
  expect(recogniser.running).toBe(0)
})
