import { expect, test, vi } from 'vitest'
import { FakeClock } from '../../../core/clock.ts'
import { TestVoskServer } from '../../../speech/testing/vosk-server.ts'
import { VoskRecogniser } from '../../../speech/vosk.ts'
import { ChatCompletions } from '../../models/chat-completions.ts'
import { PlainRecogniser } from '../../recognisers/plain-recogniser.ts'
import { StreamingHttp } from '../../streaming/streaming-http.ts'
import { EngineServer } from '../../streaming/testing/engine-server.ts'
import { OpenAiSpeech } from '../../voices/openai-speech.ts'
import { PipelineEngine } from './pipeline.ts'
import { EventLog } from './testing/fake-parts.ts'

const open = async () => {
  const clock = new FakeClock()
  const http = new StreamingHttp()
  const vosk = await TestVoskServer.open()
  const chat = await EngineServer.open()
  const speech = await EngineServer.open()
  const recogniser = new VoskRecogniser({
    url: vosk.url,
    languages: {},
    headers: {},
    hints: false,
    connectTimeoutMs: 2000,
    clock,
  })
  const engine = new PipelineEngine({
    name: 'whole',
    recognisers: [new PlainRecogniser('vosk', recogniser)],
    models: [new ChatCompletions({ name: 'chat', url: chat.url, model: 'm' }, http, clock)],
    voices: [
      {
        names: [],
        voice: new OpenAiSpeech({ name: 'speech', url: speech.url, model: 'm', voice: 'a' }, http, clock),
      },
    ],
    clock,
    log: { warn: () => {} } as never,
  })
  const log = new EventLog()
  const link = engine.open(
    {
      projectId: 'p',
      prompt: 'Be kind.',
      functions: [{ name: 'weather', description: 'Weather', parameters: { type: 'object' } }],
      history: [],
      languages: [{ name: 'English', code: 'en' }],
      hints: [],
      pronounce: [],
      settings: {},
      isSemantic: true,
      endOfSpeechMs: 700,
    },
    log,
  )
  const close = async () => {
    await engine.close()
    await recogniser.close()
    await http.close()
    await Promise.all([vosk.close(), chat.close(), speech.close()])
  }
  return { vosk, chat, speech, link, log, close }
}

const delta = (content: object, reason?: string) =>
  `data: ${JSON.stringify({ choices: [{ delta: content, finish_reason: reason ?? null }] })}\n\n`

test('a caller is heard, answered and served by a function, over the wire', async () => {
  const { vosk, chat, speech, link, log, close } = await open()
  link.hear(new Int16Array(320))
  await vi.waitFor(() => expect(vosk.sessions[0]?.heard.length).toBe(640))
  expect(vosk.sessions[0]?.config).toEqual([{ sample_rate: 16_000 }])
  vosk.sessions[0]?.send({ text: 'how is the weather' })
  await vi.waitFor(() => expect(log.lines).toContain('heard final how is the weather'))
  link.commit('how is the weather')
  const one = await chat.next()
  one.response.writeHead(200, { 'content-type': 'text/event-stream' })
  one.response.write(delta({ content: 'Let me look ' }))
  one.response.write(delta({ content: 'that up. One' }))
  const spoken = await speech.next()
  expect(spoken.json().input).toBe('Let me look that up.')
  spoken.response.writeHead(200, { 'content-type': 'audio/pcm' })
  spoken.response.end(Buffer.alloc(4800))
  await vi.waitFor(() => expect(log.lines).toContain('A1 ends'))
  const call = { id: 'c1', function: { name: 'weather', arguments: {} } }
  one.response.write(delta({ content: ' moment.', tool_calls: [call] }))
  one.response.end(delta({}, 'stop'))
  const rest = await speech.next()
  expect(rest.json().input).toBe('One moment.')
  await vi.waitFor(() => expect(log.lines).toContain('A calls weather'))
  link.result({ id: 'c1', name: 'weather', args: '{}' }, 'Sunny.', true)
  const two = await chat.next()
  expect(two.json().messages).toEqual([
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'how is the weather' },
    {
      role: 'assistant',
      content: 'Let me look that up. One moment.',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'Sunny.' },
  ])
  two.response.writeHead(200, { 'content-type': 'text/event-stream' })
  two.response.write(delta({ content: 'It is sunny. ' }))
  await speech.next()
  link.interrupt({ answer: log.idOf('A'), item: '', ms: 500, text: 'Let me look that up.' }, false)
  await Promise.all([two.aborted, rest.aborted])
  await vi.waitFor(() => expect(log.lines).toContain('A cancelled'))
  expect(log.lines).not.toContain('B begins')
  await close()
})
