import type {
  AgentChange,
  AgentEnd,
  AgentEvent,
  AgentFunction,
  AgentLanguage,
  AgentMessage,
  AgentOptions,
} from '../../handlers/verbs.ts'
import type { MediaPort, PcmRate, Prompt, Tap, TapEvent } from '../../media/types.ts'
import { failureOf, verbFailed } from '../calls/leg/failures.ts'
import type { SteadyClock } from '../core/clock.ts'
import { Answers, type OpenAnswer } from './answers.ts'
import { AgentBackground } from './background.ts'
import { CallerAudio } from './caller-audio.ts'
import type { Engine, EngineCall, EngineFailure, EngineLink, EngineMessage, EngineRequest } from './engine.ts'
import { EngineSeat, type SeatOwner } from './engine-seat.ts'
import { type FunctionAnswer, FunctionRunner } from './functions.ts'
import { SpeechOutput } from './speech-output.ts'
import { compileRewrites } from './text/pronounce.ts'
import { Transcript } from './transcript.ts'
import { TurnStamps } from './turn-stamps.ts'
import type { CallerTurn, TurnActor, TurnEnd } from './turns/turn-types.ts'
import { Turns } from './turns/turns.ts'

/** Collaborators and limits of a {@link Conversation}. */
export interface ConversationDeps {
  readonly projectId: string
  /** Engines in order of preference, at least one. */
  readonly engines: readonly Engine[]
  readonly clock: SteadyClock
  /** Time-out of a function, in ms. */
  readonly functionTimeoutMs: number
  /** Returns a phrase as samples at a rate; undefined if it cannot be spoken. Never rejects. */
  readonly render: (text: string, rate: PcmRate) => Promise<Int16Array | undefined>
  /** Fetches and decodes a sound for a port. Rejects if that fails. */
  readonly loadSound: (url: string, port: MediaPort, signal: AbortSignal) => Promise<Prompt>
  /** Answers an instruction about messages. Rejects if no model can. */
  readonly complete: (
    engine: Engine,
    messages: readonly EngineMessage[],
    instruction: string,
  ) => Promise<string>
  readonly observer: ConversationObserver
}

/** Receives facts for the log and the metrics. */
export interface ConversationObserver {
  onEngineFailure(engine: Engine, failure: EngineFailure): void
  /** Time in ms from the end of the caller's voice to the first sound of the answer. */
  onResponse(engine: Engine, ms: number): void
  onInterruption(how: 'transparent' | 'normal'): void
  onError(error: unknown): void
}

/** Apology before the end, if no engine is left. */
const apology = 'I am sorry, there is a technical problem.'
/** Maximum time for the last words, in ms. */
const maxLastWordsMs = 10_000

const oneOf = (phrases: readonly string[] = []): string | undefined =>
  phrases[Math.floor(Math.random() * phrases.length)]

/** Event without its time. */
type Happening = AgentEvent extends infer E ? (E extends AgentEvent ? Omit<E, 'at'> : never) : never

/**
 * Conversation of one call with an agent: carries the caller's audio to the engine, the engine's speech to the
 * caller, and the decisions of the turns to both.
 */
