import OpenAI, { toFile } from 'openai'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import type { RealtimeServerEvent } from 'openai/resources/realtime/realtime'
import { generate } from 'selfsigned'
import { afterEach, expect, it } from 'vitest'
import { wavHeader } from '../../media/codecs/wav-header.ts'
import { toBytes } from './audio-format.ts'
import { openStandIns, type StandIns } from './open-stand-ins.ts'
import { scriptOf } from './read-script.ts'
import { utterance } from './testing/caller-audio.ts'

let standIns: StandIns
afterEach(() => standIns.close())

/** `tls`: a certificate, because the clients of OpenAI Realtime accept nothing else. */
const open = async (script?: unknown, tls?: { cert: string; key: string }): Promise<OpenAI> => {
  standIns = await openStandIns({
    ...(script !== undefined && { script: scriptOf(script) }),
    ...(tls && { tls }),
  })
  return new OpenAI({ apiKey: 'any', baseURL: `${standIns.url}/v1`, maxRetries: 0 })
}

const checkTime = {
  type: 'function',
  name: 'check_time',
  description: 'Returns the time',
  parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
} as const

const { type: _, ...chatFunction } = checkTime

const conversation = {
  pace: 0,
  hears: ['what time is it', 'stop'],
  rules: [
    { when: 'begin', do: [{ say: 'Hello.' }] },
    { when: { contains: 'time' }, do: [{ call: { name: 'check_time', arguments: { place: 'here' } } }] },
    { when: { result: 'check_time' }, do: [{ say: { text: 'It is {{result}}. '.repeat(10), pace: 1 } }] },
    { when: { interrupted: true }, do: [{ say: 'Yes?' }] },
  ],
}

it('completes a chat with the published client, streamed and whole', async () => {
  const client = await open()
  const functions = [{ type: 'function' as const, function: chatFunction }]
  const stream = client.chat.completions.stream({
    model: 'stand-in',
    messages: [{ role: 'user', content: 'What time is it?' }],
    tools: functions,
    stream_options: { include_usage: true },
  })
  const asked = await stream.finalChatCompletion()
  const [call] = asked.choices[0]!.message.tool_calls!
  expect(asked.choices[0]!.finish_reason).toBe('tool_calls')
  expect(asked.usage!.total_tokens).toBeGreaterThan(0)
  expect(call).toMatchObject({ function: { name: 'check_time', arguments: '{"place":"What time is it?"}' } })
  const said = await client.chat.completions.create({
    model: 'stand-in',
    tools: functions,
    messages: [
      { role: 'user', content: 'What time is it?' },
      asked.choices[0]!.message,
      { role: 'tool', tool_call_id: call!.id, content: '{"time":"noon"}' },
    ],
  })
  expect(said.choices[0]!.message.content).toBe('The function check_time answered: noon')
  expect(said.choices[0]!.finish_reason).toBe('stop')
})

it('reports the errors of a chat as the published client knows them', async () => {
  const rules = (['unauthorised', 'limited', 'server'] as const).map((error) => ({
    when: 'connect',
    times: 1,
    do: [{ error }],
  }))
  const client = await open({
    rules: [...rules, { do: [{ quirk: 'stream-error' }, { say: 'one two three' }] }],
  })
  const ask = (stream: boolean) =>
    client.chat.completions.create({ model: 'x', messages: [{ role: 'user', content: 'x' }], stream })
  await expect(ask(false)).rejects.toThrow(OpenAI.AuthenticationError)
  await expect(ask(false)).rejects.toThrow(OpenAI.RateLimitError)
  await expect(ask(false)).rejects.toThrow(OpenAI.InternalServerError)
  const stream = (await ask(true)) as AsyncIterable<{ choices: { delta: { content?: string } }[] }>
  let text = ''
  await expect(
    (async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
    })(),
  ).rejects.toThrow('The server had an error.')
  expect(text).toBe('one two')
})

it('speaks and transcribes files with the published client', async () => {
  const client = await open({ pace: 0, hears: ['good morning'] })
  const speech = { model: 'tts', voice: 'alloy', input: 'Good morning.', response_format: 'pcm' } as const
  const pcm = Buffer.from(await (await client.audio.speech.create(speech)).arrayBuffer())
  expect(pcm.length / 2 / 24_000).toBeGreaterThan(0.4)
  const file = await toFile(Buffer.concat([wavHeader({ rate: 24_000 }, pcm.length), pcm]), 'speech.wav')
  const heard = await client.audio.transcriptions.create({ model: 'whisper', file })
  expect(heard.text).toBe('good morning')
  const stream = await client.audio.transcriptions.create({ model: 'whisper', file, stream: true })
  const texts: string[] = []
  for await (const event of stream) if (event.type === 'transcript.text.done') texts.push(event.text)
  expect(texts).toEqual([expect.stringMatching(/^speech of 0\.\d seconds$/)])
})

