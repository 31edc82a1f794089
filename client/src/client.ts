import { Addresses } from './addresses.ts'
import type { Call } from './call.ts'
import { Calls } from './calls.ts'
import { Chat, Conversations } from './conversations.ts'
import { Emitter } from './emitter.ts'
import type { Environment } from './environment.ts'
import { ClientError } from './errors.ts'
import { type Json, record } from './frames.ts'
import { type Hosts, resolveHosts } from './hosts.ts'
import { LastCall } from './last-call.ts'
import { createLog, type Log } from './log.ts'
import { OwnSession } from './own-session.ts'
import type { DecryptedPush } from './push.ts'
import { Rest } from './rest.ts'
import { Session } from './session.ts'
import type { ConnectionState } from './session-owner.ts'
import { Token } from './token.ts'
import type {
  CallOptions,
  ClientOptions,
  Device,
  DeviceOptions,
  DialOptions,
  IncomingCallHandlers,
  PushResult,
  SubscriberInfo,
} from './types.ts'

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
  /** What can be called. */
  readonly address: Addresses
  /** All conversations. */
  readonly conversation: Conversations
  /** One conversation at a time. */
  readonly chat: Chat
  readonly #log: Log
  readonly #hosts: Hosts
  readonly #events: Emitter<ClientEvents>
  readonly #session: Session
  readonly #calls: Calls
  readonly #token: Token
  readonly #rest: Rest
  readonly #last: LastCall
  readonly #own: OwnSession
  readonly #environment: Environment
  #online = false
  /** Counts what was asked of us: of online() and offline() under way the last one holds. */
  #asked = 0
  #unwatch: (() => void) | undefined

  constructor(options: ClientOptions, environment: Environment) {
    const { token, host, incomingCallHandlers, logLevel = 'warn', onRefreshToken, ...rest } = options
    const { project, topics, contexts, ...media } = rest
    if (!token)
      throw new ClientError('bad_argument', 'token: expected a subscriber access token, got nothing')
    this.#environment = environment
    this.#log = createLog(logLevel, environment.writer)
    this.#hosts = resolveHosts(host, environment.page)
    this.#events = new Emitter((error) => this.#log.error('a listener failed', error))
    this.#token = new Token(token, environment.clock, onRefreshToken, () => this.#renew())
    this.#session = new Session(this.#hosts.socket, environment, this.#log, {
      project,
      contexts: topics ?? contexts,
      token: () => this.#token.value,
      renewToken: () => this.#renewRefused(),
      event: (type, params, nodeId) => this.#event(type, params, nodeId),
      stateChanged: (state) => this.#stateChanged(state),
      connected: (fresh, expiresAt) => this.#connected(fresh, expiresAt),
      ended: (reason) => this.#ended(reason),
    })
    this.#last = new LastCall(environment.storage)
    this.#own = new OwnSession(environment.claim)
    this.#calls = new Calls(this.#session, environment, this.#log, media, this.#last)
    this.#calls.handlers = incomingCallHandlers
    this.#rest = new Rest(this.#hosts, environment, () => this.#token.value)
    this.address = new Addresses(this.#rest)
    this.conversation = new Conversations(this.#rest, this.#log)
    this.chat = new Chat(this.conversation)
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
    const kept = this.#session.state === 'disconnected' ? this.#last.value : undefined
    return kept ? this.#resume(kept.protocol) : this.#session.connect()
  }

  /** Hangs up, goes offline and closes the connection. Idempotent. */
  disconnect(): void {
    this.#calls.hangup()
    this.#last.forget()
    if (this.#online && this.#session.state === 'connected')
      this.#session.request('subscriber.offline', {}).catch(() => {})
    this.#online = false
    this.#own.give()
    this.#session.disconnect()
  }

  /** Receives incoming calls from now on. Handlers given here take the place of earlier ones. Rejects with the server's error. */
  async online(options: { readonly incomingCallHandlers?: IncomingCallHandlers } = {}): Promise<void> {
    if (options.incomingCallHandlers) this.#calls.handlers = options.incomingCallHandlers
    const asked = ++this.#asked
    await this.connect()
    if (asked !== this.#asked) return
    await this.#session.request('subscriber.online', {})
    if (asked === this.#asked) this.#online = true
  }

  /** Receives no more incoming calls. A call that rings already rings on. */
  async offline(): Promise<void> {
    this.#online = false
    this.#asked++
    if (this.#session.state !== 'disconnected') await this.#session.request('subscriber.offline', {})
  }

  /** Makes a call; {@link Call.start} places it. Rejects with `bad_argument`, or when the client cannot connect. */
  async dial(options: DialOptions): Promise<Call> {
    await this.connect()
    return this.#calls.dial(options)
  }

  /** Who is signed in. Rejects with `auth` (401) or `http`. */
  async getSubscriberInfo(): Promise<SubscriberInfo> {
    return (await this.#rest.get('/api/fabric/subscriber/info')) as SubscriberInfo
  }

  /**
   * Comes back to the call that was going on when this tab's page was loaded anew; {@link Call.start} connects its sound again. Rejects with
   * `session_lost` when there is none: it was hung up, the client was disconnected, or the server has given it up.
   */
  async reattach(options: CallOptions = {}): Promise<Call> {
    await this.connect()
    const kept = this.#last.value
    if (!kept) throw new ClientError('session_lost', 'There is no call to come back to.')
    return this.#calls.reattach(kept, options)
  }

  /**
   * Has the subscriber's calls told to a device by a push service. The same token again is the same device. Rejects, as
   * {@link unregisterDevice} does, with the server's error.
   */
  async registerDevice(device: DeviceOptions): Promise<Device> {
    const body = { device_token: device.deviceToken, device_type: device.deviceType }
    return (await this.#rest.post('/subscriber/devices', body)) as Device
  }

  /** The device is told of no more calls. */
  async unregisterDevice({ id }: { readonly id: string }): Promise<Record<string, never>> {
    return (await this.#rest.delete(`/subscriber/devices/${encodeURIComponent(id)}`)) as Record<string, never>
  }

  /**
   * Takes a push notification that was decrypted (see {@link decryptPush}) and attaches to its call. The call may be taken either through
   * `resultObject` ({@link Call.answer}, {@link Call.hangup}) or through the invite that `incomingCallHandlers.pushNotification`, or else
   * `all`, is told; the first decides. Rejects with `bad_argument`, or when the client cannot connect.
   */
  async handlePushNotification(payload: DecryptedPush): Promise<PushResult> {
    if (payload.type !== 'call_invite')
      throw new ClientError('bad_argument', `type: expected call_invite, got "${payload.type}"`)
    await this.connect()
    return { resultType: 'inboundCall', resultObject: await this.#calls.pushed(record(payload.decrypted)) }
  }

  /** Takes a new token for the running connection, later ones, and HTTP. Rejects with the server's error; the old token then stays. */
  async updateToken(token: string): Promise<void> {
    const before = this.#token.value
    // The next handshake presents the newest: the one before may have ended meanwhile.
    if (this.#session.state !== 'connected') this.#token.value = token
    if (this.#session.state === 'disconnected') return
    try {
      this.#token.expires(await this.#session.reauthenticate(token))
      this.#token.value = token
    } catch (error) {
      if (this.#token.value === token) this.#token.value = before
      throw error
    }
  }

  async #resume(protocol: string): Promise<void> {
    if (await this.#own.take(protocol)) this.#session.resume(protocol)
    // What a duplicated tab was given is a copy: the call stays with the first.
    else this.#last.forget()
    return this.#session.connect()
  }

  #event(type: string, params: Json, nodeId: string | undefined): void {
    this.#calls.event(type, params, nodeId)
    this.conversation.event(type, params)
    if (type.includes('.')) this.#events.emit(type as `${string}.${string}`, params)
  }

  #stateChanged(state: ConnectionState): void {
    this.#unwatch ??= this.#environment.watch({
      networkChanged: () => this.#networkChanged(),
      awake: () => this.#awake(),
    })
    this.#events.emit('connection', { state })
    this.#calls.connectionChanged(state === 'connected')
  }

  #networkChanged(): void {
    this.#log.info('the browser is on another network')
    this.#calls.networkChanged()
    this.#awake()
  }

  // Timers stood still while the machine slept.
  #awake(): void {
    this.#token.check()
    this.#session.probe()
  }

  #connected(fresh: boolean, expiresAt: number | undefined): void {
    this.#token.expires(expiresAt)
    const { protocol } = this.#session
    if (protocol !== undefined) this.#own.take(protocol).catch(() => {})
    if (!fresh) return
    this.#last.forget()
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
    this.#own.give()
    this.#unwatch?.()
    this.#unwatch = undefined
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
