import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import type { EngineCall } from '../engine.ts'
import type { EngineError } from '../streaming/engine-error.ts'
import { StreamingHttp } from '../streaming/streaming-http.ts'
import { EngineServer } from '../streaming/testing/engine-server.ts'
import { ChatCompletions, type ChatCompletionsOptions } from './chat-completions.ts'
import { complete, type ModelRequest } from './model.ts'

let server: EngineServer
let http: StreamingHttp
let clock: FakeClock

beforeEach(async () => {
  server = await EngineServer.open()
  http = new StreamingHttp('test')
  clock = new FakeClock()
})

afterEach(async () => {
  await vi.waitUntil(() => clock.running === 0)
  await http.close()
  await server.close()
})

const key = 'sk-very-secret'

const open = (options: Partial<ChatCompletionsOptions> = {}) =>
  new ChatCompletions({ name: 'm', url: `${server.url}/v1`, model: 'gpt', key, ...options }, http, clock)

const request: ModelRequest = {
  messages: [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'Hi' },
  ],
  functions: [],
  settings: {},
}

/** Begins an answer; `over` resolves at its end. */
const ask = (model: ChatCompletions, given: Partial<ModelRequest> = {}) => {
  const got = { text: '', usage: undefined as object | undefined }
  const { promise: over, resolve } = Promise.withResolvers<
    { how: string; calls: readonly EngineCall[] } | { error: EngineError }
  >()
  const first = Promise.withResolvers<void>()
  const answer = model.answer(
    { ...request, ...given },
    {
      onText: (piece) => {
        got.text += piece
        first.resolve()
      },
      onUsage: (usage) => {
        got.usage = usage
      },
      onEnd: (how, calls) => resolve({ how, calls }),
      onFailure: (error) => resolve({ error }),
    },
  )
  return { answer, got, over, first: first.promise }
}

const chunk = (content: object) => `data: ${JSON.stringify(content)}\n\n`
const text = (content: string) => chunk({ choices: [{ delta: { content } }] })
const stop = chunk({ choices: [{ delta: {}, finish_reason: 'stop' }] })
const done = 'data: [DONE]\n\n'
const streamed = { 'content-type': 'text/event-stream' }

test('an answer is streamed, and the request is that of the interface', async () => {
  const model = open({ headers: { 'x-team': 'a' }, temperature: 0.2 })
  const functions = [{ name: 'f', description: 'does', parameters: { type: 'object' } }]
  const settings = { temperature: 0.5, topP: 0.9, presencePenalty: 0.1, frequencyPenalty: 0.2, maxTokens: 99 }
  const { got, over, first } = ask(model, { functions, settings })
  const { path, headers, json, response } = await server.next()
  expect(path).toBe('/v1/chat/completions')
  expect(headers).toMatchObject({ authorization: `Bearer ${key}`, 'x-team': 'a', 'user-agent': 'test' })
  expect(json()).toEqual({
    model: 'gpt',
    messages: request.messages,
    tools: [{ type: 'function', function: functions[0] }],
    tool_choice: 'auto',
    stream: true,
    stream_options: { include_usage: true },
    temperature: 0.5,
    top_p: 0.9,
    presence_penalty: 0.1,
    frequency_penalty: 0.2,
    max_completion_tokens: 99,
  })
  response.writeHead(200, streamed)
  response.write(`: ping\n\n${text('Hello ')}`)
  await first
  expect(got.text).toBe('Hello ')
  response.end(`${text('there')}${stop}${chunk({ choices: [], usage: { prompt_tokens: 5 } })}${done}`)
  expect(await over).toEqual({ how: 'completed', calls: [] })
  expect(got).toEqual({ text: 'Hello there', usage: { inputTokens: 5 } })
})

test('an answer without streaming is taken, too', async () => {
  const { got, over } = ask(open())
  const { response } = await server.next()
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
  response.end(JSON.stringify({ choices: [{ message: { content: 'Hello' }, finish_reason: 'stop' }] }))
  expect(await over).toMatchObject({ how: 'completed' })
  expect(got.text).toBe('Hello')
})

test('the query of the URL is kept', async () => {
  const { over } = ask(open({ url: `${server.url}/openai/?api-version=1` }))
  const { path, response } = await server.next()
  expect(path).toBe('/openai/chat/completions?api-version=1')
  response.writeHead(200, streamed)
  response.end(text('Hello'))
  await over
})

test('cancelling closes the connection', async () => {
  const { answer, first } = ask(open())
  const { response, aborted } = await server.next()
  response.writeHead(200, streamed)
  response.write(text('Hello'))
  await first
  answer.cancel()
  await aborted
})

test('one connection serves several answers', async () => {
  const model = open()
  const ports = new Set()
  for (let i = 0; i < 3; i++) {
    const { over } = ask(model)
    const { response } = await server.next()
    ports.add(response.socket!.remotePort)
    response.writeHead(200, streamed)
    response.end(text('Hello') + stop + done)
    await over
    // The rest of the response is read after the end of the answer.
    await vi.waitUntil(() => clock.running === 0)
  }
  expect(ports.size).toBe(1)
})

test.each([
  [401, 'unauthorised', undefined, undefined],
  [403, 'unauthorised', undefined, undefined],
  [402, 'limited', undefined, undefined],
  [429, 'limited', '2', 2000],
  [429, 'limited', 'Wed, 21 Oct 2026 07:28:00 GMT', undefined],
  [404, 'refused', undefined, undefined],
  [400, 'refused', undefined, undefined],
  [302, 'refused', undefined, undefined],
  [500, 'server', undefined, undefined],
  [503, 'server', '1', 1000],
])('the status %i is a failure of the kind %s', async (status, kind, retryAfter, retryAfterMs) => {
  const { over } = ask(open())
  const { response } = await server.next()
  response.writeHead(status, { location: '/other', ...(retryAfter && { 'retry-after': retryAfter }) })
  response.end(`{"error": {"message": "Incorrect key ${key}"}}`)
  const { error } = (await over) as { error: EngineError }
  expect(error).toMatchObject({ kind, retryAfterMs, message: `the server answered ${status}` })
  expect(server.requests).toHaveLength(1)
})

