import { randomBytes } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { SystemClock } from './clock.ts'
import type { AgentData } from './serve.ts'
import type {
  Diversion,
  FromWorker,
  OwnRefusal,
  SipAddress,
  SipAgentChange,
  SipAgentOptions,
  SipAgentStats,
  ToWorker,
} from './types.ts'

export { canonicalAddress } from './reach/addresses.ts'
export { closedNetworks } from './reach/carrier-rules.ts'
export type {
  Diversion,
  OwnRefusal,
  SipAddress,
  SipAgentChange,
  SipAgentOptions,
  SipAgentStats,
  SipListen,
  SipReach,
  SipReachCarrier,
  SipShield,
  SipTls,
  SipTlsPeer,
} from './types.ts'
export { notPermitted, offenseHeader, reachHeader, unverifiedHeader } from './types.ts'

/** The running agent: where drachtio-srf connects to, and what it listens on. */
export interface SipAgent {
  readonly host: '127.0.0.1'
  /** The application port; a free one, chosen at start. */
  readonly port: number
  /** The application secret; random, made at start. Never to be logged. */
  readonly secret: string
  /** The bound addresses, with the ports that the system chose. */
  readonly addresses: readonly SipAddress[]
  /** How much of everything it holds at the moment. Rejects once the agent is closed or has failed. */
  stats(): Promise<SipAgentStats>
  /** How long its thread has been busy and idle since it began, in ms. */
  eventLoop(): { readonly active: number; readonly idle: number }
  /**
   * Takes new certificates or a new shield; what is open stays as it is. What cannot be used is told by {@link onFault}, and leaves the
   * old settings in force.
   */
  change(change: SipAgentChange): void
  /**
   * Counts against an address that somebody failed to sign in from it. Only where it is known to be theirs: on a connection, or when they
   * showed a nonce that was sent to it. Otherwise anybody could have an address banned.
   */
  failedSignIn(address: string): void
  /** Calls `listener` once if the agent's thread dies. It is not restarted. */
  onFailure(listener: (error: Error) => void): void
  /** Calls `listener` with each error within the agent that cost one message but not the agent: worth a log line. */
  onFault(listener: (problem: string) => void): void
  /** Calls `listener` with requests that the agent refused without an application, ten a second at most; `stats` counts all of them. */
  onRefusal(listener: (refusal: OwnRefusal) => void): void
  /** Calls `listener` with dialogs whose route is not followed, ten a second at most; `stats` counts all of them. */
  onDiversion(listener: (diversion: Diversion) => void): void
  /** Ends the agent, and waits until its thread is gone. Calls that are still up hear nothing; hang them up before. May be called again. */
  close(): Promise<void>
}

/** A thread with an agent in it: `node:worker_threads`' Worker. */
export interface AgentThread {
  on(event: 'message', listener: (message: FromWorker) => void): unknown
  on(event: 'error', listener: (error: unknown) => void): unknown
  on(event: 'exit', listener: (code: number) => void): unknown
  once(event: 'error', listener: (error: unknown) => void): unknown
  once(event: 'exit', listener: (code: number) => void): unknown
  off(event: 'message', listener: (message: FromWorker) => void): unknown
  off(event: 'error', listener: (error: unknown) => void): unknown
  off(event: 'exit', listener: (code: number) => void): unknown
  postMessage(message: ToWorker): void
  terminate(): unknown
  readonly performance: Pick<Worker['performance'], 'eventLoopUtilization'>
}

/** Longest wait for the thread to end by itself once it is to close. */
const maxEndMs = 15_000

/**
 * Resolves when a thread that was told to close, or closes by itself, has ended. It is ended by force only where it does not: whoever ends
 * a thread that is still taking down its sockets takes the risk that the whole process dies of it.
 */
const whenEnded = (worker: AgentThread): Promise<void> =>
  new Promise((resolve) => {
    const limit = new SystemClock().after(maxEndMs, () => void worker.terminate())
    worker.once('exit', () => {
      limit.cancel()
      resolve()
    })
  })

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

/** The parent's side of the agent's thread. */
class WorkerAgent implements SipAgent {
  readonly host = '127.0.0.1'
  readonly port: number
  readonly secret: string
  readonly addresses: readonly SipAddress[]
  readonly #worker: AgentThread
  readonly #listeners: ((error: Error) => void)[] = []
  readonly #faultListeners: ((problem: string) => void)[] = []
  readonly #refusalListeners: ((refusal: OwnRefusal) => void)[] = []
  readonly #diversionListeners: ((diversion: Diversion) => void)[] = []
  readonly #asked: { resolve(stats: SipAgentStats): void; reject(error: Error): void }[] = []
  readonly #gone = Promise.withResolvers<void>()
  #failure: Error | undefined
  #closing: Promise<void> | undefined