/** Reads the events of a connection, in order. */
class Events {
  readonly all: RealtimeServerEvent[] = []
  #waiting: (() => void)[] = []

  constructor(connection: OpenAIRealtimeWS) {
    connection.on('event', (event) => {
      this.all.push(event)
      for (const wake of this.#waiting.splice(0)) wake()
    })
    connection.on('error', () => {})
  }

  /** Resolves with the next event of a type that was not read. */
  async next<Type extends RealtimeServerEvent['type']>(
    type: Type,
  ): Promise<Extract<RealtimeServerEvent, { type: Type }>> {
    for (;;) {
      const at = this.all.findIndex((event) => event.type === type)
      if (at !== -1) return this.all.splice(at, 1)[0] as Extract<RealtimeServerEvent, { type: Type }>
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }
}

it('holds a conversation in OpenAI Realtime with the published client', async () => {
  const { cert, private: key } = await generate([{ name: 'commonName', value: '127.0.0.1' }])
  const client = await open(conversation, { cert, key })
  const options = { rejectUnauthorized: false }
  const connection = new OpenAIRealtimeWS({ model: 'gpt-realtime', options }, client)
  const events = new Events(connection)
  await events.next('session.created')
  const format = { type: 'audio/pcmu' } as const
  connection.send({
    type: 'session.update',
    session: {
      type: 'realtime',
      tools: [checkTime],
      audio: {
        input: {
          format,
          transcription: { model: 'x' },
          turn_detection: { type: 'server_vad', silence_duration_ms: 200 },
        },
        output: { format },
      },
    },
  })
  const { session } = await events.next('session.updated')
  expect(session).toMatchObject({ type: 'realtime', audio: { output: { format } } })
  connection.send({ type: 'response.create' })
  const greeting = await events.next('response.done')
  expect(greeting.response).toMatchObject({ status: 'completed', output: [{ role: 'assistant' }] })
  expect((await events.next('response.output_audio_transcript.done')).transcript).toBe('Hello.')
  const speak = (ms: number) => {
    const samples = utterance(ms, 300, 8000)
    for (let at = 0; at < samples.length; at += 160) {
      const audio = toBytes(samples.subarray(at, at + 160), { coding: 'PCMU', rate: 8000 }).toString('base64')
      connection.send({ type: 'input_audio_buffer.append', audio })
    }
  }
  speak(600)
  expect(await events.next('input_audio_buffer.speech_started')).toMatchObject({ audio_start_ms: 0 })
  expect((await events.next('input_audio_buffer.speech_stopped')).audio_end_ms).toBe(800)
  expect((await events.next('conversation.item.input_audio_transcription.completed')).transcript).toBe(
    'what time is it',
  )
  const asked = await events.next('response.function_call_arguments.done')
  expect(asked).toMatchObject({ name: 'check_time', arguments: '{"place":"here"}' })
  await events.next('response.done')
  const output = { type: 'function_call_output', call_id: asked.call_id, output: '"noon"' } as const
  connection.send({ type: 'conversation.item.create', item: output })
  connection.send({ type: 'response.create' })
  const first = await events.next('response.created')
  events.all.length = 0
  const { item_id } = await events.next('response.output_audio.delta')
  connection.send({ type: 'response.create' })
  expect((await events.next('error')).error.code).toBe('conversation_already_has_active_response')
  speak(600)
  const cut = await events.next('response.done')
  expect(cut.response).toMatchObject({ status: 'cancelled', status_details: { reason: 'turn_detected' } })
  expect(first.response.id).toBeDefined()
  connection.send({ type: 'conversation.item.truncate', item_id, content_index: 0, audio_end_ms: 100_000 })
  expect((await events.next('error')).error.message).toContain('already shorter')
  connection.send({ type: 'conversation.item.truncate', item_id, content_index: 0, audio_end_ms: 40 })
  expect(await events.next('conversation.item.truncated')).toMatchObject({ item_id, audio_end_ms: 40 })
  await expect
    .poll(() => standIns.log.entries.some(({ message }) => JSON.stringify(message ?? '').includes('Yes?')))
    .toBe(true)
  connection.close()
})
