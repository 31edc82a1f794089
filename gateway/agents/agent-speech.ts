import type { PcmRate, Tap, TapEvent } from '../../media/types.ts'
import type { Timer } from '../core/clock.ts'
import { Answers, type ExactText, type OpenAnswer } from './answers.ts'
import type { ConversationRecord } from './conversation-record.ts'
import type { EngineCall, EngineHeard, EngineLink } from './engine.ts'
import { type SpeechListener, SpeechOutput } from './speech-output.ts'
import { OwnWords } from './text/own-words.ts'
import { unheardText } from './text/unheard-text.ts'
import type { CutKind } from './turns/turn-types.ts'

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
  /** A text was given up that the engine did not speak. */
  onTextGivenUp(): void
  /** Nothing is being said, nor waits to be. May be reported more than once. */
  onSilent(): void
}

/** End of an answer: heard to its end, interrupted by the caller or the end of the call, or given up. */
export type AnswerEnd = 'heard' | 'barged' | 'given-up'

/** Maximum wait for an answer that speaks a given text, in ms: longer than the opening of a session. */
const maxTextMs = 15_000

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
  readonly #ownWords = new OwnWords()
  #textTimer: Timer | undefined
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

  /**
   * Begins an answer. `id`: unique in the conversation; `engineId`: that of the engine; `isText`: whether it
   * speaks the given text, if the engine knows.
   */
  begin(id: string, engineId: string, isText?: boolean): OpenAnswer {
    const isGiven = this.#answers.isOfText(isText)
    if (isGiven) this.#textTimer?.cancel()
    const turn = isGiven ? this.#record.stamps.ofText() : this.#record.stamps.ofAnswer()
    const answer = this.#answers.begin(id, engineId, isGiven, turn)
    this.#protect()
    return answer
  }

  /** An answer comes too late to be heard: nothing of it counts. */
  refuse({ id }: OpenAnswer): void {
    this.#answers.end(id)
    this.#protect()
    this.#listener.onOver(id)
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
   * The session was lost: nothing follows of its answers. The rest of a text for the voice waits for the next
   * session. Returns the text of the model's last answer. It is undefined if none was in progress, or it
   * called functions, whose results lead to another answer.
   */
  lost(): string | undefined {
    const lost = this.#answers.all.filter(({ isDelivered, isCut }) => !isDelivered && !isCut)
    for (const { id } of lost) this.#output.shorten(id)
    const texts = lost.map(({ id, isExact, calls }) =>
      calls.length > 0 || isExact ? undefined : this.#output.heardOf(id).spoken,
    )
    for (const { id } of [...lost].reverse()) this.#keepRest(id)
    for (const { id } of lost) this.delivered(id)
    return texts.at(-1)
  }

  #keepRest(id: string): void {
    const text = this.#answers.textOf(id)
    if (text === undefined) return
    const rest = unheardText(text, this.#output.heardOf(id).spoken)
    if (rest !== '') this.#answers.sayRest(id, rest)
  }

  // Answers that are asked for, and texts to be spoken word for word.

  /** Session that was asked for an answer that has not begun. */
  get awaitedFrom(): EngineLink | undefined {
    return this.#answers.awaitedFrom
  }

  /** Whether an answer is in progress, or a text waits to be spoken. */
  get hasAnswers(): boolean {
    return !this.#answers.isEmpty
  }

  /** A session was asked for an answer. */
  await(link: EngineLink): void {
    this.#record.stamps.requested()
    this.#answers.awaitedFrom = link
  }

  /** A session answers a turn by itself; undefined: it goes on listening. */
  expectFrom(link: EngineLink | undefined): void {
    this.#answers.awaitedFrom = link
  }

  /** Adds a text or a sound. Resolves when it was heard or interrupted. */
  say(text: Omit<ExactText, 'done'>): Promise<void> {
    if (typeof text.what === 'string' && text.what.trim() === '') return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#answers.say({ ...text, done: resolve })
    return promise
  }

  /** Takes the next text for the engine, if no answer is in progress. Returns whether there is one. */
  takeText(): boolean {
    return this.#answers.takeText()
  }

  /** Gives the text to a session, unless it has it already. */
  giveText(link: EngineLink): void {
    const given = this.#answers.give(link)
    if (!given) return
    this.#textTimer?.cancel()
    this.#textTimer = this.#record.clock.after(maxTextMs, () => this.#giveUpText())
    const { what, language } = given
    if (typeof what === 'string' && !(language && link.speak)) link.say(what)
    else if (link.speak) link.speak(what, language)
    else {
      this.#record.warn('speech-unsupported', 'The engine can speak neither sounds nor texts being written.')
      this.#giveUpText()
    }
  }

  #giveUpText(): void {
    this.#textTimer?.cancel()
    this.#answers.giveUpText()
    this.#listener.onTextGivenUp()
    this.#checkSilent()
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
    if (!this.#answers.isEmpty) {
      this.#output.resume()
      return
    }
    void this.#output.cut()
    this.#checkSilent()
  }

  /** Whether recognised words are mostly the agent's own of the last seconds. */
  isEcho(text: string): boolean {
    return this.#ownWords.isEcho(text, this.#record.clock.uptime())
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
    this.#dropWaiting()
    this.#ownWords.stop(this.#record.clock.uptime())
    await this.#output.cut()
    return answers
  }

  /** Drops the texts that wait. Returns whether the engine had one, or has begun an answer. */
  dropTexts(): boolean {
    const isEngines = this.#answers.isGiven || this.#answers.all.some(({ isCut }) => !isCut)
    this.#dropWaiting()
    this.#checkSilent()
    return isEngines
  }

  /** Drops the texts and answers that wait. */
  #dropWaiting(): void {
    this.#textTimer?.cancel()
    this.#answers.dropWaiting()
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

  /** Ends answers that were cut. `how`: a transparent interruption leaves none of them in the history. */
  closeCut(answers: readonly OpenAnswer[], how: CutKind): void {
    const isForgotten = how === 'transparent'
    for (const answer of answers) {
      if (!this.#answers.get(answer.id)) continue
      this.#close(answer, how === 'given-up' ? how : 'barged')
      if (isForgotten) this.#record.transcript.drop(answer.id)
    }
    if (isForgotten) this.#record.transcript.dropTurn()
    this.#checkSilent()
  }

  /** Ends the answers that the engine has begun and does not go on with. */
  giveUp(): void {
    const answers = this.#answers.all.filter(({ isCut }) => !isCut)
    for (const answer of answers) answer.isCut = true
    void this.#output.cut()
    for (const answer of answers) this.#close(answer, 'given-up')
    this.#checkSilent()
  }

  /** Ends everything: the conversation is over. */
  close(): void {
    this.#dropWaiting()
    for (const answer of this.#answers.all)
      this.#close(answer, answer.isCut || !this.#output.isOver(answer.id) ? 'barged' : 'heard')
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

  onUtterance(answer: string, text: string, isMore: boolean): void {
    this.#ownWords.add(text, this.#record.clock.uptime(), isMore)
    this.#record.emit({ kind: 'utterance', answer, text, ...(isMore && { isMore }) })
  }

  onEnded(id: string): void {
    this.#closeIfOver(id)
  }

  onPlayed(): void {
    this.#listener.onPlayed()
    this.#checkSilent()
  }

  #checkSilent(): void {
    if (this.isSilent) this.#listener.onSilent()
  }

  #closeIfOver(id: string): void {
    const answer = this.#openAnswer(id)
    if (answer?.isDelivered && this.#output.isOver(id)) this.#close(answer, 'heard')
  }

  /** Ends an answer: reports it, with the text that the caller heard. */
  #close({ id, isExact, calls, turn, stamps }: OpenAnswer, end: AnswerEnd): void {
    const { spoken, text, ms: heardMs } = this.#output.heardOf(id)
    const heard = end === 'heard' ? spoken : text
    this.#record.transcript.answer(id, heard)
    this.#record.emit({
      kind: 'answer',
      answer: id,
      spoken,
      heard,
      heardMs,
      isBarged: end !== 'heard',
      ...(end === 'given-up' && { isGivenUp: true }),
      isExact,
      calls,
      stamps: { ...turn, ...stamps },
    })
    // An empty answer, such as that to a turn which the handler answers, leaves the times to the next one.
    if (spoken === '' && heardMs === 0 && calls.length === 0) this.#record.stamps.restore(turn)
    this.#answers.end(id)
    this.#output.forget(id)
    this.#protect()
    this.#listener.onOver(id)
    this.#checkSilent()
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
      answer.stamps = { ...answer.stamps, ...answer.turn, [name]: this.#record.clock.now() * 1000 }
  }
}
