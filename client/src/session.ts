import { backoff } from './backoff.ts'
import type { Timer } from './clock.ts'
import type { Environment, Socket } from './environment.ts'
import { ClientError } from './errors.ts'
import { type Json, parseFrame, record, text } from './frames.ts'
import { Handshake, type HandshakeOutcome } from './handshake.ts'
import type { Log } from './log.ts'
import { Requests } from './requests.ts'
import type { ConnectionState, SessionOwner } from './session-owner.ts'

const timeoutMs = 10_000
// Servers that ping do so about every 10 s; a longer silence means that the connection is lost.
const pingWindowMs = 15_000
// After this time a connection counts as stable: the delays after its loss start from the beginning.
const stableMs = 10_000

/**
 * JSON-RPC session over successive WebSockets.
 *
 * A lost connection is retried without limit, first within half a second, then with growing delays of up to
 * 10 s.
 * Each attempt presents the session's `protocol`. A server that still holds the session continues it, calls
 * included.
 * If the first connection fails, the error is reported and not retried.
 */
export class Session {
  readonly #url: string
  readonly #environment: Environment
  readonly #log: Log
  readonly #owner: SessionOwner
  readonly #requests: Requests
  readonly #handshake: Handshake
  #state: ConnectionState = 'disconnected'
  #socket: Socket | undefined
  #attempt = 0
  #connectedAt = 0
  #opening: Timer | undefined
  #retry: Timer | undefined
  #ping: Timer | undefined
  /** Pending request for another token from the application. */
  #renewing: Promise<boolean> | undefined
  #waiting: { resolve: () => void; reject: (error: ClientError) => void; promise: Promise<void> } | undefined

  constructor(url: string, environment: Environment, log: Log, owner: SessionOwner) {
    this.#url = url
    this.#environment = environment
    this.#log = log
    this.#owner = owner
    this.#handshake = new Handshake(owner)
    this.#requests = new Requests(environment.clock, timeoutMs, () => this.#lost('no reply'))
  }

  get state(): ConnectionState {
    return this.#state
  }

  /** Name that the server gave this session; undefined before the first connection. */
  get protocol(): string | undefined {
    return this.#handshake.protocol
  }

