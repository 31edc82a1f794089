import { Worker } from 'node:worker_threads'
import type { Timers } from './clock.ts'
import { SoundError } from './errors.ts'
import type { Voice } from './spoken-text.ts'

/** A sentence for the thread. */
export interface SpeechJob {
  readonly voice: Voice
  readonly text: string
}

/** What the thread makes of it: 8 kHz, 16 bit. */
export type SpeechReply = { readonly samples: Int16Array<SharedArrayBuffer> } | { readonly error: string }

/** A thread that speaks one sentence after the other. */
export interface SpeechThread {
  send(job: SpeechJob): void
  /** Ends the thread in the middle of whatever it does. */
  end(): Promise<void>
}

/** Starts a thread. `onReply` is called once for each job, `onFailure` once when the thread dies without being asked to. */
export type StartThread = (
  onReply: (reply: SpeechReply) => void,
  onFailure: (error: Error) => void,
) => SpeechThread

/** Starts the real thread. */
export const startSpeechThread: StartThread = (onReply, onFailure) => {
  const worker = new Worker(new URL('./speech-thread.ts', import.meta.url), {
    execArgv: [],
    stdout: true,
    stderr: true,
  })
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

/** Longest time that one sentence may take, in ms. */
const sentenceMs = 10_000
/** Time without work after which the thread is ended, in ms. */
const idleMs = 60_000
/** Most sentences that wait. */
const mostWaiting = 100

interface Task {
  readonly job: SpeechJob
  readonly resolve: (samples: Int16Array<SharedArrayBuffer>) => void
  readonly reject: (error: Error) => void
}

/**
 * Speaks in a thread of its own, which starts with the first sentence and ends after a minute without one. A sentence that crashes
 * the thread, or takes over 10 s, is rejected, and the next one gets a new thread.
 */
export class Speech {
  readonly #start: StartThread
  readonly #timers: Timers
  readonly #waiting: Task[] = []
  #thread: SpeechThread | undefined
  #current: Task | undefined
  #timer: { cancel(): void } | undefined
  #closed = false

  constructor(start: StartThread, timers: Timers) {
    this.#start = start
    this.#timers = timers
  }

  /** True while the thread runs. */
  get running(): boolean {
    return this.#thread !== undefined
  }

  /** Speaks a sentence. Rejects with a {@link SoundError}. */
  say(job: SpeechJob): Promise<Int16Array<SharedArrayBuffer>> {
    if (this.#closed) return Promise.reject(new SoundError('Speech: closed'))
    if (this.#waiting.length >= mostWaiting)
      return Promise.reject(new SoundError('Speech: too much is waiting'))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject })
      this.#next()
    })
  }

  /** Rejects what is under way and ends the thread. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true
    for (const task of this.#waiting.splice(0)) task.reject(new SoundError('Speech: closed'))
    await this.#stop(new SoundError('Speech: closed'))
  }

  #next(): void {
    if (this.#current || this.#closed) return
    this.#timer?.cancel()
    const task = this.#waiting.shift()
    if (!task) {
      this.#timer = this.#thread && this.#timers.after(idleMs, () => void this.#stop())
      return
    }
    try {
      this.#thread ??= this.#launch()
    } catch (error) {
      task.reject(new SoundError(`Speech: the thread cannot be started: ${(error as Error).message}`, error))
      this.#next()
      return
    }
    this.#current = task
    this.#timer = this.#timers.after(sentenceMs, () =>
      this.#abandon(new SoundError('Speech: took over 10 s')),
    )
    this.#thread.send(task.job)
  }

  #launch(): SpeechThread {
    const thread: SpeechThread = this.#start(
      (reply) => {
        if (this.#thread === thread) this.#finish(reply)
      },
      (error) => {
        if (this.#thread === thread) this.#abandon(new SoundError(`Speech: ${error.message}`, error))
      },
    )
    return thread
  }

  #finish(reply: SpeechReply): void {
    const task = this.#current
    this.#current = undefined
    if ('samples' in reply) task?.resolve(reply.samples)
    else task?.reject(new SoundError(`Speech: ${reply.error}`))
    this.#next()
  }

  #abandon(error: SoundError): void {
    void this.#stop(error)
    this.#next()
  }

  /** Ends the thread; the sentence that it is at is rejected. */
  async #stop(error?: SoundError): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    const thread = this.#thread
    const task = this.#current
    this.#thread = undefined
    this.#current = undefined
    if (error) task?.reject(error)
    await thread?.end()
  }
}