test('no connection is a failure', async () => {
  const { over } = ask(open({ url: 'http://127.0.0.1:1' }))
  expect(await over).toMatchObject({
    error: { kind: 'connection', message: 'the connection failed: ECONNREFUSED' },
  })
})

test('a lost connection is a failure, unless the answer was complete', async () => {
  const model = open()
  const lost = ask(model)
  const one = await server.next()
  one.response.writeHead(200, streamed)
  one.response.write(text('Hello'))
  await lost.first
  one.response.destroy()
  expect(await lost.over).toMatchObject({ error: { kind: 'connection' } })
  const whole = ask(model)
  const two = await server.next()
  two.response.writeHead(200, streamed)
  two.response.write(stop + text('.'))
  await whole.first
  two.response.destroy()
  expect(await whole.over).toMatchObject({ how: 'completed' })
})

test('no first token in time is a failure', async () => {
  const { over } = ask(open({ firstTokenMs: 3000 }))
  const { aborted } = await server.next()
  clock.advance(3000)
  expect(await over).toMatchObject({
    error: { kind: 'timeout', message: 'no first token was received within 3000 ms' },
  })
  await aborted
})

test('no further token in time is a failure', async () => {
  const { over, first } = ask(open({ tokenMs: 2000 }))
  const { response, aborted } = await server.next()
  response.writeHead(200, streamed)
  response.write(text('Hello'))
  await first
  clock.advance(2000)
  expect(await over).toMatchObject({ error: { kind: 'timeout' } })
  await aborted
})

test('a stream that stays open after its reason for the end is complete', async () => {
  const { over, first } = ask(open())
  const { response, aborted } = await server.next()
  response.writeHead(200, streamed)
  response.write(stop + text('Hello'))
  await first
  clock.advance(1000)
  expect(await over).toMatchObject({ how: 'completed' })
  await aborted
})

test('a delta of 10 MiB is a failure', async () => {
  const { over } = ask(open())
  const { response, aborted } = await server.next()
  response.writeHead(200, streamed)
  response.write(text('x'.repeat(10 * 1024 * 1024)))
  expect(await over).toMatchObject({ error: { kind: 'protocol' } })
  await aborted
})

test('a stream without end is a failure', async () => {
  const { over } = ask(open())
  const { response } = await server.next()
  response.writeHead(200, streamed)
  const thoughts = chunk({ choices: [{ delta: { reasoning: 'x'.repeat(500_000) } }] })
  let isOpen = true
  const write = (): void => {
    while (isOpen && response.write(thoughts));
    if (isOpen) response.once('drain', write)
  }
  response.on('close', () => {
    isOpen = false
  })
  write()
  expect(await over).toMatchObject({ error: { kind: 'protocol' } })
  isOpen = false
})

test('a rejected limit of tokens is sent by its other name, from then on', async () => {
  const model = open()
  const settings = { maxTokens: 9, temperature: 0.5 }
  const one = ask(model, { settings })
  const rejected = await server.next()
  rejected.response.writeHead(400)
  rejected.response.end('{"error": {"param": "max_completion_tokens", "message": "use max_tokens"}}')
  const again = await server.next()
  expect(again.json()).toMatchObject({ max_tokens: 9, temperature: 0.5 })
  expect(again.json()).not.toHaveProperty('max_completion_tokens')
  again.response.writeHead(400)
  again.response.end('Only the default (1) value of temperature is supported')
  const last = await server.next()
  expect(last.json()).not.toHaveProperty('temperature')
  last.response.writeHead(200, streamed)
  last.response.end(text('Hello') + done)
  expect(await one.over).toMatchObject({ how: 'completed' })
  const two = ask(model, { settings })
  const { json, response } = await server.next()
  expect(json()).toMatchObject({ max_tokens: 9 })
  response.writeHead(200, streamed)
  response.end(text('Hello') + done)
  await two.over
})

test('a server that rejects everything is given up', async () => {
  const { over } = ask(open(), {
    settings: { temperature: 1, topP: 1, presencePenalty: 1, frequencyPenalty: 1 },
  })
  for (let i = 0; i < 4; i++) {
    const { response } = await server.next()
    response.writeHead(400)
    response.end('stream_options temperature top_p presence_penalty frequency_penalty')
  }
  expect(await over).toMatchObject({ error: { kind: 'refused' } })
})

test('closing the model cancels its answers', async () => {
  const model = open()
  ask(model)
  const { aborted } = await server.next()
  await model.close()
  await aborted
})

test('a single answer without functions', async () => {
  const model = open()
  const answer = complete(model, request.messages, { maxTokens: 5 })
  const { response } = await server.next()
  response.writeHead(200, streamed)
  response.end(text(' A summary. ') + done)
  expect(await answer).toBe('A summary.')
  const controller = new AbortController()
  const cancelled = complete(model, request.messages, {}, controller.signal)
  const { aborted } = await server.next()
  controller.abort(new Error('enough'))
  await expect(cancelled).rejects.toThrow('enough')
  await aborted
  const failed = complete(model, request.messages, {})
  const last = await server.next()
  last.response.writeHead(500)
  last.response.end()
  await expect(failed).rejects.toThrow('the server answered 500')
})
