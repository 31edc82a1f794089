import { readSound } from '../common/sounds.ts'
import type { Sound } from '../verbs.ts'
import type { SessionState } from './session-state.ts'

/** Hold of a conversation: the caller hears music, and the agent neither listens nor speaks. */
export class AgentHold {
  readonly #state: SessionState
  readonly #onTimeout: (step: string) => void
  #timer: { cancel(): void } | undefined
  #isHeld: boolean
  #hasMusic = false

  /** `onTimeout` receives the step that follows a hold that timed out. */
  constructor(state: SessionState, onTimeout: (step: string) => void) {
    this.#state = state
    this.#onTimeout = onTimeout
    this.#isHeld = state.document.params.isPaused
  }

  /** Begins a hold of some seconds at most; a hold in progress is replaced. */
  begin(seconds: number, timeoutStep?: string): void {
    const { agent, host, isOver } = this.#state
    if (!agent || isOver) return
    this.#timer?.cancel()
    if (!this.#isHeld) {
      this.#isHeld = true
      this.#state.hold()
      this.#music(true)
    }
    this.#timer = host.timers.after(seconds * 1000, () => {
      this.end()
      if (timeoutStep !== undefined) this.#onTimeout(timeoutStep)
    })
  }

  /** Ends the hold, also that of the beginning. Has no effect without one. */
  end(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    if (!this.#isHeld) return
    this.#isHeld = false
    if (this.#state.host.call.signal.aborted) return
    if (this.#hasMusic) this.#music(false)
    this.#state.unhold()
  }

  /** Starts or stops the music. The conversation is on hold also if that fails. */
  #music(isOn: boolean): void {
    this.#hasMusic = isOn
    const { host } = this.#state
    const done = isOn ? host.call.hold(this.#options) : host.call.unhold()
    done.catch((error: unknown) => {
      if (!host.call.signal.aborted) host.warn(`The hold failed: ${(error as Error).message}`)
    })
  }

  get #options(): { readonly music?: readonly Sound[] } {
    const { host, document } = this.#state
    const { holdMusic } = document.params
    try {
      return holdMusic === undefined ? {} : { music: [readSound(this.#state.fill(holdMusic))] }
    } catch (error) {
      host.warn(`hold_music ${(error as Error).message}.`)
      return {}
    }
  }
}
