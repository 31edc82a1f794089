import type { ExpressionJob, ExpressionReply } from './evaluate.ts'
import { type SandboxThread, type StartThread, startThread } from './thread.ts'

/** An expression that has no value; the message completes the sentence "the expression cannot be evaluated: …". */
export class ExpressionFailed extends Error {}

/** The timers that the sandbox uses. */
export interface Timers {
  /** Calls `run` once, `ms` milliseconds from now, unless it is cancelled. */
  after(ms: number, run: () => void): { cancel(): void }
}

/** Threads at most: an expression that runs for ever keeps one busy for its whole time. */
const mostThreads = 2
/** Expressions that may wait. A call has one at a time, so this many calls; beyond it, who has used most is refused. */
const mostWaiting = 200
/** A thread that has not started after so long is ended. */
const startMs = 10_000
/**
 * The same of one that has started and does not answer. An expression's own time is less, but what QuickJS does in one go, such as searching a
 * long text, does not look at that; everybody else's expressions wait meanwhile.
 */
const answerMs = 2000

/** What somebody's expressions have cost so far. Of those who wait, who has used least has the next thread. */
export interface Account {
  usedMs: number
}

interface Task {
  readonly job: ExpressionJob
  readonly account: Account
  readonly resolve: (value: unknown) => void
  readonly reject: (error: ExpressionFailed) => void
}

interface Busy {
  readonly task: Task
  timer: { cancel(): void }
}

/** One thread and what it is at. */
interface Place {
  readonly thread: SandboxThread
  started: boolean
  busy?: Busy
}

/**
 * Evaluates expressions of script documents in threads of its own, by QuickJS in WebAssembly: the code sees its variables and the language,
 * nothing else, and has a heap, a stack and a time of its own. Shared by all calls.
 */
export class Sandbox {
  readonly #timers: Timers
  readonly #start: StartThread
  readonly #waiting: Task[] = []
  readonly #places = new Set<Place>()
  #closed = false

  constructor(timers: Timers, start: StartThread = startThread) {
    this.#timers = timers
    this.#start = start
  }

  /** Expressions that wait or are evaluated. */
  get pending(): number {
    return this.#waiting.length + [...this.#places].filter((place) => place.busy).length
  }

  /**
   * The value of an expression, which may name the keys of `variables` (`call`, `vars`, `envs`, `params`). Undefined and functions are
   * undefined. What it takes is added to `account`; default an empty one. Rejects with {@link ExpressionFailed}, also when too many wait that
   * have used less.
   */
  evaluate(
    expression: string,
    variables: Readonly<Record<string, unknown>>,
    account: Account = { usedMs: 0 },
  ): Promise<unknown> {
    if (this.#closed) return Promise.reject(new ExpressionFailed('the sandbox is closed'))
    const job = { expression, variables: JSON.stringify(variables) }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, account, resolve, reject })
      this.#next()
      if (this.#waiting.length > mostWaiting)
        this.#takeWaiting((one, other) => one.usedMs >= other.usedMs)?.reject(
          new ExpressionFailed('too many other expressions wait'),
        )
    })
  }

  /** Rejects what is under way and ends the threads. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true
    const gone = new ExpressionFailed('the sandbox is closed')
    for (const task of this.#waiting.splice(0)) task.reject(gone)
    await Promise.all([...this.#places].map((place) => this.#drop(place, gone)))
  }

  #next(): void {
    if (this.#waiting.length === 0) return
    const free = [...this.#places].find((place) => !place.busy)
    if (!free && this.#places.size === mostThreads) return
    const task = this.#takeWaiting((one, other) => one.usedMs < other.usedMs)
    if (!task) return
    let place: Place
    try {
      place = free ?? this.#launch()
    } catch {
      task.reject(new ExpressionFailed('there is no thread for it'))
      return
    }
    place.busy = { task, timer: this.#watch(place) }
    place.thread.send(task.job)
  }

  /** Takes out the task whose account comes before all others. */
  #takeWaiting(isBefore: (one: Account, other: Account) => boolean): Task | undefined {
    let chosen = 0
    for (const [index, { account }] of this.#waiting.entries()) {
      const first = this.#waiting[chosen]
      if (first && isBefore(account, first.account)) chosen = index
    }
    return this.#waiting.splice(chosen, 1)[0]
  }

  #launch(): Place {
    const place: Place = {
      thread: this.#start({
        onReady: () => this.#started(place),
        onReply: (reply) => this.#finish(place, reply),
        onFailure: () => this.#replace(place, 'it exhausts its thread'),
      }),
      started: false,
    }
    this.#places.add(place)
    return place
  }

  #watch(place: Place): { cancel(): void } {
    return this.#timers.after(place.started ? answerMs : startMs, () =>
      this.#replace(place, 'its thread does not answer'),
    )
  }

  /** Now it is the expression's turn to answer, no longer the thread's to start. */
  #started(place: Place): void {
    place.started = true
    if (!place.busy) return
    place.busy.timer.cancel()
    place.busy.timer = this.#watch(place)
  }

  #finish(place: Place, reply: ExpressionReply): void {
    const { busy } = place
    place.busy = undefined
    busy?.timer.cancel()
    if (busy) busy.task.account.usedMs += reply.ms
    if ('error' in reply) busy?.task.reject(new ExpressionFailed(reply.error))
    else busy?.task.resolve(reply.value === undefined ? undefined : JSON.parse(reply.value))
    this.#next()
  }

  #replace(place: Place, reason: string): void {
    if (place.busy) place.busy.task.account.usedMs += answerMs
    void this.#drop(place, new ExpressionFailed(reason))
    this.#next()
  }

  #drop(place: Place, error: ExpressionFailed): Promise<void> {
    this.#places.delete(place)
    place.busy?.timer.cancel()
    place.busy?.task.reject(error)
    return place.thread.end()
  }
}
