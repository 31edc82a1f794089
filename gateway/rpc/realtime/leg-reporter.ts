import type { LegEvent } from './call-state-event.ts'

/**
 * Reports the legs of one dial or connect to an application. The published clients ignore the legs of a tag
 * after its first `ended` event. The ends of legs that were not answered are therefore delayed until the dial
 * or connect has ended.
 */
export class LegReporter {
  readonly #tell: (leg: LegEvent) => void
  readonly #ended: LegEvent[] = []
  #taken: string | undefined
  #isOver = false

  constructor(tell: (leg: LegEvent) => void) {
    this.#tell = tell
  }

  /** Id of the answered leg; undefined before the answer. */
  get taken(): string | undefined {
    return this.#taken
  }

  /** Marks a leg as answered. */
  take(callId: string): void {
    this.#taken = callId
  }

  /** Reports a state of a leg. */
  tell(leg: LegEvent): void {
    if (leg.state === 'ended' && leg.callId !== this.#taken && !this.#isOver) this.#ended.push(leg)
    else this.#tell(leg)
  }

  /** Reports the delayed ends; called when the dial or connect has ended. */
  over(): void {
    this.#isOver = true
    for (const leg of this.#ended.splice(0)) this.#tell(leg)
  }
}
