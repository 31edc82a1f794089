import { randomUUID } from 'node:crypto'
import {
  type CallControl,
  CallEnded,
  type QueueOptions,
  type QueuePosition,
  type QueueResult,
} from '../../../handlers/verbs.ts'
import type { CallId } from '../../model.ts'
import type { Call } from '../call/call.ts'
import type { QueuedCaller, QueuedCallers } from '../call-ports.ts'
import type { OpenQueue, OpenQueues } from '../conference/open-conferences.ts'
import { checkName, isProjectKey, projectKey } from '../conference/project-names.ts'
import { playWhileWaiting, type WaitingAudioDeps } from '../conference/waiting-audio.ts'
import type { CallQueues } from '../verbs/call-controller-deps.ts'
import type { ScopableControl } from '../verbs/scopable-control.ts'
import { Queue, type QueueConsumer, type QueueEntry } from './queue.ts'

const defaultSize = 100
const hourMs = 3_600_000

/** Somebody who wants a caller, and how it gets one. */
interface PendingConsumer extends QueueConsumer {
  give(caller: QueuedCaller | undefined): void
}

/** How a caller's wait came to its end: somebody took it, or nobody did. */
type WaitEnd = { readonly taker: PendingConsumer } | 'left' | 'timeout'

/** The queues of all projects: callers who wait in them, and those who take callers out. A queue is there while anybody waits. */
export class ProjectQueues implements CallQueues, QueuedCallers, OpenQueues {
  readonly #parts: WaitingAudioDeps
  readonly #queues = new Map<string, Queue>()

  constructor(parts: WaitingAudioDeps) {
    this.#parts = parts
  }

