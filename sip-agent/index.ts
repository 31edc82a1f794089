import { randomBytes } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { SystemClock } from './clock.ts'
import type { Diversion } from './core/diversions.ts'
import type { OwnRefusal } from './core/own-refusals.ts'
import type { AgentData } from './serve.ts'
import type { TracedMessage } from './transport/message-trace.ts'
import type {
  FromWorker,
  SipAddress,
  SipAgentChange,
  SipAgentOptions,
  SipAgentStats,
  ToWorker,
} from './types.ts'

export type { Diversion } from './core/diversions.ts'
export type { OwnRefusal } from './core/own-refusals.ts'
export { notPermitted, offenseHeader, reachHeader, unverifiedHeader } from './drachtio/extensions.ts'
export { closedNetworks } from './reach/carrier-rules.ts'
export type { SipReach, SipReachCarrier } from './reach/reach-settings.ts'
export type { SipShield } from './shield/shield-settings.ts'
export type { TracedMessage, TraceLimits } from './transport/message-trace.ts'
export type { SipTls, SipTlsPeer } from './transport/transport-settings.ts'
export type { SipAddress, SipAgentChange, SipAgentOptions, SipAgentStats, SipListen } from './types.ts'

/** A running agent. */
export interface SipAgent {
  readonly host: '127.0.0.1'
  /** Application port; a free one, chosen at start. */
  readonly port: number
  /** Application secret; random, created at start. Must not be logged. */
  readonly secret: string
  /** Bound addresses, with the ports that the system chose. */
  readonly addresses: readonly SipAddress[]
  /** Returns the current gauges and counters. Rejects if the agent is closed or has failed. */
  stats(): Promise<SipAgentStats>
  /**
   * Returns the latest messages with one of these Call-IDs, the oldest first, without secrets. Empty if the
   * options have no `trace`. Rejects if the agent is closed or has failed.
   */
  trace(callIds: readonly string[]): Promise<readonly TracedMessage[]>
  /** Returns the busy and idle time of the thread since its start, in ms. */
  eventLoop(): { readonly active: number; readonly idle: number }
  /**
   * Applies new certificates or a new shield; open connections stay. Invalid settings change nothing, and are
   * reported to {@link onFault}.
   */
  change(change: SipAgentChange): void
  /**
   * Counts a failed sign-in against an address. The address must be proven: that of a connection, or of a
   * sender that used a nonce sent there. Otherwise any sender could have any address banned.
   */
  failedSignIn(address: string): void
  /** Calls `listener` once if the agent's thread fails. The thread is not restarted. */
  onFailure(listener: (error: Error) => void): void
  /** Calls `listener` with each internal error that cost one message. Such an error should be logged. */
  onFault(listener: (problem: string) => void): void
  /**
   * Calls `listener` with requests that the agent rejected without an application, at most ten per second.
   * `stats` counts all of them.
   */
  onRefusal(listener: (refusal: OwnRefusal) => void): void
  /**
   * Calls `listener` with dialogs whose route is not followed, at most ten per second. `stats` counts all of
   * them.
   */
  onDiversion(listener: (diversion: Diversion) => void): void
  /**
   * Stops the agent and waits for the end of its thread. Existing calls get no BYE. Idempotent.
   */
  close(): Promise<void>
}

/** Thread of an agent: the Worker of `node:worker_threads`. */
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

/** Maximum time in ms for the thread to end by itself. */
const maxEndMs = 15_000

/**
 * Resolves after the end of a closing thread. Terminates the thread only if it does not end by itself within
 * 15 s. Terminating a thread that is still closing its sockets may crash the whole process.
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
  readonly #traces: { resolve(messages: readonly TracedMessage[]): void; reject(error: Error): void }[] = []
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
      if (message.kind === 'traced') this.#traces.shift()?.resolve(message.messages)
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

  trace(callIds: readonly string[]): Promise<readonly TracedMessage[]> {
    if (this.#failure || this.#closing)
      return Promise.reject(this.#failure ?? new Error('the SIP agent is closed'))
    return new Promise((resolve, reject) => {
      this.#traces.push({ resolve, reject })
      this.#tell({ kind: 'trace', callIds })
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
    // A failed thread may still be closing its sockets, and an exit of the process before its end may crash:
    // wait for it.
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
    for (const { reject } of [...this.#asked.splice(0), ...this.#traces.splice(0)]) reject(error)
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
    // Data of a call is short-lived. With a large young generation it is rarely copied, and garbage
    // collection causes no long pauses.
    resourceLimits: { maxYoungGenerationSizeMb: 96 },
    workerData,
  })

/**
 * Starts the embedded SIP agent in its own thread, or in the thread that `start` creates. drachtio-srf
 * connects to `host:port` with `secret`. If an address cannot be bound, rejects with an error that names it.
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
      // The sockets of the agent are open before it reports `ready`, so a fault or a rejection may be
      // reported first.
      if (message.kind !== 'ready' && message.kind !== 'failed') return
      worker.off('message', begun)
      worker.off('error', fail)
      worker.off('exit', gone)
      if (message.kind === 'ready') {
        resolve(new WorkerAgent(worker, secret, message.port, message.addresses))
        return
      }
      // Errors of the closing thread are ignored; without a listener they would end the process.
      worker.on('error', () => {})
      whenEnded(worker).then(() => reject(new Error(`SIP agent: ${message.problem}`)))
    })
  })
}
