import type { Clock } from '../../core/clock.ts'
import type { CallProgress, StatusTarget } from '../../model.ts'
import type { Callbacks } from '../call/handler-runner.ts'
import type { CallBook } from './call-log.ts'
import type { CallRow, CallRowLog, CallStatus, CallsInProgress } from './call-rows.ts'
import { statusCallback } from './status-callbacks.ts'

/** What telling the states of calls works with. */
export interface CallStatusNotifierDeps {
  /** Where calls are kept. */
  readonly log: CallRowLog & Pick<CallsInProgress, 'inProgress'>
  readonly callbacks: Callbacks
  /** Of this gateway, as events name it. */
  readonly nodeId: string
  readonly clock: Pick<Clock, 'now'>
}

interface Watched {
  readonly target: StatusTarget
  /** How many states were told. */
  readonly told: number
}

const progressOf: Readonly<Partial<Record<CallStatus, CallProgress>>> = {
  queued: 'initiated',
  ringing: 'ringing',
  'in-progress': 'answered',
}

/** Hands what happens to calls on to the log, and tells whoever wants to know how they go: each state once, in order, through the spool. */
export class CallStatusNotifier implements CallBook {
  readonly #parts: CallStatusNotifierDeps
  readonly #watched = new Map<string, Watched>()

  constructor(parts: CallStatusNotifierDeps) {
    this.#parts = parts
  }

  /** Calls in progress whose states somebody is told. */
  get size(): number {
    return this.#watched.size
  }

  /** Whom the states of a call are told to. */
  watcher(id: string): StatusTarget | undefined {
    return this.#watched.get(id)?.target
  }

  began(call: Omit<CallRow, 'status'>): void {
    this.#parts.log.began(call)
  }

  changed(id: string, change: Parameters<CallRowLog['changed']>[1]): void {
    const { log } = this.#parts
    const before = log.inProgress(id)
    log.changed(id, change)
    const { status } = change
    const progress = status === undefined || status === before?.status ? undefined : progressOf[status]
    if (before && progress) this.#tell({ ...before, ...change }, progress)
  }

  ended(id: string, end: Parameters<CallRowLog['ended']>[1]): void {
    const { log } = this.#parts
    const before = log.inProgress(id)
    log.ended(id, end)
    if (before) this.#tell({ ...before, ...end }, 'completed')
    this.#watched.delete(id)
  }

  watch(id: string, target: StatusTarget): void {
    const row = this.#parts.log.inProgress(id)
    if (!row) return
    const before = this.#watched.get(id)
    this.#watched.set(id, { target, told: before?.told ?? 0 })
    this.#parts.log.changed(id, { statusTarget: target })
    if (!before && row.status === 'queued') this.#tell(row, 'initiated')
  }

  #tell(row: CallRow, progress: CallProgress): void {
    const { callbacks, nodeId, clock } = this.#parts
    const { id: callId, projectId } = row
    const watched = this.#watched.get(callId)
    if (!watched?.target.states.includes(progress)) return
    const { target, told: sequence } = watched
    this.#watched.set(callId, { target, told: sequence + 1 })
    const told = { progress, sequence, nodeId, at: clock.now() }
    const callback = statusCallback(target, row, told)
    callbacks.notify(
      { projectId, callId },
      progress === 'completed' ? { ...callback, ends: callId } : callback,
    )
  }
}
