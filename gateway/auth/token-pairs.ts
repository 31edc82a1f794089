import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import type { RefreshTokenRow, RefreshTokenRows } from '../directory/refresh-tokens.ts'
import type { Revocations } from './revocations.ts'
import { type SubscriberToken, type TokenKind, tokenKinds } from './token-claims.ts'
import type { IssuedToken, SubscriberTokens } from './tokens.ts'

/** An access token and the refresh token that renews it. Secrets both. */
export interface TokenPair {
  readonly token: string
  readonly refreshToken: string
}

/** Whose a pair is, and what its access tokens say. */
export interface PairTerms {
  readonly kind: TokenKind
  /** Of a guest: an id of their own. */
  readonly subscriberId: string
  readonly projectId: string
  readonly addressIds?: readonly string[]
  readonly scopes?: readonly string[]
  /** The host that the browser SDK is to connect to. */
  readonly connectTo?: string
}

/** What pairs work with. */
export interface TokenPairParts {
  readonly tokens: Pick<SubscriberTokens, 'issue' | 'verify'>
  readonly rows: Pick<RefreshTokenRows, 'add' | 'find' | 'replace' | 'removeFamily' | 'removeEnded'>
  readonly revocations: Pick<Revocations, 'has' | 'revoke'>
  readonly clock: Pick<Clock, 'now'>
}

/** How long an access token is good where nobody says: two hours. */
export const defaultSeconds = 7_200
/** How much longer its refresh token is. */
const refreshSeconds = 300
const pruneMs = 3_600_000

/** What the store keeps of a refresh token besides its columns. */
interface Kept extends PairTerms {
  /** The access token that came with it: it goes when the family is found stolen. */
  readonly access: Pick<SubscriberToken, 'id' | 'expiresAt'>
}

/**
 * Access tokens with refresh tokens, which are good once (RFC 9700 section 4.14.2). Each refresh makes a new pair of the same family; when a
 * refresh token comes a second time, one of two who have it has stolen it, and the family ends with its access tokens.
 */
export class TokenPairs {
  readonly #parts: TokenPairParts
  #prunedAt: number

  constructor(parts: TokenPairParts) {
    this.#parts = parts
    this.#prunedAt = parts.clock.now()
  }

  /** The access token is good for `seconds`. */
  async issue(terms: PairTerms, seconds = defaultSeconds): Promise<TokenPair> {
    const { pair, row } = await this.#make(terms, seconds, randomUUID())
    await this.#parts.rows.add(row)
    await this.#prune()
    return pair
  }

  /** Undefined where the refresh token is none of the project, or not good any more. `subscriberId`: only one of theirs. */
  async refresh(
    text: string,
    { projectId, subscriberId }: { readonly projectId: string; readonly subscriberId?: string },
  ): Promise<TokenPair | undefined> {
    const { rows, clock } = this.#parts
    const found = await rows.find(hashOf(text))
    if (!found || found.project_id !== projectId || !isRefreshToken(found)) return undefined
    const kept: Kept = JSON.parse(found.claims_json)
    if (subscriberId !== undefined && kept.subscriberId !== subscriberId) return undefined
    if (found.used_at !== null || this.#wasRevoked(found, kept)) return this.#endFamily(found.family)
    if (Number(found.expires_at) <= clock.now()) return undefined
    const { pair, row } = await this.#make(kept, defaultSeconds, found.family)
    if (await rows.replace(found.hash, clock.now(), row)) return pair
    return this.#endFamily(found.family)
  }

  /** Takes back an access token, an embed token, or a refresh token with all of its family; what is none of the project is left alone (RFC 7009 section 2.2). */
  async revoke(text: string, projectId: string): Promise<void> {
    const found = await this.#parts.rows.find(hashOf(text))
    if (found?.project_id === projectId) await this.#endFamily(found.family)
    if (found) return
    const token = await this.#parts.tokens.verify(text).catch(() => undefined)
    if (token?.projectId === projectId) await this.#parts.revocations.revoke(token)
  }

  async #make(terms: PairTerms, seconds: number, family: string) {
    const { kind, subscriberId, projectId, addressIds, scopes, connectTo } = terms
    const holder = { id: subscriberId, projectId }
    const access = await this.#parts.tokens.issue(holder, seconds, { kind, addressIds, scopes, connectTo })
    const refreshToken = randomBytes(32).toString('base64url')
    const row = {
      ...this.#rowOf(terms, access),
      hash: hashOf(refreshToken),
      family,
      expires_at: (access.expiresAt + refreshSeconds) * 1000,
    }
    return { pair: { token: access.token, refreshToken }, row }
  }

  #rowOf(terms: PairTerms, { id, expiresAt }: IssuedToken) {
    const { kind, subscriberId, projectId, addressIds, scopes, connectTo } = terms
    const access = { id, expiresAt }
    const kept: Kept = { kind, subscriberId, projectId, addressIds, scopes, connectTo, access }
    return {
      id: randomUUID(),
      project_id: projectId,
      subscriber_id: kind === 'guest' ? null : subscriberId,
      kind,
      claims_json: JSON.stringify(kept),
      used_at: null,
      created_at: this.#parts.clock.now(),
    }
  }

  /** With its access token, or with all of its subscriber. */
  #wasRevoked({ created_at }: RefreshTokenRow, { kind, subscriberId, projectId, access }: Kept): boolean {
    const issuedAt = Number(created_at) / 1000
    return this.#parts.revocations.has({ ...access, kind, subscriberId, projectId, issuedAt, scopes: [] })
  }

  async #endFamily(family: string): Promise<undefined> {
    const { rows, revocations } = this.#parts
    // A refresh that was under way may have written another down meanwhile (PostgreSQL does not show it to the statement that removes).
    for (;;) {
      const removed = await rows.removeFamily(family)
      if (removed.length === 0) return undefined
      for (const { claims_json } of removed) {
        const { access, subscriberId }: Partial<Kept> = JSON.parse(claims_json)
        if (access) await revocations.revoke({ ...access, subscriberId })
      }
    }
  }

  async #prune(): Promise<void> {
    const now = this.#parts.clock.now()
    if (now - this.#prunedAt < pruneMs) return
    this.#prunedAt = now
    await this.#parts.rows.removeEnded(now)
  }
}

/** Embed tokens lie beside them. */
const isRefreshToken = ({ kind }: RefreshTokenRow): boolean => tokenKinds.includes(kind as TokenKind)

/** SHA-256 of a token, hex: random 256 bits need no slow hash. */
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
