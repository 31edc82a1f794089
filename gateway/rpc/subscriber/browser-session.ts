import { randomUUID } from 'node:crypto'
import type { SubscriberToken } from '../../auth/token-claims.ts'
import type { TokenIdentity } from '../../auth/token-identity.ts'
import type { Clock } from '../../core/clock.ts'
import { closeCodes, RemoteError, type RpcSession, UnansweredError } from '../rpc-session.ts'
import type { BrowserCall } from './browser-call.ts'
import { type ClientQuirks, quirksOf } from './client-quirks.ts'
import type { ReadVariables } from './user-variables.ts'

/**
 * What a client's call does with what its browser says. Every method is harmless when it comes a second time.
 */
export interface SessionCall {
  /** The call of this client once it has media; undefined while an invitation rings. */
  browserCall(browser: BrowserSession): BrowserCall | undefined
  /** `said`: variables of the page for the caller, or why they are refused. */
  onAnswer(browser: BrowserSession, sdp: string, said: ReadVariables): Promise<void>
  onBye(browser: BrowserSession, causeCode: number | undefined): void
  onDigits(browser: BrowserSession, digits: string): void
  /** The client lost its connection, and is waited for. Absent: that changes nothing. */
  onDisconnected?(browser: BrowserSession): void
  /** The client did not come back in time. */
  onSessionLost(browser: BrowserSession): void
}

/** What a client is made from. */
export interface BrowserSessionOptions {
  readonly identity: TokenIdentity
  /** That it came with; its id is the second part of the protocol. */
  readonly token: SubscriberToken
  /** Whether a token is not good any more, though it has not expired. */
  readonly isRevoked: (token: SubscriberToken) => boolean
  readonly nodeId: string
  readonly clock: Pick<Clock, 'now'>
  /** Events that it has not acknowledged, and how long it may take for each, in milliseconds. */
  readonly limits: { readonly unacknowledged: number; readonly acknowledgeMs: number }
  /** It does not acknowledge what it is told, or not in time. */
  readonly onSlow: (browser: BrowserSession, why: SlowSession) => void
  /** Taken over from before a restart of the gateway; default a new one. */
  readonly protocol?: string
}

/** What a page does not do: `full`: as many events wait as may; `late`: one was not acknowledged in time. */
export interface SlowSession {
  readonly kind: 'full' | 'late'
  readonly waiting: number
  readonly limit: number
}

interface Event {
  readonly event_type: string
  readonly params: unknown
  /** The call that an invitation is for: it is not delivered late when that call is over. */
  readonly outboundLeg?: string
}

/**
 * Ids of requests that are remembered, to know a repeated one, and how long one may be: those of pages are
 * UUIDs.
 */
const maxSeen = 100
const maxSeenLength = 128
/**
 * Events that are sent at once to a page that is back: of what it missed there may be more than a connection
 * may have waiting.
 */
const caughtUpAtOnce = 32

/**
 * One page of a subscriber, of a guest, or of somebody invited. It outlives its WebSocket: what the page has
 * not acknowledged is delivered over the next one.
 */
export class BrowserSession {
  readonly protocol: string
  /** The `jti` that the page is told. The SDK sends the protocol again only while it holds this very id. */
  readonly tokenId: string
  readonly nodeId: string
  /** Receives invitations. */
  isOnline = false
  /** By the id that the page knows. */
  readonly calls = new Map<string, SessionCall>()
  #identity: TokenIdentity
  /** The latest. */
  #token: SubscriberToken
  #isRevoked: BrowserSessionOptions['isRevoked']
  readonly #limits: BrowserSessionOptions['limits']
  readonly #onSlow: BrowserSessionOptions['onSlow']
  #network = ''
  #quirks = quirksOf(undefined)
  #forgotten = false
  #clock: Pick<Clock, 'now'>
  #session: RpcSession | undefined
  /** The connection has had its answer: events may follow. */
  #flowing = false
  #outbox = new Set<Event>()
  #messages = 0
  #seen = new Set<unknown>()

  constructor(options: BrowserSessionOptions) {
    const { identity, token, nodeId } = options
    this.protocol = options.protocol ?? `signalwire_${token.id}_${randomUUID()}_${identity.projectId}`
    this.tokenId = options.protocol?.split('_')[1] ?? token.id
    this.nodeId = nodeId
    this.#identity = identity
    this.#token = token
    this.#isRevoked = options.isRevoked
    this.#limits = options.limits
    this.#onSlow = options.onSlow
    this.#clock = options.clock
  }

  /** The connection that the page has now. */
  get session(): RpcSession | undefined {
    return this.#session
  }

  /** Id of the latest token. */
  get accessTokenId(): string {
    return this.#token.id
  }

  /** The network address that the page was last at. */
  get network(): string {
    return this.#network
  }

