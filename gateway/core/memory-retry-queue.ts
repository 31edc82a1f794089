import type { Clock, Timer } from './clock.ts'

/** Options and collaborators of a {@link MemoryRetryQueue}. */
export interface MemoryRetryQueueDeps<Task, Result> {
  readonly clock: Pick<Clock, 'after'>
  /** Maximum number of simultaneous attempts. */
  readonly maxConcurrent: number
  /**
   * Makes one attempt after `tries` failed ones. Resolves with the wait in ms before the next one, or with
   * the result of the task. A rejection ends the task with {@link failure}.
   */
  readonly attempt: (task: Task, tries: number) => Promise<number | { readonly result: Result }>
  /** Result of a task whose attempt was rejected. */
  readonly failure: Result
  /** Receives the error of a rejected attempt. */
  readonly onError: (error: unknown) => void
  /** Called each time the queue becomes empty. */
  readonly onIdle?: () => void
}

interface PendingTask<Task, Result> {
  readonly task: Task
  readonly result: Promise<Result>
  readonly resolve: (result: Result) => void
  tries: number
  /** Runs during the wait before the next attempt. */
  timer: Timer | undefined
  /** Whether the next attempt follows the present one without a wait. */
  isHurried: boolean
}

/**
 * Queue of tasks that are retried until they have a result. Tasks live in memory: unfinished ones are lost
 * when the process ends. Rows of a store, which survive it, are tried by `RetryQueue`. Waits are measured by
 * timers, so that a change of the machine's time does not move them.
 */
export class MemoryRetryQueue<Task, Result> {
  readonly #deps: MemoryRetryQueueDeps<Task, Result>
  readonly #pending = new Set<PendingTask<Task, Result>>()
  /** Tasks whose next attempt waits only for a free place. */
  #ready: PendingTask<Task, Result>[] = []
  #running = 0

  constructor(deps: MemoryRetryQueueDeps<Task, Result>) {
    this.#deps = deps
  }

  /** Number of unfinished tasks. */
  get size(): number {
    return this.#pending.size
  }

  /** Returns the number of unfinished tasks that a predicate accepts. */
  count(accepts: (task: Task) => boolean): number {
    let count = 0
    for (const { task } of this.#pending) if (accepts(task)) count++
    return count
  }

  /**
   * Adds a task, and resolves with its result; never rejects. When `hurry` fires, the next attempt does not
   * wait.
   */
  run(task: Task, hurry?: AbortSignal): Promise<Result> {
    const { promise: result, resolve } = Promise.withResolvers<Result>()
    const pending = { task, result, resolve, tries: 0, timer: undefined, isHurried: false }
    this.#pending.add(pending)
    const tryNow = () => this.#hurry(pending)
    hurry?.addEventListener('abort', tryNow)
    this.#makeReady(pending)
    return result.finally(() => hurry?.removeEventListener('abort', tryNow))
  }

  /** Ends the waits of all tasks before their next attempts. */
  hurry(): void {
    for (const pending of this.#pending) this.#hurry(pending)
  }

  /** Resolves when all tasks added so far have their results. */
  async drain(): Promise<void> {
    await Promise.all([...this.#pending].map(({ result }) => result))
  }

  #hurry(pending: PendingTask<Task, Result>): void {
    pending.isHurried = true
    if (!pending.timer) return
    pending.timer.cancel()
    this.#makeReady(pending)
  }

  #makeReady(pending: PendingTask<Task, Result>): void {
    pending.timer = undefined
    this.#ready.push(pending)
    this.#startNext()
  }

  #startNext(): void {
    if (this.#running >= this.#deps.maxConcurrent) return
    const pending = this.#ready.shift()
    if (pending) void this.#try(pending)
  }

  async #try(pending: PendingTask<Task, Result>): Promise<void> {
    const { attempt, failure, onError, clock } = this.#deps
    this.#running++
    pending.isHurried = false
    const outcome = await attempt(pending.task, pending.tries++).catch((error: unknown) => {
      onError(error)
      return { result: failure }
    })
    this.#running--
    if (typeof outcome !== 'number') this.#finish(pending, outcome.result)
    else if (pending.isHurried) this.#makeReady(pending)
    else pending.timer = clock.after(outcome, () => this.#makeReady(pending))
    this.#startNext()
  }

  #finish(pending: PendingTask<Task, Result>, result: Result): void {
    this.#pending.delete(pending)
    pending.resolve(result)
    if (this.#pending.size === 0) this.#deps.onIdle?.()
  }
}
