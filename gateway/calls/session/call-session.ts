import {
  type CallControl,
  CallEnded,
  type CallInfo,
  CallRedirected,
  VerbFailed,
} from '../../../handlers/verbs.ts'
import { type Code, catalogue, TrunklineError } from '../../core/errors/catalogue.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { AddressBook, HandlerSpec } from '../../model.ts'
import type { Call } from '../call/call.ts'
import type { LiveCall } from '../call/live-call.ts'
import { withoutHeaders } from '../connect/destinations.ts'
import { missingTargetCode } from '../connect/leg-dialer.ts'
import type { CallLog } from '../log/call-log.ts'
import type { CallController } from '../verbs/call-controller.ts'
import { diagnoseHandlerError, type HandlerRunner } from './handler-runner.ts'

/** Collaborators of a {@link CallSession}. */
export interface CallSessionDeps {
  readonly runner: HandlerRunner
  readonly addresses: AddressBook
  readonly callLog: Pick<CallLog, 'runs'>
  readonly metrics: Pick<Metrics, 'rejections'>
}

/** A call with its verbs. */
export interface CallSessionOptions {
  readonly call: Call
  readonly control: CallController
  /** Further `envs` of the call's documents. */
  readonly variables?: Readonly<Record<string, string>> | undefined
}

/** Work on a call, with the verbs that it may use. */
export type CallTask = (control: CallControl) => Promise<void>

/** Runs the tasks of one call in order, and ends the call after the last one. */
export class CallSession implements LiveCall {
  readonly call: Call
  readonly control: CallController
  readonly #deps: CallSessionDeps
  readonly #variables: CallSessionOptions['variables']
  #scope = new AbortController()
  #next: HandlerSpec | undefined
  #isOver = false

  constructor(deps: CallSessionDeps, { call, control, variables }: CallSessionOptions) {
    this.#deps = deps
    this.call = call
    this.control = control
    this.#variables = variables
  }

  get state(): 'ringing' | 'answered' {
    return this.control.isAnswered ? 'answered' : 'ringing'
  }

  /** Runs the first task and every handler that replaces it, and then ends the call. Never rejects. */
  async run(first: CallTask): Promise<void> {
    await this.#attempt(first)
    for (let next = this.#takeNext(); next; next = this.#takeNext()) await this.#attempt(this.#taskOf(next))
    this.#isOver = true
    this.call.end(this.control.closingCause)
  }

  /** Runs a handler. `found`: facts about the call. */
  handle(
    control: CallControl,
    handler: HandlerSpec,
    found: Pick<CallInfo, 'answeredBy'> = {},
  ): Promise<void> {
    this.call.addInfo(found)
    return this.#deps.runner.run(control, handler, this.call.log, this.#variables)
  }

  /** Runs the handler of an address, or connects the caller to the address. */
  async dial(control: CallControl, to: string): Promise<void> {
    const { addresses, callLog } = this.#deps
    const target = addresses.resolve(to, this.call.info.projectId)
    if (!target) throw new TrunklineError(missingTargetCode(to), undefined, { to })
    if (target.kind === 'handler') {
      callLog.runs(this.call.id, target.handler)
      await this.handle(control, target.handler)
      return
    }
    const { userVariables } = this.call.info
    const destination = { to: withoutHeaders(to), ...(userVariables && { userVariables }) }
    await control.connect({ steps: [[destination]], answerOnBridge: true })
  }

  /** Makes the caller a member of a room until the caller leaves it. */
  async joinRoom(control: CallControl, name: string): Promise<void> {
    try {
      await control.joinRoom({ name })
    } catch (error) {
      // The end of the call reports the refusal.
      if (!(error instanceof VerbFailed)) throw error
    }
  }

  redirect(handler: HandlerSpec): void {
    if (this.state !== 'answered' || this.call.signal.aborted || this.#isOver)
      throw new TrunklineError('call_not_in_progress')
    this.#next = handler
    this.#scope.abort(new CallRedirected())
  }

  end(code: Code): void {
    // A caller who has not cancelled the call receives 480 instead of 487.
    const isRejection = code === 'canceled' && this.call.caller.direction === 'inbound'
    this.call.end({ code, ...(isRejection && { sip: 480 }) })
  }

  #taskOf(handler: HandlerSpec): CallTask {
    this.#deps.callLog.runs(this.call.id, handler)
    return async (control) => {
      // The previous document may have left the caller on hold, who must hear the next document.
      await control.unhold()
      await this.handle(control, handler)
    }
  }

  /** Returns the next handler, if any. */
  #takeNext(): HandlerSpec | undefined {
    const next = this.#next
    this.#next = undefined
    if (next) this.#scope = new AbortController()
    return this.call.signal.aborted ? undefined : next
  }

  async #attempt(task: CallTask): Promise<void> {
    const { signal } = this.#scope
    try {
      await task(this.control.scoped(signal))
    } catch (error) {
      if (!(error instanceof CallEnded) && !signal.aborted) this.#failed(error)
    }
  }

  #failed(error: unknown): void {
    const { code, facts } = diagnoseHandlerError(error)
    const reason = error instanceof Error ? error.message : String(error)
    this.#deps.metrics.rejections.inc({ code })
    this.call.log[catalogue[code].level](
      {
        event: 'call.handler-failed',
        code,
        reason,
        ...facts,
        ...(code === 'handler_failed' && { err: error }),
      },
      catalogue[code].text,
    )
    this.call.end({ code, detail: reason })
  }
}
