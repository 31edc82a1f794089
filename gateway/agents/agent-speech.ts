import type { PcmRate, Tap, TapEvent } from '../../media/types.ts'
import { Answers, type OpenAnswer } from './answers.ts'
import type { ConversationRecord } from './conversation-record.ts'
import type { EngineCall, EngineHeard, EngineLink } from './engine.ts'
import { type SpeechListener, SpeechOutput } from './speech-output.ts'

/** Receives the progress of the agent's answers. */
export interface AgentSpeechListener {
  /** The first sound of an answer left (`isFirst`), or the first one after {@link onPlayed}. */
  onBegan(answer: OpenAnswer, isFirst: boolean): void
  /** The engine has delivered everything of an answer, or was lost. */
  onDelivered(id: string): void
  /** Everything queued has left. */
  onPlayed(): void
  /** An answer was heard to its end, was interrupted, or given up. */
  onOver(id: string): void
}

/**
 * Speech of the agent: the answers that the engine began, on their way to the caller. The record of an answer
 * has the text that the caller heard.
 */
export class AgentSpeech implements SpeechListener {
  /** Sample rate of the tap in Hz. */
  readonly rate: PcmRate
  readonly #tap: Tap
  readonly #record: ConversationRecord
  readonly #listener: AgentSpeechListener
  readonly #output: SpeechOutput
  readonly #answers = new Answers()
  #mayFade = true
  #isRealTime = false

  constructor(tap: Tap, rate: PcmRate, record: ConversationRecord, listener: AgentSpeechListener) {
    this.rate = rate
    this.#tap = tap
    this.#record = record
    this.#listener = listener
    this.#output = new SpeechOutput(tap, rate, this, () => record.clock.uptime())
  }

  // The engine's part.

  /** The audio of later answers comes from this session. */
  useEngine({ outputRate, abilities }: EngineLink): void {
    this.#output.inputRate = outputRate
    this.#isRealTime = abilities.pace === 'real'
  }

  /** Begins an answer. `id`: unique in the conversation; `engineId`: that of the engine. */
  begin(id: string, engineId: string): OpenAnswer {
    const answer = this.#answers.begin(id, engineId)
    answer.stamps = this.#record.stamps.ofAnswer()
    this.#protect()
    return answer
  }

  firstToken(id: string): void {
    this.#stamp(id, 'firstToken')
  }

