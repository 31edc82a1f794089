import { type Transferable, Worker } from 'node:worker_threads'
import { systemClock } from './clock.ts'
import type { Command, EndCommand, Report } from './protocol.ts'
import type { SocketKind } from './sockets-open.ts'

/** Told what a thread reports, and when it died. */
export interface ThreadListener {
  onReport(report: Report): void
  /** After this nothing more is reported; the next command starts a new thread. */
  onDeath(error: Error): void
}

/** What a thread is started with. */
export interface ThreadData {
  readonly sockets: SocketKind
}

/** Longest wait for a thread to end by itself, in ms. */
const longestEndMs = 5_000

/**
 * Resolves when a thread has ended. It is ended by force only where it does not by itself: with a thread that is ended in the middle of its
 * work the whole process may die.
 */
const ended = (worker: Worker): Promise<void> =>
  new Promise((resolve) => {
    const limit = systemClock.after(longestEndMs, () => void worker.terminate())
    worker.once('exit', () => {
      limit.cancel()
      resolve()
    })
    worker.postMessage({ op: 'end' } satisfies EndCommand)
  })

/** One media thread as the main thread sees it. It starts with the first command, and again after it died. */
export class MediaThread {
  #listener: ThreadListener
  #data: ThreadData
  #worker: Worker | undefined
  #closed = false

  constructor(listener: ThreadListener, data: ThreadData) {
    this.#listener = listener
    this.#data = data
  }

  /** Starts the thread if there is none; settles when it runs. Rejects when it cannot. */
  async start(): Promise<void> {
    const worker = this.#ensure()
    if (worker.threadId < 0) throw new Error('the media thread ended before it was ready')
    await new Promise<void>((resolve, reject) => {
      worker.once('online', resolve)
      worker.once('error', reject)
    })
  }

  /** `moved` goes over rather than being copied. Harmless after {@link close}. */
  send(command: Command, moved: readonly Transferable[] = []): void {
    if (!this.#closed) this.#ensure().postMessage(command, moved)
  }

  /** Ends the thread, with what is still open in it. Settles when it is gone. */
  async close(): Promise<void> {
    this.#closed = true
    const worker = this.#worker
    this.#worker = undefined
    if (worker && worker.threadId >= 0) await ended(worker)
  }

  #ensure(): Worker {
    if (this.#worker) return this.#worker
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      name: 'media',
      workerData: this.#data,
    })
    this.#worker = worker
    worker.on('message', (report: Report) => {
      if (this.#worker === worker) this.#listener.onReport(report)
    })
    const died = (error: Error) => {
      if (this.#worker !== worker) return
      this.#worker = undefined
      this.#listener.onDeath(error)
    }
    worker.on('error', (error) => died(error instanceof Error ? error : new Error(String(error))))
    worker.on('exit', (code) => died(new Error(`a media thread ended with code ${code}`)))
    return worker
  }
}
