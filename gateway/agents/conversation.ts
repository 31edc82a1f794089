import type { AgentChange, AgentEnd, AgentMessage, AgentOptions } from '../../handlers/verbs.ts'
import type { MediaPort, Tap, TapEvent } from '../../media/types.ts'
import { failureOf, verbFailed } from '../calls/leg/failures.ts'
import { AgentSettings } from './agent-settings.ts'
import { AgentSpeech } from './agent-speech.ts'
import type { OpenAnswer } from './answers.ts'
import { AgentBackground } from './background.ts'
import { CallerAudio } from './caller-audio.ts'
import type { ConversationDeps } from './conversation-deps.ts'
import { ConversationRecord } from './conversation-record.ts'
import type { Engine, EngineFailure, EngineLink, EngineRequest } from './engine.ts'
import { EngineEvents } from './engine-events.ts'
import { EngineLine } from './engine-line.ts'
import { EngineSeat, type SeatOwner } from './engine-seat.ts'
import { Fillers } from './fillers.ts'
import { FunctionRunner } from './functions.ts'
import { TimerSet } from './timer-set.ts'
import { TurnDecisions } from './turn-decisions.ts'
import { Turns } from './turns/turns.ts'

/** Apology before the end, if no engine is left. */
const apology = 'I am sorry, there is a technical problem.'
/** Instruction for an answer that a failure of the engine has cut off. */
const continuation = 'Your last answer was cut off by a fault. Go on where it stopped, without an apology.'
/** Maximum time for the last words, in ms. */
const maxLastWordsMs = 10_000

/**
 * Conversation of one call with an agent. It joins the caller's audio, the session of the engine, the turns
 * and the functions, and carries out the demands of the call's verbs.
 */
export class Conversation implements SeatOwner {
  readonly ended: Promise<AgentEnd>
  readonly listener: EngineEvents
  /** Sound behind the conversation. */
  readonly background: AgentBackground
  readonly #options: AgentOptions
  readonly #deps: ConversationDeps
  readonly #settings: AgentSettings
  readonly #record: ConversationRecord
  readonly #seat: EngineSeat
  readonly #line: EngineLine
  readonly #tap: Tap
  #port: MediaPort
  readonly #audio: CallerAudio
  readonly #speech: AgentSpeech
  readonly #fillers: Fillers
  readonly #turns: Turns
  readonly #functions: FunctionRunner
  readonly #settle: (end: AgentEnd) => void
  readonly #timers: TimerSet
  #isReady = false
  #isDue = false
  #hasBegun = false
  #isOver = false
  /** Waits for silence. */
  #quiet: (() => void)[] = []
  /** Spoken part of the answer that was lost with its session. */
  #lostText: string | undefined

