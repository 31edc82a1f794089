import { randomUUID } from 'node:crypto'
import type { RoomGrant, RoomToken } from '../../auth/room-token-claims.ts'
import type { SubscriberTokens } from '../../auth/subscriber-tokens.ts'
import type { SubscriberToken } from '../../auth/token-claims.ts'
import type { TokenIdentity } from '../../auth/token-identity.ts'
import type { SteadyClock } from '../../core/clock.ts'
import { closeCodes, RemoteError, type RpcSession, UnansweredError } from '../rpc-session.ts'
import type { BrowserCall } from './browser-call.ts'
import { type ClientQuirks, quirksOf } from './client-quirks.ts'
import type { ReadVariables } from './user-variables.ts'

/** Call of a browser session, as it receives the browser's messages. Every method is idempotent. */
export interface SessionCall {
  /** Returns the call of this session once it has media; undefined while it rings. */
  browserCall(browser: BrowserSession): BrowserCall | undefined
  /**
   * Handles an answer. `variables`: the browser's variables for the caller, or the reason for rejecting them.
   */
  onAnswer(browser: BrowserSession, sdp: string, variables: ReadVariables): Promise<void>
  onBye(browser: BrowserSession, causeCode: number | undefined): void
  onDigits(browser: BrowserSession, digits: string): void
  /** Called when the connection is lost and may be resumed. */
  onDisconnected?(browser: BrowserSession): void
  /** Called when the connection was not resumed in time. */
  onSessionLost(browser: BrowserSession): void
}

/** Facts and collaborators of a {@link BrowserSession}. */
export interface BrowserSessionOptions {
  readonly identity: TokenIdentity
  /** Token of the first connection; its id is the second part of the protocol. */
  readonly token: SubscriberToken | RoomToken
  readonly tokens: Pick<SubscriberTokens, 'isRevoked'>
  readonly nodeId: string
  readonly clock: Pick<SteadyClock, 'now' | 'uptime'>
  readonly limits: SessionLimits
  /** Called when events are not acknowledged in time or too many wait. */
  readonly onSlow: (browser: BrowserSession, reason: SlowSession) => void
}

/** Limits of one {@link BrowserSession}. */
export interface SessionLimits {
  /** Maximum number of unacknowledged events. */
  readonly unacknowledged: number
  /** Time limit for acknowledging an event, in milliseconds. */
  readonly acknowledgeMs: number
}

/**
 * Reason that a session is slow: `full` if too many events wait, `late` if one was not acknowledged in time.
 */
export interface SlowSession {
  readonly kind: 'full' | 'late'
  readonly waiting: number
  readonly limit: number
}

interface Event {
  readonly event_type: string
  readonly params: unknown
  /** Id of the call that the event invites to. The event is dropped if that call has ended. */
  readonly outboundLeg?: string
}

/** Number of unacknowledged events from which a browser is {@link BrowserSession.isBusy}. */
const maxBusy = 50
/**
 * Time after the death of the media server until browsers report their media as disconnected, in ms. Chrome
 * checks its path every 2.5 s, and gives it up 5 s after the first check without a response.
 */
const lossNoticeMs = 8_000
/** Maximum number of message ids that are remembered to detect repeats. */
const maxRememberedIds = 100
/** Maximum length of a remembered id; browsers send UUIDs. */
const maxIdLength = 128

/** Whether a value is an id that is remembered to detect repeats. */
export const isMessageId = (value: unknown): value is string | number =>
  typeof value === 'number' || (typeof value === 'string' && value.length <= maxIdLength)

/**
 * Number of missed events that are sent at once after a reconnection, within the send buffer of a connection.
 */
const maxPortion = 32

/**
 * Session of one page of a subscriber, guest, invited user or holder of a room token. It outlives its
 * WebSocket: unacknowledged events are delivered over the next one.
 */
export class BrowserSession {
  readonly protocol: string
  /** The `jti` that the browser receives. The SDK resumes the protocol only while it has this id. */
  readonly tokenId: string
  readonly nodeId: string
  /** Whether the browser receives calls. */
  isOnline = false
  /** Calls by their id in the browser. */
  readonly calls = new Map<string, SessionCall>()
  /** Session of another page, which the browser has named as its own. */
  claimed: BrowserSession | undefined
  /** Whether the page was rejected because it did not know the id of its call; reset as it connects again. */
  isRejected = false
  #identity: TokenIdentity
  /** The identity with the rights of {@link #grant}. */
  #granted: TokenIdentity
  /** Rights in the room that replace those of the room token. */
  #grant: Partial<RoomGrant> = {}
  /** Latest token. */
  #token: SubscriberToken | RoomToken
  readonly #tokens: BrowserSessionOptions['tokens']
  readonly #limits: SessionLimits
  readonly #onSlow: BrowserSessionOptions['onSlow']
  #network = ''
  #quirks = quirksOf(undefined)
  #isForgotten = false
  readonly #clock: BrowserSessionOptions['clock']
  #session: RpcSession | undefined
  #followsLoss = false
  /** Whether the connect request was answered, so that events may follow. */
  #isFlowing = false
  #outbox = new Set<Event>()
  /** Events that wait until few are unacknowledged, by their key. */
  readonly #latest = new Map<string, Event>()
  #messages = 0
  /** Uptime of the latest death of the media server of a call, in ms. */
  #mediaLostAt: number | undefined
  #seenIds = new Set<unknown>()

