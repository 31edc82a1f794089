import { Worker } from 'node:worker_threads'
import type { Timers } from './clock.ts'
import { SoundBusy, SoundError } from './errors.ts'
import { FairQueue } from './fair-queue.ts'

/** Sound that is ready to play: mono, 16 bit, in shared memory. */
export type Samples = Int16Array<SharedArrayBuffer>

/** What a thread makes of a job. */
export type JobReply = { readonly samples: Samples } | { readonly error: string }

/** A thread that does one job after the other. */
export interface JobWorker<Job> {
  send(job: Job): void
  /** Ends the thread in the middle of whatever it does. */
  end(): Promise<void>
}

/** Starts a thread. `onReply` is called once for each job, `onFailure` once when the thread dies without being asked to. */
export type StartWorker<Job> = (
  onReply: (reply: JobReply) => void,
  onFailure: (error: Error) => void,
) => JobWorker<Job>

/** Largest heap of a thread. Samples are not in it: what fills it is a file that was made to do so, and ends the thread. */
const heapMiB = 256

/** Starts the real thread from the file of this name beside this one. */
export const workerOf =
  <Job>(file: string): StartWorker<Job> =>
  (onReply, onFailure) => {
    const resourceLimits = { maxOldGenerationSizeMb: heapMiB }
    const options = { execArgv: [], stdout: true, stderr: true, resourceLimits }
    const worker = new Worker(new URL(file, import.meta.url), options)
    // What the decoders print is nobody's; unread, it would pile up.
    worker.stdout.resume()
    worker.stderr.resume()
    let failed = false
    const fail = (error: Error) => {
      if (failed) return
      failed = true
      onFailure(error)
    }
    worker.on('message', onReply)
    worker.on('error', fail)
    worker.on('exit', () => fail(new Error('the thread ended')))
    return {
      send: (job) => worker.postMessage(job),
      end: async () => {
        failed = true
        await worker.terminate()
      },
    }
  }

/** How a {@link JobThread} works. */
export interface JobThreadOptions<Job> {
  /** Begins its errors, for instance `Speech`. */
  readonly name: string
  readonly start: StartWorker<Job>
  readonly timers: Timers
  /** Longest time that one job may take, in ms. */
  readonly jobMs: number
  /** Most jobs that wait; when there are more, the customer with the most of them is refused. */
  readonly mostWaiting: number
}

/** Who waits for a job. */
export interface Waiter {
  /** Customers take turns; default: one that all have who name none. */
  readonly customer?: string
  /** Gives up. */
  readonly signal?: AbortSignal
}

/** Time without work after which the thread is ended, in ms. */
const idleMs = 60_000

interface Task<Job> {
  readonly job: Job
  readonly resolve: (samples: Samples) => void
  readonly reject: (error: Error) => void
}

/**
 * Does jobs in a thread of its own, which starts with the first one and ends after a minute without any. Customers take turns in it. A
 * job that crashes the thread, or takes too long, is rejected, and the next one gets a new thread.
 */
export class JobThread<Job> {
  readonly #options: JobThreadOptions<Job>
  readonly #waiting: FairQueue<Task<Job>>
  #worker: JobWorker<Job> | undefined
  #current: Task<Job> | undefined
  #timer: { cancel(): void } | undefined
  #closed = false

  constructor(options: JobThreadOptions<Job>) {
    this.#options = options
    this.#waiting = new FairQueue(options.mostWaiting)
  }

  /** True while the thread runs. */
  get running(): boolean {
    return this.#worker !== undefined
  }

  /**
   * Does a job. Rejects with a {@link SoundError}, that is a {@link SoundBusy} where too much is waiting. `signal` takes it away while it
   * waits; one that is begun goes on unheard.
   */
  run(job: Job, { customer = '', signal }: Waiter = {}): Promise<Samples> {
    if (this.#closed) return Promise.reject(this.#error('closed'))
    if (signal?.aborted) return Promise.reject(this.#error('given up'))
    const { promise, resolve, reject } = Promise.withResolvers<Samples>()
    const task = { job, resolve, reject }
    const giveUp = () => {
      this.#waiting.remove(customer, task)
      reject(this.#error('given up'))
    }
    signal?.addEventListener('abort', giveUp, { once: true })
    const refused = this.#waiting.push(customer, task)
    refused?.reject(new SoundBusy(`${this.#options.name}: too much is waiting`))
    this.#next()
    return promise.finally(() => signal?.removeEventListener('abort', giveUp))
  }

  /** Rejects what is under way and ends the thread. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true
    for (let task = this.#waiting.shift(); task; task = this.#waiting.shift())
      task.reject(this.#error('closed'))
    await this.#stop(this.#error('closed'))
  }

  #error(text: string, cause?: unknown): SoundError {
    return new SoundError(`${this.#options.name}: ${text}`, cause)
  }

  #next(): void {
    if (this.#current || this.#closed) return
    const { timers, jobMs } = this.#options
    this.#timer?.cancel()
    const task = this.#waiting.shift()
    if (!task) {
      this.#timer = this.#worker && timers.after(idleMs, () => void this.#stop())
      return
    }
    try {
      this.#worker ??= this.#launch()
    } catch (error) {
      task.reject(this.#error(`the thread cannot be started: ${(error as Error).message}`, error))
      this.#next()
      return
    }
    this.#current = task
    this.#timer = timers.after(jobMs, () => this.#abandon(this.#error(`took over ${jobMs / 1000} s`)))
    this.#worker.send(task.job)
  }

  #launch(): JobWorker<Job> {
    const worker: JobWorker<Job> = this.#options.start(
      (reply) => {
        if (this.#worker === worker) this.#finish(reply)
      },
      (error) => {
        if (this.#worker === worker) this.#abandon(this.#error(error.message, error))
      },
    )
    return worker
  }

  #finish(reply: JobReply): void {
    const task = this.#current
    this.#current = undefined
    if ('samples' in reply) task?.resolve(reply.samples)
    // The thread's own errors name the format.
    else task?.reject(new SoundError(reply.error))
    this.#next()
  }

  #abandon(error: SoundError): void {
    void this.#stop(error)
    this.#next()
  }

  /** Ends the thread; the job that it is at is rejected. */
  async #stop(error?: SoundError): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    const worker = this.#worker
    const task = this.#current
    this.#worker = undefined
    this.#current = undefined
    if (error) task?.reject(error)
    await worker?.end()
  }
}
