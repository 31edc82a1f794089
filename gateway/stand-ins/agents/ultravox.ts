import { randomUUID } from 'node:crypto'
import { isJsonObject, readJsonObject } from '../../core/json.ts'
import { toBytes } from '../audio-format.ts'
import type { OfferedFunction } from '../dialogue.ts'
import { soundRateOf } from '../sound-store.ts'
import {
  errorFacts,
  type HttpCall,
  type HttpEngine,
  type SocketCall,
  type SocketEngine,
  sendError,
  sendJson,
} from '../stand.ts'
import { AgentTalk } from './agent-talk.ts'
import { parsedArgs } from './parsed-args.ts'
import type { UltravoxCall } from './ultravox-call.ts'

/** Silence that ends a turn if the client names none, in ms. */
const defaultSilenceMs = 384

/** Number of calls that wait at most; the oldest is dropped. */
const maxCreated = 1000

/** Ultravox' request for a call. */
export const ultravoxCalls: HttpEngine = {
  name: 'ultravox',
  method: 'POST',
  serves: (path) => path === '/api/calls',
  answer: async (call) => {
    const request = readCall(call)
    if (typeof request === 'string') return sendError(call, 'refused', request)
    const callId = randomUUID()
    const created = call.stand.ultravoxCalls
    created.set(callId, request)
    const [oldest] = created.keys()
    if (created.size > maxCreated && oldest !== undefined) created.delete(oldest)
    const isTls = 'encrypted' in call.request.socket
    const server = `${isTls ? 'wss' : 'ws'}://${call.request.headers.host ?? ''}`
    const joinUrl = `${server}/calls/${callId}/server_web_socket`
    const time = new Date(call.stand.clock.now()).toISOString()
    sendJson(call, 201, { callId, created: time, joined: null, ended: null, joinUrl })
  },
}

const readCall = ({ body }: HttpCall): UltravoxCall | string => {
  let read: Record<string, unknown>
  try {
    read = readJsonObject(body.toString())
  } catch {
    return 'The body is no JSON object.'
  }
  const medium = isJsonObject(read.medium) ? read.medium.serverWebSocket : undefined
  if (!isJsonObject(medium)) return 'medium.serverWebSocket: expected; the stand-in has no other medium'
  const inputRate = soundRateOf(Number(medium.inputSampleRate))
  const outputRate = soundRateOf(Number(medium.outputSampleRate ?? medium.inputSampleRate))
  if (!inputRate || !outputRate)
    return 'medium.serverWebSocket: a sample rate of 8000, 16000, 24000 or 48000 expected'
  const { vadSettings, selectedTools, firstSpeakerSettings } = read
  const delay = isJsonObject(vadSettings)
    ? /^(\d{1,3}(?:\.\d{1,9})?)s$/.exec(String(vadSettings.turnEndpointDelay))
    : null
  const agent = isJsonObject(firstSpeakerSettings) ? firstSpeakerSettings.agent : undefined
  const greeting = isJsonObject(agent) && typeof agent.text === 'string' ? agent.text : undefined
  return {
    input: { coding: 'pcm', rate: inputRate },
    output: { coding: 'pcm', rate: outputRate },
    silenceMs: delay ? Number(delay[1]) * 1000 : defaultSilenceMs,
    functions: toolsOf(selectedTools),
    userSpeaksFirst: isJsonObject(firstSpeakerSettings) && firstSpeakerSettings.user !== undefined,
    ...(greeting !== undefined && { greeting }),
  }
}

const toolsOf = (tools: unknown): readonly OfferedFunction[] =>
  (Array.isArray(tools) ? tools : [])
    .map((tool: unknown) => (isJsonObject(tool) ? tool.temporaryTool : undefined))
    .filter(isJsonObject)
    .map(({ modelToolName, dynamicParameters }) => {
      const given = (Array.isArray(dynamicParameters) ? dynamicParameters : []).filter(isJsonObject)
      const properties = Object.fromEntries(given.map(({ name, schema }) => [String(name), schema]))
      const required = given.filter((each) => each.required === true).map(({ name }) => String(name))
      return { name: String(modelToolName), parameters: { type: 'object', properties, required } }
    })

/** WebSocket of an Ultravox call. */
export const ultravox: SocketEngine = {
  name: 'ultravox',
  serves: (path) => /^\/calls\/[0-9a-f-]{36}\/server_web_socket$/.test(path),
  open: (call) => {
    const id = call.url.pathname.split('/')[2] ?? ''
    const request = call.stand.ultravoxCalls.get(id)
    call.stand.ultravoxCalls.delete(id)
    if (!request) return call.socket.close(1008, 'Call not found')
    new UltravoxSession(call, id, request)
  },
}

class UltravoxSession {
  readonly #call: SocketCall
  readonly #talk: AgentTalk
  #ordinal = 0
  #said = ''

  constructor(
    call: SocketCall,
    id: string,
    { functions, greeting, userSpeaksFirst, ...timing }: UltravoxCall,
  ) {
    this.#call = call
    const { socket } = call
    this.#talk = new AgentTalk(
      call,
      { engine: 'ultravox', ...timing },
      {
        onHeard: (text) => this.#transcript('user', 'voice', text, true),
        onAnswer: () => this.#state('thinking'),
        onSpeech: (text) => {
          this.#said = text
          this.#state('speaking')
          this.#transcript('agent', 'voice', text, false)
        },
        onAudio: (samples) => socket.sendAudio(toBytes(samples, timing.output)),
        onAnswerEnd: (isInterrupted) => this.#endAnswer(isInterrupted),
        call: ({ id: invocationId, name, args }) =>
          socket.send({
            type: 'client_tool_invocation',
            toolName: name,
            invocationId,
            parameters: parsedArgs(args),
          }),
        error: (kind) => socket.close(kind === 'server' ? 1011 : 1008, errorFacts[kind].code),
      },
    )
    this.#talk.functions = functions
    socket.listen({
      onMessage: (message) => this.#read(message),
      onAudio: (bytes) => this.#talk.hear(bytes),
      onClosed: () => this.#talk.close(),
    })
    socket.send({ type: 'call_started', callId: id })
    if (userSpeaksFirst) this.#state('listening')
    else this.#talk.begin(greeting)
  }

  #read({ type, invocationId, result, errorType, text }: Readonly<Record<string, unknown>>): void {
    if (type === 'client_tool_result') {
      const value = result ?? errorType ?? ''
      this.#talk.result(String(invocationId), typeof value === 'string' ? value : JSON.stringify(value))
    }
    if (type === 'user_text_message' && typeof text === 'string') this.#talk.read(text)
    if (type === 'hang_up') this.#call.socket.close(1000)
  }

  #endAnswer(isInterrupted: boolean): void {
    if (isInterrupted) this.#call.socket.send({ type: 'playback_clear_buffer' })
    if (this.#said !== '') this.#transcript('agent', 'voice', this.#said, true)
    this.#said = ''
    this.#state('listening')
  }

  #state(state: string): void {
    this.#call.socket.send({ type: 'state', state })
  }

  #transcript(role: string, medium: string, text: string, isFinal: boolean): void {
    this.#call.socket.send({
      type: 'transcript',
      role,
      medium,
      text,
      final: isFinal,
      ordinal: this.#ordinal++,
    })
  }
}
