import type { Timers } from '../../common/timers.ts'
import type { JobThread, StartThread } from './thread.ts'

/** Error of a job that no thread completed. */
export class JobFailed extends Error {
  /** Whether the job exceeded the time or memory of its thread. Otherwise no thread was available. */
  readonly isCausedByJob: boolean

  constructor(message: string, isOfJob = false) {
    super(message)
    this.isCausedByJob = isOfJob
  }
}

/** Maximum number of threads. One endless job occupies one thread until its time-out. */
const maxThreads = 2

/**
 * Maximum number of waiting jobs. A call has one job at a time. Above the maximum, the job of the account
 * that has used the most time is rejected.
 */
const maxWaiting = 200

/** Maximum duration of a thread's start, in milliseconds. */
const startTimeoutMs = 10_000

/** Maximum duration of a job, in milliseconds. */
const jobTimeoutMs = 2000

/** CPU time used by the jobs of one owner. The waiting owner that has used the least is next. */
export interface CpuAccount {
  usedMs: number
}

/** Reply to a job, with its CPU time in milliseconds. */
export interface JobReply {
  readonly ms: number
}

interface Task<Job, Reply> {
  readonly job: Job
  readonly account: CpuAccount
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: JobFailed) => void
}

interface Busy<Job, Reply> {
  readonly task: Task<Job, Reply>
  timer: { cancel(): void }
}

/** Thread with its current job. */
interface WorkerSlot<Job, Reply> {
  readonly thread: JobThread<Job>
  hasStarted: boolean
  busy?: Busy<Job, Reply>
}

/**
 * Pool of threads that run one job at a time for all calls. Each job has bounded time, and owners share the
 * threads fairly.
 */
export class JobThreads<Job, Reply extends JobReply> {
  readonly #timers: Timers
  readonly #start: StartThread<Job, Reply>
  /** Name of the jobs in messages, for instance `expressions`. */
  readonly #jobs: string
  readonly #waiting: Task<Job, Reply>[] = []
  readonly #places = new Set<WorkerSlot<Job, Reply>>()
  #isClosed = false

  constructor(jobs: string, timers: Timers, start: StartThread<Job, Reply>) {
    this.#jobs = jobs
    this.#timers = timers
    this.#start = start
  }

  /** Number of waiting and running jobs. */
  get pending(): number {
    return this.#waiting.length + [...this.#places].filter((place) => place.busy).length
  }

  /**
   * Runs a job and adds its time to `account`. Rejects with {@link JobFailed}, also if too many other jobs
   * are waiting.
   */
  run(job: Job, account: CpuAccount): Promise<Reply> {
    if (this.#isClosed) return Promise.reject(new JobFailed('the threads are closed'))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, account, resolve, reject })
      this.#next()
      if (this.#waiting.length > maxWaiting)
        this.#takeWaiting((one, other) => one.usedMs >= other.usedMs)?.reject(
          new JobFailed(`too many other ${this.#jobs} wait`),
        )
    })
  }

  /** Rejects pending jobs and ends the threads. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    const gone = new JobFailed('the threads are closed')
    for (const task of this.#waiting.splice(0)) task.reject(gone)
    await Promise.all([...this.#places].map((place) => this.#drop(place, gone)))
  }

  #next(): void {
    if (this.#waiting.length === 0) return
    const free = [...this.#places].find((place) => !place.busy)
    if (!free && this.#places.size === maxThreads) return
    const task = this.#takeWaiting((one, other) => one.usedMs < other.usedMs)
    if (!task) return
    let place: WorkerSlot<Job, Reply>
    try {
      place = free ?? this.#launch()
    } catch {
      task.reject(new JobFailed('there is no thread for it'))
      return
    }
    place.busy = { task, timer: this.#watch(place) }
    place.thread.send(task.job)
  }

  /** Removes the task whose account has used the least time. */
  #takeWaiting(isBefore: (one: CpuAccount, other: CpuAccount) => boolean): Task<Job, Reply> | undefined {
    let chosen = 0
    for (const [index, { account }] of this.#waiting.entries()) {
      const first = this.#waiting[chosen]
      if (first && isBefore(account, first.account)) chosen = index
    }
    return this.#waiting.splice(chosen, 1)[0]
  }

  #launch(): WorkerSlot<Job, Reply> {
    const place: WorkerSlot<Job, Reply> = {
      thread: this.#start({
        onReady: () => this.#started(place),
        onReply: (reply) => this.#finish(place, reply),
        onFailure: () => this.#replace(place, 'it exhausts its thread'),
      }),
      hasStarted: false,
    }
    this.#places.add(place)
    return place
  }

  #watch(place: WorkerSlot<Job, Reply>): { cancel(): void } {
    return this.#timers.after(place.hasStarted ? jobTimeoutMs : startTimeoutMs, () =>
      this.#replace(place, 'its thread does not answer'),
    )
  }

  /** Marks a thread as started, and restarts the timer for its job. */
  #started(place: WorkerSlot<Job, Reply>): void {
    place.hasStarted = true
    if (!place.busy) return
    place.busy.timer.cancel()
    place.busy.timer = this.#watch(place)
  }

  #finish(place: WorkerSlot<Job, Reply>, reply: Reply): void {
    const { busy } = place
    place.busy = undefined
    busy?.timer.cancel()
    if (busy) busy.task.account.usedMs += reply.ms
    busy?.task.resolve(reply)
    this.#next()
  }

  #replace(place: WorkerSlot<Job, Reply>, reason: string): void {
    if (place.busy) place.busy.task.account.usedMs += jobTimeoutMs
    void this.#drop(place, new JobFailed(reason, place.hasStarted))
    this.#next()
  }

  #drop(place: WorkerSlot<Job, Reply>, error: JobFailed): Promise<void> {
    this.#places.delete(place)
    place.busy?.timer.cancel()
    place.busy?.task.reject(error)
    return place.thread.end()
  }
}