  constructor(options: BrowserSessionOptions) {
    const { identity, token, nodeId } = options
    this.protocol = `signalwire_${token.id}_${randomUUID()}_${identity.projectId}`
    this.tokenId = token.id
    this.nodeId = nodeId
    this.#identity = identity
    this.#granted = identity
    this.#token = token
    this.#tokens = options.tokens
    this.#limits = options.limits
    this.#onSlow = options.onSlow
    this.#clock = options.clock
  }

  /** Present connection. */
  get session(): RpcSession | undefined {
    return this.#session
  }

  /**
   * Whether the connection before the present one was lost. Browsers close it with a code of its own when
   * their page is left or loaded again.
   */
  get followsLoss(): boolean {
    return this.#followsLoss
  }

  /** Id of the latest token. */
  get accessTokenId(): string {
    return this.#token.id
  }

  /** Network of the last connection. */
  get network(): string {
    return this.#network
  }

  /** Quirks of the client library. */
  get quirks(): ClientQuirks {
    return this.#quirks
  }

  /** Number of unacknowledged events. */
  get unacknowledged(): number {
    return this.#outbox.size
  }

  /** Whether many events are unacknowledged, so that those of little worth must not be added. */
  get isBusy(): boolean {
    return this.#outbox.size >= maxBusy
  }

  /** Identity of the latest token. */
  get identity(): TokenIdentity {
    return this.#granted
  }

  /** Whether the latest token is valid. */
  get isAuthorized(): boolean {
    return this.#token.expiresAt * 1000 > this.#clock.now() && !this.isRevoked
  }

  /** Whether the latest token was revoked. */
  get isRevoked(): boolean {
    return this.#tokens.isRevoked(this.#token)
  }

  /** Expiry of the latest token; seconds since the Unix epoch. */
  get expiresAt(): number {
    return this.#token.expiresAt
  }

  /** Replaces the token by a new one of the same identity. */
  renew(token: SubscriberToken | RoomToken, identity: TokenIdentity): void {
    // A new token has new permissions, but not another role.
    const { permissions, ...role } = this.#grant
    const grant = permissions && token.id === this.#token.id ? this.#grant : role
    this.#token = token
    this.#identity = identity
    this.changeGrant(grant)
  }

  /** Replaces rights of the room token until the page leaves its room. Default: those of the token. */
  changeGrant(grant: Partial<RoomGrant> = {}): void {
    const { room } = this.#identity
    this.#grant = grant
    this.#granted = room ? { ...this.#identity, room: { ...room, ...grant } } : this.#identity
  }

  /** Sets the client quirks from the `agent` of `signalwire.connect`. */
  useAgent(agent: unknown): void {
    this.#quirks = quirksOf(agent)
  }

  /** Sets the connection and closes a former one. No event is delivered before {@link flush}. */
  bind(session: RpcSession): void {
    const former = this.#session
    this.#session = session
    this.#network = session.network
    this.#isFlowing = false
    this.isRejected = false
    if (!former || former === session) return
    this.#followsLoss = true
    former.close(closeCodes.goingAway, 'the client has connected again')
  }

