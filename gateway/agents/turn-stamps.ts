import type { AgentStamps } from '../../handlers/verbs.ts'
import type { SteadyClock } from '../core/clock.ts'
import type { CallerTurn } from './turns/turn-types.ts'

/** Times of the caller's turn, as measured in the audio: the first part of an answer's stamps. */
export class TurnStamps {
  readonly #clock: SteadyClock
  /** Uptime at which the tap was opened, in ms. */
  #openedAt = 0
  #speechStart: number | undefined
  #lastWordEnd: number | undefined
  #turnDecided: number | undefined

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
    if (isVoiced) this.#speechStart ??= at
    else this.#lastWordEnd = at
    return agoMs
  }

  /** The turn is complete. */
  decided(): void {
    this.#turnDecided = this.#clock.now() * 1000
  }

  /** Returns the begin and end of a turn in ms since the epoch, as far as they are known. */
  timesOf({ startedAt, endedAt }: CallerTurn): { readonly startedAt?: number; readonly endedAt?: number } {
    const offset = this.#clock.now() - this.#clock.uptime()
    return {
      ...(startedAt !== undefined && { startedAt: Math.round(startedAt + offset) }),
      ...(endedAt !== undefined && { endedAt: Math.round(endedAt + offset) }),
    }
  }

  /** Returns the stamps of the turn for the answer that begins now. Each turn has one answer. */
  ofAnswer(): AgentStamps {
    const stamps = {
      ...(this.#speechStart !== undefined && { speechStart: this.#speechStart }),
      ...(this.#lastWordEnd !== undefined && { lastWordEnd: this.#lastWordEnd }),
      ...(this.#turnDecided !== undefined && { turnDecided: this.#turnDecided }),
    }
    this.#speechStart = undefined
    this.#lastWordEnd = undefined
    this.#turnDecided = undefined
    return stamps
  }

  /** Returns the time from the caller's last word to the first sound in ms; undefined if it is unknown. */
  responseMs({ lastWordEnd, firstAudio }: AgentStamps): number | undefined {
    if (lastWordEnd === undefined || firstAudio === undefined) return undefined
    return Math.max(0, firstAudio - lastWordEnd) / 1000
  }
}