  constructor(port: MediaPort, options: AgentOptions, deps: ConversationDeps) {
    this.#options = options
    this.#deps = deps
    const { clock, observer, maxTokens } = deps
    this.#timers = new TimerSet(clock)
    const { promise, resolve } = Promise.withResolvers<AgentEnd>()
    this.ended = promise
    this.#settle = resolve
    const onError = (error: unknown) => observer.onError(error)
    this.#settings = new AgentSettings(options)
    const { correct } = this.#settings
    const recorded = { ...options, correct, ...(maxTokens !== undefined && { maxTokens }) }
    this.#record = new ConversationRecord(recorded, clock, onError)
    this.#seat = new EngineSeat(deps.engines, this, clock)
    this.#line = new EngineLine(this.#seat, onError)
    const { outputRate: rate, abilities } = this.#seat.link
    const { volumeDb: speechDb = 0 } = options
    this.#port = port
    this.#tap = port.tap({ tracks: 'in', sampleRate: rate, isContinuous: true, speechDb })
    this.background = new AgentBackground(
      (url, signal) => deps.loadSound(url, this.#port, signal),
      (error) => this.#record.warn('background-failed', failureOf(error, 'internal').message),
    )
    this.background.use(this.#tap)
    this.#audio = new CallerAudio(rate)
    this.#speech = new AgentSpeech(this.#tap, rate, this.#record, this.#progress())
    this.#fillers = new Fillers(this.#settings, this.#speech, this.#record, deps.render)
    const rules = { ...options.turns, engine: abilities, waitForUser: options.waitForUser ?? false }
    this.#turns = new Turns(rules, this.#decisions(), clock)
    this.#functions = this.#runner()
    this.listener = new EngineEvents(this.#turns, this.#functions, this.#speech, this.#record)
    this.#start()
  }

  #start(): void {
    const { greeting, isPaused, initialDelayMs = 0 } = this.#options
    this.#record.stamps.tapOpened()
    this.#tap.onFrame((frame) => this.#audio.give(frame, this.#seat.link))
    this.#tap.onEvent((event) => this.#tapEvent(event))
    this.#tap.onClosed(() => this.hangUp())
    this.#tap.setReflex({})
    this.#protect()
    if (greeting) void this.say(greeting.text, greeting.isInterruptible)
    if (isPaused) this.hold()
    // The agent neither listens nor speaks before.
    const isLate = !isPaused && initialDelayMs > 0
    this.#audio.isMuted ||= isLate
    if (isLate) this.#turns.hold()
    this.#timers.after(initialDelayMs, () => {
      this.#isDue = true
      if (isLate) this.#audio.isMuted = false
      if (isLate) this.#turns.unhold()
      this.#begin()
    })
  }

  // The agent's controls.

  digit(digit: string): void {
    this.#turns.key(digit)
  }

