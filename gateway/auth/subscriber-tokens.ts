import { createSecretKey, hash, type KeyObject, randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import type { Clock } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import type { RevocationSubject, Revocations } from './revocations.ts'
import { claimsOf, readClaims, type SubscriberToken, tokenHeader, tokenKey } from './token-claims.ts'
import { verifiedPayload } from './verified-payload.ts'

/** Newly issued token. */
export interface IssuedToken {
  readonly token: string
  /** Its `jti`. */
  readonly id: string
  /** Seconds since the Unix epoch. */
  readonly expiresAt: number
}

/** Claims of a token besides its owner. */
export interface TokenTerms
  extends Partial<Pick<SubscriberToken, 'kind' | 'addressIds' | 'scopes' | 'clientId'>> {
  /** Host for the browser SDK; default the gateway's public one. */
  readonly connectTo?: string
}

/**
 * Maximum number of verified tokens in the cache: verifying a signature takes longer than the rest of a
 * simple request.
 */
const maxChecked = 10_000

/** Issues and verifies subscriber access tokens: JWTs (RFC 7519) signed with HS256. */
export class SubscriberTokens {
  readonly #key: KeyObject
  readonly #clock: Pick<Clock, 'now'>
  readonly #publicHost: string | undefined
  readonly #revocations: Pick<Revocations, 'has' | 'watch'> | undefined
  /** Content of verified tokens by the hash of their text, the latest last. */
  readonly #checked = new Map<string, SubscriberToken>()
  readonly #maxChecked: number

  /**
   * `publicHost` becomes `ch` in the header, the host for the browser SDK. Without `revocations` no token is
   * revoked. `limit`: maximum number of cached tokens; default 10,000.
   */
  constructor(
    secret: Uint8Array,
    clock: Pick<Clock, 'now'>,
    publicHost?: string,
    revocations?: Pick<Revocations, 'has' | 'watch'>,
    limit = maxChecked,
  ) {
    this.#key = createSecretKey(tokenKey(secret))
    this.#clock = clock
    this.#publicHost = publicHost
    this.#revocations = revocations
    this.#maxChecked = limit
  }

  /** Number of cached tokens. */
  get checked(): number {
    return this.#checked.size
  }

  /** Issues a token for `ttlSeconds`. Its kind is `subscriber` unless the terms name another. */
  async issue(
    { id: subscriberId, projectId }: { readonly id: string; readonly projectId: string },
    ttlSeconds: number,
    { connectTo, kind = 'subscriber', scopes = [], addressIds, clientId }: TokenTerms = {},
  ): Promise<IssuedToken> {
    // In fractions of a second, to separate tokens issued before and after a password change in the same
    // second.
    const issuedAt = this.#clock.now() / 1000
    const expiresAt = Math.floor(issuedAt) + Math.floor(ttlSeconds)
    const id = randomUUID()
    const claims = { kind, subscriberId, projectId, id, issuedAt, expiresAt, scopes, addressIds, clientId }
    const token = await new SignJWT(claimsOf(claims))
      .setProtectedHeader(tokenHeader(connectTo ?? this.#publicHost))
      .sign(this.#key)
    return { token, id, expiresAt }
  }

  /** Verifies a token. Throws `unauthorized` with the reason. */
  async verify(text: string): Promise<SubscriberToken> {
    const key = hash('sha256', text, 'base64url')
    const token = this.#known(key) ?? (await this.#check(text, key))
    if (this.isRevoked(token)) throw new TrunklineError('unauthorized', 'The token was revoked.')
    return token
  }

  /** Returns whether a valid token was revoked before its expiry. */
  isRevoked(token: RevocationSubject): boolean {
    return this.#revocations?.has(token) ?? false
  }

  /**
   * Calls the listener whenever tokens of a subscriber or a guest may have been revoked. Returns a function
   * that ends this.
   */
  onRevocation(subscriberId: string, listener: () => void): () => void {
    return this.#revocations?.watch(subscriberId, listener) ?? (() => {})
  }

  /** Returns a cached token; undefined after its expiry. */
  #known(key: string): SubscriberToken | undefined {
    const token = this.#checked.get(key)
    if (token && token.expiresAt * 1000 > this.#clock.now()) return token
    this.#checked.delete(key)
    return undefined
  }

  async #check(text: string, key: string): Promise<SubscriberToken> {
    const expected = { key: this.#key, typ: 'SAT', now: this.#clock.now() } as const
    const token = readClaims(await verifiedPayload(text, expected))
    if (!token) throw new TrunklineError('unauthorized', 'The token is not valid.')
    this.#checked.set(key, token)
    for (const oldest of this.#checked.keys()) {
      if (this.#checked.size <= this.#maxChecked) break
      this.#checked.delete(oldest)
    }
    return token
  }
}
