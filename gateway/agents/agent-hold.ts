import type { AgentSpeech } from './agent-speech.ts'
import type { CallerAudio } from './caller-audio.ts'
import type { ConversationRecord } from './conversation-record.ts'
import type { Fillers } from './fillers.ts'
import type { Turns } from './turns/turns.ts'

/** Parts of a conversation that a hold stops. */
export interface AgentHoldDeps {
  readonly turns: Turns
  readonly audio: CallerAudio
  readonly speech: AgentSpeech
  readonly fillers: Fillers
  readonly record: ConversationRecord
}

/** Hold of the agent, and its initial delay: it neither listens nor speaks. */
export class AgentHold {
  readonly #deps: AgentHoldDeps
  #isOnHold = false
  #isDelayed = false

  constructor(deps: AgentHoldDeps) {
    this.#deps = deps
  }

  /** Whether the agent is on hold, or waits for the end of the delay. */
  get isHeld(): boolean {
    return this.#deps.turns.state === 'held'
  }

  /** Begins a hold, also during the delay. Has no effect in the last words. */
  begin(): void {
    if (this.#isOnHold) return
    const { turns, audio, speech, fillers, record } = this.#deps
    turns.hold()
    // The last words are spoken in any case.
    if (!this.isHeld) return
    this.#isOnHold = true
    fillers.expire()
    audio.isMuted = true
    speech.pause()
    record.emit({ kind: 'hold' })
  }

  /** Ends the hold; a delay goes on. */
  end(): void {
    if (!this.#isOnHold || !this.isHeld) return
    const { speech, record } = this.#deps
    this.#isOnHold = false
    speech.resume()
    this.#goOn()
    record.emit({ kind: 'unhold' })
  }

  /** Begins the initial delay, which no event reports. */
  beginDelay(): void {
    this.#isDelayed = true
    this.#deps.audio.isMuted = true
    this.#deps.turns.hold()
  }

  /** Ends the initial delay; a hold goes on. Has no effect without a delay. */
  endDelay(): void {
    if (!this.#isDelayed) return
    this.#isDelayed = false
    this.#goOn()
  }

  #goOn(): void {
    if (this.#isOnHold || this.#isDelayed) return
    this.#deps.audio.isMuted = false
    this.#deps.turns.unhold()
  }
}
