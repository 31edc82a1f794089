import { randomUUID } from 'node:crypto'
import type { Timer } from '../../core/clock.ts'
import { isJsonObject } from '../../core/json.ts'
import { toBytes } from '../audio-format.ts'
import { elevenLabsFormat } from '../elevenlabs-format.ts'
import { errorFacts, type SocketCall, type SocketEngine } from '../stand.ts'
import { AgentTalk } from './agent-talk.ts'
import { parsedArgs } from './parsed-args.ts'

/** Silence that ends a turn, in ms. */
const silenceMs = 500
const pingMs = 2000

/**
 * ElevenLabs Agents. The real server has the formats in the agent's configuration. Here the query has them:
 * `input_format` and `output_format`. The default is that of telephones, as in the gateway.
 */
export const elevenLabsAgent: SocketEngine = {
  name: 'elevenlabs-agent',
  serves: (path) => path === '/v1/convai/conversation',
  open: (call) => {
    if (!call.url.searchParams.get('agent_id'))
      return call.socket.close(1008, 'Missing required field: agent_id')
    new ElevenLabsAgentSession(call)
  },
}

type Message = Readonly<Record<string, unknown>>

class ElevenLabsAgentSession {
  readonly #call: SocketCall
  #talk: AgentTalk | undefined
  #eventId = 0
  /** Id of the turn: all audio of its answer has it. */
  #turnId = 0
  #ping: Timer | undefined
  #said = ''

  constructor(call: SocketCall) {
    this.#call = call
    call.socket.listen({
      onMessage: (message) => this.#read(message),
      onClosed: () => {
        this.#ping?.cancel()
        this.#talk?.close()
      },
    })
  }

  #read(message: Message): void {
    const { type, user_audio_chunk: audio } = message
    if (type === 'conversation_initiation_client_data') this.#start(message)
    else if (!this.#talk) this.#start({})
    if (typeof audio === 'string') this.#talk?.hear(Buffer.from(audio, 'base64'))
    if (type === 'user_message' && typeof message.text === 'string') {
      this.#turnId = ++this.#eventId
      this.#talk?.read(message.text)
    }
    if (type === 'client_tool_result')
      this.#talk?.result(String(message.tool_call_id), textOf(message.result))
  }

  #start({ conversation_config_override: override }: Message): void {
    if (this.#talk) return
    const { searchParams } = this.#call.url
    const [inputName, outputName] = ['input_format', 'output_format'].map(
      (name) => searchParams.get(name) ?? 'ulaw_8000',
    )
    const input = elevenLabsFormat(inputName)
    const output = elevenLabsFormat(outputName)
    if (!input || !output) {
      this.#call.socket.close(1008, 'Unsupported audio format')
      return
    }
    const { socket } = this.#call
    this.#turnId = ++this.#eventId
    this.#send('conversation_initiation_metadata', 'conversation_initiation_metadata_event', {
      conversation_id: `conv_${randomUUID()}`,
      agent_output_audio_format: outputName,
      user_input_audio_format: inputName,
    })
    const talk = new AgentTalk(
      this.#call,
      { engine: 'elevenlabs-agent', input, output, silenceMs },
      {
        onHeard: (text) => {
          this.#turnId = ++this.#eventId
          this.#sendOfTurn('user_transcript', 'user_transcription_event', { user_transcript: text })
        },
        onSpeech: (text) => {
          this.#said = text
          this.#sendOfTurn('agent_response', 'agent_response_event', { agent_response: text })
        },
        onAudio: (samples) => {
          const audio = toBytes(samples, output).toString('base64')
          this.#sendOfTurn('audio', 'audio_event', { audio_base_64: audio })
        },
        onAnswerEnd: (isInterrupted) => {
          if (isInterrupted) this.#interrupted()
        },
        call: ({ id, name, args }) =>
          socket.send({
            type: 'client_tool_call',
            client_tool_call: { tool_name: name, tool_call_id: id, parameters: parsedArgs(args) },
          }),
        error: (kind) => {
          const { code, text } = errorFacts[kind]
          this.#send('error', 'error_event', { code, message: text })
          socket.close(kind === 'server' ? 1011 : 1008, code)
        },
      },
    )
    this.#talk = talk
    talk.functions = toolsOf(this.#call.url)
    this.#keepPinging()
    talk.begin(firstMessageOf(override))
  }

  /** The answer to a text has the id of the interruption by it. A spoken turn then has an id of its own. */
  #interrupted(): void {
    this.#turnId = ++this.#eventId
    this.#sendOfTurn('interruption', 'interruption_event', {})
    const words = this.#said.split(' ')
    this.#sendOfTurn('agent_response_correction', 'agent_response_correction_event', {
      original_agent_response: this.#said,
      corrected_agent_response: `${words.slice(0, Math.ceil(words.length / 2)).join(' ')}...`,
    })
  }

  #keepPinging(): void {
    this.#send('ping', 'ping_event', { event_id: ++this.#eventId, ping_ms: 20 })
    this.#ping = this.#call.stand.clock.after(pingMs, () => this.#keepPinging())
  }

  #sendOfTurn(type: string, field: string, event: object): void {
    this.#send(type, field, { ...event, event_id: this.#turnId })
  }

  #send(type: string, field: string, event: object): void {
    this.#call.socket.send({ type, [field]: event })
  }
}

/** The agent's configuration has the tools; here the query names them: `tools=check_time,hangup`. */
const toolsOf = ({ searchParams }: URL): readonly { readonly name: string }[] =>
  (searchParams.get('tools') ?? '')
    .split(',')
    .filter((name) => name !== '')
    .map((name) => ({ name }))

const firstMessageOf = (override: unknown): string | undefined => {
  const agent = isJsonObject(override) ? override.agent : undefined
  const first = isJsonObject(agent) ? agent.first_message : undefined
  return typeof first === 'string' && first !== '' ? first : undefined
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? ''))
