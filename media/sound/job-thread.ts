import { Worker } from 'node:worker_threads'
import type { Timers } from '../clock.ts'
import { SoundBusy, SoundError } from './errors.ts'
import { FairQueue } from './fair-queue.ts'

/** Playable sound: mono, 16 bit, in shared memory. */
export type Samples = Int16Array<SharedArrayBuffer>

/** Result of a job. */
export type JobReply = { readonly samples: Samples } | { readonly error: string }

/** Thread that runs one job after another. */
export interface JobWorker<Job> {
  send(job: Job): void
  /** Ends the thread, even during a job. */
  end(): Promise<void>
}

/** Starts a thread. `onReply` is called once per job; `onFailure` once if the thread dies unexpectedly. */
export type StartWorker<Job> = (
  onReply: (reply: JobReply) => void,
  onFailure: (error: Error) => void,
) => JobWorker<Job>

/**
 * Maximum heap of a thread. Samples are outside the heap, so only malicious files exceed it, which ends the
 * thread.
 */
const maxHeapMiB = 256

/** Returns a starter for the worker thread in the given file of this folder. */
export const workerOf =
  <Job>(file: string): StartWorker<Job> =>
  (onReply, onFailure) => {
    const resourceLimits = { maxOldGenerationSizeMb: maxHeapMiB }
    const options = { execArgv: [], stdout: true, stderr: true, resourceLimits }
    const worker = new Worker(new URL(file, import.meta.url), options)
    // Discards text that the decoders write to the standard output, which would otherwise accumulate.
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

/** Options of a {@link JobThread}. */
export interface JobThreadOptions<Job> {
  /** Prefix of its error messages, for example `Speech`. */
  readonly name: string
  readonly start: StartWorker<Job>
  readonly timers: Timers
  /** Maximum time of one job, in ms. */
  readonly maxJobMs: number
  /** Maximum number of waiting jobs; beyond it, a job of the customer with the most jobs is rejected. */
  readonly maxWaiting: number
}

/** Options of a job. */
export interface JobOptions {
  /** Customer that requests the job; customers take turns. Default: one shared by all jobs that name none. */
  readonly customer?: string
  /** Cancels the job. */
  readonly signal?: AbortSignal
}

/** Idle time after which the thread ends, in ms. */
const idleMs = 60_000

interface Task<Job> {
  readonly job: Job
  readonly resolve: (samples: Samples) => void
  readonly reject: (error: Error) => void
}

/**
 * Runs jobs in its own thread, which starts with the first job and ends after a minute without any. Customers
 * take turns. A job that crashes the thread or takes too long is rejected, and the next job gets a new
 * thread.
 */
export class JobThread<Job> {
  readonly #options: JobThreadOptions<Job>
  readonly #waiting: FairQueue<Task<Job>>
  #worker: JobWorker<Job> | undefined
  #current: Task<Job> | undefined
  #timer: { cancel(): void } | undefined
  #isClosed = false

  constructor(options: JobThreadOptions<Job>) {
    this.#options = options
    this.#waiting = new FairQueue(options.maxWaiting)
  }

  /** Whether the thread runs. */
  get isRunning(): boolean {
    return this.#worker !== undefined
  }

  /**
   * Runs a job. Rejects with a {@link SoundError}, which is a {@link SoundBusy} if too many jobs wait.
   * `signal` cancels a waiting job; a started job continues with its result ignored.
   */
  run(job: Job, { customer = '', signal }: JobOptions = {}): Promise<Samples> {
    if (this.#isClosed) return Promise.reject(this.#error('closed'))
    if (signal?.aborted) return Promise.reject(this.#error('cancelled'))
    const { promise, resolve, reject } = Promise.withResolvers<Samples>()
    const task = { job, resolve, reject }
    const cancel = () => {
      this.#waiting.remove(customer, task)
      reject(this.#error('cancelled'))
    }
    signal?.addEventListener('abort', cancel, { once: true })
    const refused = this.#waiting.push(customer, task)
    refused?.reject(new SoundBusy(`${this.#options.name}: too much is waiting`))
    this.#next()
    return promise.finally(() => signal?.removeEventListener('abort', cancel))
  }

  /** Rejects the pending jobs and ends the thread. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (let task = this.#waiting.shift(); task; task = this.#waiting.shift())
      task.reject(this.#error('closed'))
    await this.#stop(this.#error('closed'))
  }

  #error(text: string, cause?: unknown): SoundError {
    return new SoundError(`${this.#options.name}: ${text}`, cause)
  }

  #next(): void {
    if (this.#current || this.#isClosed) return
    const { timers, maxJobMs: jobMs } = this.#options
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
    // Errors that the thread reports already name the format.
    else task?.reject(new SoundError(reply.error))
    this.#next()
  }

  #abandon(error: SoundError): void {
    void this.#stop(error)
    this.#next()
  }

  /** Ends the thread and rejects the current job. */
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