  /** Callers who wait, in all queues. */
  get waiting(): number {
    let waiting = 0
    for (const queue of this.#queues.values()) waiting += queue.size
    return waiting
  }

  of(projectId: string): readonly OpenQueue[] {
    return [...this.#queues].filter(([key]) => isProjectKey(projectId, key)).map(([, queue]) => queue)
  }

  async enter(call: Call, control: ScopableControl, options: QueueOptions): Promise<QueueResult> {
    const name = checkName(options.name)
    await call.openAudio(true, options.signal)
    const key = projectKey(call.info.projectId, name)
    const queue = this.#queue(key, name)
    queue.maxSize ??= options.maxSize ?? defaultSize
    try {
      const served = () => this.#forget(key, queue)
      return await new QueueVisit({ ...this.#parts, queue, call, control, options, served }).run()
    } finally {
      this.#forget(key, queue)
    }
  }

  async take(
    { projectId, name, by }: { readonly projectId: string; readonly name: string; readonly by: CallId },
    signal: AbortSignal,
  ): Promise<QueuedCaller | undefined> {
    if (signal.aborted) return undefined
    const checked = checkName(name)
    const key = projectKey(projectId, checked)
    const queue = this.#queue(key, checked)
    const { promise, resolve } = Promise.withResolvers<QueuedCaller | undefined>()
    const taker: PendingConsumer = { by, signal, give: resolve }
    const giveUp = () => resolve(undefined)
    signal.addEventListener('abort', giveUp, { once: true })
    queue.want(taker)
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', giveUp)
      queue.wantNoMore(taker)
      this.#forget(key, queue)
    }
  }

  #queue(key: string, name: string): Queue {
    const present = this.#queues.get(key)
    if (present) return present
    const made = new Queue(randomUUID(), name, this.#parts.clock.now())
    this.#queues.set(key, made)
    return made
  }

  #forget(key: string, queue: Queue): void {
    if (queue.isIdle && this.#queues.get(key) === queue) this.#queues.delete(key)
  }
}

interface QueueVisitDeps extends WaitingAudioDeps {
  readonly queue: Queue
  readonly call: Call
  readonly control: ScopableControl
  readonly options: QueueOptions
  /** The caller is in the queue no more. */
  readonly served: () => void
}

/** One caller's stay in a queue. */
class QueueVisit implements QueueEntry {
  readonly call: Call
  readonly since: number
  readonly #parts: QueueVisitDeps
  /** Ends the wait; undefined while there is none, or it is over. */
  #end: ((how: WaitEnd) => void) | undefined

  constructor(parts: QueueVisitDeps) {
    this.#parts = parts
    this.call = parts.call
    this.since = parts.clock.now()
  }

  take(taker: QueueConsumer): void {
    const { queue, options } = this.#parts
    // Its wait may be over, and the caller not out of the queue yet: the next one has its turn.
    if (!this.#end || this.call.signal.aborted || options.signal?.aborted) {
      queue.leave(this)
      queue.want(taker, true)
    } else this.#end({ taker: taker as PendingConsumer })
  }

  async run(): Promise<QueueResult> {
    const { queue } = this.#parts
    if (queue.maxSize !== undefined && queue.size >= queue.maxSize) return this.#result('full', this.#place)
    let entry: QueuePosition | undefined
    try {
      for (;;) {
        const end = this.#wait(entry !== undefined)
        entry ??= this.#entered()
        const how = await end
        if (typeof how === 'string') return this.#left(how, entry)
        const bridged = await this.#serve(how.taker, entry)
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
    return this.#parts.queue.place(this, this.#parts.clock.now())
  }

  #entered(): QueuePosition {
    const place = this.#place
    this.#tell('enqueue', place)
    return place
  }

  /** Until somebody takes the caller, or it waits no longer. */
  async #wait(again: boolean): Promise<WaitEnd> {
    const { queue, call, control, options, clock } = this.#parts
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
    queue.enter(this, again)
    const company = playWhileWaiting(this.#parts, { call, control, ...(hook && { hook }) }, over.signal)
    void company.then((said) => said === 'leave' && this.#end?.('left'))
    let how: WaitEnd | undefined
    try {
      how = await call.whileUp(promise, options.signal)
      return how
    } finally {
      this.#end = undefined
      // Who was taken is of the queue until the taker has somebody.
      if (!how) queue.leave(this)
      limit.cancel()
      over.abort()
      // What the caller hears next must not meet the end of what it heard.
      await company
    }
  }

  /** Undefined where the two did not come together: whoever took the caller is gone, or does not want it. */
  async #serve(taker: PendingConsumer, entry: QueuePosition): Promise<QueueResult | undefined> {
    const { queue, call, control, options, served, clock } = this.#parts
    const over = options.signal ? AbortSignal.any([call.signal, options.signal]) : call.signal
    const place = this.#place
    const either = AbortSignal.any([taker.signal, over])
    // A caller who goes meanwhile makes room for the next one; where the taker goes, the caller waits on.
    await call.whileUp(this.#notice(place, either), either).catch(() => {})
    if (over.aborted) {
      if (!taker.signal.aborted) queue.want(taker, true)
      throw call.signal.aborted ? new CallEnded() : over.reason
    }
    if (taker.signal.aborted) return undefined
    const { promise, resolve } = Promise.withResolvers<void>()
    let joinedAt: number | undefined
    const join = () => {
      joinedAt = clock.now()
      queue.served(this, joinedAt - this.since)
      this.#tell('dequeue', place)
      served()
    }
    taker.give({ call, control, place, over, join, release: resolve })
    await promise
    if (joinedAt === undefined) return undefined
    const { position, size } = entry
    const [waitedMs, durationMs] = [joinedAt - this.since, clock.now() - joinedAt]
    return { kind: 'bridged', queueId: queue.id, waitedMs, position, size, durationMs, by: taker.by }
  }

  /** What the caller hears before the two are joined; never rejects. */
  async #notice(place: QueuePosition, over: AbortSignal): Promise<void> {
    const { control, options, log } = this.#parts
    try {
      await options.beforeBridge?.(control.scoped(over), place)
    } catch (error) {
      if (!(error instanceof CallEnded))
        log.warn({ reason: String(error) }, 'the notice before a bridge failed')
    }
  }

  #left(kind: 'left' | 'timeout' | 'hangup', entry: QueuePosition): QueueResult {
    this.#tell('leave', this.#place)
    return this.#result(kind, entry)
  }

  #result(kind: QueueResult['kind'], { queueId, position, size }: QueuePosition): QueueResult {
    return { kind, queueId, waitedMs: this.#parts.clock.now() - this.since, position, size }
  }

  #tell(kind: 'enqueue' | 'leave' | 'dequeue', place: QueuePosition): void {
    try {
      this.#parts.options.onEvent?.(kind, place)
    } catch (error) {
      this.#parts.log.error({ err: error }, 'who was told of a queue failed')
    }
  }
}
