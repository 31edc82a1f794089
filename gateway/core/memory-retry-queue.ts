import { type AttemptOutcome, RetryQueue, type RetryQueueDeps } from './retry-queue.ts'

/** Options and collaborators of a {@link MemoryRetryQueue}. */
export interface MemoryRetryQueueDeps<Task, Result>
  extends Pick<RetryQueueDeps<unknown>, 'clock' | 'maxConcurrent' | 'onError' | 'onIdle'> {
  /**
   * Makes one attempt after `tries` failed ones. Resolves with the wait in ms before the next one, or with
   * the result of the task.
   */
  readonly attempt: (task: Task, tries: number) => Promise<number | { readonly result: Result }>
}

interface PendingTask<Task, Result> {
  readonly id: number
  readonly task: Task
  readonly result: Promise<Result>
  readonly resolve: (result: Result) => void
  tries: number
  dueAt: number
}

/**
 * Queue of tasks that are retried until they have a result. Unfinished tasks are lost when the process ends.
 */
export class MemoryRetryQueue<Task, Result> {
  readonly #deps: MemoryRetryQueueDeps<Task, Result>
  readonly #pending = new Map<number, PendingTask<Task, Result>>()
  readonly #queue: RetryQueue<PendingTask<Task, Result>>
  #lastId = 0

  constructor(deps: MemoryRetryQueueDeps<Task, Result>) {
    const { clock, maxConcurrent, onError, onIdle } = deps
    this.#deps = deps
    this.#queue = new RetryQueue({
      store: {
        next: async (limit) => {
          const rows = [...this.#pending.values()].sort((a, b) => a.dueAt - b.dueAt)
          return rows.slice(0, limit).map((row) => ({ row, dueAt: row.dueAt }))
        },
        postpone: async (row, dueAt) => {
          row.tries++
          row.dueAt = dueAt
        },
        remove: async () => {},
      },
      attempt: (row) => this.#attempt(row),
      clock,
      maxConcurrent,
      onError,
      ...(onIdle && { onIdle }),
    })
  }

  /** Unfinished tasks. */
  get tasks(): readonly Task[] {
    return [...this.#pending.values()].map(({ task }) => task)
  }

  /**
   * Adds a task, and resolves with its result. When `hurry` fires, the next attempt does not wait any longer.
   */
  run(task: Task, hurry?: AbortSignal): Promise<Result> {
    const { promise: result, resolve } = Promise.withResolvers<Result>()
    const row = { id: ++this.#lastId, task, result, resolve, tries: 0, dueAt: this.#deps.clock.now() }
    this.#pending.set(row.id, row)
    this.#queue.addStored(1)
    const tryNow = () => this.#tryNow([row])
    hurry?.addEventListener('abort', tryNow)
    return result.finally(() => hurry?.removeEventListener('abort', tryNow))
  }

  /** Ends the waits of all tasks before their next attempts. */
  hurry(): void {
    this.#tryNow(this.#pending.values())
  }

  /** Resolves when all tasks added so far have their results. */
  async drain(): Promise<void> {
    await Promise.all([...this.#pending.values()].map(({ result }) => result))
  }

  #tryNow(rows: Iterable<PendingTask<Task, Result>>): void {
    for (const row of rows) row.dueAt = this.#deps.clock.now()
    this.#queue.wake()
  }

  async #attempt(row: PendingTask<Task, Result>): Promise<AttemptOutcome> {
    const outcome = await this.#deps.attempt(row.task, row.tries)
    if (typeof outcome === 'number') return outcome
    this.#pending.delete(row.id)
    row.resolve(outcome.result)
    return 'finished'
  }
}
