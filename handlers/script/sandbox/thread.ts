import { Worker } from 'node:worker_threads'
import type { ExpressionJob, ExpressionReply } from './evaluate.ts'

/** A thread that evaluates one expression after the other. */
export interface SandboxThread {
  /** Evaluates an expression; the reply comes to what {@link StartThread} was given. */
  send(job: ExpressionJob): void
  /** Ends the thread in the middle of whatever it does; nothing is told after that. */
  end(): Promise<void>
}

/** What a thread tells. */
export interface ThreadEvents {
  /** It has started: from now on it is at the expressions that it was sent. */
  readonly onReady: () => void
  /** Called once for each expression. */
  readonly onReply: (reply: ExpressionReply) => void
  /** Called once when it dies without being asked to. */
  readonly onFailure: () => void
}

/** Starts a thread. */
export type StartThread = (events: ThreadEvents) => SandboxThread

/** Heap of the thread's own JavaScript in MiB; that of expressions is inside WebAssembly. */
const heapMiB = 64
/** Deeper than QuickJS's own limit, which so is what a deep recursion meets. */
const stackMiB = 16

/** Starts the real thread. It keeps no process alive. */
export const startThread: StartThread = ({ onReady, onReply, onFailure }) => {
  const worker = new Worker(new URL('./sandbox.worker.ts', import.meta.url), {
    ...{ execArgv: [], stdout: true, stderr: true, env: {} },
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
  worker.on('message', (message: 'ready' | ExpressionReply) => {
    if (over) return
    if (message === 'ready') onReady()
    else onReply(message)
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
