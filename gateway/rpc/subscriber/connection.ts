import { randomUUID } from 'node:crypto'
import type { TurnConfig } from '../../../config/types.ts'
import { holderOf, type TokenHolder } from '../../auth/holders.ts'
import type { SessionStates } from '../../auth/states.ts'
import type { SubscriberToken } from '../../auth/token-claims.ts'
import type { SubscriberTokens } from '../../auth/tokens.ts'
import type { Timer } from '../../core/clock.ts'
import { catalogue } from '../../core/errors/catalogue.ts'
import type { Directory } from '../../directory/types.ts'
import { asRecord, RpcError, rpcCodes } from '../frames.ts'
import { closeCodes, type Reply, type RpcHandler, type RpcSession } from '../session.ts'
import { Client, type ClientOptions } from './client.ts'
import { ExpiryNotice } from './expiry-notice.ts'
import { iceServersFor } from './ice-servers.ts'
import { handleMember, memberMethods } from './member-requests.ts'
import type { Presence } from './presence.ts'
import type { Shares } from './shares.ts'
import { handleVerto, type VertoParts } from './verto-requests.ts'

/** What a connection works with. */
export interface ConnectionParts extends VertoParts {
  readonly directory: Directory
  readonly tokens: Pick<SubscriberTokens, 'verify' | 'isRevoked' | 'onRevocation'>
  readonly states: SessionStates
  readonly presence: Presence
  readonly nodeId: string
  readonly shares: Pick<Shares, 'connecting' | 'dialling'>
  /** As those of a {@link Client}. */
  readonly clientLimits: ClientOptions['limits']
  readonly onSlow: ClientOptions['onSlow']
  /** What pages are told of; absent: they reach us directly. */
  readonly turn?: TurnConfig
  /** A page takes calls from now on; `anew`: it says so itself, and knows of none that ring. */
  readonly cameOnline: (client: Client, anew: boolean) => void
}

/** How long the former connection of a page is given to show that it lives. */
const probeMs = 1_500
/** How long a page whose token has ended, or was taken back, may bring a new one. */
const renewalMs = 10_000
/** How often it is looked whether a page whose token has ended still has a call. */
const lastCallMs = 10_000
/** Timers take no more than 24 days. */
const longestWaitMs = 86_400_000

type Params = Readonly<Record<string, unknown>>

interface SignedIn {
  readonly token: SubscriberToken
  readonly holder: TokenHolder
}

/** The browser dialect on one WebSocket. */
export class Connection implements RpcHandler {
  readonly methods: ReadonlySet<string>
  #parts: ConnectionParts
  #session: RpcSession
  #client: Client | undefined
  #end: Timer | undefined
  /** The end is near because the token was taken back. */
  #revoked = false
  #unwatch: (() => void) | undefined
  readonly #notice: ExpiryNotice

