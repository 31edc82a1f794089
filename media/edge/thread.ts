import { type Transferable, Worker } from 'node:worker_threads'
import { systemClock } from '../clock.ts'
import type { Command, EndCommand, Report } from './protocol.ts'
import type { SocketKind } from './sockets-open.ts'

/** Receives a thread's reports and its death. */
export interface ThreadListener {
  onReport(report: Report): void
  /** Called on death, after which nothing more is reported. The next command starts a new thread. */
  onDeath(error: Error): void
}

/** Start parameters of a thread. */
export interface ThreadData {
  readonly sockets: SocketKind
  /** Whether the thread tries to get real-time priority. */
  readonly isRealtime: boolean
}

/** Maximum wait for a thread to end by itself, in ms. */
const maxEndMs = 5_000

/**
 * Resolves when a thread has ended. Termination by force is the last resort: it may crash the whole process
 * if the thread is busy.
 */
const ended = (worker: Worker): Promise<void> =>
  new Promise((resolve) => {
    const limit = systemClock.after(maxEndMs, () => void worker.terminate())
    worker.once('exit', () => {
      limit.cancel()
      resolve()
    })
    worker.postMessage({ op: 'end' } satisfies EndCommand)
  })

/**
 * Main-thread handle of one media thread. The thread starts with the first command, and again after a death.
 */
export class MediaThread {
  #listener: ThreadListener
  #data: ThreadData
  #worker: Worker | undefined
  #isClosed = false

  constructor(listener: ThreadListener, data: ThreadData) {
    this.#listener = listener
    this.#data = data
  }

  /** Starts the thread if necessary; resolves when it runs. Rejects if it cannot start. */
  async start(): Promise<void> {
    const worker = this.#ensure()
    if (worker.threadId < 0) throw new Error('the media thread ended before it was ready')
    await new Promise<void>((resolve, reject) => {
      worker.once('online', resolve)
      worker.once('error', reject)
    })
  }

  /** Sends a command; `moved` is transferred rather than copied. No effect after {@link close}. */
  send(command: Command, moved: readonly Transferable[] = []): void {
    if (!this.#isClosed) this.#ensure().postMessage(command, moved)
  }

  /** Ends the thread with everything in it. Resolves when it has ended. */
  async close(): Promise<void> {
    this.#isClosed = true
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
