import { randomUUID } from 'node:crypto'
import type { RawData, WebSocket } from 'ws'
import type { Clock, Timer } from '../core/clock.ts'
import { catalogue } from '../core/errors/catalogue.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import { FixedWindowCounter } from '../core/rates.ts'
import { type Frame, type FrameId, parseFrame, RpcError, rpcCodes } from './frames.ts'
import type { RpcLimits } from './rpc-limits.ts'

/** Response to a request. */
export interface Reply {
  readonly result: unknown
  /** Runs after the response was sent; sends events that must follow the response. */
  readonly after?: () => void
}

/** Handler of the requests of one session. Each dialect of the protocol has an implementation. */
export interface RpcHandler {
  /** Handles a request. Throws or rejects with {@link RpcError} to send an error response. */
  handle(method: string, params: Readonly<Record<string, unknown>>): Reply | Promise<Reply>
  /** Supported methods. Requests for other methods are counted under one metric label. */
  readonly methods: ReadonlySet<string>
  /** Called once, when the connection has closed. */
  closed(): void
}

/** Error of a request that the gateway sent, and that the client answered with an error response. */
export class RemoteError extends Error {
  constructor(code: number) {
    super(`The client answered with the error ${code}.`)
    this.name = 'RemoteError'
  }
}

/** Error of a request that the gateway sent, and that timed out. */
export class UnansweredError extends Error {
  constructor(method: string) {
    super(`${method} was not answered in time.`)
    this.name = 'UnansweredError'
  }
}

/** Collaborators of {@link RpcSession}. */
export interface RpcSessionDeps {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'rpcRequests' | 'rejections'>
  readonly limits: RpcLimits
  /** Network of the client; limits apply to the network. */
  readonly network: string
  /** Called when the client has signed in. */
  readonly onSignIn: () => void
}

/** WebSocket close codes that the gateway sends (RFC 6455 section 7.4.1). */
export const closeCodes = { goingAway: 1001, policy: 1008, tooBig: 1009, tryAgain: 1013 } as const

const closeWaitMs = 1000
/** Multiple of the permitted request rate above which the connection is closed. */
const floodFactor = 10

interface Waiting {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
  readonly timer: Timer
}

/** One JSON-RPC 2.0 conversation over one WebSocket, in both directions. */
export class RpcSession {
  readonly id = randomUUID()
  readonly #socket: WebSocket
  readonly #deps: RpcSessionDeps
  #handler: RpcHandler | undefined
  readonly #waiting = new Map<string, Waiting>()
  #pending = 0
  #malformed = 0
  readonly #rate: FixedWindowCounter
  #requestsPerSecond: number
  #isAlive = true
  #closeCode: number | undefined
  readonly #onPong: (() => void)[] = []
  #ping: Timer

