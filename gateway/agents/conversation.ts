import type {
  AgentChange,
  AgentEnd,
  AgentMessage,
  AgentOptions,
  AgentSayOptions,
  CallAgent,
} from '../../handlers/verbs.ts'
import type { MediaPort, Prompt, TapEvent } from '../../media/types.ts'
import { failureOf, verbFailed } from '../calls/leg/failures.ts'
import type { VoiceAgent } from '../calls/verbs/call-agents.ts'
import { AgentHold } from './agent-hold.ts'
import { AgentSettings } from './agent-settings.ts'
import { AgentSpeech } from './agent-speech.ts'
import type { OpenAnswer } from './answers.ts'
import { AgentBackground } from './background.ts'
import { CallerAudio } from './caller-audio.ts'
import { CallerVoice } from './caller-voice.ts'
import type { ConversationDeps } from './conversation-deps.ts'
import { FunctionCalls, functionRules } from './conversation-functions.ts'
import { ConversationRecord } from './conversation-record.ts'
import { VoiceCheck } from './detector/voice-check.ts'
import type { Engine, EngineFailure, EngineLink, EngineRequest } from './engine.ts'
import { EngineEvents } from './engine-events.ts'
import { EngineLine } from './engine-line.ts'
import { EngineSeat, type SeatOwner } from './engine-seat.ts'
import { Fillers } from './fillers.ts'
import { FunctionSounds } from './function-sounds.ts'
import { FunctionRunner } from './functions.ts'
import { LateTap } from './late-tap.ts'
import { Opening } from './opening.ts'
import { OwedAnswers } from './owed-answers.ts'
import { QuietWaits } from './quiet-waits.ts'
import { type Said, saidOf } from './said.ts'
import { TimerSet } from './timer-set.ts'
import { TurnDecisions } from './turn-decisions.ts'
import type { CallerTurn } from './turns/turn-types.ts'
import { Turns } from './turns/turns.ts'

/** Maximum time for the last words, in ms. */
const maxLastWordsMs = 10_000

/**
 * Conversation of one call with an agent. It joins the caller's audio, the session of the engine, the turns
 * and the functions, and carries out the demands of the call's verbs.
 *
 * It may begin before the call is answered: the engine is opened, and its first words wait for the port.
 */
export class Conversation implements SeatOwner, VoiceAgent {
  readonly id: string
  readonly functionTimeoutMs: number
  readonly ended: Promise<AgentEnd>
  readonly listener: EngineEvents
  readonly #background: AgentBackground
  readonly #options: AgentOptions
  readonly #deps: ConversationDeps
  readonly #settings: AgentSettings
  readonly #record: ConversationRecord
  readonly #seat: EngineSeat
  readonly #line: EngineLine
  readonly #tap: LateTap
  #port: MediaPort | undefined
  readonly #audio: CallerAudio
  readonly #speech: AgentSpeech
  readonly #fillers: Fillers
  readonly #functionSounds: FunctionSounds
  readonly #turns: Turns
  readonly #voice: VoiceCheck
  readonly #functions: FunctionRunner
  readonly #owed: OwedAnswers
  readonly #settle: (end: AgentEnd) => void
  readonly #timers: TimerSet
  readonly #opening: Opening
  readonly #quiet: QuietWaits
  readonly #hold: AgentHold
  #isOver = false

