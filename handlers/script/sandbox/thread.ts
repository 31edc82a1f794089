import { Worker } from 'node:worker_threads'
import type { ExpressionJob, ExpressionReply } from './evaluate.ts'

/** Thread that runs one job at a time. */
export interface JobThread<Job> {
  /** Sends a job; {@link ThreadEvents.onReply} receives its reply. */
  send(job: Job): void
  /** Terminates the thread at once; no event follows. */
  end(): Promise<void>
}

/** Thread that evaluates one expression at a time. */
export type SandboxThread = JobThread<ExpressionJob>

/** Events of a thread. */
export interface ThreadEvents<Reply> {
  /** Called when the thread has started and runs its jobs. */
  readonly onReady: () => void
  /** Called once for each job. */
  readonly onReply: (reply: Reply) => void
  /** Called once if the thread ends unexpectedly. */
  readonly onFailure: () => void
}

/** Starts a thread. */
export type StartThread<Job, Reply> = (events: ThreadEvents<Reply>) => JobThread<Job>

/** Heap of the thread's own JavaScript in MiB; the heap of expressions is in WebAssembly. */
const heapMiB = 64
/** Stack of the thread in MiB, above QuickJS's own limit, so that a deep recursion exceeds that one first. */
const stackMiB = 16

/** Starts the worker thread for expressions. It does not keep the process alive. */
export const startThread: StartThread<ExpressionJob, ExpressionReply> = (events) =>
  startWorker(new URL('./sandbox.worker.ts', import.meta.url), events)

/** Starts a worker that posts `ready` and then one reply per message. It does not keep the process alive. */
export const startWorker = <Job, Reply>(
  module: URL,
  { onReady, onReply, onFailure }: ThreadEvents<Reply>,
): JobThread<Job> => {
  const worker = new Worker(module, {
    execArgv: [],
    stdout: true,
    stderr: true,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: heapMiB, stackSizeMb: stackMiB },
  })
  // Discards the output of failing WebAssembly, which would accumulate if unread.
  worker.stdout.resume()
  worker.stderr.resume()
  worker.unref()
  let isOver = false
  const fail = () => {
    if (isOver) return
    isOver = true
    onFailure()
  }
  worker.on('message', (message: 'ready' | Reply) => {
    if (isOver) return
    if (message === 'ready') onReady()
    else onReply(message as Reply)
  })
  worker.on('error', fail)
  worker.on('exit', fail)
  return {
    send: (job) => worker.postMessage(job),
    end: async () => {
      isOver = true
      await worker.terminate()
    },
  }
}
