import { DeepgramClient } from '@deepgram/sdk'
import { Conversation } from '@elevenlabs/elevenlabs-js/api/resources/conversationalAi/conversation/index.js'
import {
  AudioFormat,
  CommitStrategy,
  RealtimeEvents,
  ScribeRealtime,
} from '@elevenlabs/elevenlabs-js/wrapper/realtime/index.js'
import { GoogleGenAI, type LiveServerMessage, Modality } from '@google/genai'
import OpenAI from 'openai'
import { LiveWS } from 'openai/resources/live/ws'
import { afterEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { openStandIns, type StandIns } from './open-stand-ins.ts'
import { scriptOf } from './read-script.ts'
import { pcmBytes, quiet, utterance } from './testing/caller-audio.ts'
import { Messages } from './testing/messages.ts'

let standIns: StandIns
afterEach(() => standIns.close())

/** Conversation with a function, and an answer that lasts long enough to be interrupted. */
const conversation = {
  pace: 0,
  hears: ['what time is it', 'stop'],
  rules: [
    { when: { contains: 'time' }, do: [{ call: { name: 'check_time', arguments: { place: 'here' } } }] },
    {
      when: { result: 'check_time' },
      do: [{ tone: { hz: 400, ms: 20_000, text: 'It is {{result}}.', pace: 1 } }],
    },
    { when: { interrupted: true }, do: [{ tone: { hz: 400, ms: 100, text: 'Yes?' } }] },
  ],
}

const open = async (script: unknown = conversation): Promise<void> => {
  standIns = await openStandIns({ script: scriptOf(script) })
}

type Json = Readonly<Record<string, unknown>>

/** Pieces of 20 ms of speech and the silence after it. */
const pieces = (rate: number, speechMs = 600, silenceMs = 700): readonly Buffer[] => {
  const bytes = pcmBytes(utterance(speechMs, silenceMs, rate))
  const length = (rate / 50) * 2
  return Array.from({ length: bytes.length / length }, (_, at) =>
    bytes.subarray(at * length, (at + 1) * length),
  )
}

it('talks to the published client of Gemini Live', async () => {
  await open()
  const messages = new Messages<LiveServerMessage>()
  const client = new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: standIns.url } })
  const session = await client.live.connect({
    model: 'gemini-live',
    config: {
      responseModalities: [Modality.AUDIO],
      inputAudioTranscription: {},
      outputAudioTranscription: {},
      tools: [{ functionDeclarations: [{ name: 'check_time' }] }],
    },
    callbacks: { onmessage: (message) => messages.add(message) },
  })
  const speak = () => {
    for (const piece of pieces(16_000))
      session.sendRealtimeInput({
        audio: { data: piece.toString('base64'), mimeType: 'audio/pcm;rate=16000' },
      })
  }
  speak()
  const heard = await messages.next(({ serverContent }) => serverContent?.inputTranscription !== undefined)
  expect(heard.serverContent?.inputTranscription?.text).toBe('what time is it')
  const { toolCall } = await messages.next((message) => message.toolCall !== undefined)
  const [call] = toolCall!.functionCalls!
  expect(call).toMatchObject({ name: 'check_time', args: { place: 'here' } })
  session.sendToolResponse({
    functionResponses: [{ id: call!.id!, name: 'check_time', response: { time: 'noon' } }],
  })
  const said = await messages.next(({ serverContent }) => serverContent?.outputTranscription !== undefined)
  expect(said.serverContent?.outputTranscription?.text).toBe('It is noon.')
  const audio = await messages.next((message) => message.data !== undefined)
  expect(audio.serverContent?.modelTurn?.parts?.[0]?.inlineData?.mimeType).toBe('audio/pcm;rate=24000')
  speak()
  await messages.next(({ serverContent }) => serverContent?.interrupted === true)
  const last = await messages.next(({ serverContent }) => serverContent?.outputTranscription?.text === 'Yes?')
  expect(last).toBeDefined()
  session.close()
})

const deepgram = () =>
  new DeepgramClient({
    apiKey: 'any',
    environment: {
      base: standIns.url,
      production: standIns.wsUrl,
      agent: standIns.wsUrl,
      agentRest: standIns.url,
    },
  })

/** Socket of Deepgram's client. */
interface DeepgramSocket {
  on(event: 'message', callback: (message: unknown) => void): void
  connect(): unknown
  waitForOpen(): Promise<unknown>
}

