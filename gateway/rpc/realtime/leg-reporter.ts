import type { LegEvent } from './call-state-event.ts'

/**
 * Reports the legs of one dial or connect to an application. The published clients ignore the legs of a tag
 * after its first `ended` event. The ends of legs that were not answered are therefore delayed until the dial
 * or connect has ended.
 */
export class LegReporter {
  readonly #send: (leg: LegEvent) => void
  readonly #ended: LegEvent[] = []
  #answered: string | undefined
  #isOver = false

  constructor(send: (leg: LegEvent) => void) {
    this.#send = send
  }

  /** Id of the answered leg; undefined before the answer. */
  get answered(): string | undefined {
    return this.#answered
  }

  /** Marks a leg as answered. */
  setAnswered(callId: string): void {
    this.#answered = callId
  }

  /** Reports a state of a leg. */
  report(leg: LegEvent): void {
    if (leg.state === 'ended' && leg.callId !== this.#answered && !this.#isOver) this.#ended.push(leg)
    else this.#send(leg)
  }

  /** Reports the delayed ends; called when the dial or connect has ended. */
  over(): void {
    this.#isOver = true
    for (const leg of this.#ended.splice(0)) this.#send(leg)
  }
}
