import { RealtimeAgent, RealtimeSession, tool } from '@openai/agents-realtime'
import { afterEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { openStandIns, type StandIns } from './open-stand-ins.ts'
import { scriptOf } from './read-script.ts'
import { noise, pcmBytes, quiet } from './testing/caller-audio.ts'
import { Messages } from './testing/messages.ts'

let standIns: StandIns
afterEach(() => standIns.close())

const conversation = {
  pace: 0,
  hears: ['what time is it', 'stop'],
  rules: [
    { when: { contains: 'time' }, do: [{ call: 'check_time' }] },
    { when: { result: 'check_time' }, do: [{ tone: { hz: 400, ms: 20_000, text: 'It is {{result}}.' } }] },
    { when: { interrupted: true }, do: [{ tone: { hz: 400, ms: 100, text: 'Yes?' } }] },
  ],
}

it('holds a conversation with the published client of the Agents SDK', async () => {
  standIns = await openStandIns({ script: scriptOf(conversation) })
  const checkTime = tool({
    name: 'check_time',
    description: 'Returns the time',
    parameters: { type: 'object', properties: {}, required: [], additionalProperties: false },
    strict: true,
    execute: async () => 'noon',
  })
  const agent = new RealtimeAgent({ name: 'test', instructions: 'Answer.', tools: [checkTime] })
  const session = new RealtimeSession(agent, { transport: 'websocket', model: 'gpt-realtime' })
  const events = new Messages<string>()
  session.on('audio_interrupted', () => events.add('interrupted'))
  session.on('agent_end', (_context, _agent, text) => events.add(`said ${text}`))
  session.on('agent_tool_end', (_context, _agent, _tool, result) => events.add(`result ${result}`))
  session.on('error', ({ error }) => events.add(`error ${JSON.stringify(error)}`))
  await session.connect({ apiKey: 'any', url: `${standIns.wsUrl}/v1/realtime?model=gpt-realtime` })
  const speak = () => {
    for (const samples of [noise(600, 24_000), quiet(900, 24_000)]) {
      const { buffer, byteOffset, length } = pcmBytes(samples)
      session.sendAudio(buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer)
    }
  }
  speak()
  await events.next((event) => event === 'result noon')
  await events.next((event) => event === 'said It is noon.')
  speak()
  await events.next((event) => event === 'interrupted')
  await events.next((event) => event === 'said Yes?')
  await expect.poll(() => standIns.log.received('conversation.item.truncate')).toHaveLength(1)
  expect(standIns.log.entries.filter(({ what, type }) => what === 'sent' && type === 'error')).toEqual([])
  session.close()
})

it('speaks the beta names to a client that asks for them', async () => {
  standIns = await openStandIns({ script: scriptOf({ rules: [{ when: 'begin', do: [{ say: 'Hello.' }] }] }) })
  const headers = { 'OpenAI-Beta': 'realtime=v1' }
  const socket = new WebSocket(`${standIns.wsUrl}/v1/realtime?model=x`, { headers })
  const messages = new Messages<Readonly<Record<string, unknown>>>()
  const types: unknown[] = []
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as Readonly<Record<string, unknown>>
    types.push(message.type)
    messages.add(message)
  })
  await messages.next(({ type }) => type === 'session.created')
  socket.send(
    JSON.stringify({ type: 'session.update', session: { input_audio_format: 'g711_ulaw', voice: 'sage' } }),
  )
  expect(await messages.next(({ type }) => type === 'session.updated')).toMatchObject({
    session: { voice: 'sage', input_audio_format: 'g711_ulaw', output_audio_format: 'pcm16' },
  })
  socket.send(JSON.stringify({ type: 'response.create' }))
  const { response } = await messages.next(({ type }) => type === 'response.done')
  expect(response).toMatchObject({ output: [{ content: [{ type: 'audio', transcript: 'Hello.' }] }] })
  expect(types).toEqual(expect.arrayContaining(['conversation.item.created', 'response.audio.delta']))
  expect(types).not.toContain('conversation.item.done')
  socket.close()
})
