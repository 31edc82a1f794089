import { type CallControl, CallEnded, type CallInfo, CallRedirected } from '../../../handlers/verbs.ts'
import { type Code, catalogue, TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { AddressBook, HandlerSpec } from '../../model.ts'
import type { LiveCall } from '../call-ports.ts'
import { withoutHeaders } from '../connect/destinations.ts'
import type { Journal } from '../log/call-log.ts'
import type { CallController } from '../verbs/call-controller.ts'
import type { Call } from './call.ts'
import { diagnoseHandlerError, type HandlerRunner } from './handler-runner.ts'

/** What a driver works with. */
export interface CallSessionDeps {
  readonly runner: HandlerRunner
  readonly addresses: AddressBook
  readonly journal: Pick<Journal, 'runs'>
  readonly metrics: Pick<Metrics, 'rejections'>
  readonly log: Log
  /** Further `envs` of the call's documents. */
  readonly variables?: Readonly<Record<string, string>>
}

/** What a call is for, with the verbs that it may use. */
export type CallTask = (control: CallControl) => Promise<void>

/** Runs what a call is for, one thing after the other, and ends the call when nothing is left. */
export class CallSession implements LiveCall {
  readonly call: Call
  readonly control: CallController
  readonly #parts: CallSessionDeps
  #scope = new AbortController()
  #next: HandlerSpec | undefined
  #over = false

  constructor(parts: CallSessionDeps, call: Call, control: CallController) {
    this.#parts = parts
    this.call = call
    this.control = control
  }

  get state(): 'ringing' | 'answered' {
    return this.control.isAnswered ? 'answered' : 'ringing'
  }

  /** Runs it to its end, and whatever takes its place, and then ends the call. Never rejects. */
  async run(first: CallTask): Promise<void> {
    await this.#attempt(first)
    for (let next = this.#taken(); next; next = this.#taken()) await this.#attempt(this.#works(next))
    this.#over = true
    this.call.end(this.control.closingCause)
  }

  /** Does what a handler says; `known`: what is known of the call by now. */
  handle(
    control: CallControl,
    handler: HandlerSpec,
    known: Pick<CallInfo, 'answeredBy'> = {},
  ): Promise<void> {
    this.call.addInfo(known)
    const { runner: handling, variables, log } = this.#parts
    return handling.run(control, handler, log, variables)
  }

  /** Runs what an address stands for, or rings who it stands for. */
  async dial(control: CallControl, to: string): Promise<void> {
    const { addresses, journal } = this.#parts
    const target = addresses.resolve(to, this.call.info.projectId)
    if (!target) throw new TrunklineError('unknown_address', undefined, { to })
    if (target.kind === 'handler') {
      journal.runs(this.call.id, target.handler)
      await this.handle(control, target.handler)
      return
    }
    const { userVariables } = this.call.info
    const destination = { to: withoutHeaders(to), ...(userVariables && { userVariables }) }
    await control.connect({ steps: [[destination]], answerOnBridge: true })
  }

  redirect(handler: HandlerSpec): void {
    if (this.state !== 'answered' || this.call.signal.aborted || this.#over)
      throw new TrunklineError('call_not_in_progress')
    this.#next = handler
    this.#scope.abort(new CallRedirected())
  }

  end(code: Code): void {
    // A caller who did not give up is not told so.
    const refused = code === 'canceled' && this.call.caller.direction === 'inbound'
    this.call.end({ code, ...(refused && { sip: 480 }) })
  }

  #works(handler: HandlerSpec): CallTask {
    this.#parts.journal.runs(this.call.id, handler)
    return async (control) => {
      // What the former document left on hold is to hear the next one.
      await control.unhold()
      await this.handle(control, handler)
    }
  }

  /** What runs next, if anything. */
  #taken(): HandlerSpec | undefined {
    const next = this.#next
    this.#next = undefined
    if (next) this.#scope = new AbortController()
    return this.call.signal.aborted ? undefined : next
  }

  async #attempt(work: CallTask): Promise<void> {
    const { signal } = this.#scope
    try {
      await work(this.control.scoped(signal))
    } catch (error) {
      if (!(error instanceof CallEnded) && !signal.aborted) this.#failed(error)
    }
  }

  #failed(error: unknown): void {
    const { metrics, log } = this.#parts
    const { code, facts } = diagnoseHandlerError(error)
    const reason = error instanceof Error ? error.message : String(error)
    metrics.rejections.inc({ code })
    log[catalogue[code].level](
      { code, reason, ...facts, ...(code === 'handler_failed' && { err: error }) },
      catalogue[code].text,
    )
    this.call.end({ code, detail: reason })
  }
}