/** Connects a socket, and collects its messages. */
const messagesOf = async (socket: DeepgramSocket): Promise<Messages<Json>> => {
  const messages = new Messages<Json>()
  socket.on('message', (message) => {
    if (typeof message === 'object' && message !== null) messages.add(message as Json)
  })
  socket.connect()
  await socket.waitForOpen()
  return messages
}

const ofType = (type: string) => (message: Json) => message.type === type

it('talks to the published client of Deepgram Voice Agent', async () => {
  await open()
  const socket = await deepgram().agent.v1.createConnection()
  const messages = await messagesOf(socket as unknown as DeepgramSocket)
  const audio = { encoding: 'linear16', sample_rate: 16_000 } as const
  await messages.next(ofType('Welcome'))
  socket.sendSettings({
    type: 'Settings',
    audio: { input: audio, output: { ...audio, container: 'none' } },
    agent: {
      listen: { provider: { version: 'v1', type: 'deepgram', model: 'nova-3' } },
      think: {
        provider: { type: 'open_ai', model: 'any' },
        functions: [{ name: 'check_time', parameters: {} }],
      },
      speak: { provider: { type: 'deepgram', model: 'aura-2' } },
    },
  } as Parameters<typeof socket.sendSettings>[0])
  await messages.next(ofType('SettingsApplied'))
  const speak = () => {
    for (const piece of pieces(16_000)) socket.sendMedia(piece)
  }
  speak()
  await messages.next(ofType('UserStartedSpeaking'))
  expect(await messages.next(ofType('ConversationText'))).toMatchObject({
    role: 'user',
    content: 'what time is it',
  })
  const { functions } = await messages.next(ofType('FunctionCallRequest'))
  const [call] = functions as readonly { readonly id: string; readonly arguments: string }[]
  expect(JSON.parse(call!.arguments)).toEqual({ place: 'here' })
  socket.sendFunctionCallResponse({
    type: 'FunctionCallResponse',
    id: call!.id,
    name: 'check_time',
    content: 'noon',
  })
  await messages.next(ofType('AgentStartedSpeaking'))
  expect(await messages.next(ofType('ConversationText'))).toMatchObject({ content: 'It is noon.' })
  speak()
  await messages.next(ofType('UserStartedSpeaking'))
  expect(await messages.next(({ content }) => content === 'Yes?')).toMatchObject({ role: 'assistant' })
  await messages.next(ofType('AgentAudioDone'))
  socket.close()
})

it('recognises for the published client of Deepgram, versions 1 and 2', async () => {
  await open({ hears: ['good morning'] })
  const Authorization = 'Token any'
  const first = await deepgram().listen.v1.createConnection({
    Authorization,
    model: 'nova-3',
    encoding: 'linear16',
    sample_rate: 16_000,
    interim_results: 'true',
    vad_events: 'true',
    endpointing: 300,
    utterance_end_ms: 500,
  } as Parameters<ReturnType<typeof deepgram>['listen']['v1']['createConnection']>[0])
  const v1 = await messagesOf(first as unknown as DeepgramSocket)
  for (const piece of pieces(16_000)) first.sendMedia(piece)
  await v1.next(ofType('SpeechStarted'))
  expect(await v1.next(({ is_final }) => is_final === false)).toMatchObject({ type: 'Results' })
  expect(await v1.next(({ is_final }) => is_final === true)).toMatchObject({
    speech_final: true,
    channel: { alternatives: [{ transcript: 'good morning' }] },
  })
  await v1.next(ofType('UtteranceEnd'))
  first.sendCloseStream({ type: 'CloseStream' })
  await v1.next(ofType('Metadata'))
  first.close()
  const second = await deepgram().listen.v2.createConnection({
    Authorization,
    model: 'flux-general-en',
    encoding: 'linear16',
    sample_rate: 16_000,
    eager_eot_threshold: 0.5,
  } as Parameters<ReturnType<typeof deepgram>['listen']['v2']['createConnection']>[0])
  const v2 = await messagesOf(second as unknown as DeepgramSocket)
  await v2.next(ofType('Connected'))
  for (const piece of pieces(16_000)) second.sendMedia(piece)
  for (const event of ['StartOfTurn', 'Update', 'EagerEndOfTurn', 'EndOfTurn'])
    await v2.next((message) => message.event === event)
  second.close()
})