  /** `port`: undefined before the call is answered; {@link moveTo} follows. */
  constructor(port: MediaPort | undefined, options: AgentOptions, deps: ConversationDeps) {
    this.#options = options
    this.#deps = deps
    this.id = deps.id
    this.functionTimeoutMs = deps.functionTimeoutMs
    const { clock, observer, maxTokens } = deps
    this.#timers = new TimerSet(clock)
    const { promise, resolve } = Promise.withResolvers<AgentEnd>()
    this.ended = promise
    this.#settle = resolve
    this.#opening = this.#makeOpening()
    const onError = (error: unknown) => observer.onError(error)
    this.#settings = new AgentSettings(options)
    const { correct } = this.#settings
    const recorded = { ...options, correct, ...(maxTokens !== undefined && { maxTokens }) }
    this.#record = new ConversationRecord(recorded, clock, onError)
    this.#seat = new EngineSeat(deps.engines, this, clock)
    this.#line = new EngineLine(this.#seat, onError)
    const { outputRate: rate, abilities } = this.#seat.link
    const { volumeDb: speechDb = 0 } = options
    this.#tap = new LateTap({ tracks: 'in', sampleRate: rate, isContinuous: true, isPrompt: true, speechDb })
    this.#background = new AgentBackground(
      (url, signal) => this.#loadSound(url, signal),
      (error) => this.#record.warn('background-failed', failureOf(error, 'internal').message),
    )
    this.#background.use(this.#tap)
    this.#audio = new CallerAudio(rate)
    this.#speech = new AgentSpeech(this.#tap, rate, this.#record, this.#progress())
    this.#fillers = new Fillers(this.#settings, this.#speech, this.#record, deps.render)
    this.#functionSounds = new FunctionSounds(this.#settings, this.#fillers, this.#background)
    const rules = { ...options.turns, engine: abilities, waitForUser: options.waitForUser ?? false }
    this.#turns = new Turns(rules, this.#decisions(), clock)
    const voice = new CallerVoice(this.#turns, this.#record, this.#speech, {
      onVoice: () => this.#fillers.expire(),
      onVerdict: (verdict) => observer.onSound(verdict),
    })
    this.#voice = new VoiceCheck(voice, deps.detector, rate, clock)
    this.#functions = this.#runner()
    this.listener = new EngineEvents(this.#turns, this.#functions, this.#speech, this.#record)
    this.#owed = new OwedAnswers(this.#line, this.#speech, this.#turns, this.#record)
    this.#quiet = new QuietWaits(this.#speech, this.#timers)
    this.#hold = this.#makeHold()
    this.#start(port)
  }

  #start(port: MediaPort | undefined): void {
    const { greeting, isPaused, initialDelayMs = 0 } = this.#options
    this.#tap.onFrame((frame) => {
      this.#voice.frame(frame)
      this.#audio.give(frame, this.#seat.link)
    })
    this.#tap.onEvent((event) => this.#tapEvent(event))
    this.#tap.onClosed(() => this.hangUp())
    this.#tap.setReflex({})
    this.#protect()
    if (greeting) void this.say(greeting.text, greeting)
    if (isPaused) this.hold()
    else if (initialDelayMs > 0) this.#hold.beginDelay()
    this.#tap.onQueued(() => this.#opening.setPrepared())
    if (port) this.moveTo(port)
    else this.#opening.waitForAnswer()
  }

  #makeHold(): AgentHold {
    return new AgentHold({
      turns: this.#turns,
      audio: this.#audio,
      speech: this.#speech,
      fillers: this.#fillers,
      record: this.#record,
    })
  }

  #makeOpening(): Opening {
    const { initialDelayMs = 0 } = this.#options
    return new Opening(initialDelayMs, this.#timers, {
      onDelayOver: () => this.#hold.endDelay(),
      onBegin: () => this.#begin(),
    })
  }

  get prepared(): Promise<void> {
    return this.#opening.prepared
  }

  // The agent's controls.

  digit(digit: string): void {
    this.#turns.key(digit)
  }

  moveTo(port: MediaPort): void {
    if (this.#isOver) return
    if (!this.#port) this.#record.stamps.tapOpened()
    this.#port = port
    this.#tap.moveTo(port)
    this.#opening.setAnswered()
  }

  change(change: AgentChange): void {
    if (this.#isOver) return
    if (change.history) this.#record.transcript.replace(change.history)
    const changed = this.#settings.change(change)
    if (change.turns) this.#turns.change(change.turns)
    this.#protect()
    if (!changed) return
    if (changed.language) this.#record.emit({ kind: 'language', code: changed.language.code })
    this.#seat.change(changed)
  }

  message(message: AgentMessage, respond: boolean): void {
    if (this.#isOver) return
    // Nothing is said after the last words.
    respond &&= !this.#isLeaving
    if (message.role === 'user' && respond) {
      this.#turns.said(message.content)
      return
    }
    const send = (link: EngineLink): void => {
      this.#record.transcript.add(message)
      link.message(message, respond)
    }
    if (respond) this.#owed.ask(send)
    else this.#line.do(send)
  }

  say(text: Said, { isInterruptible = true, language }: AgentSayOptions = {}): Promise<void> {
    if (this.#isOver || this.#isLeaving) return Promise.resolve()
    const what = saidOf(text, (url, signal) => this.#loadSound(url, signal))
    const said = this.#speech.say({ what, isInterruptible, ...(language && { language }) })
    this.#sayNext()
    return said
  }

  cut(): void {
    this.#turns.drop(this.#speech.dropTexts())
  }

  quiet(): Promise<boolean> {
    if (this.#isOver) return Promise.resolve(true)
    return this.#quiet.wait()
  }

  hold(): void {
    this.#hold.begin()
  }

  unhold(): void {
    this.#hold.end()
  }

  waitForUser(ms?: number): void {
    this.#turns.waitForUser(ms)
  }

  background(sound: Parameters<CallAgent['background']>[0]): void {
    this.#background.play(sound)
  }

  stop(): void {
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
    if (!this.#opening.hasBegun) {
      if (!this.#opening.isDue || this.#hold.isHeld) this.#opening.setPrepared()
      this.#opening.setReady()
    }
    this.#functions.engineChanged()
    this.#owed.claimFrom(link)
  }

  onLost(): void {
    this.#owed.lost()
  }

  onFailure(engine: Engine, failure: EngineFailure): void {
    this.#deps.observer.onEngineFailure(engine, failure)
    this.#record.warn(failure.kind, `${failure.part}: ${failure.message}`)
  }

  onEmpty({ kind, message }: EngineFailure): void {
    const end: AgentEnd = { kind: 'failed', code: kind, reason: message }
    const finish = () => this.#finish(end)
    const isHeld = this.#hold.isHeld
    this.#turns.close()
    if (isHeld) {
      finish()
      return
    }
    this.#speech.mayFade = false
    this.#speech.resume()
    this.#timers.after(maxLastWordsMs, finish)
    void this.#fillers.apologize().then(finish)
  }

  // Parts and their effects on each other.

  #decisions(): TurnDecisions {
    return new TurnDecisions(this.#line, this.#speech, this.#record, {
      onTurn: (turn) => {
        this.#fillers.expire()
        this.#functions.turn()
        this.#turnDecided(turn)
      },
      onCut: () => {
        this.#fillers.expire()
        this.#owed.drop()
      },
      onInterruption: (how) => {
        this.#functions.interrupted()
        this.#deps.observer.onInterruption(how)
      },
      filler: (when) => this.#fillers.say(when),
      onWords: () => this.#voice.words(),
      revive: (part) => this.#revive(part),
      end: (reason) => this.#finish({ kind: reason }),
    })
  }

  #progress(): ConstructorParameters<typeof AgentSpeech>[3] {
    return {
      onBegan: (answer, isFirst) => this.#speechBegan(answer, isFirst),
      onDelivered: (id) => this.#turns.answerDelivered(id),
      onPlayed: () => this.#turns.played(),
      onOver: (id) => {
        this.#functions.answerEnded(id)
        this.#sayNext()
      },
      onTextGivenUp: () => this.#sayNext(),
      onSilent: () => this.#quiet.check(),
    }
  }

  #runner(): FunctionRunner {
    const calls = new FunctionCalls(this.#line, this.#speech, this.#record, this.#turns)
    return new FunctionRunner(
      functionRules(this.#options, this.#settings, this.functionTimeoutMs),
      {
        answer: (call, answer) => calls.answer(call, answer),
        report: (event) => calls.report(event),
        began: (id, call) => calls.began(id, call),
        ended: (id, isAnswered) => {
          this.#fillers.expire()
          this.#functionSounds.ended(id)
          calls.ended(id, isAnswered)
        },
        // A function must not act on a call that is not answered.
        beforeStart: ({ name }, id) =>
          this.#port ? this.#functionSounds.began(id, name) : this.#opening.answered,
      },
      this.#deps.clock,
    )
  }

  /** Loads a sound for the port, which the call has from its answer on. */
  async #loadSound(url: string, signal: AbortSignal): Promise<Prompt> {
    await this.#opening.answered
    return this.#deps.loadSound(url, this.#port!, signal)
  }

  #tapEvent(event: TapEvent): void {
    if (this.#isOver) return
    this.#speech.event(event)
    if (event.kind === 'voice-began') this.#voice.began(event.atMs, event.isFaded)
    else if (event.kind === 'voice-ended') this.#voice.ended(event.atMs)
  }

  /** The conversation begins. */
  #begin(): void {
    this.#record.emit({ kind: 'started', engine: this.#seat.engine.name })
    for (const message of this.#deps.warnings) this.#record.warn('configuration', message)
    for (const pattern of this.#settings.ignoredPatterns)
      this.#record.warn('pattern', `The pattern ${pattern} is not supported, and has no effect.`)
    const { greeting, waitForUser } = this.#options
    const isFirst = !greeting && !waitForUser && !this.#turns.isAnswerDue
    if (isFirst) this.#owed.ask((link) => link.answer(undefined))
    else if (!greeting) this.#opening.setPrepared()
    this.#sayNext()
  }

  /** A turn of the caller is complete: the agent follows its language. */
  #turnDecided(turn: CallerTurn): void {
    const { abilities } = this.#seat.link
    // Other engines report their turns when they end.
    if (abilities.turns === 'ours' || turn.by !== 'speech') this.#record.stamps.decided()
    const code = abilities.changes ? this.#settings.followed(turn) : undefined
    if (code === undefined) return
    // A recogniser that follows the caller must not be limited to one language.
    if (this.#settings.isMultilingual)
      this.#record.emit({ kind: 'language', code: this.#settings.speakIn(code) })
    else this.change({ language: code })
  }

  #sayNext(): void {
    if (!this.#opening.hasBegun || this.#isOver || this.#isLeaving) return
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
    this.#speech.mayFade = !this.#isLeaving && this.#settings.turns.barge !== 'none'
  }

  get #isLeaving(): boolean {
    return this.#turns.state === 'leaving'
  }

  #finish(end: AgentEnd): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#timers.close()
    this.#fillers.expire()
    this.#line.close()
    this.#turns.close()
    this.#voice.close()
    this.#seat.close()
    this.#functions.close()
    this.#background.close()
    this.#speech.close()
    this.#quiet.close()
    this.#opening.close()
    this.#record.emit({ kind: 'ended', end })
    this.#settle(end)
  }
}