  moveTo(port: MediaPort): void {
    if (this.#isOver) return
    this.#port = port
    this.#tap.moveTo(port)
  }

  change(change: AgentChange): void {
    if (this.#isOver) return
    if (change.history) this.#record.transcript.replace(change.history)
    const changed = this.#settings.change(change)
    if (change.turns) this.#turns.change(change.turns)
    this.#protect()
    if (!changed) return
    if (changed.language) this.#record.emit({ kind: 'language', code: changed.language.code })
    const { link } = this.#seat
    if (link.abilities.changes) link.change(changed)
    else this.#seat.refresh()
  }

  message(message: AgentMessage, respond: boolean): void {
    if (this.#isOver) return
    if (message.role === 'user' && respond) {
      this.#turns.said(message.content)
      return
    }
    this.#line.do((link) => {
      this.#record.transcript.add(message)
      if (respond) this.#speech.await(link)
      link.message(message, respond)
    })
  }

  say(text: string, isInterruptible: boolean): Promise<void> {
    if (this.#isOver) return Promise.resolve()
    const said = this.#speech.say(text, isInterruptible)
    this.#sayNext()
    return said
  }

  quiet(): Promise<void> {
    if (this.#isOver) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#quiet.push(resolve)
    const timer = this.#timers.after(maxLastWordsMs, resolve)
    this.#checkQuiet()
    return promise.then(() => this.#timers.cancel(timer))
  }

  hold(): void {
    if (this.#isHeld) return
    this.#turns.hold()
    // The last words are spoken in any case.
    if (!this.#isHeld) return
    this.#fillers.expire()
    this.#audio.isMuted = true
    this.#speech.pause()
    this.#record.emit({ kind: 'hold' })
  }

  unhold(): void {
    if (!this.#isHeld) return
    this.#audio.isMuted = false
    this.#speech.resume()
    this.#turns.unhold()
    this.#record.emit({ kind: 'unhold' })
  }

  waitForUser(ms: number | undefined): void {
    this.#turns.waitForUser(ms)
  }

  leave(): void {
    this.#fillers.expire()
    this.#turns.leave()
    this.#protect()
  }

  /** Answers an instruction about the conversation, outside of it. Works after the end, too. */
  async summarize(instruction: string): Promise<string> {
    try {
      return await this.#deps.complete(this.#seat.engine, this.#record.transcript.messages, instruction)
    } catch (error) {
      throw verbFailed('agent_failed', 'No model could summarize the conversation.', error)
    }
  }

  /** Ends at once: the call has ended. */
  hangUp(): void {
    this.#finish({ kind: 'hangup' })
  }

  // The seat of the engine.

  get isQuiet(): boolean {
    return this.#turns.state === 'listening' && !this.#speech.isBusy
  }

  request(): EngineRequest {
    return this.#settings.request(this.#deps.projectId, this.#record.transcript.messages)
  }

  onSeated(link: EngineLink): void {
    this.#speech.useEngine(link)
    this.listener.useEngine(link)
    this.#turns.useEngine(link.abilities)
    if (!this.#hasBegun) {
      this.#isReady = true
      this.#begin()
      return
    }
    this.#functions.engineChanged()
    this.#goOn(link)
  }

  onLost(): void {
    const text = this.#speech.lost()
    this.#lostText = text ?? (this.#turns.isAnswerDue ? '' : this.#lostText)
  }

  onFailure(engine: Engine, failure: EngineFailure): void {
    this.#deps.observer.onEngineFailure(engine, failure)
    this.#record.warn(failure.kind, `${failure.part}: ${failure.message}`)
  }

  onEmpty({ kind, message }: EngineFailure): void {
    const end: AgentEnd = { kind: 'failed', code: kind, reason: message }
    const finish = () => this.#finish(end)
    const isHeld = this.#isHeld
    this.#turns.close()
    if (isHeld) {
      finish()
      return
    }
    this.#fillers.expire()
    this.#speech.mayFade = false
    this.#speech.resume()
    this.#timers.after(maxLastWordsMs, finish)
    void this.#fillers
      .speak(apology)
      .then(() => this.#speech.spoken())
      .then(finish)
  }

  /** Asks the new session for the answer that the former one owed. */
  #goOn(link: EngineLink): void {
    const { givenText, awaitedFrom } = this.#speech
    const lostText = this.#lostText
    this.#lostText = undefined
    if (givenText !== undefined) this.#speech.giveText(link)
    else if (awaitedFrom !== link && (awaitedFrom || lostText !== undefined)) {
      this.#speech.await(link)
      link.answer(lostText ? continuation : undefined)
    }
  }

  // Parts and their effects on each other.

  #decisions(): TurnDecisions {
    return new TurnDecisions(this.#line, this.#speech, this.#record, {
      onTurn: () => {
        this.#fillers.expire()
        this.#functions.turn()
      },
      onCut: () => {
        this.#fillers.expire()
        this.#lostText = undefined
      },
      onInterruption: (how) => {
        this.#functions.interrupted()
        this.#deps.observer.onInterruption(how)
      },
      filler: (when) => this.#fillers.say(when),
      revive: (part) => this.#revive(part),
      end: (reason) => this.#finish({ kind: reason }),
    })
  }

  #progress(): ConstructorParameters<typeof AgentSpeech>[3] {
    return {
      onBegan: (answer, isFirst) => this.#speechBegan(answer, isFirst),
      onDelivered: (id) => this.#turns.answerDelivered(id),
      onPlayed: () => {
        this.#turns.played()
        this.#checkQuiet()
      },
      onOver: (id) => {
        this.#functions.answerEnded(id)
        this.#sayNext()
        this.#checkQuiet()
      },
    }
  }

  #runner(): FunctionRunner {
    const { clock, functionTimeoutMs: timeoutMs } = this.#deps
    const { runFunction } = this.#options
    return new FunctionRunner(
      {
        run: (call, signal) => runFunction(call, signal),
        isKnown: (name) => this.#settings.functionNamed(name) !== undefined,
        timeoutMs,
        canInterrupt: () => this.#settings.turns.bargeFunctions,
      },
      {
        answer: (call, { text, kept, respond }) => {
          this.#record.transcript.result(call, kept ?? text)
          this.#line.do((link) => {
            if (respond) this.#speech.await(link)
            this.#line.result(call, text, respond)
          })
        },
        report: (event) => this.#record.emit(event),
        began: (id, call) => {
          this.#line.called(call)
          this.#turns.functionBegan(id)
        },
        ended: (id, isAnswered) => {
          this.#fillers.expire()
          this.#turns.functionEnded(id, isAnswered)
        },
        beforeStart: ({ name }) => this.#fillers.ofFunction(name),
      },
      clock,
    )
  }

  #tapEvent(event: TapEvent): void {
    if (this.#isOver) return
    this.#speech.event(event)
    if (event.kind === 'item-began' || event.kind === 'item-ended') return
    const isVoiced = event.kind === 'voice-began'
    const agoMs = this.#record.stamps.voice(isVoiced, event.atMs)
    this.#record.emit({ kind: 'speech', state: isVoiced ? 'began' : 'ended' })
    if (isVoiced) this.#fillers.expire()
    this.#turns.voice(isVoiced, agoMs)
    const { state } = this.#turns
    // The media thread has lowered speech that the turns have no doubt about.
    if (isVoiced && event.isFaded && state !== 'doubting' && state !== 'held') this.#speech.undoFade()
  }

  /** Begins the conversation when an engine is ready and the initial delay is over. */
  #begin(): void {
    if (this.#hasBegun || this.#isOver || !this.#isReady || !this.#isDue) return
    this.#hasBegun = true
    this.#record.emit({ kind: 'started', engine: this.#seat.engine.name })
    for (const message of this.#deps.warnings) this.#record.warn('configuration', message)
    for (const pattern of this.#settings.ignoredPatterns)
      this.#record.warn('pattern', `The pattern ${pattern} is not supported, and has no effect.`)
    const { greeting, waitForUser } = this.#options
    if (!greeting && !waitForUser && !this.#turns.isAnswerDue)
      this.#line.do((link) => {
        this.#speech.await(link)
        link.answer(undefined)
      })
    this.#sayNext()
  }

  #sayNext(): void {
    if (!this.#hasBegun || this.#isOver) return
    if (this.#speech.takeText()) this.#line.do((link) => this.#speech.giveText(link))
  }

  #speechBegan({ id, stamps }: OpenAnswer, isFirst: boolean): void {
    this.#fillers.expire()
    const ms = isFirst ? this.#record.stamps.responseMs(stamps) : undefined
    if (ms !== undefined) this.#deps.observer.onResponse(this.#seat.engine, ms)
    this.#turns.speechBegan(id)
  }

  #revive(part: 'hearing' | 'answer'): void {
    const { link } = this.#seat
    if (part === 'hearing') {
      if (link.revive) link.revive()
      // Music or noise has no words: no fault of the engine.
      else this.#seat.renew('The caller spoke, and nothing was recognised.', false)
      return
    }
    // A session that is being opened is asked when it is ready.
    if (!this.#seat.isReady) return
    this.#speech.giveUp()
    this.#speech.await(link)
    this.#seat.renew('There was no answer in time.', true)
  }

  /** Sets whether the media thread may lower the speech by itself. */
  #protect(): void {
    this.#speech.mayFade = this.#turns.state !== 'leaving' && this.#settings.turns.barge !== 'none'
  }

  get #isHeld(): boolean {
    return this.#turns.state === 'held'
  }

  #checkQuiet(): void {
    if (!this.#speech.isSilent) return
    for (const resolve of this.#quiet.splice(0)) resolve()
  }

  #finish(end: AgentEnd): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#timers.close()
    this.#fillers.expire()
    this.#line.close()
    this.#turns.close()
    this.#seat.close()
    this.#functions.close()
    this.background.close()
    this.#speech.close()
    for (const resolve of this.#quiet.splice(0)) resolve()
    this.#record.emit({ kind: 'ended', end })
    this.#settle(end)
  }
}
