import { randomUUID } from 'node:crypto'
import { CallEnded, type VerbEvent, VerbFailed } from '../../../handlers/verbs.ts'
import type { Clock } from '../../core/clock.ts'
import { codeOf } from '../../core/errors/catalogue.ts'
import { guarded } from '../../core/guarded.ts'
import type { Log } from '../../core/log.ts'
import type { VerbMeter, VerbOutcome } from './verb-meter.ts'

/** One use of a verb. */
export interface VerbUse {
  readonly id: string
  /** It is over; what is said after the first time does nothing. `code` with `failed`. */
  end(outcome: VerbOutcome, code?: string): void
}

/** What a {@link VerbLog} works with. */
export interface VerbLogDeps {
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
  readonly verbs: VerbMeter
}

/** The verbs of one call: tells who listens, the log and the metrics when one begins and how it ends. */
export class VerbLog {
  #parts: VerbLogDeps
  #over: AbortSignal
  #listeners = new Set<(event: VerbEvent) => void>()

  /** `over` fires with the end of the call. */
  constructor(parts: VerbLogDeps, over: AbortSignal) {
    this.#parts = parts
    this.#over = over
  }

  /** See `CallControl.onVerb`. */
  listen(listener: (event: VerbEvent) => void): () => void {
    const told = guarded(listener, this.#parts.log)
    this.#listeners.add(told)
    return () => this.#listeners.delete(told)
  }

  /** Throws {@link CallEnded} when the call is over, and the signal's reason when that has fired. */
  check(signal?: AbortSignal): void {
    if (this.#over.aborted) throw new CallEnded()
    signal?.throwIfAborted()
  }

  /** A verb begins. Throws as {@link check} does. */
  begin(verb: string, signal?: AbortSignal): VerbUse {
    this.check(signal)
    const id = randomUUID()
    const { clock, log, verbs } = this.#parts
    const startedAt = clock.now()
    let open = true
    verbs.began()
    this.#tell({ verb, id, state: 'started', at: startedAt })
    return {
      id,
      end: (outcome, code) => {
        if (!open) return
        open = false
        verbs.ended(verb, outcome)
        const at = clock.now()
        log.debug({ verb, use: id, outcome, ms: at - startedAt, ...(code && { code }) }, 'verb')
        this.#tell({ verb, id, state: outcome, at, ...(code !== undefined && { code }) })
      },
    }
  }

  /** A verb from its beginning to its end: it is over with `work`. */
  async run<T>(verb: string, work: (id: string) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const use = this.begin(verb, signal)
    try {
      const result = await work(use.id)
      use.end('finished')
      return result
    } catch (error) {
      this.fail(use, error, signal)
      throw error
    }
  }

  /** The verb ended with an error, or was given up. */
  fail(use: VerbUse, error: unknown, signal?: AbortSignal): void {
    if (error instanceof CallEnded || signal?.aborted) use.end('canceled')
    else use.end('failed', error instanceof VerbFailed ? error.code : codeOf(error))
  }

  #tell(event: VerbEvent): void {
    for (const listener of [...this.#listeners]) listener(event)
  }
}
