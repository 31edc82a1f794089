import { randomUUID } from 'node:crypto'
import type { Timer } from '../../core/clock.ts'
import { isJsonObject } from '../../core/json.ts'
import { type AudioFormat, toBytes } from '../audio-format.ts'
import type { OfferedFunction } from '../dialogue.ts'
import { type SoundRate, soundRateOf } from '../sound-store.ts'
import { errorFacts, type SocketCall, type SocketEngine } from '../stand.ts'
import { AgentTalk } from './agent-talk.ts'
import { parsedArgs } from './parsed-args.ts'

/** Longest connection, and the time of the notice before its end, in ms. */
const longestMs = 10 * 60_000
const noticeMs = 50_000
/** Silence that ends a turn if the client names none, in ms. */
const defaultSilenceMs = 500
const output: AudioFormat = { coding: 'pcm', rate: 24_000 }

/** Gemini Live. */
export const gemini: SocketEngine = {
  name: 'gemini',
  serves: (path) =>
    path.endsWith('.GenerativeService.BidiGenerateContent') || path.endsWith('/BidiGenerateContent'),
  open: (call) => new GeminiSession(call),
}

type Message = Readonly<Record<string, unknown>>

class GeminiSession {
  readonly #call: SocketCall
  readonly #timers: readonly Timer[]
  #setup: Message | undefined
  #talk: AgentTalk | undefined
  #inputRate: SoundRate = 16_000

  constructor(call: SocketCall) {
    this.#call = call
    const { clock } = call.stand
    this.#timers = [
      clock.after(longestMs - noticeMs, () => this.#send({ goAway: { timeLeft: `${noticeMs / 1000}s` } })),
      clock.after(longestMs, () => call.socket.close(1011, 'deadline expired')),
    ]
    call.socket.listen({
      onMessage: (message) => this.#read(message),
      onFaulty: () => call.socket.close(1007, 'Invalid JSON payload received.'),
      onClosed: () => {
        for (const timer of this.#timers) timer.cancel()
        this.#talk?.close()
      },
    })
  }

  #read(message: Message): void {
    const { setup, realtimeInput, clientContent, toolResponse } = message
    if (!this.#setup) {
      if (!isJsonObject(setup) || typeof setup.model !== 'string')
        this.#call.socket.close(1007, 'setup must be the first message and only the first')
      else this.#start(setup)
    } else if (setup !== undefined)
      this.#call.socket.close(1007, 'setup must be the first message and only the first')
    else if (isJsonObject(realtimeInput)) this.#hear(realtimeInput)
    else if (isJsonObject(clientContent)) this.#readTurns(clientContent)
    else if (isJsonObject(toolResponse)) this.#readResults(toolResponse)
    else this.#call.socket.close(1007, `Unknown name "${Object.keys(message)[0] ?? ''}"`)
  }

  #start(setup: Message): void {
    this.#setup = setup
    this.#send({ setupComplete: { sessionId: randomUUID() } })
    if (isJsonObject(setup.sessionResumption))
      this.#send({ sessionResumptionUpdate: { newHandle: randomUUID(), resumable: true } })
  }

  /** Opens the conversation with the rate of the first audio. */
  #open(): AgentTalk {
    if (this.#talk) return this.#talk
    const { realtimeInputConfig, tools, inputAudioTranscription, outputAudioTranscription } =
      this.#setup ?? {}
    const config = isJsonObject(realtimeInputConfig) ? realtimeInputConfig : {}
    const detection = isJsonObject(config.automaticActivityDetection) ? config.automaticActivityDetection : {}
    const content = (serverContent: object) => this.#send({ serverContent })
    const mimeType = `audio/pcm;rate=${output.rate}`
    const options = {
      engine: 'gemini',
      input: { coding: 'pcm', rate: this.#inputRate },
      output,
      silenceMs: Number(detection.silenceDurationMs ?? defaultSilenceMs),
      detects: detection.disabled !== true,
    } as const
    const talk = new AgentTalk(this.#call, options, {
      onHeard: (text) => {
        if (inputAudioTranscription !== undefined) content({ inputTranscription: { text } })
      },
      onSpeech: (text) => {
        if (outputAudioTranscription !== undefined) content({ outputTranscription: { text } })
      },
      onAudio: (samples) => {
        const data = toBytes(samples, output).toString('base64')
        content({ modelTurn: { role: 'model', parts: [{ inlineData: { mimeType, data } }] } })
      },
      onSent: () => content({ generationComplete: true }),
      onAnswerEnd: (isInterrupted) => this.#endAnswer(isInterrupted),
      call: ({ id, name, args }) =>
        this.#send({ toolCall: { functionCalls: [{ id, name, args: parsedArgs(args) }] } }),
      error: (kind) => this.#call.socket.close(kind === 'server' ? 1011 : 1008, errorFacts[kind].text),
    })
    talk.functions = functionsOf(tools)
    this.#talk = talk
    return talk
  }

  #endAnswer(isInterrupted: boolean): void {
    if (isInterrupted) this.#send({ serverContent: { interrupted: true } })
    const ids = isInterrupted ? (this.#talk?.openCalls ?? []) : []
    if (ids.length > 0) this.#send({ toolCallCancellation: { ids } })
    if (ids.length > 0) this.#talk?.forgetCalls()
    this.#send({ serverContent: { turnComplete: true }, usageMetadata: { totalTokenCount: 10 } })
  }

  #hear({ audio, text, activityStart, activityEnd, audioStreamEnd }: Message): void {
    if (isJsonObject(audio) && typeof audio.data === 'string') {
      const [, rate] = /rate=(\d{4,6})/.exec(String(audio.mimeType)) ?? []
      this.#inputRate = soundRateOf(Number(rate)) ?? this.#inputRate
      this.#open().hear(Buffer.from(audio.data, 'base64'))
    }
    if (typeof text === 'string') this.#open().read(text)
    if (activityStart !== undefined) this.#open().startTurn()
    if (activityEnd !== undefined || audioStreamEnd === true) this.#open().endTurn()
  }

  /** Takes history; a complete turn is answered. */
  #readTurns({ turns, turnComplete }: Message): void {
    if (turnComplete !== true) return
    const last = (Array.isArray(turns) ? turns : []).filter(isJsonObject).at(-1)
    const parts = Array.isArray(last?.parts) ? last.parts.filter(isJsonObject) : []
    this.#open().read(parts.map(({ text }) => String(text ?? '')).join(' '))
  }

  #readResults({ functionResponses }: Message): void {
    const responses = (Array.isArray(functionResponses) ? functionResponses : []).filter(isJsonObject)
    for (const { id, response } of responses) this.#open().result(String(id), JSON.stringify(response ?? {}))
  }

  /** The real server sends its messages as binary frames. */
  #send(message: object): void {
    this.#call.socket.send(message, true)
  }
}

const functionsOf = (tools: unknown): readonly OfferedFunction[] =>
  (Array.isArray(tools) ? tools : [])
    .filter(isJsonObject)
    .flatMap(({ functionDeclarations }) => (Array.isArray(functionDeclarations) ? functionDeclarations : []))
    .filter(isJsonObject)
    .map(({ name, parameters, parametersJsonSchema }) => ({
      name: String(name),
      parameters: parametersJsonSchema ?? parameters,
    }))
