import type { AgentMessage } from '../../../../handlers/verbs.ts'
import type { Timer } from '../../../core/clock.ts'
import type {
  EngineAbilities,
  EngineCall,
  EngineChange,
  EngineFailureKind,
  EngineHeard,
} from '../../engine.ts'
import type { EngineTarget, WireMessage } from '../session/engine-socket.ts'
import { OpenCalls } from '../session/open-calls.ts'
import { Answers } from '../session/session-answers.ts'
import { SessionLink, type SessionOpening } from '../session/session-link.ts'
import { numberAt, objectAt, objectsAt, textAt } from '../session/wire-values.ts'
import { durationMs, hasNotes, rateOf, setupOf, textOf, turnsOf } from './gemini-messages.ts'
import type { GeminiOptions } from './gemini-options.ts'

/** Time before the end of a connection at which it is left, also in the middle of an answer, in ms. */
const leaveMs = 5_000
/**
 * Time in ms that a connection which continues the session has to last before another one continues it. A
 * server that drops each at once would be called without an end.
 */
const minContinuedMs = 5_000
/** Maximum number of notes that wait for the next text. */
const maxNotes = 50

/**
 * Session with Gemini Live. It outlives its connections. The server announces their end; the link then
 * connects anew with the handle of the session, between two answers if it can.
 */
export class GeminiLink extends SessionLink {
  readonly abilities: EngineAbilities
  readonly #options: GeminiOptions
  readonly #answers: Answers
  #handle: string | undefined
  /** Whether this connection continues the session. */
  #isResumed = false
  /** Whether this connection was set up. */
  #isSetUp = false
  /** Uptime in ms at which this connection was set up. */
  #setUpAt = 0
  #leaving: Timer | undefined
  /** Whether the connection is left after the answer. */
  #isLeaving = false
  /** Text of the caller's turn so far. */
  #heard = ''
  /** Whether the server takes texts beside the conversation; see {@link GeminiOptions.notes}. */
  readonly #hasNotes: boolean
  /** Notes that wait for the next text, as the server takes none by themselves. */
  #notes: string[] = []
  readonly #calls = new OpenCalls()

  constructor(options: GeminiOptions, target: EngineTarget, opening: SessionOpening) {
    super({ target, input: 'pcm16000', output: 'pcm24000' }, opening)
    this.#options = options
    this.#hasNotes = hasNotes(options)
    this.abilities = {
      turns: 'its',
      cut: 'note',
      pace: 'burst',
      isExact: false,
      changes: false,
      changesHistory: false,
      ...(options.longestMs !== undefined && { longestMs: options.longestMs }),
    }
    this.#answers = new Answers(this.listener)
    this.socket.connect()
  }

