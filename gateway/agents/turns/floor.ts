import type { SteadyClock } from '../../core/clock.ts'
import { compilePattern } from '../text/pattern.ts'
import { containsName, interrupts, type Overlap } from './barge.ts'
import { CallerSide } from './caller-side.ts'
import { Silences } from './silences.ts'
import { Answers } from './turn-answers.ts'
import type { CallerTurn, CutKind, TurnActor, TurnEnd, TurnRules, TurnState } from './turn-types.ts'

/** Time for the agent's last words, in ms, and the time for them after a last instruction. */
const leavingMs = 10_000
const farewellMs = 15_000
/** Sounds without words in one answer, after which sounds no longer lower the agent's voice. */
const maxFalseAlarms = 3
/** Most answers that are prepared for one turn. */
const maxPrepared = 3

const attentionText = 'The caller has been silent for a while. Ask briefly whether they are still there.'
const interruptedText = 'The caller interrupted, but nothing could be understood. Go on.'

const matcherOf = ({ bargePattern }: TurnRules): ((text: string) => boolean) =>
  bargePattern === undefined ? () => true : (compilePattern(bargePattern, true)?.matches ?? (() => true))

/**
 * The floor of one conversation: which side has it, and how it changes hands. {@link Turns} tells it of
 * inputs; `deadlinesOf` of time. Times are uptimes in ms.
 */
export class Floor {
  readonly caller = new CallerSide()
  readonly answers = new Answers()
  readonly silences: Silences
  readonly actor: TurnActor
  rules: TurnRules
  state: TurnState = 'listening'
  doubtSince = 0
  /** Text of the answer that is prepared. */
  prepared: string | undefined
  /** Begin of the wait for a filler; undefined if none is to come. */
  thinkingSince: number | undefined
  /** Text of a dictation that was encouraged. */
  dictated = ''
  /** Latest time of the hard stop, once it is due. */
  stopBy: number | undefined
  leavingUntil = 0
  readonly #clock: SteadyClock
  #matches: (text: string) => boolean
  /** Whether the agent's voice is lowered by {@link TurnActor.fade}. */
  #isFaded = false
  #falseAlarms = 0
  #preparations = 0
  #endReason: TurnEnd = 'stopped'

  constructor(rules: TurnRules, actor: TurnActor, clock: SteadyClock) {
    this.rules = rules
    this.actor = actor
    this.#clock = clock
    this.#matches = matcherOf(rules)
    this.silences = new Silences(clock.uptime(), rules.waitForUser)
  }

  get now(): number {
    return this.#clock.uptime()
  }

  get mode(): TurnRules['engine']['turns'] {
    return this.rules.engine.turns
  }

  /** Whether the agent thinks or speaks. */
  get isAgents(): boolean {
    return this.state === 'thinking' || this.state === 'speaking' || this.state === 'doubting'
  }

  /** Whether inputs of the caller count. */
  get isOpen(): boolean {
    return this.state !== 'held' && this.state !== 'leaving' && this.state !== 'over'
  }

  /** Whether a key interrupts the agent. */
  get canKeyInterrupt(): boolean {
    return this.answers.isInterruptible && (this.rules.bargeFunctions || !this.answers.hasFunction)
  }

  /** Whether voice and words can interrupt the agent. */
  get canInterrupt(): boolean {
    return this.rules.barge !== 'none' && this.canKeyInterrupt
  }

