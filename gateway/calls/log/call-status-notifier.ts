import type { Callbacks } from '../../callbacks/callback-outbox.ts'
import type { Clock } from '../../core/clock.ts'
import type { CallProgress, StatusTarget } from '../../model.ts'
import type { CallRow, CallStatus } from './call-rows.ts'
import { statusCallback } from './status-callbacks.ts'

/** Collaborators of a {@link CallStatusNotifier}. */
export interface CallStatusNotifierDeps {
  readonly callbacks: Callbacks
  /** Id of this gateway in events. */
  readonly nodeId: string
  readonly clock: Pick<Clock, 'now'>
}

interface WatchedCall {
  readonly target: StatusTarget
  /** Number of states reported so far. */
  readonly sequence: number
}

const progressOf: Readonly<Partial<Record<CallStatus, CallProgress>>> = {
  queued: 'initiated',
  ringing: 'ringing',
  'in-progress': 'answered',
}

/** Reports the states of calls to customers' URLs: each state once, in order. */
export class CallStatusNotifier {
  readonly #deps: CallStatusNotifierDeps
  readonly #watched = new Map<string, WatchedCall>()

  constructor(deps: CallStatusNotifierDeps) {
    this.#deps = deps
  }

  /** Number of calls in progress whose states are reported. */
  get size(): number {
    return this.#watched.size
  }

  /** Returns the URL that receives the states of a call. */
  target(id: string): StatusTarget | undefined {
    return this.#watched.get(id)?.target
  }

  /** Reports the states of a call to `target`, in place of an earlier URL. */
  watch(row: CallRow, target: StatusTarget): void {
    const before = this.#watched.get(row.id)
    this.#watched.set(row.id, { target, sequence: before?.sequence ?? 0 })
    if (!before && row.status === 'queued') this.#report(row, 'initiated')
  }

  /** Reports the state of a changed row if it is new. */
  changed(before: CallRow, after: CallRow): void {
    const progress = after.status === before.status ? undefined : progressOf[after.status]
    if (progress) this.#report(after, progress)
  }

  /** Reports the end of a call. */
  ended(row: CallRow): void {
    this.#report(row, 'completed')
    this.#watched.delete(row.id)
  }

  #report(row: CallRow, progress: CallProgress): void {
    const { callbacks, nodeId, clock } = this.#deps
    const { id: callId, projectId } = row
    const watched = this.#watched.get(callId)
    if (!watched?.target.states.includes(progress)) return
    const { target, sequence } = watched
    this.#watched.set(callId, { target, sequence: sequence + 1 })
    const callback = statusCallback(target, row, { progress, sequence, nodeId, at: clock.now() })
    const isLast = progress === 'completed'
    callbacks.notify({ projectId, callId }, isLast ? { ...callback, ends: callId } : callback)
  }
}
