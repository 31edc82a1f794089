import { ConversationHold, type HeldConversation } from '../common/conversation-hold.ts'
import { readSound } from '../common/sounds.ts'
import { within } from '../common/timers.ts'
import type { HoldOptions } from '../verbs.ts'
import { type Leaving, maxGoodbyeMs } from './session-leaving.ts'
import type { SessionState } from './session-state.ts'

/** Returns the hold of a session. Speech and prompt before it have ten seconds each; the rest is dropped. */
export const sessionHold = (state: SessionState, leaving: Leaving): ConversationHold =>
  new ConversationHold(new HeldSession(state, leaving))

class HeldSession implements HeldConversation {
  readonly #state: SessionState
  readonly #leaving: Leaving

  constructor(state: SessionState, leaving: Leaving) {
    this.#state = state
    this.#leaving = leaving
  }

  get call() {
    return this.#state.host.call
  }

  get timers() {
    return this.#state.host.timers
  }

  get isPaused(): boolean {
    return this.#state.document.params.isPaused
  }

  get music(): HoldOptions {
    const { host, document } = this.#state
    const { holdMusic } = document.params
    try {
      return holdMusic === undefined ? {} : { music: [readSound(this.#state.fill(holdMusic))] }
    } catch (error) {
      host.warn(`hold_music ${(error as Error).message}.`)
      return {}
    }
  }

  canHold(): boolean {
    const { agent, isOver } = this.#state
    return agent !== undefined && !isOver && !this.#leaving.isLeaving
  }

  /** Waits for the agent's speech, and for the prompt. */
  async lastWords(prompt: string, signal: AbortSignal): Promise<void> {
    const { agent, host } = this.#state
    const isWanted = () => !signal.aborted && this.canHold()
    // The rest of what takes longer would be spoken after the hold.
    const isSilent = await this.#leaving.silence()
    if (!agent || !isWanted()) return
    if (!isSilent) agent.cut()
    if (prompt === '') return
    const said = agent.say(prompt).then(
      () => true,
      () => true,
    )
    const isSaid = await within(host.timers, maxGoodbyeMs, said)
    if (!isSaid && isWanted()) agent.cut()
  }

  pause(): void {
    this.#state.hold()
  }

  resume(): void {
    this.#state.unhold()
  }

  onError(error: unknown): void {
    this.#state.host.warn(`The hold failed: ${(error as Error).message}`)
  }
}