  /** Whether words over the agent's voice interrupt it now. */
  interrupts(overlap: Overlap): boolean {
    return this.canInterrupt && interrupts(overlap, this.rules, this.#matches)
  }

  setRules(rules: TurnRules): void {
    this.rules = rules
    this.#matches = matcherOf(rules)
  }

  /** The caller makes a sound over the agent's voice. */
  overlapBegan(): void {
    if (this.state === 'doubting' || !this.canInterrupt) return
    // The reflex may have lowered the voice; after many sounds without words it is undone at once.
    if (this.#falseAlarms < maxFalseAlarms) this.doubt()
    else this.actor.resume()
  }

  doubt(): void {
    this.state = 'doubting'
    this.doubtSince = this.now
    this.#fade()
  }

  #fade(): void {
    if (this.#isFaded) return
    this.#isFaded = true
    this.answers.paused(this.now)
    this.actor.fade()
  }

  #unfade(): void {
    if (!this.#isFaded) return
    this.#isFaded = false
    this.answers.resumed(this.now)
    this.actor.resume()
  }

  /** The doubt is over: the agent goes on. */
  resume(): void {
    this.#falseAlarms++
    this.goOn()
  }

  /** Words of the caller interrupt the agent. */
  interrupt(): void {
    const { last, speech } = this.caller
    const { soundAt } = this.answers
    const limit = this.rules.transparentBargeMs
    const isEarly = soundAt === undefined || this.now - soundAt <= limit
    const isJoined = this.mode === 'ours' && limit > 0 && isEarly && this.answers.isPlainReply
    if (isJoined && last) {
      this.cut('transparent', speech.text, 'speech')
      speech.prepend(last)
      this.caller.last = undefined
    } else {
      const wasHeard = soundAt !== undefined
      this.cut('normal', speech.text, 'speech')
      speech.isInterruption = wasHeard
    }
  }

  /** Drops the agent's answers; the caller has the floor. */
  cut(how: CutKind, text: string, by?: CallerTurn['by']): void {
    this.#isFaded = false
    this.#falseAlarms = 0
    this.answers.drop(this.rules.bargeFunctions)
    this.state = 'caller'
    this.actor.cut(how, text, by)
  }

  /** Ends an answer without a turn: the engine does not go on with it, or the caller presses a key. */
  giveUp(key?: string): void {
    if (key === undefined) this.cut('given-up', '')
    else this.cut('normal', key, 'keys')
    this.rest()
  }

  /** Drops a text that has not begun, or what waits for the end of a hold. The floor stays. */
  dropSpeech(): void {
    this.#isFaded = false
    this.answers.drop(this.rules.bargeFunctions)
    this.actor.cut('given-up', '')
    // A cut ends a pause.
    if (this.state === 'held') this.#fade()
  }

  /** The answers in progress have changed, or a hold or doubt is over: finds out who has the floor. */
  goOn(): void {
    if (!this.answers.isBusy) {
      this.rest()
      return
    }
    this.#unfade()
    this.state = this.answers.isSounding ? 'speaking' : 'thinking'
  }

  /** The agent has nothing more to say: the caller has the floor, or neither. */
  rest(): void {
    this.#unfade()
    this.#falseAlarms = 0
    this.answers.drop(true)
    this.caller.agentEnded(this.now)
    if (this.stopBy !== undefined) {
      this.farewell()
      return
    }
    const text = this.caller.texts.shift()
    if (text !== undefined) {
      this.commit({ text, by: 'text', merged: 0, endedBy: 'silence' })
      return
    }
    const { speech } = this.caller
    if (this.caller.isActive) {
      this.state = 'caller'
      return
    }
    const wasInterruption = speech.isInterruption
    speech.clear()
    this.state = 'listening'
    if (wasInterruption) this.prompt(interruptedText, 'interrupted')
  }

  /** Begins the turn of the caller, by voice or words. */
  callerBegan(at: number): void {
    if (this.state === 'listening') this.#preparations = 0
    this.caller.speech.begin(at)
    this.state = 'caller'
  }

  /** Whether an answer to the words so far may be prepared. */
  get canPrepare(): boolean {
    const { text } = this.caller.speech
    const { wakeName } = this.rules
    if (this.mode !== 'ours' || text === '' || text === this.prepared) return false
    return this.#preparations < maxPrepared && (!wakeName || containsName(text, wakeName))
  }

  prepare(): void {
    if (!this.canPrepare) return
    const { text } = this.caller.speech
    this.discard()
    this.#preparations++
    this.prepared = text
    this.actor.prepare(text)
  }

  /** Throws a prepared answer away, unless it is for the given text. */
  discard(unless?: string): void {
    if (this.prepared === undefined || this.prepared === unless) return
    this.prepared = undefined
    this.actor.discard()
  }

  /** The caller's words so far are a turn. */
  commitSpeech(endedBy: CallerTurn['endedBy']): void {
    this.commit(this.caller.take('speech', endedBy, this.rules.interruptPrompt))
  }

  commitKeys(): void {
    this.commit(this.caller.take('keys', 'silence', this.rules.interruptPrompt))
  }

  /** A turn is complete: the agent has the floor. */
  commit(turn: CallerTurn): void {
    this.discard(turn.text)
    this.prepared = undefined
    this.silences.turn(this.now)
    const { wakeName } = this.rules
    if (wakeName && turn.by === 'speech' && !containsName(turn.text, wakeName)) {
      this.actor.overheard(turn)
      this.rest()
      return
    }
    // The answer to this turn replaces one that was asked for and has not begun.
    if (this.mode === 'ours' && this.answers.isExpected) this.cut('normal', turn.text, turn.by)
    this.caller.last = turn
    this.think(turn.by === 'speech')
    this.actor.commit(turn)
  }

  /** Reports a turn that the engine answers by itself; the floor stays. */
  log(): void {
    const turn = this.caller.take('speech', 'engine', undefined)
    this.silences.turn(this.now)
    this.actor.commit(turn)
  }

  /** An answer is awaited. */
  think(isReply: boolean): void {
    this.#preparations = 0
    this.#falseAlarms = 0
    this.answers.expect(this.now, isReply)
    this.thinkingSince = isReply ? this.now : undefined
    this.state = 'thinking'
  }

  prompt(text: string, reason: 'attention' | 'limit' | 'interrupted'): void {
    this.silences.prompted(this.now)
    this.think(false)
    this.actor.prompt(text, reason)
  }

  /** Neither side speaks: the agent does. */
  attend(): void {
    this.prompt(this.rules.attentionPrompt ?? attentionText, 'attention')
  }

  hold(): void {
    this.discard()
    this.caller.keys.clear()
    this.caller.voice.reset()
    if (this.answers.hasWords) this.#fade()
    this.state = 'held'
  }

  unhold(): void {
    // Voice during the hold was not for the agent, and its end may be missed.
    this.caller.voice.reset()
    this.silences.unhold(this.now)
    this.answers.progress(this.now)
    this.goOn()
  }

  /** The hard stop is due: the agent says its last words as soon as it has nothing else to say. */
  stop(): void {
    this.silences.isStopped = true
    this.stopBy = this.now + leavingMs
    if (this.state === 'listening') this.farewell()
  }

  /** The agent says its last words now. */
  farewell(): void {
    this.stopBy = undefined
    this.#endReason = 'limit'
    this.discard()
    if (this.answers.isBusy) this.cut('given-up', '')
    const { hardStopPrompt } = this.rules
    if (hardStopPrompt === undefined) {
      this.end()
      return
    }
    this.prompt(hardStopPrompt, 'limit')
    this.state = 'leaving'
    this.leavingUntil = this.now + farewellMs
  }

  /** The agent ends after what it is saying. */
  leave(reason: TurnEnd): void {
    this.#endReason = reason
    this.discard()
    if (this.state === 'held' || !this.answers.hasWords) {
      this.end()
      return
    }
    this.#unfade()
    this.state = 'leaving'
    this.leavingUntil = this.now + leavingMs
  }

  end(): void {
    this.state = 'over'
    this.actor.end(this.#endReason)
  }
}
