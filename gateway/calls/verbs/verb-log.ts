import { randomUUID } from 'node:crypto'
import { CallEnded, type VerbEvent, VerbFailed } from '../../../handlers/verbs.ts'
import type { Clock } from '../../core/clock.ts'
import { codeOf } from '../../core/errors/catalogue.ts'
import { guardListener } from '../../core/guard.ts'
import type { Call } from '../call/call.ts'
import type { VerbMeter, VerbOutcome } from './verb-meter.ts'

/** One execution of a verb. */
export interface VerbUse {
  readonly id: string
  /** Ends the use; only the first call counts. `code` with `failed`. */
  end(outcome: VerbOutcome, code?: string): void
}

/** Reports the start and the end of each verb of one call to listeners, the log and the metrics. */
export class VerbLog {
  #call: Pick<Call, 'signal' | 'log'>
  #meter: VerbMeter
  #clock: Pick<Clock, 'now'>
  #listeners = new Set<(event: VerbEvent) => void>()

  constructor(call: Pick<Call, 'signal' | 'log'>, meter: VerbMeter, clock: Pick<Clock, 'now'>) {
    this.#call = call
    this.#meter = meter
    this.#clock = clock
  }

  /** See `CallControl.onVerb`. */
  listen(listener: (event: VerbEvent) => void): () => void {
    const guardedListener = guardListener(listener, this.#call.log)
    this.#listeners.add(guardedListener)
    return () => this.#listeners.delete(guardedListener)
  }

  /** Throws {@link CallEnded} after the end of the call, and the signal's reason after it has fired. */
  check(signal?: AbortSignal): void {
    if (this.#call.signal.aborted) throw new CallEnded()
    signal?.throwIfAborted()
  }

  /** Starts a use. Throws as {@link check} does. */
  begin(verb: string, signal?: AbortSignal): VerbUse {
    this.check(signal)
    const id = randomUUID()
    const { log } = this.#call
    const startedAt = this.#clock.now()
    let isOpen = true
    this.#meter.began()
    this.#report({ verb, id, state: 'started', at: startedAt })
    return {
      id,
      end: (outcome, code) => {
        if (!isOpen) return
        isOpen = false
        this.#meter.ended(verb, outcome)
        const at = this.#clock.now()
        log.debug({ verb, use: id, outcome, ms: at - startedAt, ...(code && { code }) }, 'verb ended')
        this.#report({ verb, id, state: outcome, at, ...(code !== undefined && { code }) })
      },
    }
  }

  /** Runs a verb that ends with `work`. */
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

  /** Ends a use as failed or cancelled. */
  fail(use: VerbUse, error: unknown, signal?: AbortSignal): void {
    if (error instanceof CallEnded || signal?.aborted) use.end('canceled')
    else use.end('failed', error instanceof VerbFailed ? error.code : codeOf(error))
  }

  #report(event: VerbEvent): void {
    for (const listener of [...this.#listeners]) listener(event)
  }
}
