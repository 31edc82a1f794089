import type { LegEvent } from './call-state-event.ts'

/**
 * Tells an application of the legs of one dial or connect. With the first `ended` the published clients stop
 * to look at legs with its tag: that of a leg that was not taken would cost them the one that was. Those ends
 * are told when all is over.
 */
export class LegReporter {
  readonly #tell: (leg: LegEvent) => void
  readonly #ended: LegEvent[] = []
  #taken: string | undefined
  #isOver = false

  constructor(tell: (leg: LegEvent) => void) {
    this.#tell = tell
  }

  /** The leg that counts; undefined while there is none. */
  get taken(): string | undefined {
    return this.#taken
  }

  /** This is the leg that counts. */
  take(callId: string): void {
    this.#taken = callId
  }

  tell(leg: LegEvent): void {
    if (leg.state === 'ended' && leg.callId !== this.#taken && !this.#isOver) this.#ended.push(leg)
    else this.#tell(leg)
  }

  /** Nothing more happens: tells the ends that were kept. */
  over(): void {
    this.#isOver = true
    for (const leg of this.#ended.splice(0)) this.#tell(leg)
  }
}
