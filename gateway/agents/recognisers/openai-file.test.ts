import { afterEach, beforeEach, expect, test } from 'vitest'
import { readWav } from '../../../media/sound/wav.ts'
import { FakeClock } from '../../core/clock.ts'
import type { EngineError } from '../streaming/engine-error.ts'
import { StreamingHttp } from '../streaming/streaming-http.ts'
import { EngineServer } from '../streaming/testing/engine-server.ts'
import { OpenAiFile } from './openai-file.ts'

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
})

const open = () => {
  const recogniser = new OpenAiFile(
    { name: 'whisper', url: `${server.url}/v1/audio/transcriptions`, model: 'small', key: 'secret' },
    http,
    clock,
  )
  const texts: string[] = []
  const failure = Promise.withResolvers<EngineError>()
  let heard = Promise.withResolvers<void>()
  const recognition = recogniser.open(
    { rate: 8000, language: 'de-AT', hints: ['Graz'], isSemantic: true, endOfSpeechMs: 500 },
    {
      onTranscript: ({ text, isFinal }) => {
        texts.push(`${isFinal} ${text}`)
        heard.resolve()
        heard = Promise.withResolvers()
      },
      onTurn: () => {},
      onFailure: failure.resolve,
    },
  )
  const write = (ms: number) => {
    for (let i = 0; i < ms / 20; i++) recognition.write(new Int16Array(160).fill(1000))
  }
  /** Speaks for a while, with silence before. */
  const speak = (ms: number) => {
    recognition.voice(true)
    write(ms)
    recognition.voice(false)
  }
  return { recogniser, recognition, texts, failure: failure.promise, write, speak, next: () => heard.promise }
}

test('a turn is sent as a file after its end, with what was before its begin', async () => {
  const { write, speak, texts, next } = open()
  write(2000)
  const heard = next()
  speak(1000)
  const { headers, body, response } = await server.next()
  expect(headers.authorization).toBe('Bearer secret')
  const text = body.toString('latin1')
  expect(text).toContain('name="model"\r\n\r\nsmall\r\n')
  expect(text).toContain('name="language"\r\n\r\nde\r\n')
  expect(text).toContain('name="prompt"\r\n\r\nGraz\r\n')
  const [, boundary = ''] = /boundary=(\S+)/.exec(headers['content-type'] ?? '') ?? []
  const start = body.indexOf('RIFF')
  const wav = readWav(body.subarray(start, body.indexOf(`\r\n--${boundary}--`, start)), 60)
  expect(wav.rate).toBe(16_000)
  expect(wav.samples).toHaveLength(1400 * 16)
  response.end('{"text": " Guten Tag "}')
  await heard
  expect(texts).toEqual(['true Guten Tag'])
})

test('texts come in the order of the turns', async () => {
  const { speak, texts, next } = open()
  speak(500)
  speak(500)
  const one = await server.next()
  const two = await server.next()
  two.response.end('{"text": "two"}')
  const heard = next()
  one.response.end('{"text": "one"}')
  await heard
  if (texts.length < 2) await next()
  expect(texts).toEqual(['true one', 'true two'])
})

test('silence, an empty text and speech without end', async () => {
  const { write, speak, recognition, texts, next } = open()
  write(90_000)
  speak(500)
  const empty = await server.next()
  empty.response.end('{"text": ""}')
  recognition.voice(true)
  write(61_000)
  const heard = next()
  const long = await server.next()
  expect(long.body.length).toBeGreaterThan(60 * 32_000)
  long.response.end('{"text": "long"}')
  await heard
  expect(texts).toEqual(['true long'])
})

test.each([
  [401, '', 'unauthorised'],
  [500, '', 'server'],
  [200, 'no json', 'protocol'],
  [200, '{"words": []}', 'protocol'],
])('status %i with %j is the failure %s', async (status, body, kind) => {
  const { speak, failure } = open()
  speak(500)
  const { response } = await server.next()
  response.writeHead(status)
  response.end(body)
  expect(await failure).toMatchObject({ kind })
})

test('a text that does not come in time, and too many turns, are failures', async () => {
  const one = open()
  one.speak(500)
  await server.next()
  clock.advance(8000)
  expect(await one.failure).toMatchObject({ kind: 'timeout' })
  const two = open()
  for (let i = 0; i < 5; i++) two.speak(100)
  expect(await two.failure).toMatchObject({ kind: 'timeout' })
})

test('closing aborts what is in progress', async () => {
  const { speak, recogniser } = open()
  speak(500)
  const { aborted } = await server.next()
  await recogniser.close()
  await aborted
})
