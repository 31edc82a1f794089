import type { Metrics } from '../../core/metrics.ts'

/** Outcome of a verb. */
export type VerbOutcome = 'finished' | 'failed' | 'canceled'

/** Counts the verbs of all calls. */
export class VerbMeter {
  #metrics: Pick<Metrics, 'verbs'>
  #pending = 0

  constructor(metrics: Pick<Metrics, 'verbs'>) {
    this.#metrics = metrics
  }

  /** Number of verbs in progress. */
  get pending(): number {
    return this.#pending
  }

  began(): void {
    this.#pending++
  }

  ended(verb: string, outcome: VerbOutcome): void {
    this.#pending--
    this.#metrics.verbs.inc({ verb, outcome })
  }
}
