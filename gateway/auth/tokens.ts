import { createSecretKey, hash, type KeyObject, randomUUID } from 'node:crypto'
import { errors, type JWTVerifyResult, jwtVerify, SignJWT } from 'jose'
import type { Clock } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import type { Revocations } from './revocations.ts'
import { claimsOf, readClaims, type SubscriberToken, tokenHeader, tokenKey } from './token-claims.ts'

/** A token that was just made. */
export interface IssuedToken {
  readonly token: string
  /** Its `jti`. */
  readonly id: string
  /** Seconds since the Unix epoch. */
  readonly expiresAt: number
}

/** What a token may say besides whose it is. */
export interface TokenTerms
  extends Partial<Pick<SubscriberToken, 'kind' | 'addressIds' | 'scopes' | 'clientId'>> {
  /** The host that the browser SDK is to connect to; default the gateway's public one. */
  readonly connectTo?: string
}

/** Tokens that are remembered: checking a signature takes longer than all else of a request that asks for little. */
const mostChecked = 10_000

/** Makes and checks subscriber access tokens: JWTs (RFC 7519) signed with HS256. */
export class SubscriberTokens {
  readonly #key: KeyObject
  readonly #clock: Pick<Clock, 'now'>
  readonly #publicHost: string | undefined
  readonly #revocations: Pick<Revocations, 'has' | 'watch'> | undefined
  /** What those say whose signatures were good, by the hash of their text, the latest last. */
  readonly #checked = new Map<string, SubscriberToken>()
  readonly #mostChecked: number

  /**
   * `publicHost` stands in the header as `ch`: the host that the browser SDK connects to. Without `revocations` none was revoked. `most`:
   * tokens whose signatures are not checked again; default 10,000.
   */
  constructor(
    secret: Uint8Array,
    clock: Pick<Clock, 'now'>,
    publicHost?: string,
    revocations?: Pick<Revocations, 'has' | 'watch'>,
    most = mostChecked,
  ) {
    this.#key = createSecretKey(tokenKey(secret))
    this.#clock = clock
    this.#publicHost = publicHost
    this.#revocations = revocations
    this.#mostChecked = most
  }

  /** Tokens whose signatures were good and are not checked again. */
  get checked(): number {
    return this.#checked.size
  }

  /** `ttlSeconds` from now on; of a subscriber, unless the terms name another kind. */
  async issue(
    { id: subscriberId, projectId }: { readonly id: string; readonly projectId: string },
    ttlSeconds: number,
    { connectTo, kind = 'subscriber', scopes = [], addressIds, clientId }: TokenTerms = {},
  ): Promise<IssuedToken> {
    // With its fraction: what was issued in the second of a change of the password is told apart.
    const issuedAt = this.#clock.now() / 1000
    const expiresAt = Math.floor(issuedAt) + Math.floor(ttlSeconds)
    const id = randomUUID()
    const claims = { kind, subscriberId, projectId, id, issuedAt, expiresAt, scopes, addressIds, clientId }
    const token = await new SignJWT(claimsOf(claims))
      .setProtectedHeader(tokenHeader(connectTo ?? this.#publicHost))
      .sign(this.#key)
    return { token, id, expiresAt }
  }

  /** Throws `unauthorized` with a sentence that says what is wrong with the token. */
  async verify(text: string): Promise<SubscriberToken> {
    const key = hash('sha256', text, 'base64url')
    const token = this.#known(key) ?? (await this.#check(text, key))
    if (this.isRevoked(token)) throw new TrunklineError('unauthorized', 'The token was revoked.')
    return token
  }

  /** Whether a token that was good is so no more, though it has not expired. */
  isRevoked(token: SubscriberToken): boolean {
    return this.#revocations?.has(token) ?? false
  }

  /** Calls the listener whenever tokens of a subscriber, or of a guest, may have been revoked; returns what ends it. */
  onRevocation(subscriberId: string, listener: () => void): () => void {
    return this.#revocations?.watch(subscriberId, listener) ?? (() => {})
  }

  /** Undefined too once it has ended. */
  #known(key: string): SubscriberToken | undefined {
    const token = this.#checked.get(key)
    if (token && token.expiresAt * 1000 > this.#clock.now()) return token
    this.#checked.delete(key)
    return undefined
  }

  async #check(text: string, key: string): Promise<SubscriberToken> {
    const token = readClaims((await this.#open(text)).payload)
    if (!token) throw new TrunklineError('unauthorized', 'The token is not valid.')
    this.#checked.set(key, token)
    for (const oldest of this.#checked.keys()) {
      if (this.#checked.size <= this.#mostChecked) break
      this.#checked.delete(oldest)
    }
    return token
  }

  async #open(text: string): Promise<JWTVerifyResult> {
    try {
      return await jwtVerify(text, this.#key, {
        algorithms: ['HS256'],
        typ: 'SAT',
        currentDate: new Date(this.#clock.now()),
      })
    } catch (error) {
      if (error instanceof errors.JWTExpired)
        throw new TrunklineError('unauthorized', 'The token has expired.')
      throw new TrunklineError('unauthorized', 'The token is not valid.', {}, error)
    }
  }
}