  onOpen(): void {
    this.socket.send(setupOf(this.#options, this.request, this.#handle))
  }

  audioMessage(audio: Buffer): WireMessage {
    const data = audio.toString('base64')
    return { realtimeInput: { audio: { data, mimeType: 'audio/pcm;rate=16000' } } }
  }

  onMessage(message: WireMessage): void {
    if ('setupComplete' in message) this.#begin()
    if ('serverContent' in message) this.#onContent(objectAt(message, 'serverContent'))
    if ('toolCall' in message) this.#onCalls(objectsAt(objectAt(message, 'toolCall'), 'functionCalls'))
    if ('toolCallCancellation' in message)
      this.#onCallsCancelled(objectAt(message, 'toolCallCancellation').ids)
    if ('goAway' in message) this.#onGoAway(objectAt(message, 'goAway'))
    if ('sessionResumptionUpdate' in message) this.#onHandle(objectAt(message, 'sessionResumptionUpdate'))
    if ('usageMetadata' in message) this.#onUsage(objectAt(message, 'usageMetadata'))
  }

  /** A close is where faults of key and setup are reported, in words. */
  kindOfClose(code: number, reason: string): EngineFailureKind | undefined {
    if (/api key|unauthenticated|permission/i.test(reason)) return 'unauthorised'
    if (/quota|exhausted/i.test(reason)) return 'limited'
    return code === 1007 || code === 1008 ? 'refused' : undefined
  }

  override onFailure(failure: Parameters<SessionLink['onFailure']>[0]): void {
    const isLost = failure.kind === 'connection' || failure.kind === 'timeout'
    // A connection that was not set up is not tried again: its handle may be the fault.
    if (isLost && this.#handle !== undefined && this.#isSetUp && !this.#isShort && !this.isOver)
      this.#resume()
    else super.onFailure(failure)
  }

  /** The server ends turns and answers by itself. */
  commit(): void {}

  message(message: AgentMessage, respond: boolean): void {
    if (respond) this.#ask(textOf(message))
    else this.#note(message)
  }

  answer(instruction: string | undefined): void {
    this.#ask(instruction === undefined ? '(Speak now.)' : `(${instruction})`)
  }

  say(text: string): void {
    this.#ask(`(Say exactly these words, and nothing else: <<<${text}>>>)`)
  }

  interrupt(heard: EngineHeard | undefined): void {
    this.#answers.discard()
    if (!heard) return
    const content = `The caller interrupted you, and heard only: <<<${heard.text}>>>`
    this.#note({ role: 'system', content })
  }

  result({ id, name }: EngineCall, text: string, respond: boolean): void {
    if (!this.#calls.close(id)) return
    const response = { id, name, response: { result: text }, ...(!respond && { scheduling: 'SILENT' }) }
    this.put({ toolResponse: { functionResponses: [response] } })
  }

  /** Nothing can change: the conversation opens another session. */
  change(_change: EngineChange): void {}

  protected override ended(): void {
    this.#leaving?.cancel()
  }

  /** Sends a text that the model answers, after the notes that waited for it. */
  #ask(text: string): void {
    this.put({ realtimeInput: { text: [...this.#notes.splice(0), text].join('\n') } })
  }

  /** Adds a text that the model does not answer. */
  #note(message: AgentMessage): void {
    if (this.#hasNotes) this.put({ clientContent: { turns: turnsOf([message]), turnComplete: false } })
    else {
      this.#notes.push(textOf(message))
      if (this.#notes.length > maxNotes) this.#notes.shift()
    }
  }

  #begin(): void {
    if (this.socket.isReady) return
    this.#isSetUp = true
    this.#setUpAt = this.clock.uptime()
    const turns = this.#isResumed ? [] : turnsOf(this.request.history)
    // By `historyConfig`, the server takes these turns as they are, and answers none of them.
    if (turns.length > 0) this.socket.send({ clientContent: { turns, turnComplete: true } })
    this.started()
  }

  #onContent(content: WireMessage): void {
    this.#onHeard(textAt(objectAt(content, 'inputTranscription'), 'text') ?? '')
    if (content.interrupted === true) this.#onInterrupted()
    for (const part of objectsAt(objectAt(content, 'modelTurn'), 'parts'))
      this.#onSound(objectAt(part, 'inlineData'))
    const text = textAt(objectAt(content, 'outputTranscription'), 'text') ?? ''
    if (text !== '' && !this.#answers.isDiscarding) {
      this.#turnEnded()
      this.#answers.text(text)
    }
    if (content.generationComplete === true) this.#answers.endItem()
    if (content.turnComplete === true) this.#onTurnComplete(content)
  }

  #onSound(data: WireMessage): void {
    const base64 = textAt(data, 'data')
    if (base64 === undefined || this.#answers.isDiscarding) return
    if (rateOf(textAt(data, 'mimeType') ?? '') !== 24_000) {
      this.socket.fail('protocol', 'audio of 24,000 Hz expected')
      return
    }
    const samples = this.samplesOf(base64)
    if (!samples) return
    this.#turnEnded()
    this.#answers.audio(samples)
  }

  #onInterrupted(): void {
    const isKnown = this.#answers.isDiscarding
    this.#answers.end('cancelled')
    this.#answers.accept()
    this.decoder.reset()
    if (!isKnown) this.listener.onInterrupted()
  }

  #onTurnComplete(content: WireMessage): void {
    const isCut = textAt(content, 'turnCompleteReason') === 'MAX_TOKENS'
    if (this.#answers.current !== undefined) this.#heardAll()
    this.#answers.end(isCut ? 'incomplete' : 'completed')
    this.#answers.accept()
    this.decoder.reset()
    if (this.#isLeaving) this.#resume()
  }

  /** While an answer is under way, a text may be that of the turn before it, and begins no turn. */
  #onHeard(piece: string): void {
    if (piece === '') return
    if (this.#heard === '' && this.#answers.current === undefined) this.listener.onTurn('began')
    this.#heard += piece
    this.listener.onHeard({ text: this.#heard.trim(), isFinal: false })
  }

  /** The server has no event for the end of the caller's turn: it is the begin of the answer. */
  #turnEnded(): void {
    if (this.#answers.current === undefined && this.#heardAll()) this.listener.onTurn('ended', true)
  }

  /** Reports the text so far as final. Returns false for an empty one. */
  #heardAll(): boolean {
    const text = this.#heard.trim()
    this.#heard = ''
    if (text !== '') this.listener.onHeard({ text, isFinal: true })
    return text !== ''
  }

  /** The answer ends with its calls; the next one follows their results. */
  #onCalls(calls: readonly WireMessage[]): void {
    if (this.#answers.isDiscarding) {
      // The server waits for a result of every call, also of those that are not made.
      for (const { id, name } of calls)
        this.put({ toolResponse: { functionResponses: [{ id, name, response: { error: 'cancelled' } }] } })
      return
    }
    this.#turnEnded()
    const answer = this.#answers.begin()
    for (const call of calls) {
      const id = textAt(call, 'id') ?? ''
      if (!this.#calls.open(id)) continue
      const args = JSON.stringify(call.args ?? {})
      this.listener.onCall(answer, { id, name: textAt(call, 'name') ?? '', args })
    }
    this.#answers.end('completed')
  }

  #onCallsCancelled(ids: unknown): void {
    const cancelled = (Array.isArray(ids) ? ids : []).filter((id) => this.#calls.close(id))
    if (cancelled.length > 0) this.listener.onCallsCancelled(cancelled)
  }

  /** While the server cannot resume, for instance during a call, it sends no handle: the last one stays. */
  #onHandle(update: WireMessage): void {
    const handle = textAt(update, 'newHandle') ?? ''
    if (update.resumable !== false && handle !== '') this.#handle = handle
  }

  #onGoAway(message: WireMessage): void {
    const left = durationMs(message.timeLeft) ?? 0
    if (this.#handle === undefined || this.#isShort) {
      this.listener.onClosing(left)
      return
    }
    this.#isLeaving = true
    this.#leaving?.cancel()
    const wait = this.#answers.current === undefined ? 0 : Math.max(0, left - leaveMs)
    this.#leaving = this.clock.after(wait, () => this.#resume())
  }

  /** Whether this connection continues the session, and has done so for a short time. */
  get #isShort(): boolean {
    return this.#isResumed && this.clock.uptime() - this.#setUpAt < minContinuedMs
  }

  /** Continues the session with another connection; the first one is closed before. */
  #resume(): void {
    this.#leaving?.cancel()
    this.#isLeaving = false
    this.#answers.end('cancelled')
    this.#answers.accept()
    this.#isResumed = true
    this.#isSetUp = false
    this.reconnect()
  }

  #onUsage(usage: WireMessage): void {
    const inputTokens = numberAt(usage, 'promptTokenCount')
    const outputTokens = numberAt(usage, 'responseTokenCount')
    this.listener.onUsage({
      ...(inputTokens !== undefined && { inputTokens }),
      ...(outputTokens !== undefined && { outputTokens }),
    })
  }
}