it('talks to the published client of ElevenLabs Agents', async () => {
  await open()
  const events: string[] = []
  let input: (audio: Buffer) => void = () => {}
  // The published client takes these formats only.
  const formats = 'input_format=pcm_16000&output_format=pcm_16000'
  const address = `${standIns.wsUrl}/v1/convai/conversation?agent_id=a&tools=check_time&${formats}`
  const talk = new Conversation({
    agentId: 'a',
    requiresAuth: true,
    client: { conversationalAi: { conversations: { getSignedUrl: async () => ({ signedUrl: address }) } } },
    audioInterface: {
      start: (callback: (audio: Buffer) => void) => {
        input = callback
      },
      stop: () => {},
      output: () => events.push('audio'),
      interrupt: () => events.push('interrupt'),
    },
    clientTools: clientTools(),
    callbackAgentResponse: (text: string) => events.push(text),
    callbackUserTranscript: (text: string) => events.push(text),
  } as unknown as ConstructorParameters<typeof Conversation>[0])
  await talk.startSession()
  const speak = () => {
    for (const piece of pieces(16_000)) input(piece)
  }
  speak()
  await expect.poll(() => events).toContain('audio')
  expect(events).toEqual(expect.arrayContaining(['what time is it', 'It is noon.']))
  speak()
  await expect.poll(() => events).toContain('Yes?')
  expect(events).toContain('interrupt')
  talk.endSession()
})

/** Functions of the ElevenLabs client. */
const clientTools = () => ({
  executeToolAsync: (_name: string, { tool_call_id }: Json, answer: (event: object) => void) =>
    answer({ type: 'client_tool_result', tool_call_id, result: 'noon', is_error: false }),
})

it('recognises for the published client of ElevenLabs', async () => {
  await open({ hears: ['good morning'] })
  const scribe = new ScribeRealtime({ apiKey: 'any', baseUrl: standIns.url })
  const connection = await scribe.connect({
    modelId: 'scribe_v2_realtime',
    audioFormat: AudioFormat.PCM_16000,
    sampleRate: 16_000,
    commitStrategy: CommitStrategy.MANUAL,
  })
  const messages = new Messages<Json>()
  for (const event of [RealtimeEvents.SESSION_STARTED, RealtimeEvents.COMMITTED_TRANSCRIPT])
    connection.on(event, (message: unknown) => messages.add(message as Json))
  await messages.next(({ message_type }) => message_type === 'session_started')
  for (const piece of pieces(16_000)) connection.send({ audioBase64: piece.toString('base64') })
  connection.commit()
  expect(await messages.next(({ message_type }) => message_type === 'committed_transcript')).toMatchObject({
    text: 'good morning',
  })
  connection.close()
})

it('talks to the published client of OpenAI Live, at the pace of its audio', async () => {
  await open()
  const client = new OpenAI({ apiKey: 'any', baseURL: `${standIns.url}/v1` })
  const socket = new LiveWS(client)
  const messages = new Messages<Json>()
  socket.on('event', (event: unknown) => messages.add(event as Json))
  socket.on('error', () => {})
  await new Promise((resolve) => socket.socket.on('open', resolve))
  const functions = [{ type: 'function' as const, name: 'check_time', parameters: {}, strict: false }]
  socket.send({
    type: 'session.start',
    session: {
      model: 'gpt-live-1',
      audio: { format: { type: 'audio/pcm', rate: 16_000 } },
      delegation: { type: 'responses', responses: { model: 'any', tools: functions } },
    },
  } as Parameters<typeof socket.send>[0])
  await messages.next(ofType('session.started'))
  const append = (bytes: Buffer) =>
    socket.send({ type: 'session.input_audio.append', audio: bytes.toString('base64') } as Parameters<
      typeof socket.send
    >[0])
  for (const piece of pieces(16_000)) append(piece)
  await messages.next(ofType('session.delegation.created'))
  const { event } = (await messages.next(ofType('response.event'))) as {
    event: { item: { call_id: string } }
  }
  const { call_id } = event.item
  socket.send({
    type: 'response.item.create',
    item: { type: 'function_call_output', call_id, output: 'noon' },
  } as Parameters<typeof socket.send>[0])
  socket.send({ type: 'response.create' } as Parameters<typeof socket.send>[0])
  // The answer is prepared by a thread, and is spoken only while the caller's audio goes on.
  const still = setInterval(() => append(pcmBytes(quiet(20, 16_000))), 5)
  const words = await messages.next(ofType('session.output_transcript.delta'))
  clearInterval(still)
  expect(words.delta).toBe('It')
  for (const piece of pieces(16_000)) append(piece)
  const more = setInterval(() => append(pcmBytes(quiet(20, 16_000))), 5)
  await messages.next(({ delta }) => delta === 'Yes?')
  clearInterval(more)
  socket.send({ type: 'session.close' } as Parameters<typeof socket.send>[0])
  expect(await messages.next(ofType('session.closed'))).toMatchObject({ reason: 'close_requested' })
})

