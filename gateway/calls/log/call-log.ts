import { redactedUrl } from '../../../handlers/common/urls.ts'
import type { CalleeState, Destination } from '../../../handlers/verbs.ts'
import type { Cause, Code } from '../../core/errors/catalogue.ts'
import { shownUri } from '../../core/sip-uri.ts'
import type { CallId, HandlerSpec, StatusTarget } from '../../model.ts'
import type { Arrival } from '../call/arrival.ts'
import type { Call } from '../call/call.ts'
import type { Leg } from '../leg/leg.ts'
import type { CdrSource } from './call-cdr.ts'
import type { CallEndChange, CallRow, CallRowChange, CallRowStore, CallStatus } from './call-rows.ts'
import { CallStatusNotifier, type CallStatusNotifierDeps } from './call-status-notifier.ts'

/** Collaborators of a {@link CallLog}. */
export interface CallLogDeps extends CallStatusNotifierDeps {
  readonly rows: CallRowStore
}

/** Caller of a branch. */
export interface Calling {
  readonly projectId: string
  /** Call that dials the branch; absent for a call that the gateway makes. */
  readonly callId?: CallId
}

/** Branch that the log describes. */
export interface LoggedBranch {
  /** Id of its row. */
  readonly callId: CallId
  readonly destination: Destination
  readonly legs: readonly Leg[]
  readonly hasWon: boolean
  /** Ends all legs. */
  end(cause: Cause): void
}

/** Branch in progress that is not the caller's leg of a call. */
export interface BranchEntry {
  readonly projectId: string
  readonly branch: LoggedBranch
  readonly isAnswered: boolean
}

/**
 * Log of the calls in progress. Each call, and each branch that is dialed for one, has a row under the id
 * that customers see (`CallSid` of callbacks, `call_id` of events). Each change is stored, and reported to
 * the call's status URL.
 *
 * - An inbound call has a row even if it is rejected at once: {@link arrived} and {@link ended}.
 * - A branch of a `connect`, of a transfer (REFER) or of the API has one row for all its legs: {@link
 *   called}. A caller who was taken from a queue keeps the row of the caller's call.
 * - A leg that replaces another leg (Replaces) continues the row of that leg.
 */
export class CallLog {
  readonly #rows: CallRowStore
  readonly #notifier: CallStatusNotifier
  readonly #clock: CallLogDeps['clock']
  readonly #branches = new Map<string, BranchEntry>()

  constructor(deps: CallLogDeps) {
    this.#rows = deps.rows
    this.#notifier = new CallStatusNotifier(deps)
    this.#clock = deps.clock
  }

  /** Number of calls in progress whose states are reported to a URL. */
  get watched(): number {
    return this.#notifier.size
  }

  /** Returns the branch with this id, unless it is the caller's leg of a call. */
  findBranch(id: string): BranchEntry | undefined {
    return this.#branches.get(id)
  }

  /** Returns the URL that receives the states of a call in progress. */
  statusTarget(id: string): StatusTarget | undefined {
    return this.#notifier.target(id)
  }

  /** Adds a row with the status `queued`. */
  begin(call: Omit<CallRow, 'status'>): CallRow {
    return this.#rows.began(call)
  }

  /**
   * Changes the row of a call in progress, and reports a new state. Returns undefined for a call that has
   * ended.
   */
  change(id: string, change: CallRowChange): CallRow | undefined {
    const before = this.#rows.inProgress(id)
    const after = this.#rows.changed(id, change)
    if (before && after) this.#notifier.changed(before, after)
    return after
  }

  /** Ends a row, and reports the end. Has no effect for a call that has ended. */
  end(id: string, end: CallEndChange): void {
    const row = this.#rows.ended(id, end)
    if (row) this.#notifier.ended(row)
  }

  /**
   * Reports the states of a call in progress to `target`, in place of an earlier URL. Returns the changed
   * row; undefined for a call that has ended.
   */
  watch(id: string, target: StatusTarget): CallRow | undefined {
    const row = this.#rows.changed(id, { statusTarget: target })
    if (row) this.#notifier.watch(row, target)
    return row
  }

