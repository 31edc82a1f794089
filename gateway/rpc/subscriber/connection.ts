import { randomUUID } from 'node:crypto'
import type { SessionStates } from '../../auth/states.ts'
import type { SubscriberToken, SubscriberTokens } from '../../auth/tokens.ts'
import type { Timer } from '../../clock.ts'
import type { Directory, Subscriber } from '../../directory/types.ts'
import { asRecord, RpcError, rpcCodes } from '../frames.ts'
import { closeCodes, type Reply, type RpcHandler, type RpcSession } from '../session.ts'
import { Client } from './client.ts'
import { handleMember, memberMethods } from './member-requests.ts'
import type { Presence } from './presence.ts'
import { handleVerto, type VertoParts } from './verto-requests.ts'

/** What a connection works with. */
export interface ConnectionParts extends VertoParts {
  readonly directory: Directory
  readonly tokens: Pick<SubscriberTokens, 'verify'>
  readonly states: SessionStates
  readonly presence: Presence
  readonly nodeId: string
  /** A page takes calls from now on. */
  readonly cameOnline: (client: Client) => void
}

/** How long the former connection of a page is given to show that it lives. */
const probeMs = 1_500
/** How often it is looked whether a page whose token has ended still has a call. */
const lastCallMs = 10_000
/** Timers take no more than 24 days. */
const longestWaitMs = 86_400_000

type Params = Readonly<Record<string, unknown>>

/** The browser dialect on one WebSocket. */
export class Connection implements RpcHandler {
  readonly methods: ReadonlySet<string>
  #parts: ConnectionParts
  #session: RpcSession
  #client: Client | undefined
  #expiry: Timer | undefined

  constructor(parts: ConnectionParts, session: RpcSession) {
    this.#parts = parts
    this.#session = session
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
    this.#expiry?.cancel()
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
    const { token, subscriber } = await this.#authenticate(params)
    const client = await this.#clientFor(params, token, subscriber)
    // The page may have gone while its token was read.
    if (this.#session.isClosed) throw new RpcError(rpcCodes.internal, 'the connection is gone')
    this.#adopt(client, token)
    const { presence, nodeId, log } = this.#parts
    const facts = {
      session: this.#session.id,
      subscriber: subscriber.id,
      protocol: client.protocol,
      online: client.online,
    }
    log.info({ ...facts, subscribers: presence.subscribersOnline }, 'browser connected')
    const identity = `${randomUUID()}@${nodeId}`
    return {
      result: { identity, authorization: client.authorization, protocol: client.protocol },
      after: () => {
        this.#tellState(client)
        client.flush()
      },
    }
  }

  async #authenticate(params: Params): Promise<{ token: SubscriberToken; subscriber: Subscriber }> {
    const text = asRecord(params.authentication)?.jwt_token
    if (typeof text !== 'string') throw new RpcError(rpcCodes.auth, 'authentication.jwt_token is missing')
    const token = await this.#verify(text)
    const subscriber = this.#parts.directory.subscriber(token.subscriberId)
    if (!subscriber) throw this.#unauthorized('The subscriber of the token does not exist.')
    return { token, subscriber }
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
  async #clientFor(params: Params, token: SubscriberToken, subscriber: Subscriber): Promise<Client> {
    const { protocol } = params
    if (typeof protocol !== 'string') return this.#newClient(token, subscriber)
    const known = this.#parts.presence.find(protocol)
    if (!known) return this.#afterRestart(params, token, subscriber)
    if (known.subscriber.id !== subscriber.id) return this.#newClient(token, subscriber)
    // A duplicated tab brings a copy of the protocol: the page whose connection lives keeps it.
    const former = known.session
    if (former && former !== this.#session && (await former.probe(probeMs)))
      return this.#newClient(token, subscriber)
    return known
  }

  /** We were restarted meanwhile: the page does not say again that it is online, but its state does. */
  #afterRestart(params: Params, token: SubscriberToken, subscriber: Subscriber): Client {
    const { protocol, authorization_state: sealed } = params
    const state = typeof sealed === 'string' ? this.#parts.states.open(sealed) : undefined
    if (state?.protocol !== protocol || state?.subscriberId !== subscriber.id)
      return this.#newClient(token, subscriber)
    const client = this.#newClient(token, subscriber, state?.protocol)
    client.online = state?.online === true
    return client
  }

  #newClient(token: SubscriberToken, subscriber: Subscriber, protocol?: string): Client {
    const { nodeId, clock } = this.#parts
    const { id: tokenId, expiresAt } = token
    return new Client({ subscriber, tokenId, expiresAt, nodeId, clock, protocol })
  }

  #adopt(client: Client, token: SubscriberToken): void {
    const { presence } = this.#parts
    const former = this.#client
    this.#client = client
    if (former && former !== client && former.unbind(this.#session)) presence.lost(former)
    client.expiresAt = token.expiresAt
    if (presence.find(client.protocol) === client) presence.back(client)
    else presence.add(client)
    client.bind(this.#session)
    this.#awaitExpiry(client)
    if (client.online) this.#parts.cameOnline(client)
  }

  async #reauthenticate(client: Client, params: Params): Promise<Reply> {
    const { token, subscriber } = await this.#authenticate(params)
    if (subscriber.id !== client.subscriber.id)
      throw this.#unauthorized('The token is of another subscriber.')
    client.expiresAt = token.expiresAt
    this.#awaitExpiry(client)
    return { result: { authorization: client.authorization, protocol: client.protocol } }
  }

  /**
   * A page whose token has ended is not rung any more, and must not go on believing that it is online: its connection is closed, and only a
   * new token opens another. A call that goes on is not cut off.
   */
  #awaitExpiry(client: Client): void {
    this.#expiry?.cancel()
    const left = client.expiresAt * 1000 - this.#parts.clock.now()
    const wait = left > 0 ? Math.min(left, longestWaitMs) : lastCallMs
    this.#expiry = this.#parts.clock.after(wait, () => {
      if (client.authorized || client.calls.size > 0) this.#awaitExpiry(client)
      else this.#session.close(closeCodes.policy, 'the token has expired')
    })
  }

  #setOnline(client: Client, online: boolean): Reply {
    client.online = online
    return {
      result: { code: '200', message: 'OK' },
      after: () => {
        this.#tellState(client)
        if (online) this.#parts.cameOnline(client)
      },
    }
  }

  /** The page keeps this and hands it back when it connects again. */
  #tellState(client: Client): void {
    const { protocol, online, subscriber } = client
    const sealed = this.#parts.states.seal({ protocol, online, subscriberId: subscriber.id })
    client.emit('signalwire.authorization.state', { authorization_state: sealed })
  }
}
