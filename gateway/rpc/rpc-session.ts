import { randomUUID } from 'node:crypto'
import type { RawData, WebSocket } from 'ws'
import type { Clock, Timer } from '../core/clock.ts'
import { catalogue } from '../core/errors/catalogue.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import { PerSecond } from '../core/per-second.ts'
import { type Frame, type FrameId, parseFrame, RpcError, rpcCodes } from './frames.ts'
import type { RpcLimits } from './rpc-limits.ts'

/** What a request is answered with. */
export interface Reply {
  readonly result: unknown
  /** Runs right after the result has been sent: for events that must follow it. */
  readonly after?: () => void
}

/** A vocabulary: answers the requests of one session. */
export interface RpcHandler {
  /** Throws (or rejects with) an {@link RpcError} to answer with an error. */
  handle(method: string, params: Readonly<Record<string, unknown>>): Reply | Promise<Reply>
  /** Methods that it knows; others are counted under one name. */
  readonly methods: ReadonlySet<string>
  /** The connection is gone; called exactly once. */
  closed(): void
}

/** The far end answered a request of ours, with an error. */
export class RemoteError extends Error {
  constructor(code: number) {
    super(`The client answered with the error ${code}.`)
    this.name = 'RemoteError'
  }
}

/** The far end has not answered a request of ours in time. */
export class UnansweredError extends Error {
  constructor(method: string) {
    super(`${method} was not answered in time.`)
    this.name = 'UnansweredError'
  }
}

/** What a session works with. */
export interface RpcSessionDeps {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'rpcRequests' | 'rejections'>
  readonly limits: RpcLimits
  /** The network address that it comes from, as limits count it. */
  readonly network: string
  /** Somebody has signed in. */
  readonly onSignIn: () => void
}

/** WebSocket close codes that we send (RFC 6455 section 7.4.1). */
export const closeCodes = { goingAway: 1001, policy: 1008, tooBig: 1009, tryAgain: 1013 } as const

const closeWaitMs = 1000
/** Who goes on asking, so many times as often as it may, is sent away. */
const floodFactor = 10

interface Waiting {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
  readonly timer: Timer
}

/** One JSON-RPC 2.0 conversation over one WebSocket, in both directions. */
export class RpcSession {
  readonly id = randomUUID()
  #socket: WebSocket
  #deps: RpcSessionDeps
  #handler: RpcHandler | undefined
  #waiting = new Map<string, Waiting>()
  #pending = 0
  #malformed = 0
  #rate: PerSecond
  #requestsPerSecond: number
  #alive = true
  #closed = false
  #onPong: (() => void)[] = []
  #ping: Timer