  /** Logs an inbound call, accepted or not. */
  arrived({ callId: id, parentId, projectId, leg, plan }: Arrival): void {
    const { startedAt } = leg.times
    this.begin({
      id,
      projectId,
      ...(parentId !== undefined && { parentId }),
      direction: 'inbound',
      type: leg.type,
      from: leg.from.uri,
      to: leg.to.uri,
      createdAt: startedAt,
    })
    if (plan.kind === 'handler') this.runs(id, plan.handler)
    this.change(id, { status: 'ringing', ringingAt: startedAt })
  }

  /** Logs the handler that controls the call from now on. */
  runs(id: string, handler: HandlerSpec): void {
    if (handler.status) this.watch(id, handler.status)
    this.change(id, { document: documentOf(handler) })
  }

  answered({ id, answeredAt }: Pick<Call, 'id' | 'answeredAt'>): void {
    if (answeredAt !== undefined) this.change(id, { status: 'in-progress', answeredAt })
  }

  /** Logs the end of a call, or its rejection. */
  ended({ id, info, caller, cdrLegs }: CdrSource): void {
    const { state, times } = caller
    const cause: Cause = state.kind === 'ended' ? state.cause : { code: 'internal' }
    const first = cdrLegs[0]?.leg ?? caller
    const isAnswered = first.times.answeredAt !== undefined
    const sipStatus = cause.sip ?? caller.facts.response?.status
    this.end(id, {
      status: statusOf(cause.code, isAnswered, info.direction),
      endedAt: times.endedAt ?? this.#clock.now(),
      code: cause.code,
      ...(sipStatus !== undefined && { sipStatus }),
    })
  }

  /** Logs a state of a branch. Returns its row while it is in progress. */
  called(calling: Calling, branch: LoggedBranch, state: CalleeState): CallRow | undefined {
    const id = branch.callId
    const { callee } = state
    // Nothing was dialed, or the callee waited in a queue.
    if (!callee || callee.callId !== id) return undefined
    if (state.kind === 'ended') {
      this.#branches.delete(id)
      // The end of an answered call that the gateway has made is logged by {@link ended}.
      if (calling.callId !== undefined || !branch.hasWon) this.#endBranch(id, branch, state)
      return undefined
    }
    const isAnswered = state.kind === 'answered'
    this.#branches.set(id, { projectId: calling.projectId, branch, isAnswered })
    const at = this.#clock.now()
    if (state.kind === 'ringing') return this.change(id, { status: 'ringing', ringingAt: at })
    if (isAnswered) return this.change(id, { status: 'in-progress', answeredAt: at })
    const { projectId, callId: parentId } = calling
    const { statusTarget } = branch.destination
    return this.begin({
      id,
      projectId,
      ...(parentId !== undefined && { parentId }),
      direction: parentId === undefined ? 'outbound-api' : 'outbound-dial',
      type: callee.type,
      from: callee.from,
      to: shownUri(callee.to),
      createdAt: at,
      ...(statusTarget && { statusTarget: { ...statusTarget, dialect: 'form' } }),
    })
  }

  #endBranch(
    id: string,
    branch: LoggedBranch,
    { outcome, code, callee }: Extract<CalleeState, { kind: 'ended' }>,
  ): void {
    const sipStatus = callee?.sip?.status
    const isAnswered = branch.legs.some(({ times }) => times.answeredAt !== undefined)
    this.end(id, {
      status: outcome === 'completed' ? outcome : statusOf(code as Code, isAnswered, 'outbound'),
      endedAt: this.#clock.now(),
      code: code as Code,
      ...(sipStatus !== undefined && { sipStatus }),
    })
  }
}

const statuses: Partial<Record<Code, CallStatus>> = {
  busy: 'busy',
  no_answer: 'no-answer',
  not_online: 'no-answer',
  normal: 'no-answer',
  canceled: 'canceled',
  answered_elsewhere: 'canceled',
  max_duration: 'no-answer',
}

/**
 * Returns the final status. An inbound call that is declined has no answer; a callee who declines is busy, as
 * in the XML family.
 */
const statusOf = (code: Code, isAnswered: boolean, direction: 'inbound' | 'outbound'): CallStatus => {
  if (isAnswered) return 'completed'
  if (code === 'declined') return direction === 'inbound' ? 'no-answer' : 'busy'
  return statuses[code] ?? 'failed'
}

/** Returns a handler's document for display: its name, its URL without credentials, or a topic. */
export const documentOf = (handler: HandlerSpec): string => {
  if (handler.kind === 'realtime') return handler.topic
  return 'url' in handler ? redactedUrl(handler.url) : handler.name
}
