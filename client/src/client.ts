import { Addresses } from './addresses.ts'
import type { Call } from './call.ts'
import { Calls, callLost } from './calls.ts'
import { Chat, Conversations } from './conversations.ts'
import { Emitter } from './emitter.ts'
import type { Environment } from './environment.ts'
import { ClientError } from './errors.ts'
import { type Json, record } from './frames.ts'
import { History } from './history.ts'
import { type Hosts, resolveHosts } from './hosts.ts'
import { LastCall } from './last-call.ts'
import { createLog, type Log } from './log.ts'
import { OwnSession } from './own-session.ts'
import { Presence } from './presence.ts'
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

/**
 * Events of a {@link Client}: the three below, and server events by name (`call.state`, `call.joined`, …).
 */
export interface ClientEvents {
  /** The connection's state changed. */
  readonly connection: { readonly state: ConnectionState }
  /** The client is disconnected for good: `disconnected` by request, `auth` after the token was rejected. */
  readonly closed: { readonly reason: ClientError }
  /** `onRefreshToken` failed, or the server rejected its token. The next attempt is after 30 s. */
  readonly tokenFailed: { readonly error: unknown }
  readonly [serverEvent: `${string}.${string}`]: Json
}

/** Connection of a subscriber to the gateway, created by {@link SignalWire}. */
export class Client {
  /** Addresses that can be called. */
  readonly address: Addresses
  /** All conversations. */
  readonly conversation: Conversations
  /** Single conversations. */
  readonly chat: Chat
  /** Ended calls of the subscriber. */
  readonly history: History
  /** Presence of subscribers. */
  readonly presence: Presence
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
  /** Counts calls of online() and offline(): the latest one decides. */
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
    this.#events = new Emitter((error) => this.#log.error('event listener of the client failed', error))
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
    this.history = new History(this.#rest, this.#log)
    this.presence = new Presence((method, params) => this.#session.request(method, params), this.#log)
  }

  /** Host and port of HTTP requests. */
  get httpHost(): string {
    return this.#hosts.httpHost
  }

  get connectionState(): ConnectionState {
    return this.#session.state
  }

  /**
   * Whether incoming calls are received: from {@link online} until {@link offline} or the end of the
   * connection.
   */
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
   * Connects. {@link SignalWire} does so already; needed again only after {@link disconnect}.
   * A lost connection is restored automatically. Calls continue meanwhile if the server kept them.
   * Rejects with `auth`, `server` or `disconnected`.
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

  /**
   * Starts to receive incoming calls. Handlers given here replace earlier ones. Rejects with the server's
   * error.
   */
  async online(options: { readonly incomingCallHandlers?: IncomingCallHandlers } = {}): Promise<void> {
    if (options.incomingCallHandlers) this.#calls.handlers = options.incomingCallHandlers
    const asked = ++this.#asked
    await this.connect()
    if (asked !== this.#asked) return
    await this.#session.request('subscriber.online', {})
    if (asked === this.#asked) this.#online = true
  }

  /** Stops receiving incoming calls. A call that is ringing continues to ring. */
  async offline(): Promise<void> {
    this.#online = false
    this.#asked++
    if (this.#session.state !== 'disconnected') await this.#session.request('subscriber.offline', {})
  }

  /**
   * Creates a call; {@link Call.start} places it. Rejects with `bad_argument`, or if the client cannot
   * connect.
   */
  async dial(options: DialOptions): Promise<Call> {
    await this.connect()
    return this.#calls.dial(options)
  }

  /** Returns the signed-in subscriber. Rejects with `auth` (401) or `http`. */
  async getSubscriberInfo(): Promise<SubscriberInfo> {
    return (await this.#rest.get('/api/fabric/subscriber/info')) as SubscriberInfo
  }

  /**
   * Returns to the call that was running when the page was reloaded; {@link Call.start} reconnects its media.
   * Rejects with `session_lost` if no call is left: it was hung up, the client was disconnected, or the
   * server dropped it.
   */
  async reattach(options: CallOptions = {}): Promise<Call> {
    await this.connect()
    const kept = this.#last.value
    if (!kept) throw new ClientError('session_lost', 'There is no call to return to.')
    return this.#calls.reattach(kept, options)
  }

  /**
   * Registers a device for push notifications of the subscriber's calls. The same token identifies the same
   * device.
   * Rejects with the server's error, as does {@link unregisterDevice}.
   */
  async registerDevice(device: DeviceOptions): Promise<Device> {
    const body = { device_token: device.deviceToken, device_type: device.deviceType }
    return (await this.#rest.post('/subscriber/devices', body)) as Device
  }

  /** Removes a device: it receives no more push notifications. */
  async unregisterDevice({ id }: { readonly id: string }): Promise<Record<string, never>> {
    return (await this.#rest.delete(`/subscriber/devices/${encodeURIComponent(id)}`)) as Record<string, never>
  }

  /**
   * Attaches to the call of a decrypted push notification (see {@link decryptPush}).
   * The call can be answered through `resultObject` ({@link Call.answer}, {@link Call.hangup}), or through
   * the invite passed to `incomingCallHandlers.pushNotification` (or `all`). The first decision counts.
   * Rejects with `bad_argument`, or if the client cannot connect.
   */
  async handlePushNotification(payload: DecryptedPush): Promise<PushResult> {
    if (payload.type !== 'call_invite')
      throw new ClientError('bad_argument', `type: expected call_invite, got "${payload.type}"`)
    await this.connect()
    return { resultType: 'inboundCall', resultObject: await this.#calls.pushed(record(payload.decrypted)) }
  }

  /**
   * Sets a new token for the present connection, for later connections, and for HTTP.
   * Rejects with the server's error; the old token then stays in use.
   */
  async updateToken(token: string): Promise<void> {
    const before = this.#token.value
    // The next handshake presents the newest token, since the previous token may have expired.
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
    // A duplicated tab has a copy of the stored call: the call stays with the first tab.
    else this.#last.forget()
    return this.#session.connect()
  }

  #event(type: string, params: Json, nodeId: string | undefined): void {
    this.#calls.event(type, params, nodeId)
    this.conversation.event(type, params)
    this.history.event(type, params)
    this.presence.event(type, params)
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
    this.#log.info('browser changed to another network')
    this.#calls.networkChanged()
    this.#awake()
  }

  // Timers do not run while the machine sleeps.
  #awake(): void {
    this.#token.check()
    this.#session.probe()
  }

  #connected(fresh: boolean, expiresAt: number | undefined): void {
    this.#token.expires(expiresAt)
    this.presence.connected()
    const { protocol } = this.#session
    if (protocol !== undefined) this.#own.take(protocol).catch(() => {})
    if (!fresh) {
      this.#calls
        .reconcile()
        .catch((error: unknown) => this.#log.debug('the server did not list its calls', error))
      return
    }
    this.#last.forget()
    this.#calls.drop(callLost())
    if (!this.#online) return
    this.#session
      .request('subscriber.online', {})
      .catch((error: unknown) =>
        this.#log.error('client not online again after the connection was restored', error),
      )
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
      this.#log.error('token not renewed', error)
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
      this.#log.error('token rejected, and no new token available', error)
      return false
    }
  }
}
