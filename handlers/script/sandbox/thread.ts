import { Worker } from 'node:worker_threads'
import type { ExpressionJob, ExpressionReply } from './evaluate.ts'

/** A thread that does one job after the other. */
export interface JobThread<Job> {
  /** Does a job; the reply comes to what {@link StartThread} was given. */
  send(job: Job): void
  /** Ends the thread in the middle of whatever it does; nothing is told after that. */
  end(): Promise<void>
}

/** A thread that evaluates one expression after the other. */
export type SandboxThread = JobThread<ExpressionJob>

/** Events of a thread. */
export interface ThreadEvents<Reply> {
  /** It has started: from now on it is at the jobs that it was sent. */
  readonly onReady: () => void
  /** Called once for each job. */
  readonly onReply: (reply: Reply) => void
  /** Called once when it dies without being asked to. */
  readonly onFailure: () => void
}

/** Starts a thread. */
export type StartThread<Job, Reply> = (events: ThreadEvents<Reply>) => JobThread<Job>

/** Heap of the thread's own JavaScript in MiB; that of expressions is inside WebAssembly. */
const heapMiB = 64
/** Deeper than QuickJS's own limit, which so is what a deep recursion meets. */
const stackMiB = 16

/** Starts the real thread of expressions. It keeps no process alive. */
export const startThread: StartThread<ExpressionJob, ExpressionReply> = (events) =>
  startWorker(new URL('./sandbox.worker.ts', import.meta.url), events)

/** Starts a worker that says `ready`, and then answers each message with a reply. It keeps no process alive. */
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
  // What WebAssembly prints when it fails is nobody's; unread, it would pile up.
  worker.stdout.resume()
  worker.stderr.resume()
  worker.unref()
  let over = false
  const fail = () => {
    if (over) return
    over = true
    onFailure()
  }
  worker.on('message', (message: 'ready' | Reply) => {
    if (over) return
    if (message === 'ready') onReady()
    else onReply(message as Reply)
  })
  worker.on('error', fail)
  worker.on('exit', fail)
  return {
    send: (job) => worker.postMessage(job),
    end: async () => {
      over = true
      await worker.terminate()
    },
  }
}
