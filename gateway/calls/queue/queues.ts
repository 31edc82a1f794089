import { randomUUID } from 'node:crypto'
import {
  type CallControl,
  CallEnded,
  type QueueOptions,
  type QueuePosition,
  type QueueResult,
} from '../../../handlers/verbs.ts'
import type { Clock } from '../../core/clock.ts'
import { guard } from '../../core/guard.ts'
import type { Log } from '../../core/log.ts'
import type { CallId } from '../../model.ts'
import type { WaitingAudio } from '../audio/waiting-audio.ts'
import type { Call } from '../call/call.ts'
import type { ScopableControl } from '../call/scopable-control.ts'
import { checkName, isProjectKey, projectKey } from '../conference/project-names.ts'
import type { QueuedCaller, QueuedCallers } from '../connect/queued-callers.ts'
import type { OpenQueue } from './open-queues.ts'
import { Queue, type QueueConsumer, type QueueEntry } from './queue.ts'

const defaultSize = 100
const hourMs = 3_600_000

/** Consumer that waits for a caller of a queue. */
interface PendingConsumer extends QueueConsumer {
  give(caller: QueuedCaller | undefined): void
}

/** End of a caller's wait: the consumer that took the caller, or the reason why no consumer did. */
type WaitEnd = { readonly consumer: PendingConsumer } | 'left' | 'timeout'

/** Collaborators of {@link ProjectQueues}. */
export interface QueuesDeps {
  readonly waitingAudio: WaitingAudio
  readonly clock: Clock
  readonly log: Log
}

/** Queues of all projects. A queue exists while it has a caller or a consumer. */
export class ProjectQueues implements QueuedCallers {
  readonly #deps: QueuesDeps
  readonly #queues = new Map<string, Queue>()

  constructor(deps: QueuesDeps) {
    this.#deps = deps
  }

  /** Number of waiting callers in all queues. */
  get waiting(): number {
    let waiting = 0
    for (const queue of this.#queues.values()) waiting += queue.size
    return waiting
  }

  /** Returns the queues of a project. */
  of(projectId: string): readonly OpenQueue[] {
    return [...this.#queues].filter(([key]) => isProjectKey(projectId, key)).map(([, queue]) => queue)
  }

  /** Implements `CallControl.enterQueue`. `control`: control of the entering caller. */
  async enter(call: Call, control: ScopableControl, options: QueueOptions): Promise<QueueResult> {
    const name = checkName(options.name)
    await call.openAudio(true, options.signal)
    const key = projectKey(call.info.projectId, name)
    const queue = this.#queue(key, name)
    queue.maxSize ??= options.maxSize ?? defaultSize
    try {
      const onServed = () => this.#forget(key, queue)
      return await new QueueVisit(this.#deps, { queue, call, control, options, onServed }).run()
    } finally {
      this.#forget(key, queue)
    }
  }

  async take(
    { projectId, name, by }: { readonly projectId: string; readonly name: string; readonly by: CallId },
    signal: AbortSignal,
  ): Promise<QueuedCaller | undefined> {
    if (signal.aborted) return undefined
    const trimmed = checkName(name)
    const key = projectKey(projectId, trimmed)
    const queue = this.#queue(key, trimmed)
    const { promise, resolve } = Promise.withResolvers<QueuedCaller | undefined>()
    const consumer: PendingConsumer = { by, signal, give: resolve }
    const giveUp = () => resolve(undefined)
    signal.addEventListener('abort', giveUp, { once: true })
    queue.addConsumer(consumer)
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', giveUp)
      queue.removeConsumer(consumer)
      this.#forget(key, queue)
    }
  }

  #queue(key: string, name: string): Queue {
    const present = this.#queues.get(key)
    if (present) return present
    const queue = new Queue(randomUUID(), name, this.#deps.clock.now())
    this.#queues.set(key, queue)
    return queue
  }

  #forget(key: string, queue: Queue): void {
    if (queue.isIdle && this.#queues.get(key) === queue) this.#queues.delete(key)
  }
}

/** Values of a {@link QueueVisit}. */
interface QueueVisitOptions {
  readonly queue: Queue
  readonly call: Call
  readonly control: ScopableControl
  readonly options: QueueOptions
  /** Called when the caller is joined with a consumer. */
  readonly onServed: () => void
}

/** Visit of one caller to a queue. */
class QueueVisit implements QueueEntry {
  readonly call: Call
  readonly since: number
  readonly #deps: QueuesDeps
  readonly #visit: QueueVisitOptions
  /** Ends the wait; undefined while the caller is not waiting. */
  #end: ((how: WaitEnd) => void) | undefined

  constructor(deps: QueuesDeps, visit: QueueVisitOptions) {
    this.#deps = deps
    this.#visit = visit
    this.call = visit.call
    this.since = deps.clock.now()
  }

  take(consumer: QueueConsumer): void {
    const { queue, options } = this.#visit
    // A caller whose wait has ended may still be in the queue. The consumer then takes the next caller.
    if (!this.#end || this.call.signal.aborted || options.signal?.aborted) {
      queue.leave(this)
      queue.addConsumer(consumer, true)
    } else this.#end({ consumer: consumer as PendingConsumer })
  }

  async run(): Promise<QueueResult> {
    const { queue } = this.#visit
    if (queue.maxSize !== undefined && queue.size >= queue.maxSize) return this.#result('full', this.#place)
    let entry: QueuePosition | undefined
    try {
      for (;;) {
        const end = this.#wait(entry !== undefined)
        entry ??= this.#entered()
        const how = await end
        if (typeof how === 'string') return this.#left(how, entry)
        const bridged = await this.#serve(how.consumer, entry)
        if (bridged) return bridged
      }
    } catch (error) {
      queue.leave(this)
      const left = this.#left('hangup', entry ?? this.#place)
      if (error instanceof CallEnded) return left
      throw error
    }
  }

  get #place(): QueuePosition {
    return this.#visit.queue.place(this, this.#deps.clock.now())
  }

  #entered(): QueuePosition {
    const place = this.#place
    this.#report('enqueue', place)
    return place
  }