  audio(id: string, item: string, samples: Int16Array): void {
    if (!this.#openAnswer(id)) return
    this.#stamp(id, 'firstUtterance')
    if (this.#isRealTime) this.#output.audioInRealTime(id, item, samples)
    else this.#output.audio(id, item, samples)
  }

  text(id: string, item: string, text: string): void {
    if (this.#openAnswer(id)) this.#output.text(id, item, text)
  }

  endItem(id: string, item: string): void {
    if (this.#openAnswer(id)) this.#output.end(id, item)
  }

  /** Adds a call of a function to its answer. Returns false if the answer no longer counts. */
  call(id: string, call: EngineCall): boolean {
    const answer = this.#openAnswer(id)
    if (!answer) return false
    answer.calls.push(call)
    this.#record.transcript.call(id, call)
    return true
  }

  /** The engine has delivered everything of an answer. */
  delivered(id: string): void {
    const answer = this.#openAnswer(id)
    if (!answer || answer.isDelivered) return
    answer.isDelivered = true
    this.#record.transcript.answer(id, this.#output.heardOf(id).spoken)
    this.#output.endAll(id)
    this.#listener.onDelivered(id)
    if (!this.#output.isBusy) this.#listener.onPlayed()
    this.#closeIfOver(id)
  }

  /**
   * The session was lost: nothing follows of its answers. Returns the text of the last one; undefined if none
   * was in progress, or it called functions, whose results lead to another answer.
   */
  lost(): string | undefined {
    const lost = this.#answers.all.filter(({ isDelivered, isCut }) => !isDelivered && !isCut)
    const texts = lost.map(({ id, calls }) =>
      calls.length > 0 ? undefined : this.#output.heardOf(id).spoken,
    )
    for (const { id } of lost) this.delivered(id)
    return texts.at(-1)
  }

  // Answers that are asked for, and texts to be spoken word for word.

  /** Session that was asked for an answer that has not begun. */
  get awaitedFrom(): EngineLink | undefined {
    return this.#answers.awaitedFrom
  }

  /** A session was asked for an answer. */
  await(link: EngineLink): void {
    this.#answers.awaitedFrom = link
  }

  /** Adds a text. Resolves when it was heard or interrupted. */
  say(text: string, isInterruptible: boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#answers.say({ text, isInterruptible, done: resolve })
    return promise
  }

  /** Takes the next text for the engine, if no answer is in progress. Returns whether there is one. */
  takeText(): boolean {
    return this.#answers.nextText() !== undefined
  }

  /** Text that the engine has, and whose answer has not begun. */
  get givenText(): string | undefined {
    return this.#answers.givenText
  }

  /** Gives the text to a session, unless it has it already. */
  giveText(link: EngineLink): void {
    const { givenText, givenTo } = this.#answers
    if (givenText === undefined || givenTo === link) return
    this.#answers.givenTo = link
    link.say(givenText)
  }

  // The caller's part.

  /** Whether something is queued or being heard. */
  get isBusy(): boolean {
    return this.#output.isBusy
  }

  /** Whether nothing is being said, nor waits to be. */
  get isSilent(): boolean {
    return !this.#output.isBusy && this.#answers.isEmpty
  }

  pause(): void {
    this.#output.pause()
  }

  resume(): void {
    this.#output.resume()
  }

  /** Goes on after the media thread has lowered the speech; drops a sound that belongs to no answer. */
  undoFade(): void {
    if (this.#answers.isEmpty) void this.#output.cut()
    else this.#output.resume()
  }

  /** Whether the media thread may lower the speech at the caller's voice, unless an answer is protected. */
  set mayFade(isAllowed: boolean) {
    this.#mayFade = isAllowed
    this.#protect()
  }

  /** Handles an event of the tap. */
  event(event: TapEvent): void {
    if (event.kind === 'voice-began' && event.isFaded) this.#output.paused()
    else this.#output.event(event)
  }

  /** Queues a sound that belongs to no answer. */
  sound(samples: Int16Array): void {
    this.#output.sound(samples)
  }

  /** Resolves when everything queued so far has left or was dropped. */
  spoken(): Promise<void> {
    return this.#tap.spoken()
  }

  /** Drops everything that was not heard. Resolves with the answers, once their positions are known. */
  async cut(): Promise<readonly OpenAnswer[]> {
    const answers = this.#answers.all.filter(({ isCut }) => !isCut)
    for (const answer of answers) answer.isCut = true
    this.#answers.dropWaiting()
    await this.#output.cut()
    return answers
  }

  /** Returns the position of answers that the caller heard last; undefined if nothing was heard. */
  positionOf(answers: readonly OpenAnswer[]): EngineHeard | undefined {
    const heard = answers.map(({ id, engineId }) => ({ engineId, ...this.#output.heardOf(id) }))
    const present = heard.findLast(({ last }) => last)
    if (!present?.last) return undefined
    const { item, ms } = present.last
    return { answer: present.engineId, item, ms, text: present.text }
  }

  /** Returns the audio that the caller heard of the latest of these answers of which something was heard. */
  heardMs(answers: readonly OpenAnswer[]): number {
    return answers.map(({ id }) => this.#output.heardOf(id).ms).findLast((ms) => ms > 0) ?? 0
  }

  /** Ends answers that were cut. `isForgotten`: the history has none of them. */
  closeCut(answers: readonly OpenAnswer[], isForgotten: boolean): void {
    for (const answer of answers) {
      if (!this.#answers.get(answer.id)) continue
      this.#close(answer, true)
      if (isForgotten) this.#record.transcript.drop(answer.id)
    }
    if (isForgotten) this.#record.transcript.dropTurn()
  }

  /** Ends the answers that the engine has begun and does not go on with. */
  giveUp(): void {
    const answers = this.#answers.all.filter(({ isCut }) => !isCut)
    for (const answer of answers) answer.isCut = true
    void this.#output.cut()
    for (const answer of answers) this.#close(answer, true)
  }

  /** Ends everything: the conversation is over. */
  close(): void {
    this.#answers.dropWaiting()
    for (const answer of this.#answers.all)
      this.#close(answer, answer.isCut || !this.#output.isOver(answer.id))
    this.#tap.close()
  }

  // Progress of the output.

  onBegan(id: string): void {
    const answer = this.#openAnswer(id)
    if (!answer) return
    const isFirst = answer.stamps.firstAudio === undefined
    this.#stamp(id, 'firstAudio')
    this.#listener.onBegan(answer, isFirst)
  }

  onUtterance(answer: string, text: string): void {
    this.#record.emit({ kind: 'utterance', answer, text })
  }

  onEnded(id: string): void {
    this.#closeIfOver(id)
  }

  onPlayed(): void {
    this.#listener.onPlayed()
  }

  #closeIfOver(id: string): void {
    const answer = this.#openAnswer(id)
    if (answer?.isDelivered && this.#output.isOver(id)) this.#close(answer, false)
  }

  /** Ends an answer: reports it, with the text that the caller heard. */
  #close({ id, isExact, calls, stamps }: OpenAnswer, isBarged: boolean): void {
    const { spoken, text, ms: heardMs } = this.#output.heardOf(id)
    const heard = isBarged ? text : spoken
    this.#record.transcript.answer(id, heard)
    this.#record.emit({
      kind: 'answer',
      answer: id,
      spoken,
      heard,
      heardMs,
      isBarged,
      isExact,
      calls,
      stamps,
    })
    this.#answers.end(id)
    this.#output.forget(id)
    this.#protect()
    this.#listener.onOver(id)
  }

  #protect(): void {
    this.#tap.allowFade(this.#mayFade && this.#answers.all.every(({ isInterruptible }) => isInterruptible))
  }

  #openAnswer(id: string): OpenAnswer | undefined {
    const answer = this.#answers.get(id)
    return answer?.isCut ? undefined : answer
  }

  #stamp(id: string, name: 'firstToken' | 'firstUtterance' | 'firstAudio'): void {
    const answer = this.#answers.get(id)
    if (answer && answer.stamps[name] === undefined)
      answer.stamps = { ...answer.stamps, [name]: this.#record.clock.now() * 1000 }
  }
}
