import type { AgentSpeech } from './agent-speech.ts'
import type { ConversationRecord } from './conversation-record.ts'
import type { EngineCall, EngineLink, EngineListener } from './engine.ts'
import type { SeatListener } from './engine-seat.ts'
import type { FunctionRunner } from './functions.ts'
import type { Turns } from './turns/turns.ts'

type Of<E extends keyof EngineListener> = Parameters<EngineListener[E]>[0]

/** Events of the engine, and their effects on the conversation. */
export class EngineEvents implements SeatListener {
  readonly #turns: Turns
  readonly #functions: FunctionRunner
  readonly #speech: AgentSpeech
  readonly #record: ConversationRecord
  #link: EngineLink | undefined
  /** Number of the session: the ids of answers are unique in one only. */
  #session = 0

  constructor(turns: Turns, functions: FunctionRunner, speech: AgentSpeech, record: ConversationRecord) {
    this.#turns = turns
    this.#functions = functions
    this.#speech = speech
    this.#record = record
  }

  /** Later events come from this session. */
  useEngine(link: EngineLink): void {
    if (link === this.#link) return
    this.#link = link
    this.#session++
  }

  onHeard(heard: Of<'onHeard'>): void {
    const text = this.#record.correct(heard.text)
    this.#turns.heard({ ...heard, text, isEcho: this.#speech.isEcho(heard.text) })
    // Engines without turns have no other report of the text.
    if (this.#link?.abilities.turns !== 'duplex' || !heard.isFinal || text.trim() === '') return
    this.#functions.turn()
    // A session that is lost before its answer leaves it to the next one. Words over an answer ask for none.
    if (!this.#speech.hasAnswers) this.#speech.await(this.#link)
    this.#record.userTurn({ ...heard, text, by: 'speech', merged: 0, endedBy: 'engine' })
  }

  onTurn(state: Of<'onTurn'>, isInferred = false): void {
    if (this.#link?.abilities.turns === 'its') this.#engineTurn(state)
    if (state === 'ended') this.#functions.turn()
    // The end of the turn is the request of an engine that answers by itself.
    if (state === 'ended' && !isInferred && this.#link?.abilities.turns === 'its')
      this.#record.stamps.requested()
    this.#turns.engineTurn(state)
  }

  /** The engine answers by itself what it takes for a turn. */
  #engineTurn(state: Of<'onTurn'>): void {
    if (state === 'began') this.#speech.expectFrom(undefined)
    if (state !== 'ended') return
    this.#record.stamps.decided()
    this.#speech.expectFrom(this.#link)
  }

  onInterrupted(): void {
    this.#turns.engineTurn('began')
  }

  onAnswer(id: string, isText?: boolean): void {
    const answer = this.#speech.begin(this.#idOf(id), id, isText)
    this.#functions.answerBegan(answer.id)
    // A text that was said in between does not settle the answer that is awaited.
    if (!this.#turns.answerBegan(answer.id, answer.isInterruptible, !answer.isExact))
      this.#speech.refuse(answer)
  }

  onFirstToken(id: string): void {
    this.#speech.firstToken(this.#idOf(id))
  }

  onAudio(id: string, item: string, samples: Int16Array): void {
    this.#speech.audio(this.#idOf(id), item, samples)
    const { outputRate = 0 } = this.#link ?? {}
    if (outputRate > 0) this.#turns.audioCame(this.#idOf(id), (samples.length * 1000) / outputRate)
  }

  onText(id: string, item: string, text: string): void {
    this.#speech.text(this.#idOf(id), item, text)
  }

  onItemEnd(id: string, item: string): void {
    this.#speech.endItem(this.#idOf(id), item)
  }

  onCall(id: string, call: EngineCall): void {
    const answer = this.#idOf(id)
    if (this.#speech.call(answer, call)) this.#functions.call(answer, call)
    else this.#link?.result(call, 'The caller interrupted; the function did not run.', false)
  }

  onCallsCancelled(ids: readonly string[]): void {
    this.#functions.cancelled(ids)
  }

  onAnswerEnd(id: string, how: Parameters<EngineListener['onAnswerEnd']>[1]): void {
    if (how === 'failed') this.#record.warn('answer-failed', 'An answer failed.')
    this.#speech.delivered(this.#idOf(id))
  }

  onUsage(usage: Of<'onUsage'>): void {
    if (this.#record.usage(usage)) this.#turns.stop()
  }

  onWarning(code: string, message: string): void {
    this.#record.warn(code, message)
  }

  #idOf(id: string): string {
    return this.#session > 1 ? `${this.#session}.${id}` : id
  }
}