  constructor(worker: AgentThread, secret: string, port: number, addresses: readonly SipAddress[]) {
    this.#worker = worker
    this.secret = secret
    this.port = port
    this.addresses = addresses
    worker.on('message', (message: FromWorker) => {
      if (message.kind === 'stats') this.#asked.shift()?.resolve(message.stats)
      if (message.kind === 'fault') for (const listener of this.#faultListeners) listener(message.problem)
      if (message.kind === 'refused') for (const listener of this.#refusalListeners) listener(message.refusal)
      if (message.kind === 'diverted')
        for (const listener of this.#diversionListeners) listener(message.diversion)
    })
    worker.on('error', (error) => this.#fail(toError(error)))
    worker.on('exit', (code) => this.#exited(code))
  }

  stats(): Promise<SipAgentStats> {
    if (this.#failure || this.#closing)
      return Promise.reject(this.#failure ?? new Error('the SIP agent is closed'))
    return new Promise((resolve, reject) => {
      this.#asked.push({ resolve, reject })
      this.#tell({ kind: 'stats' })
    })
  }

  eventLoop(): { readonly active: number; readonly idle: number } {
    return this.#worker.performance.eventLoopUtilization()
  }

  change(change: SipAgentChange): void {
    if (!this.#failure && !this.#closing) this.#tell({ kind: 'change', change })
  }

  failedSignIn(address: string): void {
    if (!this.#failure && !this.#closing) this.#tell({ kind: 'failed-sign-in', address })
  }

  onFailure(listener: (error: Error) => void): void {
    if (this.#failure) listener(this.#failure)
    else this.#listeners.push(listener)
  }

  onFault(listener: (problem: string) => void) {
    this.#faultListeners.push(listener)
  }

  onRefusal(listener: (refusal: OwnRefusal) => void) {
    this.#refusalListeners.push(listener)
  }

  onDiversion(listener: (diversion: Diversion) => void) {
    this.#diversionListeners.push(listener)
  }

  close(): Promise<void> {
    // One that died may still be on its way out: a process that ends meanwhile takes the same risk as one that forces it.
    this.#closing ??= this.#failure ? this.#gone.promise : this.#end()
    return this.#closing
  }

  async #end(): Promise<void> {
    const ended = whenEnded(this.#worker)
    this.#tell({ kind: 'close' })
    await ended
  }

  #tell(message: ToWorker): void {
    this.#worker.postMessage(message)
  }

  #exited(code: number): void {
    this.#gone.resolve()
    const error = new Error(`the SIP agent's thread ended with code ${code}`)
    if (!this.#closing) this.#fail(error)
    for (const { reject } of this.#asked.splice(0)) reject(error)
  }

  #fail(error: Error): void {
    if (this.#failure) return
    this.#failure = error
    for (const listener of this.#listeners.splice(0)) listener(error)
  }
}

/** Source of the thread: TypeScript in the repository, JavaScript in the package that npm installs. */
const workerFile = import.meta.url.endsWith('.ts') ? './agent.worker.ts' : './agent.worker.js'

const startThread = (workerData: AgentData): AgentThread =>
  new Worker(new URL(workerFile, import.meta.url), {
    name: 'sip-agent',
    // What a call leaves behind dies young: with more room it is rarely copied, and no collection holds up answers for long.
    resourceLimits: { maxYoungGenerationSizeMb: 96 },
    workerData,
  })

/**
 * Starts the embedded SIP agent in a thread of its own, or in what else `start` makes. drachtio-srf connects to `host:port` with `secret`.
 * Rejects with an error that names the address where one cannot be bound.
 */
export const startSipAgent = (options: SipAgentOptions, start = startThread): Promise<SipAgent> => {
  const secret = randomBytes(24).toString('hex')
  const worker = start({ options, secret })
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(toError(error))
    const gone = (code: number) => fail(new Error(`SIP agent: the thread ended at start with code ${code}`))
    worker.once('error', fail)
    worker.once('exit', gone)
    worker.on('message', function begun(message: FromWorker) {
      // Its sockets are open before it says so: a fault or a refusal may come first.
      if (message.kind !== 'ready' && message.kind !== 'failed') return
      worker.off('message', begun)
      worker.off('error', fail)
      worker.off('exit', gone)
      if (message.kind === 'ready') {
        resolve(new WorkerAgent(worker, secret, message.port, message.addresses))
        return
      }
      // What else goes wrong while it closes adds nothing to why it does; without a listener it would end the process.
      worker.on('error', () => {})
      whenEnded(worker).then(() => reject(new Error(`SIP agent: ${message.problem}`)))
    })
  })
}