  constructor(socket: WebSocket, deps: RpcSessionDeps) {
    this.#socket = socket
    this.#deps = deps
    this.#rate = new FixedWindowCounter(deps.clock, { windowMs: 1000 })
    this.#requestsPerSecond = deps.limits.requestsPerSecond
    this.#ping = deps.clock.after(deps.limits.pingMs, () => this.#checkAlive())
    socket.on('message', (data, binary) => this.#receive(data, binary))
    socket.on('pong', () => this.#pong())
    // ws closes the connection after a protocol error; the `close` event cleans up.
    socket.on('error', (error) =>
      deps.log.debug({ session: this.id, reason: error.message }, 'WebSocket error'),
    )
    socket.on('close', (code) => this.#finish(code))
  }

  /** Number of requests that the gateway sent and the client has not answered. */
  get waiting(): number {
    return this.#waiting.size
  }

  get isClosed(): boolean {
    return this.#closeCode !== undefined
  }

  /** Code that the connection was closed with; undefined while it is open. */
  get closeCode(): number | undefined {
    return this.#closeCode
  }

  /** Network of the client; limits apply to the network. */
  get network(): string {
    return this.#deps.network
  }

  /** Records the sign-in, and sets the permitted request rate. Default: the configured rate. */
  signedIn(requestsPerSecond = this.#deps.limits.requestsPerSecond): void {
    this.#requestsPerSecond = requestsPerSecond
    this.#deps.onSignIn()
  }

  /** Sets the handler. Must be called once, before the first frame can arrive. */
  serve(handler: RpcHandler): void {
    this.#handler = handler
  }

  /**
   * Sends a request. Rejects with {@link RemoteError} on an error response, {@link UnansweredError} after
   * `timeoutMs`, or another error if the connection closes.
   */
  request(method: string, params: unknown, timeoutMs = this.#deps.limits.requestTimeoutMs): Promise<unknown> {
    if (this.isClosed) return Promise.reject(new Error('The connection is closed.'))
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

  /** Sends a request and ignores its response. */
  post(method: string, params: unknown): void {
    this.#send({ jsonrpc: '2.0', id: randomUUID(), method, params })
  }

  /** Resolves with whether the client answers a WebSocket ping within `ms`; detects half-open connections. */
  probe(ms: number): Promise<boolean> {
    if (this.isClosed || this.#socket.readyState !== this.#socket.OPEN) return Promise.resolve(false)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const timer = this.#deps.clock.after(ms, () => resolve(false))
    this.#onPong.push(() => {
      timer.cancel()
      resolve(!this.isClosed)
    })
    this.#socket.ping()
    return promise
  }

  /**
   * Closes the connection with one of the {@link closeCodes}. The socket is destroyed after a second if the
   * client does not close its side. Idempotent.
   */
  close(code: number, reason: string): void {
    if (this.isClosed) return
    this.#socket.close(code, reason)
    const linger = this.#deps.clock.after(closeWaitMs, () => this.#socket.terminate())
    this.#socket.once('close', () => linger.cancel())
    this.#finish(code)
  }

  #receive(data: RawData, binary: boolean): void {
    if (this.isClosed) return
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

  /** Counts a request. Returns whether the client has exceeded its request rate in this second. */
  #isFlooding(): boolean {
    const limit = this.#requestsPerSecond
    const { count: requests } = this.#rate.count()
    if (requests <= limit) return false
    // Logged at most once a second, to keep the log small.
    if (requests === limit + 1) this.#reject('too_many_requests', { limit })
    if (requests > limit * floodFactor) this.close(closeCodes.policy, 'too many requests')
    return true
  }

  #reject(code: 'too_many_requests' | 'slow_client', facts: object): void {
    const { log, metrics } = this.#deps
    metrics.rejections.inc({ code })
    log.warn(
      { event: 'rpc.client-rejected', code, session: this.id, network: this.network, ...facts },
      catalogue[code].text,
    )
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

  /** Runs {@link Reply.after} once the response was sent; a failure is only logged. */
  #afterwards({ after }: Reply, method: string): void {
    try {
      after?.()
    } catch (error) {
      this.#deps.log.error(
        { event: 'rpc.follow-up-failed', session: this.id, method, err: error },
        'follow-up of an RPC request failed',
      )
    }
  }

  #errorOf(error: unknown, method: string): { code: number; message: string } {
    if (error instanceof RpcError) return { code: error.code, message: error.message }
    this.#deps.log.error(
      { event: 'rpc.request-failed', session: this.id, method, err: error },
      'RPC request failed',
    )
    return rpcCodes.internal
  }

  /** Sends a response; a notification gets no response (JSON-RPC 2.0 section 4.1). */
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
    if (this.isClosed || this.#socket.readyState !== this.#socket.OPEN) return
    this.#socket.send(JSON.stringify(frame))
    const { bufferedAmount: buffered } = this.#socket
    const { maxBuffered: limit } = this.#deps.limits
    if (buffered <= limit) return
    this.#reject('slow_client', { buffered, limit })
    this.close(closeCodes.tryAgain, 'the client does not read')
  }

  #checkAlive(): void {
    if (!this.#isAlive) {
      this.#deps.log.info({ event: 'rpc.socket-timed-out', session: this.id }, 'WebSocket timed out')
      this.#cut()
      return
    }
    this.#isAlive = false
    this.#socket.ping()
    this.#ping = this.#deps.clock.after(this.#deps.limits.pingMs, () => this.#checkAlive())
  }

  #pong(): void {
    this.#isAlive = true
    for (const run of this.#onPong.splice(0)) run()
  }

  /** Destroys the connection of an unresponsive client, without a close handshake. */
  #cut(): void {
    this.#socket.terminate()
    this.#finish(1006)
  }

  #finish(code: number): void {
    if (this.isClosed) return
    this.#closeCode = code
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
