import { afterEach, beforeEach, expect, test } from 'vitest'
import { encode } from '../../../media/codecs/g711.ts'
import { FakeClock, type SteadyClock } from '../../core/clock.ts'
import { EngineServer } from '../engines/session/testing/engine-server.ts'
import type { EngineError } from '../streaming/engine-error.ts'
import { cartesiaVoice } from './cartesia-voice.ts'
import { deepgramVoice } from './deepgram-voice.ts'
import { elevenLabsVoice } from './elevenlabs-voice.ts'
import type { SocketVoice, SocketVoiceOptions } from './socket-voice.ts'
import type { SpeakOptions } from './voice.ts'

let server: EngineServer
let clock: FakeClock

beforeEach(async () => {
  server = await EngineServer.open()
  clock = new FakeClock()
})

afterEach(async () => {
  await server.close()
})

type Make = (options: SocketVoiceOptions, clock: SteadyClock) => SocketVoice

const key = 'very-secret-key'

const speak = (
  make: Make,
  options: Partial<SpeakOptions> = {},
  configured: Partial<SocketVoiceOptions> = {},
) => {
  const voice = make({ name: 'v', url: `${server.url}/tts`, key, voice: 'rachel', ...configured }, clock)
  const samples: number[] = []
  let isEnded = false
  const { promise: over, resolve } = Promise.withResolvers<'ended' | EngineError>()
  const first = Promise.withResolvers<void>()
  const utterance = voice.speak(
    'Hello there.',
    { rate: 8000, projectId: 'p', language: 'en-US', ...options },
    {
      onAudio: (more) => {
        samples.push(...more)
        first.resolve()
      },
      onEnd: () => {
        isEnded = true
        resolve('ended')
      },
      onFailure: resolve,
    },
  )
  return { voice, utterance, samples, over, first: first.promise, isEnded: () => isEnded }
}

const linear = Int16Array.from({ length: 160 }, (_, i) => i * 100)
const mulaw = Buffer.from(encode('PCMU', linear))
const base64 = mulaw.toString('base64')

test('ElevenLabs', async () => {
  const { over, samples } = speak(elevenLabsVoice, { voice: 'a/b', settings: { speed: 1.1 } })
  const connection = await server.connection()
  expect(connection.request.headers['xi-api-key']).toBe(key)
  expect(connection.request.url).toBe(
    '/tts/a%2Fb/stream-input?model_id=eleven_flash_v2_5&output_format=ulaw_8000&auto_mode=true&language_code=en',
  )
  await connection.next({ text: '' })
  expect(connection.messages).toEqual([
    { text: ' ', voice_settings: { speed: 1.1 } },
    { text: 'Hello there. ', flush: true },
    { text: '' },
  ])
  connection.send(
    { audio: base64, isFinal: null, alignment: { chars: ['H'] } },
    { audio: null, isFinal: true },
  )
  expect(await over).toBe('ended')
  expect(samples).toHaveLength(160)
})

test('Deepgram', async () => {
  const { over, samples } = speak(deepgramVoice, { rate: 16_000 }, { voice: 'aura-2-luna-en' })
  const connection = await server.connection()
  expect(connection.request.headers.authorization).toBe(`Token ${key}`)
  expect(connection.request.url).toBe('/tts?model=aura-2-luna-en&encoding=linear16&sample_rate=16000')
  await connection.next({ type: 'Flush' })
  expect(connection.messages[0]).toEqual({ type: 'Speak', text: 'Hello there.' })
  const bytes = Buffer.from(linear.buffer)
  connection.send({ type: 'Metadata' }, bytes.subarray(0, 33), bytes.subarray(33), { type: 'Flushed' })
  expect(await over).toBe('ended')
  expect(samples).toEqual([...linear])
  await connection.next({ type: 'Close' })
})

test('Cartesia', async () => {
  const { over, samples } = speak(cartesiaVoice, { settings: { speed: 'fast', transcript: 'other' } })
  const connection = await server.connection()
  expect(connection.request.headers['x-api-key']).toBe(key)
  const { context_id } = await connection.next({ transcript: 'Hello there.', language: 'en', speed: 'fast' })
  expect(connection.messages[0]).toMatchObject({
    voice: { mode: 'id', id: 'rachel' },
    output_format: { container: 'raw', encoding: 'pcm_mulaw', sample_rate: 8000 },
  })
  connection.send({ type: 'chunk', data: base64 }, { type: 'flush_done' }, { type: 'done', done: true })
  expect(await over).toBe('ended')
  expect(samples).toHaveLength(160)
  await connection.next({ context_id, cancel: true })
})

const all: readonly (readonly [string, Make, object | Buffer, object, object])[] = [
  [
    'ElevenLabs',
    elevenLabsVoice,
    { audio: base64 },
    { isFinal: true },
    { error: 'quota_exceeded', message: 'x' },
  ],
  ['Deepgram', deepgramVoice, mulaw, { type: 'Flushed' }, { type: 'Error' }],
  [
    'Cartesia',
    cartesiaVoice,
    { type: 'chunk', data: base64 },
    { type: 'done' },
    { type: 'error', status_code: 402 },
  ],
]

test.each([
  ['invalid_api_key', 'unauthorised'],
  ['too_many_concurrent_requests', 'limited'],
  ['input_timeout_exceeded', 'timeout'],
  ['internal_server_error', 'server'],
  ['voice_not_found', 'refused'],
])('ElevenLabs: the error %s is %s', async (error, kind) => {
  const { over } = speak(elevenLabsVoice)
  ;(await server.connection()).send({ error, message: 'x' })
  expect(await over).toMatchObject({ kind })
})

test.each(all)('%s: errors, silence, lost and rejected connections are failures', async (...row) => {
  const [, make, audio, end, error] = row
  const reported = speak(make)
  ;(await server.connection(0)).send(error as never)
  expect(await reported.over).toBeInstanceOf(Error)
  const empty = speak(make)
  ;(await server.connection(1)).send(end as never)
  expect(await empty.over).toMatchObject({ kind: 'protocol' })
  const lost = speak(make)
  const connection = await server.connection(2)
  connection.send(audio as never)
  await lost.first
  connection.socket.terminate()
  expect(await lost.over).toMatchObject({ kind: 'connection' })
  const stalled = speak(make)
  ;(await server.connection(3)).send(audio as never)
  await stalled.first
  clock.advance(3000)
  expect(await stalled.over).toMatchObject({ kind: 'timeout' })
  const silent = speak(make)
  await server.connection(4)
  clock.advance(5000)
  expect(await silent.over).toMatchObject({ kind: 'timeout' })
  server.status = 403
  expect(await speak(make).over).toMatchObject({ kind: 'unauthorised' })
})

test.each(all)('%s: a close after the audio is its end, and cancelling closes at once', async (...row) => {
  const [, make, audio] = row
  const closed = speak(make)
  const connection = await server.connection(0)
  connection.send(audio as never)
  await closed.first
  connection.socket.close(1000)
  expect(await closed.over).toBe('ended')
  const { utterance, samples, first, isEnded } = speak(make)
  const { socket, send } = await server.connection(1)
  send.call({ socket }, audio as never)
  await first
  const gone = new Promise((resolve) => socket.once('close', resolve))
  utterance.cancel()
  const { length } = samples
  send.call({ socket }, audio as never)
  await gone
  expect(samples).toHaveLength(length)
  expect(isEnded()).toBe(false)
  expect(clock.running).toBeLessThanOrEqual(1)
})
