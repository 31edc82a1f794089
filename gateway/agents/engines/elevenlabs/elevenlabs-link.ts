import type { AgentMessage } from '../../../../handlers/verbs.ts'
import type { Timer } from '../../../core/clock.ts'
import type { EngineAbilities, EngineCall, EngineChange } from '../../engine.ts'
import type { EngineTarget, WireMessage } from '../session/engine-socket.ts'
import { kindOfCode } from '../session/failures.ts'
import { OpenCalls } from '../session/open-calls.ts'
import { Answers } from '../session/session-answers.ts'
import { SessionLink, type SessionOpening } from '../session/session-link.ts'
import { type HttpSessionDeps, requestSession, socketUrlOf } from '../session/session-request.ts'
import { isConvertible, WireDecoder, WireEncoder, type WireFormat } from '../session/wire-audio.ts'
import { numberAt, objectAt, textAt } from '../session/wire-values.ts'
import { formatNamed, initiationOf } from './elevenlabs-messages.ts'
import type { ElevenLabsAgentOptions } from './elevenlabs-options.ts'

/** Pause of the server's audio after which an answer is complete, in ms: the protocol has no event for it. */
const endOfAnswerMs = 1_000
const signingTimeoutMs = 5_000

/** Session with an agent of ElevenLabs. */
export class ElevenLabsAgentLink extends SessionLink {
  readonly abilities: EngineAbilities
  readonly #options: ElevenLabsAgentOptions
  readonly #answers: Answers
  readonly #calls = new OpenCalls()
  #end: Timer | undefined
  /** Audio up to this id is void. */
  #voidId = -1
  #lastId = -1
  /** Whether all audio of an answer has one id, as far as two pieces with the same id have shown. */
  #hasAnswerIds = false
  /** Whether a text was sent that the server has not begun to answer. */
  #isAsked = false
  /** Whether the gateway cut an answer, of which more audio may come until the server goes on. */
  #isCut = false
  /** Whether the answer in progress has had audio. */
  #hasAudio = false
  /** Whether the cut answer has had no audio yet, so that the next id is its own. */
  #isCutUnheard = false

  constructor(
    options: ElevenLabsAgentOptions,
    target: EngineTarget,
    send: HttpSessionDeps['send'],
    opening: SessionOpening,
  ) {
    const { format = 'pcmu', longestMs, signingUrl, key } = options
    super({ target, input: format, output: format }, opening)
    this.#options = options
    this.abilities = {
      turns: 'its',
      cut: 'none',
      pace: 'burst',
      isExact: false,
      changes: false,
      changesHistory: false,
      ...(longestMs !== undefined && { longestMs }),
    }
    this.#answers = new Answers(this.listener)
    if (signingUrl === undefined) this.socket.connect()
    else
      void this.connectAfter(async (signal) => {
        const headers = { ...(key !== undefined && { 'xi-api-key': key }) }
        const limits = { timeoutMs: signingTimeoutMs, signal }
        return socketUrlOf(
          await requestSession(send, { method: 'GET', url: signingUrl, headers }, limits),
          'signed_url',
        )
      })
  }

