import { afterEach, beforeEach, expect, test } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { StreamingHttp } from '../streaming/streaming-http.ts'
import { EngineServer } from '../streaming/testing/engine-server.ts'
import { OpenAiSpeech, type OpenAiSpeechOptions } from './openai-speech.ts'
import type { SpeakOptions } from './voice.ts'

let server: EngineServer
let http: StreamingHttp
let clock: FakeClock

beforeEach(async () => {
  server = await EngineServer.open()
  http = new StreamingHttp()
  clock = new FakeClock()
})

afterEach(async () => {
  await http.close()
  await server.close()
  expect(clock.running).toBe(0)
})

const speak = (options: Partial<OpenAiSpeechOptions> = {}, given: Partial<SpeakOptions> = {}) => {
  const url = `${server.url}/v1/audio/speech`
  const voice = new OpenAiSpeech(
    { name: 'v', url, model: 'tts', voice: 'alloy', key: 'secret', ...options },
    http,
    clock,
  )
  const samples: number[] = []
  const first = Promise.withResolvers<void>()
  const { promise: over, resolve } = Promise.withResolvers<unknown>()
  const utterance = voice.speak(
    'Hello',
    { rate: 8000, projectId: 'p', ...given },
    {
      onAudio: (more) => {
        samples.push(...more)
        first.resolve()
      },
      onEnd: () => resolve('ended'),
      onFailure: resolve,
    },
  )
  return { voice, utterance, samples, over, first: first.promise }
}

/** 24 kHz of a slow wave, as bytes. */
const wave = (count: number) => {
  const samples = Int16Array.from({ length: count }, (_, i) => 8000 * Math.sin(i / 40))
  return Buffer.from(samples.buffer)
}

test('speech streams at the wanted rate', async () => {
  const { samples, over, first } = speak(
    { extra: { instructions: 'Kind' } },
    { voice: 'nova', settings: { speed: 2 } },
  )
  const { headers, json, response } = await server.next()
  expect(headers.authorization).toBe('Bearer secret')
  expect(json()).toEqual({
    model: 'tts',
    input: 'Hello',
    voice: 'nova',
    instructions: 'Kind',
    speed: 2,
    response_format: 'pcm',
  })
  response.writeHead(200, { 'content-type': 'audio/pcm' })
  const all = wave(4801)
  response.write(all.subarray(0, 4801))
  await first
  expect(samples.length).toBeGreaterThan(700)
  response.end(all.subarray(4801))
  expect(await over).toBe('ended')
  expect(samples).toHaveLength(1601)
})

test('24 kHz become 16 kHz at the same pitch', async () => {
  const { samples, over } = speak({}, { rate: 16_000 })
  const { response } = await server.next()
  response.writeHead(200, { 'content-type': 'audio/pcm' })
  response.end(wave(24_000))
  await over
  expect(samples).toHaveLength(16_000)
  // The filter rings a little before the first wave.
  const crossings = samples.filter((sample, i) => i > 160 && sample >= 0 && samples[i - 1]! < 0)
  expect(Math.abs(crossings.length - 24_000 / (80 * Math.PI))).toBeLessThan(2)
})

test.each([
  [401, 'audio/pcm', 'x', 'unauthorised'],
  [400, 'audio/pcm', 'x', 'refused'],
  [500, 'audio/pcm', 'x', 'server'],
  [200, 'application/json', '{}', 'protocol'],
  [200, 'audio/pcm', '', 'protocol'],
])('status %i with %s and %j is the failure %s', async (status, type, body, kind) => {
  const { over } = speak()
  const { response } = await server.next()
  response.writeHead(status, { 'content-type': type })
  response.end(body)
  expect(await over).toMatchObject({ kind })
})

test('audio that does not come in time is a failure', async () => {
  const none = speak()
  await server.next()
  clock.advance(5000)
  expect(await none.over).toMatchObject({ kind: 'timeout' })
  const some = speak()
  const { response, aborted } = await server.next()
  response.writeHead(200, { 'content-type': 'audio/pcm' })
  response.write(wave(2400))
  await some.first
  clock.advance(3000)
  expect(await some.over).toMatchObject({ kind: 'timeout' })
  await aborted
})

test('cancelling stops at once', async () => {
  const { utterance, first, samples } = speak()
  const { response, aborted } = await server.next()
  response.writeHead(200, { 'content-type': 'audio/pcm' })
  response.write(wave(2400))
  await first
  utterance.cancel()
  const { length } = samples
  await aborted
  expect(samples).toHaveLength(length)
  const { voice } = speak()
  const next = await server.next()
  await voice.close()
  await next.aborted
})
