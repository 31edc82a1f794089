import type { JobThread, StartThread } from './thread.ts'

/** A job that no thread has done; the message says why. */
export class JobFailed extends Error {
  /** Whether the job exceeded the time or memory of its thread; else the threads had no room for it. */
  readonly isCausedByJob: boolean

  constructor(message: string, isOfJob = false) {
    super(message)
    this.isCausedByJob = isOfJob
  }
}

/** The timers that threads of jobs use. */
export interface Timers {
  /** Calls `run` once, `ms` milliseconds from now, unless it is cancelled. */
  after(ms: number, run: () => void): { cancel(): void }
}

/** Threads at most: a job that runs for ever keeps one busy for its whole time. */
const maxThreads = 2
/** Jobs that may wait. A call has one at a time, so this many calls; beyond it, who has used most is refused. */
const maxWaiting = 200
/** A thread that has not started after so long is ended. */
const startTimeoutMs = 10_000
/** The same of one that has started and does not answer; all other jobs of the thread wait meanwhile. */
const jobTimeoutMs = 2000

/** Time that the jobs of one owner have taken. Of the owners that wait, the one that has used least has the next thread. */
export interface CpuAccount {
  usedMs: number
}

/** The reply to a job, with the time of a processor that it took, in milliseconds. */
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

/** One thread and what it is at. */
interface WorkerSlot<Job, Reply> {
  readonly thread: JobThread<Job>
  started: boolean
  busy?: Busy<Job, Reply>
}

/** Threads that do one job after the other for all calls: each job has a bounded time, and no owner keeps the others waiting. */
export class JobThreads<Job, Reply extends JobReply> {
  readonly #timers: Timers
  readonly #start: StartThread<Job, Reply>
  /** Completes a sentence such as "too many other … wait". */
  readonly #jobs: string
  readonly #waiting: Task<Job, Reply>[] = []
  readonly #places = new Set<WorkerSlot<Job, Reply>>()
  #closed = false

  constructor(jobs: string, timers: Timers, start: StartThread<Job, Reply>) {
    this.#jobs = jobs
    this.#timers = timers
    this.#start = start
  }

  /** Jobs that wait or are done. */
  get pending(): number {
    return this.#waiting.length + [...this.#places].filter((place) => place.busy).length
  }

  /** Does a job; the time it takes is added to `account`. Rejects with {@link JobFailed}, also if too many wait that have used less. */
  run(job: Job, account: CpuAccount): Promise<Reply> {
    if (this.#closed) return Promise.reject(new JobFailed('the threads are closed'))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, account, resolve, reject })
      this.#next()
      if (this.#waiting.length > maxWaiting)
        this.#takeWaiting((one, other) => one.usedMs >= other.usedMs)?.reject(
          new JobFailed(`too many other ${this.#jobs} wait`),
        )
    })
  }

  /** Rejects what is under way and ends the threads. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true
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

  /** Takes out the task whose account comes before all others. */
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
      started: false,
    }
    this.#places.add(place)
    return place
  }

  #watch(place: WorkerSlot<Job, Reply>): { cancel(): void } {
    return this.#timers.after(place.started ? jobTimeoutMs : startTimeoutMs, () =>
      this.#replace(place, 'its thread does not answer'),
    )
  }

  /** Now it is the job's turn to answer, no longer the thread's to start. */
  #started(place: WorkerSlot<Job, Reply>): void {
    place.started = true
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
    void this.#drop(place, new JobFailed(reason, place.started))
    this.#next()
  }

  #drop(place: WorkerSlot<Job, Reply>, error: JobFailed): Promise<void> {
    this.#places.delete(place)
    place.busy?.timer.cancel()
    place.busy?.task.reject(error)
    return place.thread.end()
  }
}
