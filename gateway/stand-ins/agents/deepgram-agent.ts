import { randomUUID } from 'node:crypto'
import { isJsonObject } from '../../core/json.ts'
import { type AudioFormat, toBytes } from '../audio-format.ts'
import { deepgramFormat } from '../recognisers/recognition.ts'
import { errorFacts, type SocketCall, type SocketEngine } from '../stand.ts'
import { AgentTalk } from './agent-talk.ts'

/** Silence that ends a turn in place of the model's decision, in ms. */
const silenceMs = 400

/** Deepgram's Voice Agent. */
export const deepgramAgent: SocketEngine = {
  name: 'deepgram-agent',
  serves: (path) => path === '/v1/agent/converse',
  open: (call) => new DeepgramAgentSession(call),
}

type Message = Readonly<Record<string, unknown>>

class DeepgramAgentSession {
  readonly #call: SocketCall
  #talk: AgentTalk | undefined

  constructor(call: SocketCall) {
    this.#call = call
    call.socket.listen({
      onMessage: (message) => this.#read(message),
      onAudio: (bytes) => this.#talk?.hear(bytes),
      onFaulty: () => this.#fail('INVALID_MESSAGE', 'The message is no JSON object.'),
      onClosed: () => this.#talk?.close(),
    })
    call.socket.send({ type: 'Welcome', request_id: randomUUID() })
  }

  #read(message: Message): void {
    if (message.type === 'Settings') this.#start(message)
    else if (message.type === 'KeepAlive') return
    else if (!this.#talk) this.#fail('SETTINGS_NOT_APPLIED', 'Settings must be the first message.')
    else this.#readCommand(this.#talk, message)
  }

  #start({ audio, agent }: Message): void {
    const [heard, spoken] = isJsonObject(audio) ? [audio.input, audio.output] : []
    const input = formatOf(heard, 'input')
    const output = formatOf(spoken, 'output')
    if (!input || !output || !isJsonObject(agent)) {
      this.#fail('UNPARSABLE_CLIENT_MESSAGE', 'Settings: audio formats and an agent expected.')
      return
    }
    const { socket } = this.#call
    const talk = new AgentTalk(
      this.#call,
      { engine: 'deepgram-agent', input, output, silenceMs },
      {
        onStarted: () => socket.send({ type: 'UserStartedSpeaking' }),
        onHeard: (content) => socket.send({ type: 'ConversationText', role: 'user', content }),
        onSpeech: (content) => {
          socket.send({
            type: 'AgentStartedSpeaking',
            total_latency: 0.1,
            tts_latency: 0.05,
            ttt_latency: 0.05,
          })
          socket.send({ type: 'ConversationText', role: 'assistant', content })
        },
        onAudio: (samples) => socket.sendAudio(toBytes(samples, output)),
        onSent: () => socket.send({ type: 'AgentAudioDone' }),
        call: ({ id, name, args }) =>
          socket.send({
            type: 'FunctionCallRequest',
            functions: [{ id, name, arguments: args, client_side: true }],
          }),
        error: (kind) => this.#fail(errorFacts[kind].code.toUpperCase(), errorFacts[kind].text),
      },
    )
    this.#talk = talk
    this.#setFunctions(agent.think)
    socket.send({ type: 'SettingsApplied' })
    if (typeof agent.greeting === 'string') talk.begin(agent.greeting)
  }

  #setFunctions(think: unknown): void {
    const first: unknown = Array.isArray(think) ? think[0] : think
    const functions = isJsonObject(first) && Array.isArray(first.functions) ? first.functions : []
    if (!this.#talk) return
    this.#talk.functions = functions
      .filter(isJsonObject)
      .map(({ name, parameters }) => ({ name: String(name), parameters }))
  }

  #readCommand(talk: AgentTalk, message: Message): void {
    const { socket } = this.#call
    const { type, content, message: text } = message
    if (type === 'FunctionCallResponse') {
      if (!talk.result(String(message.id), String(content ?? '')))
        socket.send({ type: 'Warning', code: 'UNKNOWN_FUNCTION_CALL', description: 'No such function call.' })
    } else if (type === 'InjectAgentMessage') this.#inject(talk, String(text ?? ''), message.behavior)
    else if (type === 'InjectUserMessage') talk.read(String(content ?? ''))
    else if (type === 'ForceEndTurn') talk.endTurn()
    else if (type === 'UpdatePrompt') socket.send({ type: 'PromptUpdated' })
    else if (type === 'UpdateSpeak') socket.send({ type: 'SpeakUpdated' })
    else if (type === 'UpdateListen') socket.send({ type: 'ListenUpdated' })
    else if (type === 'UpdateThink') {
      this.#setFunctions(message.think)
      socket.send({ type: 'ThinkUpdated' })
    } else this.#fail('UNPARSABLE_CLIENT_MESSAGE', `Unknown type ${String(type)}.`)
  }

  #inject(talk: AgentTalk, text: string, behavior: unknown): void {
    if (behavior === 'interrupt') talk.interrupt()
    else if (behavior !== 'queue' && talk.isBusy) {
      this.#call.socket.send({ type: 'InjectionRefused', message: 'The caller or the agent is speaking.' })
      return
    }
    talk.speak(text)
  }

  #fail(code: string, description: string): void {
    this.#call.socket.send({ type: 'Error', code, description })
  }
}

const formatOf = (given: unknown, side: 'input' | 'output'): AudioFormat | undefined => {
  if (given === undefined && side === 'output') return { coding: 'pcm', rate: 24_000 }
  return isJsonObject(given) ? deepgramFormat(given.encoding, given.sample_rate) : undefined
}