/** Opens a WebSocket without a client package. */
const openSocket = async (
  path: string,
): Promise<{ readonly socket: WebSocket; readonly messages: Messages<Json> }> => {
  const socket = new WebSocket(path.startsWith('ws') ? path : `${standIns.wsUrl}${path}`)
  const messages = new Messages<Json>()
  socket.on('message', (data: Buffer, isBinary) =>
    messages.add(isBinary ? { type: 'audio', bytes: data.length } : (JSON.parse(data.toString()) as Json)),
  )
  await new Promise((resolve) => socket.on('open', resolve))
  return { socket, messages }
}

it('speaks for ElevenLabs, Deepgram and Piper, and recognises for Vosk', async () => {
  await open({ pace: 0, hears: ['good morning'] })
  const eleven = await openSocket('/v1/text-to-speech/v/stream-input?output_format=ulaw_8000')
  for (const text of [' ', 'Good ', 'morning. ', '']) eleven.socket.send(JSON.stringify({ text }))
  const { alignment } = (await eleven.messages.next(({ audio }) => typeof audio === 'string')) as {
    alignment: { chars: string[] }
  }
  expect('Good morning.'.startsWith(alignment.chars.join(''))).toBe(true)
  await eleven.messages.next(({ isFinal }) => isFinal === true)
  const aura = await openSocket('/v1/speak?encoding=mulaw&sample_rate=8000')
  for (const message of [{ type: 'Speak', text: 'Good morning.' }, { type: 'Flush' }])
    aura.socket.send(JSON.stringify(message))
  expect(await aura.messages.next(ofType('audio'))).toMatchObject({ bytes: 800 })
  await aura.messages.next(ofType('Flushed'))
  const body = JSON.stringify({ text: 'Good morning.' })
  const piper = await fetch(standIns.url, { method: 'POST', body })
  expect(
    Buffer.from(await piper.arrayBuffer())
      .subarray(0, 4)
      .toString(),
  ).toBe('RIFF')
  const vosk = await openSocket('/vosk')
  vosk.socket.send(JSON.stringify({ config: { sample_rate: 16_000 } }))
  for (const piece of pieces(16_000)) vosk.socket.send(piece)
  expect(await vosk.messages.next(({ partial }) => partial !== undefined)).toEqual({ partial: 'good' })
  expect(await vosk.messages.next(({ text }) => text !== undefined)).toMatchObject({ text: 'good morning' })
  vosk.socket.send('{"eof" : 1}')
  expect(await vosk.messages.next(({ text }) => text === '')).toEqual({ text: '' })
})

it('creates and holds a call of Ultravox', async () => {
  await open()
  const medium = { serverWebSocket: { inputSampleRate: 16_000, outputSampleRate: 8000 } }
  const selectedTools = [{ temporaryTool: { modelToolName: 'check_time', client: {} } }]
  const body = JSON.stringify({ medium, selectedTools, firstSpeakerSettings: { user: {} } })
  const created = await fetch(`${standIns.url}/api/calls`, { method: 'POST', body })
  expect(created.status).toBe(201)
  const { joinUrl } = (await created.json()) as { joinUrl: string }
  const { socket, messages } = await openSocket(joinUrl)
  await messages.next(({ state }) => state === 'listening')
  for (const piece of pieces(16_000)) socket.send(piece)
  const { invocationId } = await messages.next(ofType('client_tool_invocation'))
  socket.send(JSON.stringify({ type: 'client_tool_result', invocationId, result: 'noon' }))
  await messages.next(({ state }) => state === 'speaking')
  await messages.next(({ role, text }) => role === 'agent' && text === 'It is noon.')
  for (const piece of pieces(16_000)) socket.send(piece)
  await messages.next(ofType('playback_clear_buffer'))
  await messages.next(({ text }) => text === 'Yes?')
})