  /** Removes a closed connection. Returns false if the session already has another connection. */
  unbind(session: RpcSession): boolean {
    if (this.#session !== session) return false
    this.#session = undefined
    this.#followsLoss = session.closeCode !== closeCodes.goingAway
    this.#isFlowing = false
    return true
  }

  /** Delivers missed events in portions, and later events at once. */
  flush(): void {
    if (this.#session) void this.#catchUp(this.#session)
  }

  /** Sends an event, now or on reconnection. */
  emit(type: string, params: unknown, outboundLeg?: string): void {
    if (this.#isForgotten) return
    const event = { event_type: type, params, outboundLeg }
    this.#outbox.add(event)
    if (this.#isFlowing) void this.#deliver(event)
    const { unacknowledged: limit } = this.#limits
    if (this.#outbox.size <= limit) return
    // All events are dropped, because one missing event, such as a call's end or answer, would leave the
    // browser's state wrong.
    this.forget()
    this.#onSlow(this, { kind: 'full', waiting: limit, limit })
  }

  /**
   * Sends an event that replaces an earlier one with the same key. It waits while the browser
   * is busy, so that it displaces no event of calls.
   */
  emitLatest(key: string, type: string, params: unknown): void {
    this.#latest.delete(key)
    if (!this.#isForgotten) this.#latest.set(key, { event_type: type, params })
    this.#emitWaiting()
  }

  /**
   * Drops the waiting events of {@link emitLatest} with a type: the browser receives the present state by a
   * response.
   */
  dropLatest(type: string): void {
    for (const [key, { event_type }] of this.#latest) if (event_type === type) this.#latest.delete(key)
  }

  #emitWaiting(): void {
    for (const [key, { event_type: type, params }] of this.#latest) {
      if (this.isBusy) return
      this.#latest.delete(key)
      this.emit(type, params)
    }
  }

  /** Drops waiting events, and ignores further events. */
  forget(): void {
    this.#isForgotten = true
    this.#outbox.clear()
    this.#latest.clear()
  }

  /** Sends a Verto message about a call. */
  sendVerto(method: string, params: { readonly callID: string; readonly [name: string]: unknown }): void {
    const message = { jsonrpc: '2.0', id: ++this.#messages, method, params }
    this.emit('webrtc.message', message, method === 'verto.invite' ? params.callID : undefined)
  }

  /**
   * Asks the page for a new offer of a call or further source whose media server has died. The published SDK
   * makes one after it has reconnected.
   */
  askOffer(callID: string): void {
    if (this.#quirks.renewsMedia) {
      this.sendVerto('verto.renew', { callID })
      return
    }
    this.#mediaLostAt = this.#clock.uptime()
    const session = this.#session
    // Deferred until the present events are sent.
    queueMicrotask(() => session?.close(closeCodes.tryAgain, 'the media server has restarted'))
  }

  /**
   * Time in ms by which the response to a reconnection must wait. When it arrives, the published SDK renews
   * the calls whose media it knows to be lost. With a room token it renews every call.
   */
  get resumptionWaitMs(): number {
    if (this.#mediaLostAt === undefined || this.#identity.room) return 0
    return Math.max(0, this.#mediaLostAt + lossNoticeMs - this.#clock.uptime())
  }

  /**
   * Records a message id. Returns whether the browser sends the message for the first time. Browsers repeat
   * unanswered messages under the same id after a connection loss. Most are idempotent, but digits would be
   * sent twice.
   */
  isNew(messageId: unknown): boolean {
    if (!isMessageId(messageId)) return true
    if (this.#seenIds.has(messageId)) return false
    this.#seenIds.add(messageId)
    if (this.#seenIds.size > maxRememberedIds) this.#seenIds.delete(this.#seenIds.values().next().value)
    return true
  }

  /** The `authorization` in the results of `signalwire.connect` and `signalwire.reauthenticate`. */
  get authorization() {
    const { id, projectId } = this.#identity
    return {
      jti: this.tokenId,
      project_id: projectId,
      fabric_subscriber: {
        version: 1,
        expires_at: this.expiresAt,
        subscriber_id: id,
        application_id: null,
        project_id: projectId,
        space_id: projectId,
      },
    }
  }

  async #catchUp(session: RpcSession): Promise<void> {
    const sent = new Set<Event>()
    while (this.#session === session) {
      const missed = [...this.#outbox].filter((event) => !sent.has(event) && this.#isWanted(event))
      const portion = missed.slice(0, maxPortion)
      // Events emitted meanwhile follow the missed ones.
      this.#isFlowing = portion.length === missed.length
      for (const event of portion) sent.add(event)
      const acknowledged = portion.map((event) => this.#deliver(event))
      if (this.#isFlowing) return
      await Promise.all(acknowledged)
    }
  }

  /** Drops invites to ended calls: the browser would ring forever, as it ignores the bye. */
  #isWanted(event: Event): boolean {
    const isOver = event.outboundLeg !== undefined && !this.calls.has(event.outboundLeg)
    if (isOver) {
      this.#outbox.delete(event)
      this.#emitWaiting()
    }
    return !isOver
  }

  async #deliver(event: Event): Promise<void> {
    const session = this.#session
    if (!session) return
    try {
      await session.request('signalwire.event', this.#envelope(event), this.#limits.acknowledgeMs)
    } catch (error) {
      if (error instanceof UnansweredError) this.#late(session)
      // If the connection was lost, the event stays for the next connection.
      if (!(error instanceof RemoteError)) return
    }
    this.#outbox.delete(event)
    this.#emitWaiting()
  }

  #envelope({ event_type, params }: Event) {
    return {
      event_type,
      event_channel: this.protocol,
      timestamp: this.#clock.now() / 1000,
      project_id: this.#identity.projectId,
      node_id: this.nodeId,
      params,
    }
  }

  #late(session: RpcSession): void {
    if (this.#session !== session || session.isClosed) return
    this.#onSlow(this, { kind: 'late', waiting: this.unacknowledged, limit: this.#limits.acknowledgeMs })
  }
}
