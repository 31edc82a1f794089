import type { AgentTurnSettings } from '../../../handlers/verbs.ts'
import type { SteadyClock } from '../../core/clock.ts'
import type { Heard } from './caller-speech.ts'
import { deadlinesOf } from './deadlines.ts'
import { Floor } from './floor.ts'
import { Schedule } from './schedule.ts'
import type { TurnActor, TurnInputs, TurnRules, TurnState } from './turn-types.ts'

/** Wait for the text of a turn that the engine has ended, in ms. */
const engineTextMs = 5000

/**
 * Turn-taking of one conversation: decides when the caller's turn is complete, whether the caller interrupts,
 * and the consequences of silence. Has no input or output of its own. Words decide about interruptions; see
 * `endOfDoubt` for voice without words. Calls of no method throw.
 */
export class Turns implements TurnInputs {
  readonly #floor: Floor
  readonly #schedule: Schedule
  /** Time until which the text of a turn is awaited that the engine has ended. */
  #owedUntil: number | undefined
  #engineEndedAt = -Infinity

  constructor(rules: TurnRules, actor: TurnActor, clock: SteadyClock) {
    this.#floor = new Floor(rules, actor, clock)
    this.#schedule = new Schedule(clock)
    this.#settle()
  }

  get state(): TurnState {
    return this.#floor.state
  }

  get isAnswerDue(): boolean {
    return this.#floor.isAgents && this.#floor.answers.isExpected
  }

  /** Computes the deadlines anew; each that runs does so, too. */
  #settle(): void {
    const deadlines = deadlinesOf(this.#floor)
    const isOwed = this.#owedUntil !== undefined && this.#floor.isOpen
    if (isOwed) deadlines.push({ at: this.#owedUntil!, run: () => this.#settleDebt() })
    this.#schedule.set(
      deadlines.map(({ at, run }) => ({
        at,
        run: () => {
          run()
          this.#settle()
        },
      })),
    )
  }

  voice(isVoiced: boolean, agoMs = 0): void {
    const floor = this.#floor
    if (floor.state === 'over') return
    const at = floor.now - agoMs
    if (isVoiced) floor.caller.voice.begin(at)
    else floor.caller.voice.end(at, floor.isOpen && (floor.mode === 'ours' || !floor.isAgents))
    // Nothing interrupts the last words; the reflex may have lowered them.
    if (floor.state === 'leaving' && isVoiced) floor.actor.resume()
    if (floor.isOpen) floor.silences.sound(floor.now)
    if (floor.isOpen && isVoiced) this.#voiceBegan(at)
    this.#settle()
  }

  #voiceBegan(at: number): void {
    const floor = this.#floor
    floor.caller.speech.voiceBegan()
    if (floor.isAgents) {
      floor.overlapBegan()
      return
    }
    floor.discard()
    floor.callerBegan(at)
  }

  noVoice(): void {
    const floor = this.#floor
    const { caller } = floor
    if (floor.state === 'over') return
    caller.voice.retract()
    // The model of an engine heard a turn begin: it knows more.
    const isOpen = caller.speech.engine === 'none'
    if (isOpen && floor.state === 'doubting' && !caller.hasWords(floor.rules)) floor.resume()
    else if (isOpen && floor.state === 'caller' && !caller.isActive) floor.rest()
    this.#settle()
  }

  heard(heard: Heard): void {
    const floor = this.#floor
    if (!floor.isOpen) return
    floor.silences.sound(floor.now)
    if (floor.mode === 'duplex') {
      // The engine answers by itself; a recognition only shows that the caller is there.
      floor.caller.voice.recognised(heard.isFinal, floor.now)
      floor.actor.partial(heard.text, false)
      if (heard.text.trim() !== '') floor.silences.turn(floor.now)
    } else if (floor.caller.hear(heard, floor.now)) this.#heardNew(heard)
    this.#settle()
  }

