import { randomUUID } from 'node:crypto'
import type { RoomGrant } from '../../auth/room-token-claims.ts'
import type { SubscriberHistory } from '../../cdr/subscriber-history.ts'
import type { Clock, Timer } from '../../core/clock.ts'
import { catalogue } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import { RpcError, rpcCodes } from '../frames.ts'
import { handleVideoRequest, videoMethods } from '../rooms/video-requests.ts'
import { closeCodes, type Reply, type RpcHandler, type RpcSession } from '../rpc-session.ts'
import type { BrowserCredentials, SignedIn } from './browser-credentials.ts'
import type { BrowserQuotas, QuotaExceeded } from './browser-quotas.ts'
import type { BrowserSession } from './browser-session.ts'
import { byeOf } from './bye-causes.ts'
import { ExpiryNotice } from './expiry-notice.ts'
import type { IceServers } from './ice-servers.ts'
import { handleMember, memberMethods } from './member-requests.ts'
import type { Presence } from './presence.ts'
import type { PresenceRequests } from './presence-requests.ts'
import { roomNamedBy } from './rooms/room-named-by.ts'
import type { VertoRequests } from './verto-requests.ts'

/** Dialect of browsers that have signed in with a room token. */
export interface RoomTokenDialect {
  readonly methods: readonly string[]
  /** Returns the `authorization` in the results of `signalwire.connect` and `signalwire.reauthenticate`. */
  authorization(browser: BrowserSession, room: RoomGrant): Params
  /** Handles a request. Throws or rejects with {@link RpcError} to send an error response. */
  handle(browser: BrowserSession, room: RoomGrant, method: string, params: Params): Reply | Promise<Reply>
}

/** Collaborators of {@link BrowserConnection}. */
export interface BrowserConnectionDeps {
  readonly credentials: BrowserCredentials
  readonly presence: Presence
  readonly quotas: Pick<BrowserQuotas, 'checkConnection'>
  readonly verto: Pick<VertoRequests, 'handle'>
  readonly rooms: RoomTokenDialect
  readonly presenceRequests: Pick<PresenceRequests, 'watch' | 'doNotDisturb'>
  readonly iceServers: Pick<IceServers, 'of'>
  readonly history: Pick<SubscriberHistory, 'interruptedRinging'>
  readonly clock: Clock
  readonly log: Log
}

/** Time that the former connection has to answer a ping, in milliseconds. */
const probeMs = 1_500
/** Time to send a new token after the former one expired or was revoked, in milliseconds. */
const renewalMs = 10_000
/** Interval of checks whether a session with an expired token still has a call, in milliseconds. */
const lastCallMs = 10_000
/** Maximum duration of one timer; Node limits timers to 24 days. */
const maxWaitMs = 86_400_000

type Params = Readonly<Record<string, unknown>>

/** Browser dialect on one WebSocket. */
export class BrowserConnection implements RpcHandler {
  readonly methods: ReadonlySet<string>
  #deps: BrowserConnectionDeps
  #session: RpcSession
  #browser: BrowserSession | undefined
  #endTimer: Timer | undefined
  /** Whether the session ends because its token was revoked. */
  #isEndingRevoked = false
  #unwatch: (() => void) | undefined
  readonly #notice: ExpiryNotice

