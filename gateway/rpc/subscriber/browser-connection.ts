import { randomUUID } from 'node:crypto'
import type { TurnConfig } from '../../../config/types.ts'
import type { SessionStates } from '../../auth/states.ts'
import type { SubscriberToken } from '../../auth/token-claims.ts'
import { identityOf, type TokenIdentity } from '../../auth/token-identity.ts'
import type { SubscriberTokens } from '../../auth/tokens.ts'
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

/** What a connection works with. */
export interface BrowserConnectionDeps extends VertoDeps {
  readonly directory: Directory
  readonly tokens: Pick<SubscriberTokens, 'verify' | 'isRevoked' | 'onRevocation'>
  readonly states: SessionStates
  readonly presence: Presence
  readonly nodeId: string
  readonly browserQuotas: Pick<BrowserQuotas, 'checkConnection' | 'checkDial'>
  /** As those of a {@link BrowserSession}. */
  readonly browserLimits: BrowserSessionOptions['limits']
  readonly onSlow: BrowserSessionOptions['onSlow']
  /** What pages are told of; absent: they reach us directly. */
  readonly turn?: TurnConfig
  /** A page takes calls from now on; `anew`: it says so itself, and knows of none that ring. */
  readonly cameOnline: (browser: BrowserSession, anew: boolean) => void
}

/** How long the former connection of a page is given to show that it lives. */
const probeMs = 1_500
/** How long a page whose token has ended, or was taken back, may bring a new one. */
const renewalMs = 10_000
/** How often it is looked whether a page whose token has ended still has a call. */
const lastCallMs = 10_000
/** Timers take no more than 24 days. */
const maxWaitMs = 86_400_000

type Params = Readonly<Record<string, unknown>>

interface SignedIn {
  readonly token: SubscriberToken
  readonly identity: TokenIdentity
}

/** The browser dialect on one WebSocket. */
export class BrowserConnection implements RpcHandler {
  readonly methods: ReadonlySet<string>
  #deps: BrowserConnectionDeps
  #session: RpcSession
  #browser: BrowserSession | undefined
  #end: Timer | undefined
  /** The end is near because the token was taken back. */
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
    if (!browser) throw new RpcError(rpcCodes.auth, 'signalwire.connect comes first')
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
    // The page may have gone while its token was read.
    if (this.#session.isClosed) throw new RpcError(rpcCodes.internal, 'the connection is gone')
    browser.useAgent(params.agent)
    this.#adopt(browser, signedIn)
    const { nodeId, log } = this.#deps
    const facts = {
      session: this.#session.id,
      subscriber: browser.identity.id,
      kind: browser.identity.kind,
      protocol: browser.protocol,
      online: browser.isOnline,
    }
    // How many are online is a gauge: counting them for each of many who come back at once would take its
    // time.
    log.info(facts, 'browser connected')
    const identity = `${randomUUID()}@${nodeId}`
    return {
      result: { identity, ...this.#told(browser) },
      after: () => {
        this.#tellState(browser)
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
      ...over,
      session: this.#session.id,
      subscriber: identity.id,
      network: this.#session.network,
    }
    log.warn(facts, 'browser refused')
    // Pages come back by themselves after a close, and give up after an error.
    if (over.code === 'too_many_requests')
      this.#session.close(closeCodes.tryAgain, 'too many connections within a minute')
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
    this.#deps.log.warn({ code: 'unauthorized', session: this.#session.id, reason }, 'browser refused')
    return new RpcError(rpcCodes.auth, reason)
  }

  /** The page as we knew it, when it proves to be that page; else a new one. */
  async #browserFor(params: Params, signedIn: SignedIn): Promise<BrowserSession> {
    const { protocol } = params
    if (typeof protocol !== 'string') return this.#newBrowser(signedIn)
    const known = this.#deps.presence.find(protocol)
    if (!known) return this.#afterRestart(params, signedIn)
    if (known.identity.key !== signedIn.identity.key) return this.#newBrowser(signedIn)
    // A duplicated tab brings a copy of the protocol: the page whose connection lives keeps it.
    const former = known.session
    if (former && former !== this.#session && (await former.probe(probeMs))) return this.#newBrowser(signedIn)
    // It may have been given up meanwhile, and nothing reaches it any more.
    return this.#deps.presence.find(protocol) === known ? known : this.#browserFor(params, signedIn)
  }

  /** We were restarted meanwhile: the page does not say again that it is online, but its state does. */
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
    // It may have been taken back while it was read.
    this.#checkToken()
    if (browser.isOnline) this.#deps.cameOnline(browser, false)
  }

  async #reauthenticate(browser: BrowserSession, params: Params): Promise<Reply> {
    const { token, identity } = await this.#authenticate(params)
    if (identity.key !== browser.identity.key) throw this.#unauthorized('The token is of another subscriber.')
    browser.renew(token, identity)
    this.#awaitEnd(browser)
    this.#notice.announce(browser)
    this.#checkToken()
    return { result: this.#told(browser) }
  }

  /** The SDK lays what it is told with a new token over what it was told before. */
  #told(browser: BrowserSession): Params {
    const { turn, clock } = this.#deps
    const { authorization, protocol, identity, expiresAt } = browser
    const ice = turn && { ice_servers: iceServersFor(turn, { id: identity.id, expiresAt }, clock.now()) }
    return { authorization, protocol, ...ice }
  }

  /**
   * A page whose token has ended is not rung any more, and must not go on believing that it is online: when
   * it brings no new one soon, its connection is closed, and only a new token opens another. A call that goes
   * on is not cut off.
   */
  #awaitEnd(browser: BrowserSession): void {
    this.#revoked = false
    const left = browser.expiresAt * 1000 + renewalMs - this.#deps.clock.now()
    this.#endIn(left > 0 ? Math.min(left, maxWaitMs) : lastCallMs, () => {
      if (browser.isAuthorized || browser.calls.size > 0) this.#awaitEnd(browser)
      else this.#session.close(closeCodes.policy, 'the token has expired')
    })
  }

  /** A page whose token was taken back has as long to bring another one; its calls go with it. */
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
      return { result: { code: '403', message: 'Guests take no calls.' } }
    browser.isOnline = online
    return {
      result: { code: '200', message: 'OK' },
      after: () => {
        this.#tellState(browser)
        if (online) this.#deps.cameOnline(browser, true)
      },
    }
  }

  /** The page keeps this and hands it back when it connects again. */
  #tellState(browser: BrowserSession): void {
    const { protocol, isOnline: online, identity } = browser
    const sealed = this.#deps.states.seal({ protocol, online, holder: identity.key })
    browser.emit('signalwire.authorization.state', { authorization_state: sealed })
  }
}