  #heardNew(heard: Heard): void {
    const floor = this.#floor
    const { speech } = floor.caller
    floor.discard(speech.text)
    if (this.#owedUntil !== undefined) {
      floor.actor.partial(speech.text, false)
      if (heard.isFinal) this.#settleDebt()
    } else if (floor.isAgents) this.#overlap(heard)
    else {
      if (speech.text !== '') floor.callerBegan(floor.now)
      floor.actor.partial(speech.text, false)
    }
  }

  /** Words while the agent thinks or speaks. */
  #overlap({ isFinal, confidence }: Heard): void {
    const floor = this.#floor
    const { text, language } = floor.caller.speech
    // An engine that answers by itself may recognise the turn that it answers only afterwards.
    const isNew = floor.mode === 'ours' || (floor.caller.voice.beganAt ?? -Infinity) > this.#engineEndedAt
    const isBarge = isNew && floor.interrupts({ text, isFinal, language, confidence })
    floor.actor.partial(text, isBarge)
    if (isBarge) floor.interrupt()
    else if (isFinal && text !== '' && !floor.caller.hasWords(floor.rules))
      floor.caller.takeAcknowledgement(floor.now)
  }

  engineTurn(state: 'began' | 'eager' | 'resumed' | 'ended'): void {
    const floor = this.#floor
    if (!floor.isOpen || floor.mode === 'duplex') return
    if (floor.mode === 'its') floor.caller.voice.noticed(floor.now)
    if (state === 'began') this.#engineBegan()
    else if (state === 'ended') this.#engineEnded()
    else if (state === 'resumed') {
      floor.discard()
      floor.caller.speech.engine = 'began'
    } else if (floor.state === 'caller') floor.prepare()
    this.#settle()
  }

  #engineBegan(): void {
    const floor = this.#floor
    this.#settleDebt()
    if (!floor.isAgents) floor.callerBegan(floor.now)
    else if (floor.mode === 'ours') floor.overlapBegan()
    else if (floor.canInterrupt) floor.interrupt()
    floor.caller.speech.engine = 'began'
  }

  #engineEnded(): void {
    const floor = this.#floor
    const { speech } = floor.caller
    speech.engine = 'ended'
    if (floor.mode === 'ours') return
    this.#engineEndedAt = floor.now
    if (!speech.isFinal || speech.text === '') this.#owedUntil = floor.now + engineTextMs
    else if (!floor.isAgents) floor.commitSpeech('engine')
    else floor.log()
    if (!floor.isAgents) floor.think(true)
  }

  /** Reports a turn that the engine has ended, with the text that there is. */
  #settleDebt(): void {
    if (this.#owedUntil === undefined) return
    this.#owedUntil = undefined
    if (this.#floor.caller.speech.text !== '') this.#floor.log()
  }

  key(digit: string): void {
    const floor = this.#floor
    if (!floor.isOpen) return
    floor.silences.turn(floor.now)
    const { keys = 'turns' } = floor.rules
    if (keys === 'turns') this.#keyOfTurn(digit)
    else if (keys === 'interrupt' && floor.isAgents && floor.canKeyInterrupt) floor.giveUp(digit)
    this.#settle()
  }

  #keyOfTurn(digit: string): void {
    const floor = this.#floor
    floor.discard()
    floor.caller.keys.add(digit, floor.rules.keyTerminators, floor.now)
    if (!floor.isAgents) floor.callerBegan(floor.now)
    else if (floor.canKeyInterrupt) floor.cut('normal', digit, 'keys')
  }

  drop(isEngines: boolean): void {
    const floor = this.#floor
    if (floor.isAgents) {
      // The engine has not fallen silent: its hearing stays.
      floor.cut('given-up', '')
      floor.rest()
    } else if (isEngines && (floor.isOpen || floor.state === 'held')) floor.dropSpeech()
    else return
    this.#settle()
  }

  said(text: string): void {
    const floor = this.#floor
    if (floor.state === 'over' || floor.state === 'leaving') return
    floor.caller.texts.push(text)
    if (floor.state === 'listening') floor.rest()
    this.#settle()
  }

  asked(): void {
    const floor = this.#floor
    if (floor.state === 'over' || floor.state === 'leaving') return
    floor.answers.ask(floor.now)
    if (floor.state === 'listening') floor.state = 'thinking'
    this.#settle()
  }

  answerBegan(answer: string, isInterruptible: boolean, isAwaited = true): boolean {
    const floor = this.#floor
    const { answers } = floor
    const isLate = floor.state === 'leaving' && !(answers.isExpected && isAwaited)
    if (floor.state === 'over' || isLate) return false
    if (floor.state === 'caller' && floor.mode === 'its' && isAwaited) this.#engineEnded()
    answers.began(answer, isInterruptible, floor.now, isAwaited)
    if (floor.mode !== 'ours') floor.caller.voice.noticed(floor.now)
    if (floor.state === 'caller') this.#answerOverCaller()
    else if (floor.state === 'listening') floor.state = 'thinking'
    this.#settle()
    return true
  }

  /** An answer begins without a turn, while the caller speaks. */
  #answerOverCaller(): void {
    const floor = this.#floor
    floor.discard()
    floor.state = 'thinking'
    if (floor.mode !== 'ours' || !floor.canInterrupt) return
    floor.doubt()
    if (floor.interrupts(floor.caller.speech)) floor.interrupt()
  }

  speechBegan(answer: string): void {
    const floor = this.#floor
    if (floor.state === 'over' || !floor.answers.sounded(answer, floor.now)) return
    floor.silences.sound(floor.now)
    if (floor.state === 'thinking') floor.state = 'speaking'
    this.#settle()
  }

  audioCame(answer: string, ms: number): void {
    const { answers, now } = this.#floor
    const isFirst = answers.queued(answer, ms, now)
    // The wait for more is computed anew when it is over: audio comes often.
    if (isFirst) this.#settle()
  }

  answerDelivered(answer: string): void {
    if (this.#floor.state === 'over') return
    this.#floor.answers.delivered(answer, this.#floor.now)
    this.#settle()
  }

  played(): void {
    const floor = this.#floor
    if (floor.state === 'over') return
    floor.silences.sound(floor.now)
    floor.answers.played(floor.now)
    if (floor.state === 'leaving' && !floor.answers.hasWords) floor.end()
    if (floor.isAgents && (floor.state !== 'doubting' || !floor.answers.isBusy)) floor.goOn()
    this.#settle()
  }

  functionBegan(id: string): void {
    const floor = this.#floor
    if (floor.state === 'over') return
    floor.answers.functionBegan(id, floor.now)
    // A function has fillers of its own.
    floor.thinkingSince = undefined
    if (floor.state === 'listening') floor.state = 'thinking'
    this.#settle()
  }

  functionEnded(id: string, isAnswered = true): void {
    const floor = this.#floor
    if (floor.state === 'over' || !floor.answers.functionEnded(id, isAnswered, floor.now)) return
    if (floor.isAgents && (floor.state !== 'doubting' || !floor.answers.isBusy)) floor.goOn()
    this.#settle()
  }

  hold(): void {
    if (!this.#floor.isOpen) return
    this.#floor.hold()
    this.#settle()
  }

  unhold(): void {
    const floor = this.#floor
    if (floor.state !== 'held') return
    floor.unhold()
    this.#settle()
  }

  leave(): void {
    const { state } = this.#floor
    if (state === 'over' || state === 'leaving') return
    this.#floor.leave('stopped')
    this.#settle()
  }

  stop(): void {
    const { state, silences } = this.#floor
    if (state === 'over' || state === 'leaving' || silences.isStopped) return
    this.#floor.stop()
    this.#settle()
  }

  useEngine({ turns, cut }: TurnRules['engine']): void {
    this.#floor.setRules({ ...this.#floor.rules, engine: { turns, cut } })
    this.#settle()
  }

  change(settings: Partial<AgentTurnSettings>): void {
    const changed = Object.entries(settings).filter(([, value]) => value !== undefined)
    this.#floor.setRules({ ...this.#floor.rules, ...Object.fromEntries(changed) })
    this.#settle()
  }

  waitForUser(ms: number | undefined): void {
    this.#floor.silences.wait(this.#floor.now, ms)
    this.#settle()
  }

  close(): void {
    this.#floor.state = 'over'
    this.#settle()
  }
}