  /** Behaviour of the library that the page uses. */
  get quirks(): ClientQuirks {
    return this.#quirks
  }

  /** Events that the page has not acknowledged. */
  get unacknowledged(): number {
    return this.#outbox.size
  }

  /** Who acts by this page, as the latest token says. */
  get identity(): TokenIdentity {
    return this.#identity
  }

  /** The latest token is still good. */
  get isAuthorized(): boolean {
    return this.#token.expiresAt * 1000 > this.#clock.now() && !this.isRevoked
  }

  /** The latest token was taken back. */
  get isRevoked(): boolean {
    return this.#isRevoked(this.#token)
  }

  /** When the latest token ends by itself; seconds since the Unix epoch. */
  get expiresAt(): number {
    return this.#token.expiresAt
  }

  /** A new token of the same holder. */
  renew(token: SubscriberToken, identity: TokenIdentity): void {
    this.#token = token
    this.#identity = identity
  }

  /** Learns the library of the page from the `agent` of its `signalwire.connect`. */
  useAgent(agent: unknown): void {
    this.#quirks = quirksOf(agent)
  }

  /**
   * The page is back on this connection; another one that it had is closed. Nothing is delivered before
   * {@link flush}.
   */
  bind(session: RpcSession): void {
    const former = this.#session
    this.#session = session
    this.#network = session.network
    this.#flowing = false
    if (former !== session) former?.close(closeCodes.goingAway, 'the client has connected again')
  }

  /** The connection is gone; false when the page has another one already. */
  unbind(session: RpcSession): boolean {
    if (this.#session !== session) return false
    this.#session = undefined
    this.#flowing = false
    return true
  }

  /** Delivers what the page missed, in portions, and then everything at once. */
  flush(): void {
    if (this.#session) void this.#catchUp(this.#session)
  }

  /** Sends an event, now or when the page is back. */
  emit(type: string, params: unknown, outboundLeg?: string): void {
    if (this.#forgotten) return
    const event = { event_type: type, params, outboundLeg }
    this.#outbox.add(event)
    if (this.#flowing) void this.#deliver(event)
    const { unacknowledged: limit } = this.#limits
    if (this.#outbox.size <= limit) return
    // One that is left out may be the end of a call, or its answer: a page that misses it would be wrong from
    // then on.
    this.forget()
    this.#onSlow(this, { kind: 'full', waiting: limit, limit })
  }

  /** Nobody will come back for what waits, and nothing is told any more. */
  forget(): void {
    this.#forgotten = true
    this.#outbox.clear()
  }

  /** Sends a verto message about one call. */
  sendVerto(method: string, params: { readonly callID: string; readonly [name: string]: unknown }): void {
    const message = { jsonrpc: '2.0', id: ++this.#messages, method, params }
    this.emit('webrtc.message', message, method === 'verto.invite' ? params.callID : undefined)
  }

  /**
   * False for a message that the page has sent before. Pages repeat, under the same id, what they had no
   * reply to when their connection broke; most requests say the same twice without harm, but a key is then
   * pressed twice.
   */
  isNew(messageId: unknown): boolean {
    if (typeof messageId !== 'string' && typeof messageId !== 'number') return true
    if (String(messageId).length > maxSeenLength) return true
    if (this.#seen.has(messageId)) return false
    this.#seen.add(messageId)
    if (this.#seen.size > maxSeen) this.#seen.delete(this.#seen.values().next().value)
    return true
  }

  /** What `signalwire.connect` and `signalwire.reauthenticate` answer about who this is. */
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
    const told = new Set<Event>()
    while (this.#session === session) {
      const missed = [...this.#outbox].filter((event) => !told.has(event) && this.#isWanted(event))
      const portion = missed.slice(0, caughtUpAtOnce)
      // What is told meanwhile stands behind what was missed.
      this.#flowing = portion.length === missed.length
      for (const event of portion) told.add(event)
      const acknowledged = portion.map((event) => this.#deliver(event))
      if (this.#flowing) return
      await Promise.all(acknowledged)
    }
  }

  /** A page that rang for a call which is over would ring for ever: it does not listen to the bye. */
  #isWanted(event: Event): boolean {
    const over = event.outboundLeg !== undefined && !this.calls.has(event.outboundLeg)
    if (over) this.#outbox.delete(event)
    return !over
  }

  async #deliver(event: Event): Promise<void> {
    const session = this.#session
    if (!session) return
    try {
      await session.request('signalwire.event', this.#envelope(event), this.#limits.acknowledgeMs)
    } catch (error) {
      if (error instanceof UnansweredError) this.#late(session)
      // Not acknowledged, because the connection is lost or only seems to live: it stays for the next one.
      if (!(error instanceof RemoteError)) return
    }
    this.#outbox.delete(event)
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