  constructor(parts: ConnectionParts, session: RpcSession) {
    this.#parts = parts
    this.#session = session
    this.#notice = new ExpiryNotice(parts.clock)
    this.methods = new Set([...Object.keys(this.#handlers), ...memberMethods])
  }

  handle(method: string, params: Params): Reply | Promise<Reply> {
    if (method === 'signalwire.connect') return this.#connect(params)
    const client = this.#client
    if (!client) throw new RpcError(rpcCodes.auth, 'signalwire.connect comes first')
    const handler = Object.hasOwn(this.#handlers, method) ? this.#handlers[method] : undefined
    if (handler) return handler(client, params)
    if (memberMethods.includes(method)) return handleMember(client, method, params)
    throw new RpcError(rpcCodes.method, method.slice(0, 60))
  }

  closed(): void {
    this.#end?.cancel()
    this.#notice.cancel()
    this.#unwatch?.()
    if (this.#client?.unbind(this.#session)) this.#parts.presence.lost(this.#client)
  }

  #handlers: Readonly<Record<string, (client: Client, params: Params) => Reply | Promise<Reply>>> = {
    'signalwire.connect': (_client, params) => this.#connect(params),
    'signalwire.reauthenticate': (client, params) => this.#reauthenticate(client, params),
    'signalwire.ping': (_client, params) => ({ result: { timestamp: params.timestamp } }),
    'signalwire.disconnect': (client) => this.#setOnline(client, false),
    'subscriber.online': (client) => this.#setOnline(client, true),
    'subscriber.offline': (client) => this.#setOnline(client, false),
    'webrtc.verto': (client, params) => handleVerto(this.#parts, client, params),
  }

  async #connect(params: Params): Promise<Reply> {
    const signedIn = await this.#authenticate(params)
    const client = await this.#clientFor(params, signedIn)
    this.#checkShare(client, signedIn)
    // The page may have gone while its token was read.
    if (this.#session.isClosed) throw new RpcError(rpcCodes.internal, 'the connection is gone')
    client.useAgent(params.agent)
    this.#adopt(client, signedIn)
    const { nodeId, log } = this.#parts
    const facts = {
      session: this.#session.id,
      subscriber: client.holder.id,
      kind: client.holder.kind,
      protocol: client.protocol,
      online: client.online,
    }
    // How many are online is a gauge: counting them for each of many who come back at once would take its time.
    log.info(facts, 'browser connected')
    const identity = `${randomUUID()}@${nodeId}`
    return {
      result: { identity, ...this.#told(client) },
      after: () => {
        this.#tellState(client)
        client.flush()
      },
    }
  }

  #checkShare(client: Client, { token, holder }: SignedIn): void {
    const { shares, presence, metrics, log } = this.#parts
    const known = presence.find(client.protocol) === client
    const over = shares.connecting({ holder, tokenId: token.id, known })
    if (!over) return
    metrics.rejections.inc({ code: over.code })
    const facts = {
      ...over,
      session: this.#session.id,
      subscriber: holder.id,
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
    const holder = holderOf(token, this.#parts.directory)
    if (!holder) throw this.#unauthorized('The subscriber of the token does not exist.')
    return { token, holder }
  }

  async #verify(text: string): Promise<SubscriberToken> {
    try {
      return await this.#parts.tokens.verify(text)
    } catch (error) {
      throw this.#unauthorized(error instanceof Error ? error.message : String(error))
    }
  }

  #unauthorized(reason: string): RpcError {
    this.#parts.metrics.rejections.inc({ code: 'unauthorized' })
    this.#parts.log.warn({ code: 'unauthorized', session: this.#session.id, reason }, 'browser refused')
    return new RpcError(rpcCodes.auth, reason)
  }

  /** The page as we knew it, when it proves to be that page; else a new one. */
  async #clientFor(params: Params, signedIn: SignedIn): Promise<Client> {
    const { protocol } = params
    if (typeof protocol !== 'string') return this.#newClient(signedIn)
    const known = this.#parts.presence.find(protocol)
    if (!known) return this.#afterRestart(params, signedIn)
    if (known.holder.key !== signedIn.holder.key) return this.#newClient(signedIn)
    // A duplicated tab brings a copy of the protocol: the page whose connection lives keeps it.
    const former = known.session
    if (former && former !== this.#session && (await former.probe(probeMs))) return this.#newClient(signedIn)
    // It may have been given up meanwhile, and nothing reaches it any more.
    return this.#parts.presence.find(protocol) === known ? known : this.#clientFor(params, signedIn)
  }

  /** We were restarted meanwhile: the page does not say again that it is online, but its state does. */
  #afterRestart(params: Params, signedIn: SignedIn): Client {
    const { protocol, authorization_state: sealed } = params
    const state = typeof sealed === 'string' ? this.#parts.states.open(sealed) : undefined
    if (state?.protocol !== protocol || state?.holder !== signedIn.holder.key)
      return this.#newClient(signedIn)
    const client = this.#newClient(signedIn, state?.protocol)
    client.online = state?.online === true
    return client
  }

  #newClient(signedIn: SignedIn, protocol?: string): Client {
    const { nodeId, clock, tokens, clientLimits: limits, onSlow } = this.#parts
    const isRevoked = (token: SubscriberToken) => tokens.isRevoked(token)
    return new Client({ ...signedIn, isRevoked, nodeId, clock, protocol, limits, onSlow })
  }

  #adopt(client: Client, { token, holder }: SignedIn): void {
    const { presence } = this.#parts
    const former = this.#client
    this.#client = client
    if (former && former !== client && former.unbind(this.#session)) presence.lost(former)
    client.renew(token, holder)
    this.#unwatch?.()
    this.#unwatch = this.#parts.tokens.onRevocation(holder.id, () => this.#checkToken())
    if (presence.find(client.protocol) === client) presence.back(client)
    else presence.add(client)
    client.bind(this.#session)
    this.#awaitEnd(client)
    this.#notice.announce(client)
    // It may have been taken back while it was read.
    this.#checkToken()
    if (client.online) this.#parts.cameOnline(client, false)
  }

  async #reauthenticate(client: Client, params: Params): Promise<Reply> {
    const { token, holder } = await this.#authenticate(params)
    if (holder.key !== client.holder.key) throw this.#unauthorized('The token is of another subscriber.')
    client.renew(token, holder)
    this.#awaitEnd(client)
    this.#notice.announce(client)
    this.#checkToken()
    return { result: this.#told(client) }
  }

  /** The SDK lays what it is told with a new token over what it was told before. */
  #told(client: Client): Params {
    const { turn, clock } = this.#parts
    const { authorization, protocol, holder, expiresAt } = client
    const ice = turn && { ice_servers: iceServersFor(turn, { id: holder.id, expiresAt }, clock.now()) }
    return { authorization, protocol, ...ice }
  }

  /**
   * A page whose token has ended is not rung any more, and must not go on believing that it is online: when it brings no new one soon, its
   * connection is closed, and only a new token opens another. A call that goes on is not cut off.
   */
  #awaitEnd(client: Client): void {
    this.#revoked = false
    const left = client.expiresAt * 1000 + renewalMs - this.#parts.clock.now()
    this.#endIn(left > 0 ? Math.min(left, longestWaitMs) : lastCallMs, () => {
      if (client.authorized || client.calls.size > 0) this.#awaitEnd(client)
      else this.#session.close(closeCodes.policy, 'the token has expired')
    })
  }

  /** A page whose token was taken back has as long to bring another one; its calls go with it. */
  #checkToken(): void {
    const client = this.#client
    if (!client?.revoked || this.#revoked) return
    this.#revoked = true
    this.#endIn(renewalMs, () => {
      this.#parts.presence.remove(client)
      this.#session.close(closeCodes.policy, 'the token was revoked')
    })
  }

  #endIn(ms: number, end: () => void): void {
    this.#end?.cancel()
    this.#end = this.#parts.clock.after(ms, end)
  }

  #setOnline(client: Client, online: boolean): Reply {
    if (online && client.holder.kind !== 'subscriber')
      return { result: { code: '403', message: 'Guests take no calls.' } }
    client.online = online
    return {
      result: { code: '200', message: 'OK' },
      after: () => {
        this.#tellState(client)
        if (online) this.#parts.cameOnline(client, true)
      },
    }
  }

  /** The page keeps this and hands it back when it connects again. */
  #tellState(client: Client): void {
    const { protocol, online, holder } = client
    const sealed = this.#parts.states.seal({ protocol, online, holder: holder.key })
    client.emit('signalwire.authorization.state', { authorization_state: sealed })
  }
}
