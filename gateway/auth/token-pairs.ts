import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import type { RefreshTokenRow, RefreshTokenRows } from '../directory/tables/refresh-tokens.ts'
import { type ConferenceTokens, isConferenceToken } from './conference-tokens.ts'
import type { Revocations } from './revocations.ts'
import { isRoomToken, type RoomTokens } from './room-tokens.ts'
import type { IssuedToken, SubscriberTokens } from './subscriber-tokens.ts'
import { type SubscriberToken, type TokenKind, tokenKinds } from './token-claims.ts'

/** Access token with the refresh token that renews it. Both are secrets. */
export interface TokenPair {
  readonly token: string
  readonly refreshToken: string
}

/** Terms of a pair: its owner, and the claims of its access tokens. */
export interface PairTerms {
  readonly kind: TokenKind
  /** For a guest, the guest's own id. */
  readonly subscriberId: string
  readonly projectId: string
  readonly addressIds?: readonly string[]
  readonly scopes?: readonly string[]
  /** Host for the browser SDK. */
  readonly connectTo?: string
}

/** Collaborators of {@link TokenPairs}. */
export interface TokenPairDeps {
  readonly tokens: Pick<SubscriberTokens, 'issue' | 'verify'>
  readonly roomTokens: Pick<RoomTokens, 'verify'>
  readonly conferenceTokens: Pick<ConferenceTokens, 'revoke'>
  readonly rows: Pick<RefreshTokenRows, 'add' | 'find' | 'replace' | 'removeFamily' | 'removeEnded'>
  readonly revocations: Pick<Revocations, 'has' | 'revoke'>
  readonly clock: Pick<Clock, 'now'>
}

/** Default lifetime of an access token in seconds: two hours. */
export const defaultSeconds = 7_200
/** Time in seconds by which a refresh token outlives its access token. */
const refreshSeconds = 300
const pruneMs = 3_600_000

/** Stored data of a refresh token besides its columns. */
interface Kept extends PairTerms {
  /** Access token of the pair; it is revoked if a token of the family turns out to be stolen. */
  readonly access: Pick<SubscriberToken, 'id' | 'expiresAt'>
}

/**
 * Issues and renews access tokens with single-use refresh tokens (RFC 9700 section 4.14.2). Each refresh
 * creates a new pair in the same family. A second use of a refresh token reveals a theft, and revokes the
 * whole family with its access tokens.
 */
export class TokenPairs {
  readonly #deps: TokenPairDeps
  #prunedAt: number

  constructor(deps: TokenPairDeps) {
    this.#deps = deps
    this.#prunedAt = deps.clock.now()
  }

  /** Issues a pair. The access token is valid for `seconds`. */
  async issue(terms: PairTerms, seconds = defaultSeconds): Promise<TokenPair> {
    const { pair, row } = await this.#make(terms, seconds, randomUUID())
    await this.#deps.rows.add(row)
    await this.#prune()
    return pair
  }

  /**
   * Refreshes a pair. Returns undefined if the refresh token is invalid or belongs to another project.
   * `subscriberId`: if given, only this subscriber's tokens are accepted.
   */
  async refresh(
    text: string,
    { projectId, subscriberId }: { readonly projectId: string; readonly subscriberId?: string },
  ): Promise<TokenPair | undefined> {
    const { rows, clock } = this.#deps
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

  /**
   * Revokes an access token, a room token, an embed token, or a refresh token with its family. Resets a
   * conference token. Does nothing for a token of another project (RFC 7009 section 2.2).
   */
  async revoke(text: string, projectId: string): Promise<void> {
    const found = await this.#deps.rows.find(hashOf(text))
    if (found?.project_id === projectId) await this.#endFamily(found.family)
    if (found) return
    const { tokens, roomTokens, conferenceTokens } = this.#deps
    if (isConferenceToken(text)) return conferenceTokens.revoke(text, projectId)
    const verifier = isRoomToken(text) ? roomTokens : tokens
    const token = await verifier.verify(text).catch(() => undefined)
    if (token?.projectId === projectId) await this.#deps.revocations.revoke(token)
  }

  async #make(terms: PairTerms, seconds: number, family: string) {
    const { kind, subscriberId, projectId, addressIds, scopes, connectTo } = terms
    const holder = { id: subscriberId, projectId }
    const access = await this.#deps.tokens.issue(holder, seconds, { kind, addressIds, scopes, connectTo })
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
      created_at: this.#deps.clock.now(),
    }
  }

  /**
   * Returns whether a refresh token was revoked with its access token, or with all tokens of its subscriber.
   */
  #wasRevoked({ created_at }: RefreshTokenRow, { kind, subscriberId, access }: Kept): boolean {
    const issuedAt = Number(created_at) / 1000
    return this.#deps.revocations.has({ id: access.id, kind, subscriberId, issuedAt })
  }

  async #endFamily(family: string): Promise<undefined> {
    const { rows, revocations } = this.#deps
    // Repeated, because a simultaneous refresh may have stored a token that PostgreSQL hides from this
    // DELETE.
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
    const now = this.#deps.clock.now()
    if (now - this.#prunedAt < pruneMs) return
    this.#prunedAt = now
    await this.#deps.rows.removeEnded(now)
  }
}

/** Returns whether a row is a refresh token: embed tokens share the table. */
const isRefreshToken = ({ kind }: RefreshTokenRow): boolean => tokenKinds.includes(kind as TokenKind)

/** Returns the SHA-256 of a token, hex: 256 random bits need no slow hash. */
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
