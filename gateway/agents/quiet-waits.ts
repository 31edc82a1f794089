import type { AgentSpeech } from './agent-speech.ts'
import type { TimerSet } from './timer-set.ts'

/** Maximum wait for silence, in ms. */
const maxWaitMs = 10_000

/** Waits for the silence of an agent, each of 10 s at most. */
export class QuietWaits {
  readonly #speech: AgentSpeech
  readonly #timers: TimerSet
  #waiting: ((isSilent: boolean) => void)[] = []

  constructor(speech: AgentSpeech, timers: TimerSet) {
    this.#speech = speech
    this.#timers = timers
  }

  /** Resolves when nothing is being said, nor waits to be; with false if that takes too long. */
  wait(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#waiting.push(resolve)
    const timer = this.#timers.after(maxWaitMs, () => resolve(false))
    this.check()
    return promise.finally(() => this.#timers.cancel(timer))
  }

  /** Ends the waits if the agent is silent. */
  check(): void {
    if (this.#speech.isSilent) this.close()
  }

  /** Ends all waits. */
  close(): void {
    for (const resolve of this.#waiting.splice(0)) resolve(true)
  }
}