  onOpen(): void {
    this.socket.send(initiationOf(this.#options, this.request))
  }

  audioMessage(audio: Buffer): WireMessage {
    return { user_audio_chunk: audio.toString('base64') }
  }

  onMessage(message: WireMessage): void {
    switch (textAt(message, 'type')) {
      case 'conversation_initiation_metadata':
        this.#onMetadata(objectAt(message, 'conversation_initiation_metadata_event'))
        break
      case 'ping':
        this.socket.send({ type: 'pong', event_id: objectAt(message, 'ping_event').event_id })
        break
      case 'audio':
        this.#onAudio(objectAt(message, 'audio_event'))
        break
      case 'interruption':
        this.#onInterruption(objectAt(message, 'interruption_event'))
        break
      case 'user_transcript':
        this.#onHeard(textAt(objectAt(message, 'user_transcription_event'), 'user_transcript') ?? '')
        break
      case 'agent_response':
        this.#onText(textAt(objectAt(message, 'agent_response_event'), 'agent_response') ?? '')
        break
      case 'client_tool_call':
        this.#onCall(objectAt(message, 'client_tool_call'))
        break
      case 'error':
        this.#onError(objectAt(message, 'error_event'))
    }
  }

  /** The server ends turns and answers by itself. */
  commit(): void {}

  message({ role, content }: AgentMessage, respond: boolean): void {
    if (respond) this.#ask(content)
    else this.put({ type: 'contextual_update', text: `${role}: ${content}` })
  }

  answer(instruction: string | undefined): void {
    this.#ask(`(${instruction ?? 'The call has begun. Speak first.'})`)
  }

  say(text: string): void {
    this.#ask(`(Say exactly these words, and nothing else: <<<${text}>>>)`)
  }

  /** The server stops by itself; what it still sends of the answer is dropped. */
  interrupt(): void {
    this.#voidId = Math.max(this.#voidId, this.#lastId)
    const isInProgress = this.#answers.current !== undefined
    if (isInProgress) this.#isCutUnheard = !this.#hasAudio
    this.#finish('cancelled')
    if (isInProgress || this.#isCut) this.#dropRest()
  }

  /** The server answers by itself when it has a result; `respond` has no effect. */
  result({ id }: EngineCall, text: string): void {
    if (this.#calls.close(id))
      this.put({ type: 'client_tool_result', tool_call_id: id, result: text, is_error: false })
  }

  /** Nothing can change: the conversation opens another session. */
  change(_change: EngineChange): void {}

  protected override ended(): void {
    this.#end?.cancel()
  }

  #ask(text: string): void {
    this.#isAsked = true
    this.put({ type: 'user_message', text })
  }

  /** The agent's configuration decides the formats. */
  #onMetadata(facts: WireMessage): void {
    const output = textAt(facts, 'agent_output_audio_format') ?? 'ulaw_8000'
    const input = textAt(facts, 'user_input_audio_format') ?? 'ulaw_8000'
    const decoded = formatNamed(output)
    const encoded = formatNamed(input)
    if (!decoded || !encoded || !this.#isMade(decoded, encoded)) {
      const formats = this.socket.publicText(`${input}, ${output}`)
      this.socket.fail('refused', `the agent has formats that do not fit the configured one: ${formats}`)
    } else this.started()
  }

  /** Audio that was kept is in the configured format, so another format of the caller does not fit. */
  #isMade(output: WireFormat, input: WireFormat): boolean {
    if (input !== (this.#options.format ?? 'pcmu') || !isConvertible(output, this.outputRate)) return false
    this.decoder = new WireDecoder(output, this.outputRate)
    this.encoder = new WireEncoder(input, this.inputRate)
    return true
  }

  #onAudio(event: WireMessage): void {
    const named = numberAt(event, 'event_id')
    const id = named ?? this.#lastId
    const base64 = textAt(event, 'audio_base_64')
    this.#hasAnswerIds ||= named === this.#lastId
    if (base64 === undefined || id <= this.#voidId) return
    this.#lastId = id
    // Audio with an id of its own is the next answer, also from agents that send no texts.
    if (this.#isCut && this.#isCutUnheard) this.#voidId = id
    else if (this.#hasAnswerIds) this.#isCut = false
    if (this.#isCut) {
      this.#isCutUnheard = false
      this.#dropRest()
      return
    }
    const samples = this.samplesOf(base64)
    if (!samples) return
    // Agents may be configured to send no texts of their answers.
    if (this.#answers.current === undefined) this.#answerBegins()
    this.#answers.audio(samples)
    this.#hasAudio = true
    this.#awaitEnd()
  }

  /**
   * Drops audio that was sent before the server learned of the cut. It ends with the server's next event,
   * with the id of another answer, or with a pause.
   */
  #dropRest(): void {
    this.#isCut = true
    this.#end?.cancel()
    this.#end = this.clock.after(endOfAnswerMs, () => {
      this.#isCut = false
    })
  }

  #awaitEnd(): void {
    this.#end?.cancel()
    this.#end = this.clock.after(endOfAnswerMs, () => this.#finish('completed'))
  }

  #finish(how: 'completed' | 'cancelled'): void {
    this.#end?.cancel()
    this.#answers.end(how)
    this.#hasAudio = false
    this.decoder.reset()
  }

  #onInterruption(event: WireMessage): void {
    const id = numberAt(event, 'event_id')
    // The answer to a text that interrupts has the id of the interruption, unless it names the former one.
    this.#voidId = Math.max(this.#voidId, this.#lastId, (id ?? 0) - 1)
    this.#finish('cancelled')
    // A text interrupts the agent, too. No turn of the caller begins by it, which would make its answer void.
    const isOurs = this.#isAsked
    this.#answerBegins()
    if (isOurs) return
    this.listener.onTurn('began')
    this.listener.onInterrupted()
  }

  /** The server has gone on after the last text: a later interruption is by the caller. */
  #answerBegins(): void {
    this.#isAsked = false
    this.#isCut = false
  }

  #onHeard(text: string): void {
    this.#answerBegins()
    this.#finish('completed')
    if (text.trim() !== '') this.listener.onHeard({ text: text.trim(), isFinal: true })
    this.listener.onTurn('ended')
  }

  #onText(text: string): void {
    this.#answerBegins()
    this.#answers.text(text)
    this.#awaitEnd()
  }

  /** The answer ends with its call; the next one follows the result. */
  #onCall(event: WireMessage): void {
    const id = textAt(event, 'tool_call_id')
    if (id === undefined || !this.#calls.open(id)) return
    // The server has gone on after a cut. What it says next may have the id of the same turn.
    if (this.#isCut) this.#voidId = Math.min(this.#voidId, this.#lastId - 1)
    this.#isCut = false
    const args = JSON.stringify(event.parameters ?? {})
    this.listener.onCall(this.#answers.begin(), { id, name: textAt(event, 'tool_name') ?? '', args })
    this.#finish('completed')
  }

  #onError(event: WireMessage): void {
    const name = numberAt(event, 'code') ?? textAt(event, 'code') ?? textAt(event, 'error_type')
    const code = this.socket.publicText(String(name ?? 'unknown error'))
    if (this.socket.isReady) this.onWarning('engine_error', code)
    else this.socket.fail(kindOfCode(code, 'refused'), `${code}: ${this.socket.publicText(event.message)}`)
  }
}
