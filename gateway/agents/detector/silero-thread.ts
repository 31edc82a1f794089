import { Worker } from 'node:worker_threads'
import type { SteadyClock, Timer } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { SileroData, SileroJob, SileroReply } from './silero-messages.ts'
import type { SpeechDetector, SpeechStream } from './speech-detector.ts'

/** Maximum number of frames that wait for their results, of all calls. */
const maxWaiting = 1000
/** Wait before a thread that has ended is started again, in ms. */
const restartMs = 5000
/** Number of threads that may end by themselves; then the level meter alone counts. */
const maxFailures = 3
/** Maximum heap of the thread in MiB. The runtime and its model are outside of the heap. */
const heapMiB = 64

/** Thread that runs the model. */
export interface SileroWorker {
  send(job: SileroJob): void
  end(): Promise<void>
}

/** Starts a thread. `onEnd` is called once if it ends by itself. */
export type StartSilero = (
  data: SileroData,
  onReply: (reply: SileroReply) => void,
  onEnd: (reason: string) => void,
) => SileroWorker

/** Starts the worker thread. It does not keep the process alive, and gets no environment. */
export const startSilero: StartSilero = (workerData, onReply, onEnd) => {
  const worker = new Worker(new URL('./silero.worker.ts', import.meta.url), {
    workerData,
    execArgv: [],
    stdout: true,
    stderr: true,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: heapMiB },
  })
  // Discards what the runtime writes, which would accumulate if unread.
  worker.stdout.resume()
  worker.stderr.resume()
  worker.unref()
  let isOver = false
  const end = (reason: string) => {
    if (isOver) return
    isOver = true
    onEnd(reason)
  }
  worker.on('message', (reply: SileroReply) => {
    if (!isOver) onReply(reply)
  })
  worker.on('error', (error: Error) => end(error.message))
  worker.on('exit', (code) => end(`The thread ended with code ${code}.`))
  return {
    send: (job) => worker.postMessage(job),
    end: async () => {
      isOver = true
      await worker.terminate()
    },
  }
}

/** Collaborators of a {@link SileroThread}. */
export interface SileroDeps {
  readonly clock: SteadyClock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'agentDetectorFailures'>
  /** Starts the thread; default a worker thread. */
  readonly start?: StartSilero
}

/**
 * Silero's model in one thread for all calls. The thread starts with the first stream. If it ends by itself,
 * it is started again after 5 s, twice at most; a model that cannot be loaded is not tried again.
 */
export class SileroThread implements SpeechDetector {
  readonly threshold: number
  readonly #data: SileroData
  readonly #deps: SileroDeps
  readonly #streams = new Map<number, ThreadStream>()
  #number = 0
  #worker: SileroWorker | undefined
  #isReady = false
  #waiting = 0
  #failures = 0
  #timer: Timer | undefined
  /** Whether no thread is started any more. */
  #isOver = false

  constructor(data: SileroData, threshold: number, deps: SileroDeps) {
    this.#data = data
    this.threshold = threshold
    this.#deps = deps
  }

  open(onWindow: (probability: number) => void): SpeechStream {
    const number = ++this.#number
    const stream = new ThreadStream(onWindow, {
      send: (sound, samples) => this.#hear({ op: 'hear', stream: number, sound, samples }),
      close: () => {
        this.#streams.delete(number)
        if (this.#isReady) this.#worker?.send({ op: 'close', stream: number })
      },
    })
    this.#streams.set(number, stream)
    this.#start()
    return stream
  }

  async close(): Promise<void> {
    this.#isOver = true
    await this.#stop()?.end()
  }

  #hear(job: SileroJob): boolean {
    if (!this.#isReady || this.#waiting >= maxWaiting) return false
    this.#waiting++
    this.#worker?.send(job)
    return true
  }

  #start(): void {
    if (this.#worker || this.#timer || this.#isOver) return
    const start = this.#deps.start ?? startSilero
    const worker: SileroWorker = start(
      this.#data,
      (reply) => {
        if (worker === this.#worker) this.#reply(reply)
      },
      (reason) => {
        if (worker === this.#worker) this.#ended(reason)
      },
    )
    this.#worker = worker
  }

  #reply(reply: SileroReply): void {
    if (reply.op === 'ready') {
      this.#isReady = true
      this.#deps.log.info({ event: 'agent.detector-ready' }, 'detector of voice ready')
    } else if (reply.op === 'broken') {
      this.#isOver = true
      this.#fail('broken', reply.reason)
    } else {
      this.#waiting--
      this.#streams.get(reply.stream)?.heard(reply.sound, reply.probabilities)
    }
  }

  #ended(reason: string): void {
    this.#failures++
    this.#isOver = this.#failures >= maxFailures
    this.#fail('ended', reason)
    if (this.#isOver) return
    this.#timer = this.#deps.clock.after(restartMs, () => {
      this.#timer = undefined
      if (this.#streams.size > 0) this.#start()
    })
  }

  #fail(failure: 'broken' | 'ended', reason: string): void {
    void this.#stop()?.end()
    const { log, metrics } = this.#deps
    metrics.agentDetectorFailures.inc({ failure })
    const next = this.#isOver ? 'off' : 'restart'
    log.warn({ event: 'agent.detector-failed', failure, reason, next }, 'detector of voice failed')
  }

  /** Forgets the thread, and returns it. */
  #stop(): SileroWorker | undefined {
    const worker = this.#worker
    this.#worker = undefined
    this.#isReady = false
    this.#waiting = 0
    this.#timer?.cancel()
    this.#timer = undefined
    return worker
  }
}

/** Way of a stream to the thread. */
interface StreamLine {
  send(sound: number, samples: Int16Array): boolean
  close(): void
}

class ThreadStream implements SpeechStream {
  readonly #onWindow: (probability: number) => void
  readonly #line: StreamLine
  #sound = 0

  constructor(onWindow: (probability: number) => void, line: StreamLine) {
    this.#onWindow = onWindow
    this.#line = line
  }

  begin(): void {
    this.#sound++
  }

  hear(samples: Int16Array): boolean {
    return this.#line.send(this.#sound, samples)
  }

  close(): void {
    this.#line.close()
  }

  /** Processes results, unless they are of an earlier sound. */
  heard(sound: number, probabilities: readonly number[]): void {
    for (const probability of probabilities) if (sound === this.#sound) this.#onWindow(probability)
  }
}