  constructor(socket: WebSocket, deps: RpcSessionDeps) {
    this.#socket = socket
    this.#deps = deps
    this.#rate = new PerSecond(deps.clock)
    this.#requestsPerSecond = deps.limits.requestsPerSecond
    this.#ping = deps.clock.after(deps.limits.pingMs, () => this.#checkAlive())
    socket.on('message', (data, binary) => this.#receive(data, binary))
    socket.on('pong', () => this.#pong())
    // What ws finds wrong with a frame closes the connection; the close is what counts.
    socket.on('error', (error) =>
      deps.log.debug({ session: this.id, reason: error.message }, 'WebSocket error'),
    )
    socket.on('close', (code) => this.#finish(code))
  }

  /** Requests of ours that are not answered yet. */
  get waiting(): number {
    return this.#waiting.size
  }

  get isClosed(): boolean {
    return this.#closed
  }

  /** The network address that it comes from, as limits count it. */
  get network(): string {
    return this.#deps.network
  }

  /** Somebody has signed in, who may ask so many times a second; default what everybody may. */
  signedIn(requestsPerSecond = this.#deps.limits.requestsPerSecond): void {
    this.#requestsPerSecond = requestsPerSecond
    this.#deps.onSignIn()
  }

  /** Gives the session its vocabulary; called once, before the first frame can arrive. */
  serve(handler: RpcHandler): void {
    this.#handler = handler
  }

  /**
   * Sends a request. Rejects with {@link RemoteError}, or with another error when it is not answered within
   * `timeoutMs` or the connection is gone.
   */
  request(method: string, params: unknown, timeoutMs = this.#deps.limits.requestTimeoutMs): Promise<unknown> {
    if (this.#closed) return Promise.reject(new Error('The connection is closed.'))
    const id = randomUUID()
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const timer = this.#deps.clock.after(timeoutMs, () => {
      this.#waiting.delete(id)
      reject(new UnansweredError(method))
    })
    this.#waiting.set(id, { resolve, reject, timer })
    this.#send({ jsonrpc: '2.0', id, method, params })
    return promise
  }

  /** Sends a request whose answer nobody waits for. */
  tell(method: string, params: unknown): void {
    this.#send({ jsonrpc: '2.0', id: randomUUID(), method, params })
  }

  /**
   * True when the far end answers a WebSocket ping within `ms`: tells a live connection from a half-open one.
   */
  probe(ms: number): Promise<boolean> {
    if (this.#closed || this.#socket.readyState !== this.#socket.OPEN) return Promise.resolve(false)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const timer = this.#deps.clock.after(ms, () => resolve(false))
    this.#onPong.push(() => {
      timer.cancel()
      resolve(!this.#closed)
    })
    this.#socket.ping()
    return promise
  }

  /**
   * Closes with a code of {@link closeCodes}; idempotent. A far end that does not close too is cut off after
   * a second.
   */
  close(code: number, reason: string): void {
    if (this.#closed) return
    this.#socket.close(code, reason)
    const linger = this.#deps.clock.after(closeWaitMs, () => this.#socket.terminate())
    this.#socket.once('close', () => linger.cancel())
    this.#finish(code)
  }

  #receive(data: RawData, binary: boolean): void {
    if (this.#closed) return
    const frame = binary ? undefined : parseFrame(data.toString())
    if (!frame || frame.kind === 'malformed') this.#refuse(frame)
    else if (frame.kind === 'request') void this.#answer(frame)
    else this.#settle(frame)
  }

  #refuse(frame: Extract<Frame, { kind: 'malformed' }> | undefined): void {
    this.#deps.metrics.rpcRequests.inc({ method: 'unknown', outcome: 'malformed' })
    this.#send({ jsonrpc: '2.0', id: frame?.id ?? null, error: frame?.error ?? rpcCodes.parse })
    this.#malformed++
    if (this.#malformed >= this.#deps.limits.maxMalformed)
      this.close(closeCodes.policy, 'too many malformed frames')
  }

  /** True when the far end may not ask anything more in this second. */
  #isFlooding(): boolean {
    const limit = this.#requestsPerSecond
    const requests = this.#rate.count()
    if (requests <= limit) return false
    // Told once a second: the log is not to be flooded too.
    if (requests === limit + 1) this.#reject('too_many_requests', { limit })
    if (requests > limit * floodFactor) this.close(closeCodes.policy, 'too many requests')
    return true
  }

  #reject(code: 'too_many_requests' | 'slow_client', facts: object): void {
    const { log, metrics } = this.#deps
    metrics.rejections.inc({ code })
    log.warn({ code, session: this.id, network: this.network, ...facts }, catalogue[code].text)
  }

  async #answer({ id, method, params }: Extract<Frame, { kind: 'request' }>): Promise<void> {
    const label = this.#handler?.methods.has(method) ? method : 'unknown'
    this.#pending++
    try {
      if (this.#isFlooding() || this.#pending > this.#deps.limits.maxPending)
        throw new RpcError(rpcCodes.busy)
      if (!this.#handler) throw new RpcError(rpcCodes.method)
      const reply = await this.#handler.handle(method, params)
      this.#deps.metrics.rpcRequests.inc({ method: label, outcome: 'ok' })
      this.#reply(id, { result: reply.result })
      this.#afterwards(reply, method)
    } catch (error) {
      this.#deps.metrics.rpcRequests.inc({ method: label, outcome: 'error' })
      this.#reply(id, { error: this.#errorOf(error, method) })
    } finally {
      this.#pending--
    }
  }

  /** The request has its answer: what fails now is only logged. */
  #afterwards({ after }: Reply, method: string): void {
    try {
      after?.()
    } catch (error) {
      this.#deps.log.error({ session: this.id, method, err: error }, 'what follows a request failed')
    }
  }

  #errorOf(error: unknown, method: string): { code: number; message: string } {
    if (error instanceof RpcError) return { code: error.code, message: error.message }
    this.#deps.log.error({ session: this.id, method, err: error }, 'a request failed')
    return rpcCodes.internal
  }

  /** A notification is not answered (JSON-RPC 2.0 section 4.1). */
  #reply(id: FrameId | undefined, outcome: { result: unknown } | { error: unknown }): void {
    if (id !== undefined) this.#send({ jsonrpc: '2.0', id, ...outcome })
  }

  #settle(frame: Extract<Frame, { kind: 'result' | 'error' }>): void {
    const waiting = this.#waiting.get(String(frame.id))
    if (!waiting) {
      this.#isFlooding()
      return
    }
    this.#waiting.delete(String(frame.id))
    waiting.timer.cancel()
    if (frame.kind === 'result') waiting.resolve(frame.result)
    else waiting.reject(new RemoteError(frame.code))
  }

  #send(frame: unknown): void {
    if (this.#closed || this.#socket.readyState !== this.#socket.OPEN) return
    this.#socket.send(JSON.stringify(frame))
    const { bufferedAmount: buffered } = this.#socket
    const { maxBuffered: limit } = this.#deps.limits
    if (buffered <= limit) return
    this.#reject('slow_client', { buffered, limit })
    this.close(closeCodes.tryAgain, 'the far end does not read')
  }

  #checkAlive(): void {
    if (!this.#alive) {
      this.#deps.log.info({ session: this.id }, 'silent WebSocket cut off')
      this.#cut()
      return
    }
    this.#alive = false
    this.#socket.ping()
    this.#ping = this.#deps.clock.after(this.#deps.limits.pingMs, () => this.#checkAlive())
  }

  #pong(): void {
    this.#alive = true
    for (const run of this.#onPong.splice(0)) run()
  }

  /** Ends a connection whose far end does not read: there is nobody to say goodbye to. */
  #cut(): void {
    this.#socket.terminate()
    this.#finish(1006)
  }

  #finish(code: number): void {
    if (this.#closed) return
    this.#closed = true
    this.#ping.cancel()
    for (const run of this.#onPong.splice(0)) run()
    for (const { reject, timer } of this.#waiting.values()) {
      timer.cancel()
      reject(new Error('The connection was closed.'))
    }
    this.#waiting.clear()
    this.#deps.log.debug({ session: this.id, code }, 'WebSocket closed')
    this.#handler?.closed()
  }
}
