import { wait, within } from '../common/timers.ts'
import type { SessionState } from './session-state.ts'

/** Maximum wait for the agent's last words, in milliseconds. */
export const maxGoodbyeMs = 10_000

/** Maximum wait for the agent's end after it was stopped, in milliseconds. */
const maxStopMs = 15_000

/** Way in which a conversation ends by itself: the host goes on, hangs up, or continues elsewhere. */
export type LeavingKind = 'stop' | 'hangup' | 'leave'

/** End of a conversation that an action or function asks for, after the agent's last words. */
export class Leaving {
  readonly #state: SessionState
  #kind: LeavingKind | undefined
  readonly #gaveUp = Promise.withResolvers<void>()

  constructor(state: SessionState) {
    this.#state = state
  }

  /** Way in which the conversation ends; undefined if nothing has ended it yet. */
  get kind(): LeavingKind | undefined {
    return this.#kind
  }

  get isLeaving(): boolean {
    return this.#kind !== undefined
  }

  /** Resolves if the agent does not end although it was stopped. */
  get gaveUp(): Promise<void> {
    return this.#gaveUp.promise
  }

  /** Ends the conversation after the agent's last words. The first way counts. */
  begin(kind: LeavingKind): void {
    if (this.#kind !== undefined) return
    this.#kind = kind
    void this.#leave()
  }

  /** Resolves when the agent is silent, or after ten seconds. Returns whether it is silent. */
  async silence(): Promise<boolean> {
    const { agent, host } = this.#state
    if (!agent) return true
    // An agent that cannot say whether it is silent must not keep the call.
    return (await within(host.timers, maxGoodbyeMs, agent.quiet()).catch(() => true)) ?? false
  }

  async #leave(): Promise<void> {
    await this.silence()
    const { agent, host } = this.#state
    agent?.stop()
    const over = new AbortController()
    void agent?.ended.then(() => over.abort())
    await wait(host.timers, maxStopMs, over.signal)
    if (!over.signal.aborted) this.#gaveUp.resolve()
  }
}
