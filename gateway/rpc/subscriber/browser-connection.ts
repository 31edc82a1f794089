import { randomUUID } from 'node:crypto'
import type { TurnConfig } from '../../../config/types.ts'
import type { SessionStates } from '../../auth/states.ts'
import type { SubscriberTokens } from '../../auth/subscriber-tokens.ts'
import type { SubscriberToken } from '../../auth/token-claims.ts'
import { identityOf, type TokenIdentity } from '../../auth/token-identity.ts'
import type { Timer } from '../../core/clock.ts'
import { catalogue } from '../../core/errors/catalogue.ts'
import type { Directory } from '../../directory/types.ts'
import { asRecord, RpcError, rpcCodes } from '../frames.ts'
import { closeCodes, type Reply, type RpcHandler, type RpcSession } from '../rpc-session.ts'
import type { BrowserQuotas } from './browser-quotas.ts'
import { BrowserSession, type BrowserSessionOptions } from './browser-session.ts'
import { ExpiryNotice } from './expiry-notice.ts'
import { iceServersFor } from './ice-servers.ts'
import { handleMember, memberMethods } from './member-requests.ts'
import type { Presence } from './presence.ts'
import { handleVerto, type VertoDeps } from './verto-requests.ts'

/** Collaborators of {@link BrowserConnection}. */
export interface BrowserConnectionDeps extends VertoDeps {
  readonly directory: Directory
  readonly tokens: Pick<SubscriberTokens, 'verify' | 'isRevoked' | 'onRevocation'>
  readonly states: SessionStates
  readonly presence: Presence
  readonly nodeId: string
  readonly browserQuotas: Pick<BrowserQuotas, 'checkConnection' | 'checkDial'>
  /** Limits of each {@link BrowserSession}. */
  readonly browserLimits: BrowserSessionOptions['limits']
  readonly onSlow: BrowserSessionOptions['onSlow']
  /** TURN servers for browsers; default none. */
  readonly turn?: TurnConfig
  /**
   * Called when a browser starts to receive calls. `anew`: by its own request, so it knows of no ringing
   * call.
   */
  readonly cameOnline: (browser: BrowserSession, anew: boolean) => void
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

interface SignedIn {
  readonly token: SubscriberToken
  readonly identity: TokenIdentity
}

/** Browser dialect on one WebSocket. */
export class BrowserConnection implements RpcHandler {
  readonly methods: ReadonlySet<string>
  #deps: BrowserConnectionDeps
  #session: RpcSession
  #browser: BrowserSession | undefined
  #end: Timer | undefined
  /** Whether the session ends because its token was revoked. */
  #revoked = false
  #unwatch: (() => void) | undefined
  readonly #notice: ExpiryNotice

