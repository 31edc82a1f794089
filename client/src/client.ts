import type { Call } from './call.ts'
import { Calls } from './calls.ts'
import { Emitter } from './emitter.ts'
import type { Environment } from './environment.ts'
import { ClientError } from './errors.ts'
import type { Json } from './frames.ts'
import { type Hosts, resolveHosts } from './hosts.ts'
import { createLog, type Log } from './log.ts'
import { type ConnectionState, Session } from './session.ts'
import { Token } from './token.ts'
import type { ClientOptions, DialOptions, IncomingCallHandlers, SubscriberInfo } from './types.ts'

/** The events of a {@link Client}: the three below, and every server event under its own name (`call.state`, `call.joined`, …). */
export interface ClientEvents {
  /** The connection's state changed. */
  readonly connection: { readonly state: ConnectionState }
  /** The client is disconnected for good: `disconnected` when asked to, `auth` when the token was refused. */
  readonly closed: { readonly reason: ClientError }
  /** onRefreshToken failed, or the server refused what it gave. It is tried again after 30 s. */
  readonly tokenFailed: { readonly error: unknown }
  readonly [serverEvent: `${string}.${string}`]: Json
}

/** A subscriber's connection to the gateway. Made by {@link SignalWire}. */
export class Client {
  readonly #environment: Environment
  readonly #log: Log
  readonly #hosts: Hosts
  readonly #events: Emitter<ClientEvents>
  readonly #session: Session
  readonly #calls: Calls
  readonly #token: Token
  #online = false

  constructor(options: ClientOptions, environment: Environment) {
    const { token, host, incomingCallHandlers, logLevel = 'warn', onRefreshToken, ...media } = options
    if (!token)
      throw new ClientError('bad_argument', 'token: expected a subscriber access token, got nothing')
    this.#environment = environment
    this.#log = createLog(logLevel, environment.writer)
    this.#hosts = resolveHosts(host, environment.page)
    this.#events = new Emitter((error) => this.#log.error('a listener failed', error))
    this.#token = new Token(token, environment.clock, onRefreshToken, () => this.#renew())
    this.#session = new Session(this.#hosts.socket, environment, this.#log, {
      token: () => this.#token.value,
      renewToken: () => this.#renewRefused(),
      event: (type, params, nodeId) => this.#event(type, params, nodeId),
      stateChanged: (state) => this.#events.emit('connection', { state }),
      connected: (fresh, expiresAt) => this.#connected(fresh, expiresAt),
      ended: (reason) => this.#ended(reason),
    })
    this.#calls = new Calls(this.#session, environment, this.#log, media)
    this.#calls.handlers = incomingCallHandlers
  }

  /** Host and port that HTTP requests go to. */
  get httpHost(): string {
    return this.#hosts.httpHost
  }

  get connectionState(): ConnectionState {
    return this.#session.state
  }

  /** True from {@link online} until {@link offline} or the end of the connection. */
  get isOnline(): boolean {
    return this.#online
  }

  on<Name extends keyof ClientEvents>(name: Name, listener: (payload: ClientEvents[Name]) => void): void {
    this.#events.on(name, listener)
  }

  off<Name extends keyof ClientEvents>(name: Name, listener?: (payload: ClientEvents[Name]) => void): void {
    this.#events.off(name, listener)
  }

  /**
   * Connects; done by {@link SignalWire} already, and needed again only after {@link disconnect}. A connection that is lost later comes
   * back by itself: calls go on meanwhile, and last if the server kept them. Rejects with `auth`, `server` or `disconnected`.
   */
  connect(): Promise<void> {
    return this.#session.connect()
  }

  /** Hangs up, goes offline and closes the connection. Idempotent. */
  disconnect(): void {
    this.#calls.hangup()
    if (this.#online && this.#session.state === 'connected')
      this.#session.request('subscriber.offline', {}).catch(() => {})
    this.#online = false
    this.#session.disconnect()
  }

  /** Receives incoming calls from now on. Handlers given here take the place of earlier ones. Rejects with the server's error. */
  async online(options: { readonly incomingCallHandlers?: IncomingCallHandlers } = {}): Promise<void> {
    if (options.incomingCallHandlers) this.#calls.handlers = options.incomingCallHandlers
    await this.connect()
    await this.#session.request('subscriber.online', {})
    this.#online = true
  }

  /** Receives no more incoming calls. A call that rings already rings on. */
  async offline(): Promise<void> {
    this.#online = false
    if (this.#session.state !== 'disconnected') await this.#session.request('subscriber.offline', {})
  }

  /** Makes a call; {@link Call.start} places it. Rejects with `bad_argument`, or when the client cannot connect. */
  async dial(options: DialOptions): Promise<Call> {
    await this.connect()
    return this.#calls.dial(options)
  }

  /** Who is signed in. Rejects with `auth` (401) or `http`. */
  async getSubscriberInfo(): Promise<SubscriberInfo> {
    return (await this.#get('/api/fabric/subscriber/info')) as SubscriberInfo
  }

  /** Takes a new token for the running connection, later ones, and HTTP. Rejects with the server's error; the old token then stays. */
  async updateToken(token: string): Promise<void> {
    if (this.#session.state !== 'disconnected') {
      const expiresAt = await this.#session.reauthenticate(token)
      this.#token.expires(expiresAt)
    }
    this.#token.value = token
  }

  async #get(path: string): Promise<unknown> {
    let response: Response
    try {
      const headers = { authorization: `Bearer ${this.#token.value}` }
      response = await this.#environment.fetch(this.#hosts.http + path, { headers })
    } catch (cause) {
      throw new ClientError('http', `${path}: ${this.#hosts.httpHost} cannot be reached.`, { cause })
    }
    if (response.ok) return response.json()
    const code = response.status === 401 ? 'auth' : 'http'
    throw new ClientError(code, `${path}: ${response.status} ${response.statusText}`, {
      serverCode: String(response.status),
    })
  }

  #event(type: string, params: Json, nodeId: string | undefined): void {
    this.#calls.event(type, params, nodeId)
    if (type.includes('.')) this.#events.emit(type as `${string}.${string}`, params)
  }

  #connected(fresh: boolean, expiresAt: number | undefined): void {
    this.#token.expires(expiresAt)
    if (!fresh) return
    this.#calls.drop(
      new ClientError('session_lost', 'The connection came back, but the server had given the call up.'),
    )
    if (!this.#online) return
    this.#session
      .request('subscriber.online', {})
      .catch((error: unknown) => this.#log.error('cannot go online again', error))
  }

  #ended(reason: ClientError): void {
    this.#token.stop()
    this.#online = false
    this.#calls.drop(reason)
    this.#events.emit('closed', { reason })
  }

  async #renew(): Promise<void> {
    try {
      const token = await this.#token.fetch()
      if (token) await this.updateToken(token)
    } catch (error) {
      this.#log.error('the token was not renewed', error)
      this.#events.emit('tokenFailed', { error })
      throw error
    }
  }

  async #renewRefused(): Promise<boolean> {
    try {
      const token = await this.#token.fetch()
      if (!token) return false
      this.#token.value = token
      return true
    } catch (error) {
      this.#log.error('the token was refused, and there is no new one', error)
      return false
    }
  }
}