  /**
   * Waits until a consumer takes the caller, or the wait ends. `isReturning`: a consumer had taken the caller
   * before, but they were not joined.
   */
  async #wait(isReturning: boolean): Promise<WaitEnd> {
    const { waitingAudio, clock } = this.#deps
    const { queue, call, control, options } = this.#visit
    const { wait, maxWaitMs = hourMs } = options
    const { promise, resolve } = Promise.withResolvers<WaitEnd>()
    this.#end = (how) => {
      this.#end = undefined
      if (typeof how === 'string') queue.leave(this)
      resolve(how)
    }
    const limit = clock.after(Math.max(0, this.since + maxWaitMs - clock.now()), () => this.#end?.('timeout'))
    const over = new AbortController()
    const hook = wait && ((waiting: CallControl) => wait(waiting, () => this.#place))
    queue.enter(this, isReturning)
    const audio = waitingAudio.play({ call, control, ...(hook && { hook }) }, over.signal)
    void audio.then((outcome) => outcome === 'leave' && this.#end?.('left'))
    let how: WaitEnd | undefined
    try {
      how = await call.whileUp(promise, options.signal)
      return how
    } finally {
      this.#end = undefined
      // A caller taken by a consumer stays in the queue until both are joined.
      if (!how) queue.leave(this)
      limit.cancel()
      over.abort()
      // The next audio must not overlap with the end of the waiting audio.
      await audio
    }
  }

  /**
   * Passes the caller to a consumer, and waits until they part. Resolves with undefined if they were not
   * joined, because the consumer has left or does not want the caller.
   */
  async #serve(consumer: PendingConsumer, entry: QueuePosition): Promise<QueueResult | undefined> {
    const { clock } = this.#deps
    const { queue, call, control, options, onServed } = this.#visit
    const over = options.signal ? AbortSignal.any([call.signal, options.signal]) : call.signal
    const place = this.#place
    const either = AbortSignal.any([consumer.signal, over])
    // If the caller hangs up, the consumer gets the next caller. If the consumer leaves, the caller keeps
    // waiting.
    await call.whileUp(this.#notice(place, either), either).catch(() => {})
    if (over.aborted) {
      if (!consumer.signal.aborted) queue.addConsumer(consumer, true)
      throw call.signal.aborted ? new CallEnded() : over.reason
    }
    if (consumer.signal.aborted) return undefined
    const { promise, resolve } = Promise.withResolvers<void>()
    let joinedAt: number | undefined
    const join = () => {
      joinedAt = clock.now()
      queue.served(this, joinedAt - this.since)
      this.#report('dequeue', place)
      onServed()
    }
    consumer.give({ call, control, place, over, join, release: resolve })
    await promise
    if (joinedAt === undefined) return undefined
    const { position, size } = entry
    const waitedMs = joinedAt - this.since
    const durationMs = clock.now() - joinedAt
    return { kind: 'bridged', queueId: queue.id, waitedMs, position, size, durationMs, by: consumer.by }
  }

  /** Runs `beforeBridge`, by which the caller hears an announcement. Never rejects. */
  async #notice(place: QueuePosition, over: AbortSignal): Promise<void> {
    const { control, options } = this.#visit
    try {
      await options.beforeBridge?.(control.scoped(over), place)
    } catch (error) {
      if (!(error instanceof CallEnded))
        this.#deps.log.warn(
          { event: 'queue.notice-failed', reason: String(error) },
          'announcement to a queued caller failed',
        )
    }
  }

  #left(kind: 'left' | 'timeout' | 'hangup', entry: QueuePosition): QueueResult {
    this.#report('leave', this.#place)
    return this.#result(kind, entry)
  }

  #result(kind: QueueResult['kind'], { queueId, position, size }: QueuePosition): QueueResult {
    return { kind, queueId, waitedMs: this.#deps.clock.now() - this.since, position, size }
  }

  #report(kind: 'enqueue' | 'leave' | 'dequeue', place: QueuePosition): void {
    const { log } = this.#deps
    guard(
      () => this.#visit.options.onEvent?.(kind, place),
      (err) => log.error({ event: 'queue.listener-failed', err }, 'event listener of a queue failed'),
    )()
  }
}