  constructor(deps: BrowserConnectionDeps, session: RpcSession) {
    this.#deps = deps
    this.#session = session
    this.#notice = new ExpiryNotice(deps.clock)
    this.methods = new Set([...Object.keys(this.#handlers), ...memberMethods])
  }

  handle(method: string, params: Params): Reply | Promise<Reply> {
    if (method === 'signalwire.connect') return this.#connect(params)
    const browser = this.#browser
    if (!browser) throw new RpcError(rpcCodes.auth, 'send signalwire.connect first')
    const handler = Object.hasOwn(this.#handlers, method) ? this.#handlers[method] : undefined
    if (handler) return handler(browser, params)
    if (memberMethods.includes(method)) return handleMember(browser, method, params)
    throw new RpcError(rpcCodes.method, method.slice(0, 60))
  }

  closed(): void {
    this.#end?.cancel()
    this.#notice.cancel()
    this.#unwatch?.()
    if (this.#browser?.unbind(this.#session)) this.#deps.presence.lost(this.#browser)
  }

  #handlers: Readonly<Record<string, (browser: BrowserSession, params: Params) => Reply | Promise<Reply>>> = {
    'signalwire.connect': (_client, params) => this.#connect(params),
    'signalwire.reauthenticate': (browser, params) => this.#reauthenticate(browser, params),
    'signalwire.ping': (_client, params) => ({ result: { timestamp: params.timestamp } }),
    'signalwire.disconnect': (browser) => this.#setOnline(browser, false),
    'subscriber.online': (browser) => this.#setOnline(browser, true),
    'subscriber.offline': (browser) => this.#setOnline(browser, false),
    'webrtc.verto': (browser, params) => handleVerto(this.#deps, browser, params),
  }

  async #connect(params: Params): Promise<Reply> {
    const signedIn = await this.#authenticate(params)
    const browser = await this.#browserFor(params, signedIn)
    this.#checkShare(browser, signedIn)
    // The connection may have closed while the token was verified.
    if (this.#session.isClosed) throw new RpcError(rpcCodes.internal, 'the connection is closed')
    browser.useAgent(params.agent)
    this.#adopt(browser, signedIn)
    const { nodeId, log } = this.#deps
    const facts = {
      event: 'browser.connected',
      session: this.#session.id,
      subscriber: browser.identity.id,
      kind: browser.identity.kind,
      protocol: browser.protocol,
      online: browser.isOnline,
    }
    // The number online is a gauge: counting it for each of many reconnections would be slow.
    log.info(facts, 'browser connected')
    const identity = `${randomUUID()}@${nodeId}`
    return {
      result: { identity, ...this.#sessionFields(browser) },
      after: () => {
        this.#sendState(browser)
        browser.flush()
      },
    }
  }

  #checkShare(browser: BrowserSession, { token, identity }: SignedIn): void {
    const { browserQuotas, presence, metrics, log } = this.#deps
    const known = presence.find(browser.protocol) === browser
    const over = browserQuotas.checkConnection({ identity, tokenId: token.id, isKnown: known })
    if (!over) return
    metrics.rejections.inc({ code: over.code })
    const facts = {
      event: 'browser.over-quota',
      ...over,
      session: this.#session.id,
      subscriber: identity.id,
      network: this.#session.network,
    }
    log.warn(facts, 'browser over its quota rejected')
    // Browsers reconnect after a close, and give up after an error.
    if (over.code === 'too_many_requests')
      this.#session.close(closeCodes.tryAgain, 'too many connections per minute')
    throw new RpcError(rpcCodes.limit, catalogue[over.code].text)
  }

  async #authenticate(params: Params): Promise<SignedIn> {
    const text = asRecord(params.authentication)?.jwt_token
    if (typeof text !== 'string') throw new RpcError(rpcCodes.auth, 'authentication.jwt_token is missing')
    const token = await this.#verify(text)
    const identity = identityOf(token, this.#deps.directory)
    if (!identity) throw this.#unauthorized('The subscriber of the token does not exist.')
    return { token, identity }
  }

  async #verify(text: string): Promise<SubscriberToken> {
    try {
      return await this.#deps.tokens.verify(text)
    } catch (error) {
      throw this.#unauthorized(error instanceof Error ? error.message : String(error))
    }
  }

  #unauthorized(reason: string): RpcError {
    this.#deps.metrics.rejections.inc({ code: 'unauthorized' })
    this.#deps.log.warn(
      { event: 'browser.unauthorized', code: 'unauthorized', session: this.#session.id, reason },
      'unauthorized browser rejected',
    )
    return new RpcError(rpcCodes.auth, reason)
  }

  /** Returns the session that the browser proves to own; otherwise a new one. */
  async #browserFor(params: Params, signedIn: SignedIn): Promise<BrowserSession> {
    const { protocol } = params
    if (typeof protocol !== 'string') return this.#newBrowser(signedIn)
    const known = this.#deps.presence.find(protocol)
    if (!known) return this.#afterRestart(params, signedIn)
    if (known.identity.key !== signedIn.identity.key) return this.#newBrowser(signedIn)
    // A duplicated tab sends a copy of the protocol: the page with the live connection keeps the session.
    const former = known.session
    if (former && former !== this.#session && (await former.probe(probeMs))) return this.#newBrowser(signedIn)
    // The session may have been removed meanwhile.
    return this.#deps.presence.find(protocol) === known ? known : this.#browserFor(params, signedIn)
  }

  /** Restores a session after a restart of the gateway. The sealed state tells whether it was online. */
  #afterRestart(params: Params, signedIn: SignedIn): BrowserSession {
    const { protocol, authorization_state: sealed } = params
    const state = typeof sealed === 'string' ? this.#deps.states.open(sealed) : undefined
    if (state?.protocol !== protocol || state?.holder !== signedIn.identity.key)
      return this.#newBrowser(signedIn)
    const browser = this.#newBrowser(signedIn, state?.protocol)
    browser.isOnline = state?.online === true
    return browser
  }

  #newBrowser(signedIn: SignedIn, protocol?: string): BrowserSession {
    const { nodeId, clock, tokens, browserLimits: limits, onSlow } = this.#deps
    const isRevoked = (token: SubscriberToken) => tokens.isRevoked(token)
    return new BrowserSession({ ...signedIn, isRevoked, nodeId, clock, protocol, limits, onSlow })
  }

  #adopt(browser: BrowserSession, { token, identity }: SignedIn): void {
    const { presence } = this.#deps
    const former = this.#browser
    this.#browser = browser
    if (former && former !== browser && former.unbind(this.#session)) presence.lost(former)
    browser.renew(token, identity)
    this.#unwatch?.()
    this.#unwatch = this.#deps.tokens.onRevocation(identity.id, () => this.#checkToken())
    if (presence.find(browser.protocol) === browser) presence.back(browser)
    else presence.add(browser)
    browser.bind(this.#session)
    this.#awaitEnd(browser)
    this.#notice.announce(browser)
    // The token may have been revoked while it was verified.
    this.#checkToken()
    if (browser.isOnline) this.#deps.cameOnline(browser, false)
  }

  async #reauthenticate(browser: BrowserSession, params: Params): Promise<Reply> {
    const { token, identity } = await this.#authenticate(params)
    if (identity.key !== browser.identity.key)
      throw this.#unauthorized('The token belongs to another subscriber.')
    browser.renew(token, identity)
    this.#awaitEnd(browser)
    this.#notice.announce(browser)
    this.#checkToken()
    return { result: this.#sessionFields(browser) }
  }

  /** Returns the fields that the SDK merges over those of the former token. */
  #sessionFields(browser: BrowserSession): Params {
    const { turn, clock } = this.#deps
    const { authorization, protocol, identity, expiresAt } = browser
    const ice = turn && { ice_servers: iceServersFor(turn, { id: identity.id, expiresAt }, clock.now()) }
    return { authorization, protocol, ...ice }
  }

  /**
   * Waits for the token to expire. The browser then receives no calls. Without a new token in time its
   * connection is closed, unless a call is in progress.
   */
  #awaitEnd(browser: BrowserSession): void {
    this.#revoked = false
    const left = browser.expiresAt * 1000 + renewalMs - this.#deps.clock.now()
    this.#endIn(left > 0 ? Math.min(left, maxWaitMs) : lastCallMs, () => {
      if (browser.isAuthorized || browser.calls.size > 0) this.#awaitEnd(browser)
      else this.#session.close(closeCodes.policy, 'the token has expired')
    })
  }

  /** Ends the session and its calls if no new token follows a revocation in time. */
  #checkToken(): void {
    const browser = this.#browser
    if (!browser?.isRevoked || this.#revoked) return
    this.#revoked = true
    this.#endIn(renewalMs, () => {
      this.#deps.presence.remove(browser)
      this.#session.close(closeCodes.policy, 'the token was revoked')
    })
  }

  #endIn(ms: number, end: () => void): void {
    this.#end?.cancel()
    this.#end = this.#deps.clock.after(ms, end)
  }

  #setOnline(browser: BrowserSession, online: boolean): Reply {
    if (online && browser.identity.kind !== 'subscriber')
      return { result: { code: '403', message: 'Guests cannot receive calls.' } }
    browser.isOnline = online
    return {
      result: { code: '200', message: 'OK' },
      after: () => {
        this.#sendState(browser)
        if (online) this.#deps.cameOnline(browser, true)
      },
    }
  }

  /** Sends the sealed state, which the browser returns when it reconnects. */
  #sendState(browser: BrowserSession): void {
    const { protocol, isOnline: online, identity } = browser
    const sealed = this.#deps.states.seal({ protocol, online, holder: identity.key })
    browser.emit('signalwire.authorization.state', { authorization_state: sealed })
  }
}
