import type { RoomToken } from '../../auth/room-token-claims.ts'
import { isRoomToken, type RoomTokens } from '../../auth/room-tokens.ts'
import type { SessionStates } from '../../auth/states.ts'
import type { SubscriberTokens } from '../../auth/subscriber-tokens.ts'
import type { SubscriberToken } from '../../auth/token-claims.ts'
import { identityOf, roomIdentityOf, type TokenIdentity } from '../../auth/token-identity.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Directory } from '../../directory/directory.ts'
import { asRecord, RpcError, rpcCodes } from '../frames.ts'
import type { RpcSession } from '../rpc-session.ts'
import type { BrowserSession } from './browser-session.ts'

/** Collaborators of {@link BrowserCredentials}. */
export interface BrowserCredentialsDeps {
  readonly directory: Pick<Directory, 'subscriber'>
  readonly tokens: Pick<SubscriberTokens, 'verify' | 'onRevocation'>
  readonly roomTokens: Pick<RoomTokens, 'verify'>
  readonly states: SessionStates
  readonly metrics: Pick<Metrics, 'rejections'>
  readonly log: Log
}

/** Valid token, and the identity that it proves. */
export interface SignedIn {
  readonly token: SubscriberToken | RoomToken
  readonly identity: TokenIdentity
}

type Params = Readonly<Record<string, unknown>>

/** Credentials of browsers: access tokens, and sealed states of sessions. */
export class BrowserCredentials {
  readonly #deps: BrowserCredentialsDeps

  constructor(deps: BrowserCredentialsDeps) {
    this.#deps = deps
  }

  /** Verifies `authentication.jwt_token`. Rejects with {@link RpcError} if it proves no identity. */
  async signIn(params: Params, session: RpcSession): Promise<SignedIn> {
    const text = asRecord(params.authentication)?.jwt_token
    if (typeof text !== 'string') throw new RpcError(rpcCodes.auth, 'authentication.jwt_token is missing')
    const token = await this.#verify(text, session)
    const identity = token.kind === 'room' ? roomIdentityOf(token) : identityOf(token, this.#deps.directory)
    if (!identity) throw this.#unauthorized(session, 'The subscriber of the token does not exist.')
    return { token, identity }
  }

  /** Verifies a new token for a session. Rejects with {@link RpcError} if it has another identity. */
  async renew(browser: BrowserSession, params: Params, session: RpcSession): Promise<void> {
    const { token, identity } = await this.signIn(params, session)
    if (identity.key !== browser.identity.key)
      throw this.#unauthorized(session, 'The token belongs to another subscriber.')
    browser.renew(token, identity)
  }

  /** Calls a listener after each revocation of a holder's tokens, until the returned function is called. */
  onRevocation(holderId: string, listener: () => void): () => void {
    return this.#deps.tokens.onRevocation(holderId, listener)
  }

  /** Returns the state of a session, sealed for its browser. */
  seal({ protocol, isOnline: online, identity }: BrowserSession): string {
    return this.#deps.states.seal({ protocol, online, holder: identity.key })
  }

  /**
   * Opens the sealed state that a browser sent. Returns undefined unless it was sealed for the same identity
   * and protocol.
   */
  unseal({ protocol, authorization_state: sealed }: Params, { key }: TokenIdentity) {
    const state = typeof sealed === 'string' ? this.#deps.states.open(sealed) : undefined
    return state?.protocol === protocol && state?.holder === key ? state : undefined
  }

  /**
   * Whether a browser sent a state that was not sealed for the same identity: a wrong proof of its session.
   * The proof is optional, so a missing state is not forged.
   */
  isForged({ authorization_state: sealed }: Params, { key }: TokenIdentity): boolean {
    if (typeof sealed !== 'string' || sealed === '') return false
    return this.#deps.states.open(sealed)?.holder !== key
  }

  async #verify(text: string, session: RpcSession): Promise<SignedIn['token']> {
    const { tokens, roomTokens } = this.#deps
    try {
      return await (isRoomToken(text) ? roomTokens : tokens).verify(text)
    } catch (error) {
      throw this.#unauthorized(session, error instanceof Error ? error.message : String(error))
    }
  }

  #unauthorized(session: RpcSession, reason: string): RpcError {
    const code = 'unauthorized'
    this.#deps.metrics.rejections.inc({ code })
    this.#deps.log.warn(
      { event: 'browser.unauthorized', code, session: session.id, reason },
      'unauthorized browser rejected',
    )
    return new RpcError(rpcCodes.auth, reason)
  }
}
