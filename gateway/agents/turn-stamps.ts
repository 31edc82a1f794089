import type { AgentStamps } from '../../handlers/verbs.ts'
import type { SteadyClock } from '../core/clock.ts'
import type { CallerTurn } from './turns/turn-types.ts'

/** Times of one turn of the caller, in microseconds since the epoch. The end of its voice may come late. */
export interface TurnTimes {
  speechStart?: number
  lastWordEnd?: number
  turnDecided?: number
  /** The engine was asked for the answer. */
  requestSent?: number
}

/** Times of the caller's turns, as measured in the audio: the first part of an answer's stamps. */
export class TurnStamps {
  readonly #clock: SteadyClock
  /** Uptime at which the tap was opened, in ms. */
  #openedAt = 0
  /** Turn of the latest voice. */
  #turn: TurnTimes = {}
  /** The same before the last voice began. */
  #former: TurnTimes = {}
  /** Turn whose answer has not begun. */
  #unanswered: TurnTimes | undefined
  /** Whether the engine has answered that turn with nothing, so that the handler answers. */
  #isLeftToHandler = false
  #requestSent: number | undefined

  constructor(clock: SteadyClock) {
    this.#clock = clock
  }

  /** A tap was opened: its frames begin now. */
  tapOpened(): void {
    this.#openedAt = this.#clock.uptime()
  }

  /** Voice began or ended at a position of the tap. Returns the time since then in ms. */
  voice(isVoiced: boolean, atMs: number): number {
    // The age is independent of changes to the machine's time.
    const agoMs = Math.max(0, this.#clock.uptime() - this.#openedAt - atMs)
    const at = (this.#clock.now() - agoMs) * 1000
    if (!isVoiced) {
      this.#turn.lastWordEnd = at
      return agoMs
    }
    // Voice after the decision is of the next turn.
    if (this.#turn.turnDecided !== undefined) this.#turn = {}
    this.#former = { ...this.#turn }
    this.#turn.speechStart ??= at
    delete this.#turn.lastWordEnd
    return agoMs
  }

  /** The last voice that began was none. */
  noVoice(): void {
    if (this.#turn.turnDecided === undefined) this.#turn = this.#former
  }

  /** The turn is complete, and is going to be answered. */
  decided(): void {
    // A turn that follows without voice, such as keys, has no other times.
    if (this.#turn.turnDecided !== undefined) this.#turn = {}
    this.#turn.turnDecided = this.#clock.now() * 1000
    this.#unanswered = this.#turn
  }

  /** The engine was asked for an answer, or answers a turn by itself that has ended now. */
  requested(): void {
    this.#requestSent = this.#clock.now() * 1000
  }

  /** The agent speaks without a turn: its next answer is no reply. */
  prompted(): void {
    this.#unanswered = undefined
    this.#turn = {}
  }

  /** Returns the begin and end of a turn in ms since the epoch, as far as they are known. */
  timesOf({ startedAt, endedAt }: CallerTurn): { readonly startedAt?: number; readonly endedAt?: number } {
    const offset = this.#clock.now() - this.#clock.uptime()
    return {
      ...(startedAt !== undefined && { startedAt: Math.round(startedAt + offset) }),
      ...(endedAt !== undefined && { endedAt: Math.round(endedAt + offset) }),
    }
  }

  /** Returns the times of the turn for the answer that begins now. A turn has one answer. */
  ofAnswer(): TurnTimes {
    const turn = this.#unanswered ?? {}
    if (this.#requestSent !== undefined) turn.requestSent = this.#requestSent
    this.#unanswered = undefined
    this.#requestSent = undefined
    this.#isLeftToHandler = false
    return turn
  }

  /** The answer with these times has said nothing: they are those of the next one. */
  restore(turn: TurnTimes): void {
    if (turn.turnDecided === undefined) return
    this.#unanswered ??= turn
    this.#isLeftToHandler = true
  }

  /** Returns the times for a text of the handler: those of a turn that the engine left to it. */
  ofText(): TurnTimes {
    return this.#isLeftToHandler ? this.ofAnswer() : {}
  }

  /** Returns the time from the caller's last word to the first sound in ms; undefined if it is unknown. */
  responseMs({ lastWordEnd, firstAudio }: AgentStamps): number | undefined {
    if (lastWordEnd === undefined || firstAudio === undefined) return undefined
    return Math.max(0, firstAudio - lastWordEnd) / 1000
  }
}