  /** Continues the session of an earlier page with the next connection. */
  resume(protocol: string): void {
    if (this.#state === 'disconnected') this.#handshake.resume(protocol)
  }

  /** ICE servers from the server; empty before the first connection. */
  get iceServers(): readonly RTCIceServer[] {
    return this.#handshake.iceServers
  }

  /** Resolves once connected. Rejects with `auth`, `server`, `timeout` or `disconnected`. */
  connect(): Promise<void> {
    if (this.#state === 'connected') return Promise.resolve()
    if (this.#waiting) return this.#waiting.promise
    const waiting = Promise.withResolvers<void>()
    this.#waiting = waiting
    if (this.#state === 'disconnected') {
      this.#become('connecting')
      this.#open()
    }
    return waiting.promise
  }

  /** Closes the session; pending requests reject with `disconnected`. Idempotent. */
  disconnect(): void {
    if (this.#state !== 'disconnected')
      this.#end(new ClientError('disconnected', 'The client was disconnected.'))
  }

  /**
   * Checks the connection after a change of network or a sleep of the machine.
   * A delayed attempt starts at once; a connection that seems alive is tested.
   */
  probe(): void {
    if (this.#retry) {
      this.#retry.cancel()
      this.#reopen()
      return
    }
    if (this.#state !== 'connected') return
    const timestamp = this.#environment.clock.now() / 1000
    this.request('signalwire.ping', { timestamp }).catch(() => {})
  }

  /** Sends a request; see {@link Requests} for the behaviour without a connection. */
  request(method: string, params: Json): Promise<Json> {
    if (this.#state === 'disconnected')
      return Promise.reject(new ClientError('disconnected', `Cannot send ${method}: not connected.`))
    return this.#requests.add(this.#environment.uuid(), method, params)
  }

  /** Presents a new token on the running session. Rejects with the server's error. */
  async reauthenticate(token: string): Promise<number | undefined> {
    const authentication = { project: this.#handshake.project, jwt_token: token }
    const result = await this.request('signalwire.reauthenticate', { authentication })
    return this.#handshake.reauthenticated(result)
  }

  #become(state: ConnectionState): void {
    if (this.#state === state) return
    this.#state = state
    this.#log.info(`connection ${state}`)
    this.#owner.stateChanged(state)
  }

  // Each step of connecting has its own time-out: on a slow line several steps take long.
  #await(step: string): void {
    this.#opening?.cancel()
    this.#opening = this.#environment.clock.after(timeoutMs, () => this.#lost(`no ${step} in time`))
  }

  #open(): void {
    this.#await('connection')
    // A socket that was abandoned may still deliver events; only the current one counts.
    const ifPresent = (run: () => void) => () => {
      if (this.#socket === socket) run()
    }
    let socket: Socket | undefined
    try {
      socket = this.#environment.openSocket(this.#url, {
        opened: ifPresent(() => this.#greet()),
        received: (data) => ifPresent(() => this.#receive(data))(),
        closed: ifPresent(() => this.#lost('closed')),
      })
      this.#socket = socket
    } catch (cause) {
      // Browsers throw when a page with TLS opens ws://.
      this.#end(new ClientError('bad_host', `Cannot open ${this.#url}.`, { cause }))
    }
  }

  #greet(): void {
    this.#await('handshake')
    this.#write(JSON.stringify(this.#handshake.greeting(this.#environment.uuid())))
  }

  #write(frame: string): void {
    this.#log.trace('send', frame)
    this.#socket?.send(frame)
  }

  #receive(data: unknown): void {
    const frame = parseFrame(data)
    if (!frame) {
      this.#log.debug('ignored a frame that is not JSON-RPC')
      return
    }
    this.#log.trace('received', data)
    if (frame.kind === 'request') this.#serve(frame.id, frame.method, frame.params)
    else if (this.#handshake.isReply(frame.id)) this.#greeted(this.#handshake.take(frame))
    else if (!this.#requests.settle(frame.id, frame.kind === 'reply' ? frame : { error: frame.error }))
      this.#log.debug(`ignored a reply without a pending request: ${frame.id}`)
  }

  #greeted(outcome: HandshakeOutcome): void {
    if (outcome.kind === 'welcome') this.#welcomed(outcome)
    else if (outcome.kind === 'forgotten') this.#greet()
    else if (outcome.kind === 'token') void this.#renew(outcome)
    else if (outcome.kind === 'wrong-project' || this.#state === 'connecting') this.#end(outcome.error)
    else {
      this.#log.warn('server rejected the reconnect; retrying later', outcome.error.message)
      this.#socket?.close()
    }
  }

  #welcomed({ fresh, lost, expiresAt }: Extract<HandshakeOutcome, { kind: 'welcome' }>): void {
    this.#opening?.cancel()
    this.#connectedAt = this.#environment.clock.now()
    if (lost) this.#requests.fail(new ClientError('session_lost', 'The server gave the session up.'))
    const socket = this.#socket
    this.#become('connected')
    // A callback may have ended the connection.
    if (this.#socket !== socket) return
    this.#requests.resume((frame) => this.#write(frame))
    this.#owner.connected(fresh, expiresAt)
    this.#waiting?.resolve()
    this.#waiting = undefined
  }

  async #renew({ error, again }: Extract<HandshakeOutcome, { kind: 'token' }>): Promise<void> {
    const socket = this.#socket
    // The application may take any time.
    this.#opening?.cancel()
    // A pending request for a token may have been started by an earlier connection.
    if (!again)
      this.#renewing ??= this.#owner.renewToken().finally(() => {
        this.#renewing = undefined
      })
    const renewed = await this.#renewing
    if (this.#state === 'disconnected' || socket !== this.#socket) return
    if (renewed) this.#greet()
    else this.#end(error)
  }

  #serve(id: string | number, method: string, params: Json): void {
    if (method === 'signalwire.ping') {
      this.#write(JSON.stringify({ jsonrpc: '2.0', id, result: { timestamp: params.timestamp } }))
      this.#ping?.cancel()
      this.#ping = this.#environment.clock.after(pingWindowMs, () => this.#lost('no ping'))
      return
    }
    // The acknowledgement goes first: the application must not delay it.
    this.#write(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
    if (method === 'signalwire.disconnect') {
      this.#lost('the server asked for it')
      return
    }
    if (method !== 'signalwire.event') {
      this.#log.debug(`ignored ${method}`)
      return
    }
    const type = text(params.event_type)
    const content = record(params.params)
    if (type === 'signalwire.authorization.state')
      this.#handshake.authorized(text(content.authorization_state))
    else if (type) this.#owner.event(type, content, text(params.node_id))
  }

  #release(): void {
    this.#opening?.cancel()
    this.#ping?.cancel()
    this.#handshake.abandon()
    const socket = this.#socket
    this.#socket = undefined
    socket?.close()
  }

  #lost(why: string): void {
    this.#log.warn(`connection lost: ${why}`)
    this.#release()
    this.#requests.suspend()
    if (this.#state === 'connecting') {
      this.#end(new ClientError('disconnected', `Cannot connect to ${this.#url}: ${why}.`))
      return
    }
    const { clock, random } = this.#environment
    if (this.#state === 'connected' && clock.now() - this.#connectedAt >= stableMs) this.#attempt = 0
    this.#become('reconnecting')
    this.#retry?.cancel()
    const wait = backoff(this.#attempt++, { first: 500, longest: 10_000, random })
    this.#retry = clock.after(wait, () => this.#reopen())
  }

  #reopen(): void {
    this.#retry = undefined
    this.#open()
  }

  #end(error: ClientError): void {
    this.#release()
    this.#retry?.cancel()
    this.#retry = undefined
    this.#requests.suspend()
    this.#handshake.reset()
    this.#attempt = 0
    // A callback may connect again at once. That is a new connection with its own waiters.
    const waiting = this.#waiting
    this.#waiting = undefined
    this.#requests.fail(error)
    waiting?.reject(error)
    this.#become('disconnected')
    this.#owner.ended(error)
  }
}
