import type { CallControl, HoldOptions } from '../verbs.ts'
import type { Timers } from './timers.ts'

/** Conversation of a caller and an agent, as a hold needs it. */
export interface HeldConversation {
  readonly call: Pick<CallControl, 'hold' | 'unhold' | 'signal'>
  readonly timers: Timers
  /** Whether the conversation begins on hold, without music. */
  readonly isPaused: boolean
  /** Music of the hold. */
  readonly music: HoldOptions
  /** Whether a hold may begin now. */
  canHold(): boolean
  /**
   * Speaks what precedes a hold. Resolves, never rejects, when it was heard or has taken too long. Returns
   * undefined if there is nothing to speak. The signal fires if the hold is ended or replaced before.
   */
  lastWords(prompt: string, signal: AbortSignal): Promise<void> | undefined
  /** The agent neither listens nor speaks until {@link resume}. */
  pause(): void
  resume(): void
  /** The music failed. The conversation is on hold nevertheless. */
  onError(error: unknown): void
}

/** Options of {@link ConversationHold.begin}. */
export interface ConversationHoldOptions {
  /** Text that the agent speaks before. */
  readonly prompt?: string | undefined
  /** Called after the end of a hold that timed out. */
  readonly onTimeout?: (() => void) | undefined
}

/** Hold of a conversation: the caller hears music, and the agent neither listens nor speaks. */
export class ConversationHold {
  readonly #conversation: HeldConversation
  /** Latest hold; another one, or an end, replaces it while the agent still speaks. */
  #latest: AbortController | undefined
  #timer: { cancel(): void } | undefined
  #isHeld: boolean
  #hasMusic = false

  constructor(conversation: HeldConversation) {
    this.#conversation = conversation
    this.#isHeld = conversation.isPaused
  }

  /** Begins a hold of some seconds at most, after the last words. A hold in progress is replaced. */
  begin(seconds: number, { prompt = '', onTimeout = () => {} }: ConversationHoldOptions = {}): void {
    if (!this.#conversation.canHold()) return
    this.#latest?.abort()
    const latest = new AbortController()
    this.#latest = latest
    const { signal } = latest
    const hold = () => {
      if (!signal.aborted && this.#conversation.canHold()) this.#hold(seconds, onTimeout)
    }
    // Nothing is spoken during a hold.
    const words = this.#isHeld ? undefined : this.#conversation.lastWords(prompt, signal)
    if (words) void words.then(hold)
    else hold()
  }

  #hold(seconds: number, onTimeout: () => void): void {
    const { timers, call, music } = this.#conversation
    this.#timer?.cancel()
    if (!this.#isHeld) {
      this.#isHeld = true
      this.#conversation.pause()
      this.#hasMusic = true
      this.#check(call.hold(music))
    }
    this.#timer = timers.after(seconds * 1000, () => {
      this.end()
      onTimeout()
    })
  }

  /** Ends the hold, also that of the beginning. Has no effect without one. */
  end(): void {
    this.#latest?.abort()
    this.#latest = undefined
    this.#timer?.cancel()
    this.#timer = undefined
    if (!this.#isHeld) return
    this.#isHeld = false
    const { call } = this.#conversation
    if (call.signal.aborted) return
    if (this.#hasMusic) this.#check(call.unhold())
    this.#hasMusic = false
    this.#conversation.resume()
  }

  #check(done: Promise<void>): void {
    const { call } = this.#conversation
    done.catch((error: unknown) => {
      if (!call.signal.aborted) this.#conversation.onError(error)
    })
  }
}
