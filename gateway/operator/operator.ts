import type { SipAgent } from '@trunkline/sip-agent'
import type { Clock } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import type { ReloadRequest, ReloadResult } from '../reload/config-reload.ts'
import { reloadBody } from '../reload/reload-report.ts'
import type { RecentRefusals } from '../sip/admission/recent-refusals.ts'
import { type CallBody, callBodies, endCall, hangupCodes, type OperatorCalls } from './call-list.ts'
import { type TraceBody, traceCall } from './call-trace.ts'
import type { ControlRequest } from './control-socket.ts'
import { type PresenceSource, presenceAnswer } from './presence-answer.ts'
import type { EndedCall, RecentCalls } from './recent-calls.ts'
import { type StatusBody, type StatusSource, statusBody } from './status.ts'

/** Collaborators of an {@link Operator}. */
export interface OperatorDeps {
  readonly status: () => StatusSource
  readonly calls: OperatorCalls
  readonly recent: RecentCalls
  readonly refusals: RecentRefusals
  /** The embedded agent; undefined with a drachtio-server. */
  readonly agent: Pick<SipAgent, 'trace' | 'stats'> | undefined
  readonly reload: (request: ReloadRequest) => Promise<ReloadResult>
  /** Starts to drain. `graceMs`: time for calls to end; default: that of the configuration. */
  readonly drain: (graceMs?: number) => void
  readonly presence: PresenceSource
  readonly clock: Pick<Clock, 'now'>
}

/** Rejected request, as the API and the command line print it. */
export interface RefusalBody extends Readonly<Record<string, unknown>> {
  readonly at: string
  readonly code: string
  readonly status: number
}

/** A call that has ended, as the control socket reports it. */
export interface EndedCallBody {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly started_at: string
  readonly answered_at: string | null
  readonly ended_at: string
  readonly code: string
}

/** Calls in progress, and calls that have ended since an earlier request. */
export interface CallChanges {
  readonly calls: readonly CallBody[]
  /** Empty in the response to a request without a number. */
  readonly ended: readonly EndedCallBody[]
  /** Number for the next request. */
  readonly last_ended: number
}

/** Questions and commands of the operator to a running gateway, from the control socket and the API. */
export class Operator {
  readonly #deps: OperatorDeps

  constructor(deps: OperatorDeps) {
    this.#deps = deps
  }

  /** Handlers of the control socket, by the name of the command. */
  get requests(): Readonly<Record<string, ControlRequest>> {
    return {
      reload: async ({ dry_run: dryRun, file }) => {
        if (typeof dryRun !== 'boolean' || typeof file !== 'string') throw invalid('dry_run and file')
        return reloadBody(await this.#deps.reload({ dryRun, file, by: 'command' }))
      },
      status: () => this.status(),
      calls: async ({ ended_after: after }) => this.#callsAfter(after),
      hangup: async ({ call, reason = 'normal' }) => ({ hung_up: this.hangup(text(call), text(reason)) }),
      drain: async ({ timeout_ms: graceMs }) => this.drain(graceMs),
      trace: async ({ call }) => this.trace(text(call)),
      refusals: async () => ({ refusals: this.refusals() }),
      presence: async (request) => presenceAnswer(this.#deps.presence, request),
    }
  }

  /** Applies the present configuration file. */
  reload(request: ReloadRequest): Promise<ReloadResult> {
    return this.#deps.reload(request)
  }

  status(): Promise<StatusBody> {
    return statusBody(this.#deps.status())
  }

  /** Returns the calls in progress, the oldest first. */
  calls(): readonly CallBody[] {
    return callBodies(this.#deps.calls, this.#deps.clock.now())
  }

  /** Returns the calls in progress, and those that ended after the call with the given number. */
  #callsAfter(number: unknown): CallChanges {
    const { recent } = this.#deps
    if (number !== undefined && !Number.isSafeInteger(number)) throw invalid('ended_after')
    return {
      calls: this.calls(),
      ended: (number === undefined ? [] : recent.endedAfter(Number(number))).map(endedBody),
      last_ended: recent.ended,
    }
  }

  /** Ends a call. Returns its id. Throws `unknown_call` or `invalid_field`. */
  hangup(call: string, reason: string): string {
    if (!Object.hasOwn(hangupCodes, reason)) throw invalid('reason')
    return endCall(this.#deps.calls, call, reason as keyof typeof hangupCodes)
  }

  /** Starts to drain. Throws `invalid_field` for a time that is no number of ms. */
  drain(graceMs: unknown): { readonly calls: number } {
    if (graceMs !== undefined && !(Number.isSafeInteger(graceMs) && Number(graceMs) >= 0))
      throw invalid('timeout_ms')
    this.#deps.drain(graceMs as number | undefined)
    return { calls: this.#deps.status().calls.count }
  }

  /** Returns the SIP messages of a call. Throws as {@link traceCall}. */
  trace(call: string): Promise<TraceBody> {
    return traceCall(this.#deps, call)
  }

  /** Returns the latest rejected requests, the latest first. */
  refusals(): readonly RefusalBody[] {
    return this.#deps.refusals.latest.map(({ at, code, status, facts }) => ({
      at: new Date(at).toISOString(),
      code,
      status,
      ...facts,
      ...(facts.err instanceof Error && { err: facts.err.message }),
    }))
  }
}

const endedBody = ({ id, from, to, startedAt, answeredAt, endedAt, code }: EndedCall): EndedCallBody => ({
  id,
  from,
  to,
  started_at: new Date(startedAt).toISOString(),
  answered_at: answeredAt === undefined ? null : new Date(answeredAt).toISOString(),
  ended_at: new Date(endedAt).toISOString(),
  code,
})

const invalid = (fields: string): TrunklineError =>
  new TrunklineError('invalid_field', `The request has an invalid value: ${fields}.`)

const text = (value: unknown): string => {
  if (typeof value !== 'string' || value === '') throw invalid('call or reason')
  return value
}