export class Conversation implements TurnActor, SeatOwner {
  readonly ended: Promise<AgentEnd>
  /** Sound behind the conversation. */
  readonly background = new AgentBackground(
    (url, signal) => this.#deps.loadSound(url, this.#port, signal),
    (error) =>
      this.#emit({
        kind: 'warning',
        code: 'background-failed',
        message: failureOf(error, 'internal').message,
      }),
  )
  readonly listener = this.#engineEvents()
  readonly #options: AgentOptions
  readonly #deps: ConversationDeps
  readonly #transcript: Transcript
  readonly #answers = new Answers()
  readonly #stamps: TurnStamps
  readonly #turns: Turns
  readonly #seat: EngineSeat
  readonly #functions: FunctionRunner
  readonly #settle: (end: AgentEnd) => void
  #changes: AgentChange = {}
  #port: MediaPort
  #tap!: Tap
  #rate: PcmRate = 8000
  #audio!: CallerAudio
  #output!: SpeechOutput
  /** Work on the engine in order: an interruption needs the position heard before the next turn follows. */
  #work: Promise<void> = Promise.resolve()
  /** Session that was asked for an answer that has not begun. */
  #asked: EngineLink | undefined
  #isReady = false
  #isDue = false
  #hasBegun = false
  #isOver = false
  #quiet: (() => void)[] = []
  /** Sessions that called functions. */
  /** Rewrites recognised text by the document's rules. */
  #corrected: (text: string) => string
  readonly #askers = new WeakMap<EngineCall, EngineLink>()

  constructor(port: MediaPort, options: AgentOptions, deps: ConversationDeps) {
    this.#port = port
    this.#options = options
    this.#deps = deps
    const { clock } = deps
    const { promise, resolve } = Promise.withResolvers<AgentEnd>()
    this.ended = promise
    this.#settle = resolve
    this.#transcript = new Transcript(options.history)
    this.#stamps = new TurnStamps(clock)
    this.#corrected = compileRewrites(options.corrections).rewrite
    this.#seat = new EngineSeat(deps.engines, this, clock)
    const { abilities, outputRate } = this.#seat.link
    const rules = { ...options.turns, engine: abilities, waitForUser: options.waitForUser ?? false }
    this.#turns = new Turns(rules, this, clock)
    this.#functions = this.#runner()
    this.#openTap(outputRate)
    if (options.isPaused) this.hold()
    clock.after(options.initialDelayMs ?? 0, () => {
      this.#isDue = true
      this.#begin()
    })
  }

  // The agent's controls.

  digit(digit: string): void {
    this.#turns.key(digit)
  }

  moveTo(port: MediaPort): void {
    this.#port = port
    this.#tap.moveTo(port)
  }

  change(change: AgentChange): void {
    if (this.#isOver) return
    this.#changes = { ...this.#changes, ...change }
    if (change.history) this.#transcript.replace(change.history)
    if (change.corrections) this.#corrected = compileRewrites(change.corrections).rewrite
    if (change.turns) this.#turns.change(change.turns)
    const { link } = this.#seat
    if (!link.abilities.changes) {
      this.#seat.refresh()
      return
    }
    const { prompt, functions, hints, modelSettings, history, language, turns } = change
    const spoken = this.#options.languages.find(({ code }) => code === language)
    if (spoken) this.#emit({ kind: 'language', code: spoken.code })
    link.change({
      ...(prompt !== undefined && { prompt }),
      ...(functions && { functions }),
      ...(hints && { hints }),
      ...(modelSettings && { settings: modelSettings }),
      ...(history && { history }),
      ...(spoken && { language: spoken }),
      ...(turns?.endOfSpeechMs !== undefined && { endOfSpeechMs: turns.endOfSpeechMs }),
    })
  }

  message(message: AgentMessage, respond: boolean): void {
    if (this.#isOver) return
    if (message.role === 'user' && respond) {
      this.#turns.said(message.content)
      return
    }
    this.#do((link) => {
      this.#transcript.add(message)
      if (respond) this.#asked = link
      link.message(message, respond)
    })
  }

  say(text: string, isInterruptible: boolean): Promise<void> {
    if (this.#isOver) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#answers.say({ text, isInterruptible, done: resolve })
    this.#sayNext()
    return promise
  }

  quiet(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#quiet.push(resolve)
    this.#deps.clock.after(maxLastWordsMs, resolve)
    this.#checkQuiet()
    return promise
  }

  hold(): void {
    if (this.#isOver) return
    this.#turns.hold()
    this.#audio.isMuted = true
    this.#tap.pause()
    this.#emit({ kind: 'hold' })
  }

  unhold(): void {
    if (this.#isOver) return
    this.#audio.isMuted = false
    this.#tap.resume()
    this.#turns.unhold()
    this.#emit({ kind: 'unhold' })
  }

  waitForUser(ms: number | undefined): void {
    this.#turns.waitForUser(ms)
  }

  leave(): void {
    if (!this.#isOver) this.#turns.leave()
  }

  /** Answers an instruction about the conversation, outside of it. Works after the end, too. */
  async summarize(instruction: string): Promise<string> {
    try {
      return await this.#deps.complete(this.#seat.engine, this.#transcript.messages, instruction)
    } catch (error) {
      throw verbFailed('agent_failed', 'No model could summarize the conversation.', error)
    }
  }

  /** Ends at once: the call has ended. */
  hangUp(): void {
    this.#finish({ kind: 'hangup' })
  }

  // Decisions of the turns.

  fade(): void {
    this.#tap.pause()
  }

  resume(): void {
    this.#tap.resume()
  }

  cut(how: 'transparent' | 'normal', text: string): void {
    const { all } = this.#answers
    for (const answer of all) answer.isCut = true
    this.#answers.dropTexts()
    this.#asked = undefined
    const cut = this.#output.cut()
    this.#do(async () => {
      await cut
      this.#functions.interrupted()
      this.#interrupt(all, how, text)
    })
  }

  prepare(text: string): void {
    this.#do((link) => link.prepare(text))
  }

  discard(): void {
    this.#do((link) => link.discard?.())
  }

  commit(turn: CallerTurn): void {
    this.#stamps.decided()
    this.#functions.turn()
    this.#do((link) => {
      this.#userTurn(turn)
      const isEngines = link.abilities.turns !== 'ours'
      if (isEngines && turn.by === 'speech') return
      this.#asked = link
      if (turn.instruction !== undefined) link.message({ role: 'system', content: turn.instruction }, false)
      if (isEngines) link.message({ role: 'user', content: turn.text }, true)
      else link.commit(turn.text)
    })
  }

  overheard(turn: CallerTurn): void {
    this.#do((link) => {
      this.#userTurn(turn)
      if (link.abilities.turns === 'ours') link.message({ role: 'user', content: turn.text }, false)
    })
  }

  prompt(instruction: string, reason: 'attention' | 'limit' | 'interrupted'): void {
    if (reason === 'attention') this.#emit({ kind: 'attention' })
    this.#do((link) => {
      this.#asked = link
      link.answer(instruction)
    })
  }

  filler(when: 'thinking' | 'function' | 'dictation'): void {
    const language = this.#language
    const phrases = {
      thinking: language?.speechFillers,
      dictation: language?.turnFillers,
      function: undefined,
    }
    const text = oneOf(phrases[when])
    if (text !== undefined) void this.#speakFiller(text)
  }

  partial(text: string, isBarge: boolean): void {
    this.#emit({ kind: 'partial', text, isBarge })
  }

  reviveHearing(): void {
    const { link } = this.#seat
    if (link.revive) link.revive()
    else this.#seat.renew('The caller spoke, and nothing was recognised.')
  }

  reviveAnswer(): void {
    for (const answer of this.#answers.all) answer.isCut = true
    this.#seat.renew('There was no answer in time.')
  }

  end(reason: TurnEnd): void {
    this.#finish({ kind: reason })
  }

  // The seat of the engine.

  get isQuiet(): boolean {
    return this.#turns.state === 'listening' && !this.#output.isBusy
  }

  request(): EngineRequest {
    const { prompt, functions, languages, hints, pronounce, modelSettings, turns } = this.#options
    const { language } = this.#changes
    const now = { ...turns, ...this.#changes.turns }
    return {
      projectId: this.#deps.projectId,
      prompt: this.#changes.prompt ?? prompt,
      functions: this.#changes.functions ?? functions,
      history: this.#transcript.messages,
      languages: [...languages].sort((a, b) => Number(b.code === language) - Number(a.code === language)),
      hints: this.#changes.hints ?? hints,
      pronounce,
      settings: { ...modelSettings, ...this.#changes.modelSettings },
      isSemantic: now.isSemantic,
      endOfSpeechMs: now.endOfSpeechMs,
      isInterruptible: now.barge !== 'none',
    }
  }

  onSeated(link: EngineLink): void {
    if (!this.#hasBegun) {
      this.#isReady = true
      this.#begin()
      return
    }
    if (link.outputRate !== this.#rate) this.#openTap(link.outputRate)
    this.#functions.engineChanged()
    const lost = this.#answers.all.filter(({ isDelivered }) => !isDelivered)
    for (const answer of lost) this.#delivered(answer)
    const { givenText } = this.#answers
    if (givenText !== undefined) link.say(givenText)
    else if (lost.length > 0 || (this.#asked && this.#asked !== link)) {
      this.#asked = link
      link.answer(undefined)
    }
  }

  onFailure(engine: Engine, failure: EngineFailure): void {
    this.#deps.observer.onEngineFailure(engine, failure)
    this.#emit({ kind: 'warning', code: failure.kind, message: `${failure.part}: ${failure.message}` })
  }

  onEmpty({ kind, message }: EngineFailure): void {
    const end: AgentEnd = { kind: 'failed', code: kind, reason: message }
    this.#deps.clock.after(maxLastWordsMs, () => this.#finish(end))
    void this.#speakFiller(apology).then(async () => {
      await this.#tap.spoken()
      this.#finish(end)
    })
  }

  #engineEvents(): SeatOwner['listener'] {
    return {
      onHeard: (heard) => this.#heard(heard),
      onTurn: (state) => this.#turns.engineTurn(state),
      onInterrupted: () => this.#turns.engineTurn('began'),
      onAnswer: (id) => {
        const answer = this.#answers.begin(id)
        this.#asked = undefined
        answer.stamps = this.#stamps.ofAnswer()
        this.#functions.answerBegan(id)
        this.#tap.allowFade(answer.isInterruptible)
        this.#turns.answerBegan(id, answer.isInterruptible)
      },
      onFirstToken: (id) => this.#stamp(id, 'firstToken'),
      onAudio: (id, item, samples) => {
        if (!this.#openAnswer(id)) return
        this.#stamp(id, 'firstUtterance')
        if (this.#seat.link.abilities.pace === 'real') this.#output.audioInRealTime(id, item, samples)
        else this.#output.audio(id, item, samples)
      },
      onText: (id, item, text) => {
        if (this.#openAnswer(id)) this.#output.text(id, item, text)
      },
      onItemEnd: (id, item) => {
        if (this.#openAnswer(id)) this.#output.end(id, item)
      },
      onCall: (id, call) => this.#called(id, call),
      onCallsCancelled: (ids) => this.#functions.cancelled(ids),
      onAnswerEnd: (id, how) => {
        const answer = this.#openAnswer(id)
        if (how === 'failed')
          this.#emit({ kind: 'warning', code: 'answer-failed', message: 'An answer failed.' })
        if (answer) this.#delivered(answer)
      },
      onUsage: ({ inputTokens = 0, outputTokens = 0, voiceCharacters = 0, recognisedMs = 0 }) =>
        this.#emit({ kind: 'usage', inputTokens, outputTokens, voiceCharacters, recognisedMs }),
      onWarning: (code, message) => this.#emit({ kind: 'warning', code, message }),
    }
  }

  /** Text of the caller; engines without turns have no other report of it. */
  #heard(heard: Parameters<SeatOwner['listener']['onHeard']>[0]): void {
    const text = this.#corrected(heard.text)
    if (this.#seat.link.abilities.turns !== 'duplex') this.#turns.heard({ ...heard, text })
    else if (heard.isFinal && text.trim() !== '')
      this.#userTurn({ ...heard, text, by: 'speech', merged: 0, endedBy: 'engine' })
  }

  #runner(): FunctionRunner {
    const { clock, functionTimeoutMs: timeoutMs } = this.#deps
    const { runFunction } = this.#options
    return new FunctionRunner(
      {
        run: (call, signal) => runFunction(call, signal),
        isKnown: (name) => this.#function(name) !== undefined,
        timeoutMs,
        canInterrupt: () => this.#changes.turns?.bargeFunctions ?? this.#options.turns.bargeFunctions,
      },
      {
        answer: (call, answer) => this.#answered(call, answer),
        report: (event) => this.#emit(event),
        began: (id) => this.#turns.functionBegan(id),
        ended: (id, isAnswered) => this.#turns.functionEnded(id, isAnswered),
        beforeStart: ({ name }) => this.#functionFiller(name),
      },
      clock,
    )
  }

  #openTap(rate: EngineLink['outputRate']): void {
    this.#tap?.close()
    const tap = this.#port.tap({
      tracks: 'in',
      sampleRate: rate,
      isContinuous: true,
      speechDb: this.#options.volumeDb ?? 0,
    })
    this.#tap = tap
    this.background.use(tap)
    this.#rate = rate
    const isMuted = this.#audio?.isMuted ?? false
    this.#audio = new CallerAudio(rate)
    this.#audio.isMuted = isMuted
    const { clock } = this.#deps
    this.#output = new SpeechOutput(
      tap,
      rate,
      {
        onBegan: (id) => this.#speechBegan(id),
        onUtterance: (answer, text) => this.#emit({ kind: 'utterance', answer, text }),
        onEnded: (id) => this.#ended(id),
        onPlayed: () => this.#turns.played(),
      },
      () => clock.uptime(),
    )
    this.#stamps.tapOpened()
    tap.onFrame((frame) => this.#audio.give(frame, this.#seat.link))
    tap.onEvent((event) => this.#tapEvent(event))
    tap.onClosed(() => this.hangUp())
    tap.setReflex({})
  }

  #tapEvent(event: TapEvent): void {
    if (this.#isOver) return
    if (event.kind === 'item-began' || event.kind === 'item-ended') {
      this.#output.event(event)
      return
    }
    const isVoiced = event.kind === 'voice-began'
    const agoMs = this.#stamps.voice(isVoiced, event.atMs)
    this.#emit({ kind: 'speech', state: isVoiced ? 'began' : 'ended' })
    this.#turns.voice(isVoiced, agoMs)
  }

  /** Begins the conversation when an engine is ready and the initial delay is over. */
  #begin(): void {
    if (this.#hasBegun || this.#isOver || !this.#isReady || !this.#isDue) return
    this.#hasBegun = true
    this.#emit({ kind: 'started', engine: this.#seat.engine.name })
    const { greeting, waitForUser } = this.#options
    if (greeting) void this.say(greeting.text, greeting.isInterruptible)
    else if (!waitForUser)
      this.#do((link) => {
        this.#asked = link
        link.answer(undefined)
      })
  }

  #sayNext(): void {
    const text = this.#answers.nextText()
    if (text !== undefined) this.#do((link) => link.say(text))
  }

  #speechBegan(id: string): void {
    const answer = this.#openAnswer(id)
    if (!answer) return
    this.#stamp(id, 'firstAudio')
    const ms = this.#stamps.responseMs(answer.stamps)
    if (ms !== undefined) this.#deps.observer.onResponse(this.#seat.engine, ms)
    this.#turns.speechBegan(id)
  }

  #ended(id: string): void {
    const answer = this.#openAnswer(id)
    if (answer) this.#closeIfOver(answer)
    this.#checkQuiet()
  }

  #delivered(answer: OpenAnswer): void {
    answer.isDelivered = true
    this.#transcript.answer(answer.id, this.#output.heardOf(answer.id).spoken)
    this.#turns.answerDelivered(answer.id)
    if (!this.#output.isBusy) this.#turns.played()
    this.#closeIfOver(answer)
    this.#checkQuiet()
  }

  #closeIfOver(answer: OpenAnswer): void {
    if (!answer.isDelivered || answer.isCut || !this.#output.isOver(answer.id)) return
    this.#close(answer, false)
    this.#sayNext()
  }

  /** Ends an answer: reports it, with the text that the caller heard. */
  #close(answer: OpenAnswer, isBarged: boolean): void {
    const { id, isExact, calls, stamps } = answer
    const heard = this.#output.heardOf(id)
    const text = isBarged ? heard.text : heard.spoken
    this.#transcript.answer(id, text)
    this.#emit({
      kind: 'answer',
      answer: id,
      spoken: heard.spoken,
      heard: text,
      heardMs: heard.ms,
      isBarged,
      isExact,
      calls,
      stamps,
    })
    this.#answers.end(id)
    this.#output.forget(id)
    this.#functions.answerEnded(id)
  }

  #interrupt(cutAnswers: readonly OpenAnswer[], how: 'transparent' | 'normal', text: string): void {
    const positions = cutAnswers.map(({ id }) => ({ id, heard: this.#output.heardOf(id) }))
    const present = positions.findLast(({ heard }) => heard.last)
    const last = present?.heard.last
    const isForgotten = how === 'transparent'
    this.#seat.link.interrupt(
      last && present && { answer: present.id, item: last.item, ms: last.ms, text: present.heard.text },
      isForgotten,
    )
    for (const answer of cutAnswers) {
      this.#close(answer, true)
      if (isForgotten) this.#transcript.drop(answer.id)
    }
    if (isForgotten) this.#transcript.dropTurn()
    this.#deps.observer.onInterruption(how)
    this.#emit({ kind: 'barge', how, heardMs: present?.heard.ms ?? 0, text })
    this.#checkQuiet()
  }

  #called(id: string, call: EngineCall): void {
    const answer = this.#openAnswer(id)
    if (!answer) {
      this.#seat.link.result(call, 'The caller interrupted; the function did not run.', false)
      return
    }
    answer.calls.push(call)
    this.#transcript.call(id, call)
    this.#askers.set(call, this.#seat.link)
    this.#functions.call(id, call)
  }

  #userTurn(turn: CallerTurn): void {
    const { text, by, confidence, language, merged, endedBy } = turn
    this.#transcript.add({ role: 'user', content: text, ...(language !== undefined && { language }) })
    this.#emit({
      kind: 'user',
      text,
      by,
      merged,
      endedBy,
      ...(confidence !== undefined && { confidence }),
      ...(language !== undefined && { language }),
      ...this.#stamps.timesOf(turn),
    })
  }

  /** Gives the result of a function to the engine; to another session than the asking one, as a message. */
  #answered(call: EngineCall, { text, kept, respond }: FunctionAnswer): void {
    const asking = this.#askers.get(call)
    this.#transcript.result(call, kept ?? text)
    this.#do((link) => {
      if (respond) this.#asked = link
      if (link === asking) link.result(call, text, respond)
      else link.message({ role: 'system', content: `Result of ${call.name}: ${text}` }, respond)
    })
  }

  #function(name: string): AgentFunction | undefined {
    return (this.#changes.functions ?? this.#options.functions).find((each) => each.name === name)
  }

  /** Says the filler of a function. Returns a promise if the function starts only after it. */
  #functionFiller(name: string): Promise<void> | undefined {
    const { fillers, waitForFillers } = this.#function(name) ?? {}
    const phrases = fillers?.[this.#language?.code ?? ''] ?? fillers?.default
    const text = oneOf(phrases ?? this.#language?.functionFillers)
    if (text === undefined) return undefined
    const said = this.#speakFiller(text).then(() => this.#tap.spoken())
    return waitForFillers ? said : undefined
  }

  /** Language that the agent speaks now. */
  get #language(): AgentLanguage | undefined {
    const { languages } = this.#options
    return languages.find(({ code }) => code === this.#changes.language) ?? languages[0]
  }

  async #speakFiller(text: string): Promise<void> {
    const samples = await this.#deps.render(text, this.#rate)
    if (!samples || this.#isOver) return
    this.#emit({ kind: 'filler', text })
    this.#output.sound(samples)
  }

  #openAnswer(id: string): OpenAnswer | undefined {
    const answer = this.#answers.get(id)
    return answer?.isCut ? undefined : answer
  }

  #stamp(id: string, name: 'firstToken' | 'firstUtterance' | 'firstAudio'): void {
    const answer = this.#answers.get(id)
    if (answer && answer.stamps[name] === undefined)
      answer.stamps = { ...answer.stamps, [name]: this.#deps.clock.now() * 1000 }
  }

  #checkQuiet(): void {
    if (this.#output.isBusy || !this.#answers.isEmpty) return
    for (const resolve of this.#quiet.splice(0)) resolve()
  }

  /** Does something with the engine after what was begun before. */
  #do(work: (link: EngineLink) => void | Promise<void>): void {
    this.#work = this.#work
      .then(() => (this.#isOver ? undefined : work(this.#seat.link)))
      .catch((error: unknown) => this.#deps.observer.onError(error))
  }

  #emit(event: Happening): void {
    this.#options.onEvent({ at: this.#deps.clock.now(), ...event } as AgentEvent)
  }

  #finish(end: AgentEnd): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#turns.close()
    this.#seat.close()
    this.#functions.close()
    for (const answer of this.#answers.all) this.#close(answer, !this.#output.isOver(answer.id))
    this.#answers.dropTexts()
    this.background.close()
    this.#tap.close()
    for (const resolve of this.#quiet.splice(0)) resolve()
    this.#emit({ kind: 'ended', end })
    this.#settle(end)
  }
}