  constructor(deps: BrowserConnectionDeps, session: RpcSession) {
    this.#deps = deps
    this.#session = session
    this.#notice = new ExpiryNotice(deps.clock)
    this.methods = new Set([...Object.keys(this.#handlers), ...memberMethods, ...deps.rooms.methods])
  }

  handle(method: string, params: Params): Reply | Promise<Reply> {
    if (method === 'signalwire.connect') return this.#connect(params)
    const browser = this.#browser
    if (!browser) throw new RpcError(rpcCodes.auth, 'send signalwire.connect first')
    const { room } = browser.identity
    if (room && !method.startsWith('signalwire.'))
      return this.#deps.rooms.handle(browser, room, method, params)
    const handler = Object.hasOwn(this.#handlers, method) ? this.#handlers[method] : undefined
    if (handler) return handler(browser, params)
    if (memberMethods.includes(method)) return handleMember(browser, method, params)
    // Early versions of the SDK send some of them for a room that they have dialled.
    if (videoMethods.includes(method)) return handleVideoRequest(roomNamedBy(browser, params), method, params)
    throw new RpcError(rpcCodes.method, method.slice(0, 60))
  }

  closed(): void {
    this.#endTimer?.cancel()
    this.#notice.cancel()
    this.#unwatch?.()
    if (this.#browser?.unbind(this.#session)) this.#deps.presence.socketLost(this.#browser)
  }

  #handlers: Readonly<Record<string, (browser: BrowserSession, params: Params) => Reply | Promise<Reply>>> = {
    'signalwire.connect': (_browser, params) => this.#connect(params),
    'signalwire.reauthenticate': (browser, params) => this.#reauthenticate(browser, params),
    'signalwire.ping': (_browser, params) => ({ result: { timestamp: params.timestamp } }),
    'signalwire.disconnect': (browser) => this.#setOnline(browser, false),
    'subscriber.online': (browser) => this.#setOnline(browser, true),
    'subscriber.offline': (browser) => this.#setOnline(browser, false),
    'subscriber.calls': (browser) => ({
      result: { code: '200', message: 'OK', calls: [...browser.calls.keys()] },
    }),
    'subscriber.do_not_disturb': (browser, params) =>
      this.#deps.presenceRequests.doNotDisturb(browser, params),
    'presence.watch': (browser, params) => this.#deps.presenceRequests.watch(browser, params),
    'webrtc.verto': (browser, params) => this.#deps.verto.handle(browser, params),
  }

  async #connect(params: Params): Promise<Reply> {
    const { credentials, quotas, presence, log } = this.#deps
    const signedIn = await credentials.signIn(params, this.#session)
    const browser = await this.#resumeOrCreateSession(params, signedIn)
    const isKnown = presence.find(browser.protocol) === browser
    const over = quotas.checkConnection({ ...signedIn, isKnown }, this.#session)
    if (over) throw this.#overQuota(over)
    // The connection may have closed while the token was verified.
    if (this.#session.isClosed) throw new RpcError(rpcCodes.internal, 'the connection is closed')
    browser.useAgent(params.agent)
    this.#bindToSocket(browser, signedIn)
    // The number of online subscribers is not logged: a metric has it, and counting it at each reconnection
    // would be slow.
    log.info(
      {
        event: 'browser.connected',
        session: this.#session.id,
        subscriber: browser.identity.id,
        kind: browser.identity.kind,
        protocol: browser.protocol,
        online: browser.isOnline,
      },
      'browser connected',
    )
    await this.#pass(browser.resumptionWaitMs)
    return {
      result: { identity: `${randomUUID()}@${browser.nodeId}`, ...this.#sessionFields(browser) },
      after: () => {
        this.#sendState(browser)
        browser.flush()
      },
    }
  }

  /** Waits for some ms. Rejects if the connection has closed meanwhile. */
  async #pass(ms: number): Promise<void> {
    if (ms === 0) return
    await new Promise<void>((resolve) => this.#deps.clock.after(ms, resolve))
    if (this.#session.isClosed) throw new RpcError(rpcCodes.internal, 'the connection is closed')
  }

  #overQuota({ code }: QuotaExceeded): RpcError {
    // Browsers reconnect after a close, and give up after an error.
    if (code === 'too_many_requests')
      this.#session.close(closeCodes.tryAgain, 'too many connections per minute')
    return new RpcError(rpcCodes.limit, catalogue[code].text)
  }

  /**
   * Returns the session that the browser names. Returns a new one if that has another identity or another
   * connected page, or if the browser has sent a wrong proof. The proof is optional.
   */
  async #resumeOrCreateSession(params: Params, signedIn: SignedIn): Promise<BrowserSession> {
    const { protocol } = params
    const { presence, credentials } = this.#deps
    if (typeof protocol !== 'string') {
      this.#removeRejected(signedIn)
      return presence.create(signedIn)
    }
    const known = presence.find(protocol)
    if (!known) return this.#replaceSession(params, signedIn)
    const { identity } = signedIn
    if (known.identity.key !== identity.key) return presence.create(signedIn)
    if (credentials.isForged(params, identity)) return this.#createBeside(known, signedIn)
    // A duplicated tab sends the same protocol as the original tab. The page with the live connection keeps
    // the session.
    const former = known.session
    if (former && former !== this.#session && (await former.probe(probeMs)))
      // With a room token, the invite of a duplicated tab does not differ from that of another member.
      return identity.room ? presence.create(signedIn) : this.#createBeside(known, signedIn)
    // The session may have been removed meanwhile.
    return presence.find(protocol) === known ? known : this.#resumeOrCreateSession(params, signedIn)
  }

  /** Removes the sessions whose page was rejected, and now joins anew: it must not be in its room twice. */
  #removeRejected({ identity: { id, key } }: SignedIn): void {
    const { presence } = this.#deps
    for (const former of presence.of(id))
      if (former.isRejected && !former.session && former.identity.key === key) presence.remove(former)
  }

  /** Creates a session that cannot come back to the calls of the session which the browser has named. */
  #createBeside(other: BrowserSession, signedIn: SignedIn): BrowserSession {
    const browser = this.#deps.presence.create(signedIn)
    browser.claimed = other
    return browser
  }

  /**
   * Creates a session in place of one that a former process of the gateway had, or that ended. Its new
   * protocol shows the browser that its calls have ended. The sealed state of the browser proves whether it
   * was online, since browsers do not repeat `subscriber.online`.
   */
  #replaceSession(params: Params, signedIn: SignedIn): BrowserSession {
    const browser = this.#deps.presence.create(signedIn)
    const { identity } = signedIn
    browser.isOnline = this.#deps.credentials.unseal(params, identity)?.online === true
    // A page with the published SDK learns only by this message that it must stop to ring.
    const bye = byeOf({ code: 'interrupted' })
    const calls = identity.kind === 'subscriber' ? this.#deps.history.interruptedRinging(identity.id) : []
    for (const callID of calls) browser.sendVerto('verto.bye', { callID, ...bye })
    return browser
  }

  #bindToSocket(browser: BrowserSession, { token, identity }: SignedIn): void {
    const { credentials, presence } = this.#deps
    const former = this.#browser
    this.#browser = browser
    if (former && former !== browser && former.unbind(this.#session)) presence.socketLost(former)
    browser.renew(token, identity)
    this.#unwatch?.()
    this.#unwatch = credentials.onRevocation(identity.id, () => this.#checkToken())
    if (presence.find(browser.protocol) === browser) presence.socketBack(browser)
    else presence.add(browser)
    browser.bind(this.#session)
    this.#awaitEnd(browser)
    this.#notice.announce(browser)
    // The token may have been revoked while it was verified.
    this.#checkToken()
    if (browser.isOnline) presence.reportOnline(browser, false)
  }

  async #reauthenticate(browser: BrowserSession, params: Params): Promise<Reply> {
    await this.#deps.credentials.renew(browser, params, this.#session)
    this.#awaitEnd(browser)
    this.#notice.announce(browser)
    this.#checkToken()
    // While the former token was expired, the browser received no calls.
    const after = () => {
      if (browser.isOnline) this.#deps.presence.reportOnline(browser, false)
    }
    return { result: this.#sessionFields(browser), after }
  }

  /** Returns the fields that the SDK merges over those of the former token. */
  #sessionFields(browser: BrowserSession): Params {
    const { protocol, identity } = browser
    const { rooms, iceServers } = this.#deps
    const authorization = identity.room ? rooms.authorization(browser, identity.room) : browser.authorization
    const servers = iceServers.of(browser)
    return { authorization, protocol, ...(servers && { ice_servers: servers }) }
  }

  /**
   * Schedules the expiry of the token, after which the browser receives no calls. If no new token arrives in
   * time, the connection is closed once no call is in progress.
   */
  #awaitEnd(browser: BrowserSession): void {
    this.#isEndingRevoked = false
    const left = browser.expiresAt * 1000 + renewalMs - this.#deps.clock.now()
    this.#endIn(left > 0 ? Math.min(left, maxWaitMs) : lastCallMs, () => {
      if (browser.isAuthorized || browser.calls.size > 0) this.#awaitEnd(browser)
      else this.#session.close(closeCodes.policy, 'the token has expired')
    })
  }

  /** Ends the session and its calls if no new token follows a revocation in time. */
  #checkToken(): void {
    const browser = this.#browser
    if (!browser?.isRevoked || this.#isEndingRevoked) return
    this.#isEndingRevoked = true
    this.#endIn(renewalMs, () => {
      this.#deps.presence.remove(browser)
      this.#session.close(closeCodes.policy, 'the token was revoked')
    })
  }

  #endIn(ms: number, end: () => void): void {
    this.#endTimer?.cancel()
    this.#endTimer = this.#deps.clock.after(ms, end)
  }

  #setOnline(browser: BrowserSession, online: boolean): Reply {
    if (online && browser.identity.kind !== 'subscriber')
      return { result: { code: '403', message: 'Guests cannot receive calls.' } }
    browser.isOnline = online
    return {
      result: { code: '200', message: 'OK' },
      after: () => {
        this.#sendState(browser)
        if (online) this.#deps.presence.reportOnline(browser, true)
        else this.#deps.presence.reportOffline(browser)
      },
    }
  }

  /** Sends the sealed state, which the browser returns when it reconnects. */
  #sendState(browser: BrowserSession): void {
    const sealed = this.#deps.credentials.seal(browser)
    browser.emit('signalwire.authorization.state', { authorization_state: sealed })
  }
}
