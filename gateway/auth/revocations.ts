import type { RevokedRows, RevokedToken } from '../directory/tables/revoked-tokens.ts'
import type { RoomToken } from './room-token-claims.ts'
import type { SubscriberToken } from './token-claims.ts'

/** Token to be revoked. */
export type RevocableToken = Pick<SubscriberToken, 'id' | 'expiresAt'> &
  Partial<Pick<SubscriberToken, 'subscriberId'>>

/** Valid token that may have been revoked. */
export type RevocationSubject = Pick<SubscriberToken, 'id' | 'subscriberId' | 'issuedAt'> & {
  readonly kind: (SubscriberToken | RoomToken)['kind']
} & Pick<RoomToken, 'source'>

/** Collaborators of {@link Revocations}. */
export interface RevocationDeps {
  readonly rows: RevokedRows
  /**
   * Returns the time in milliseconds since 1970 before which a subscriber's tokens are invalid; Infinity for
   * an unknown subscriber.
   */
  readonly tokensAfter: (subscriberId: string) => number
  readonly now: () => number
}

/**
 * Time in ms for which a revocation is kept after its token expires: the token's refresh token is valid a
 * little longer.
 */
const retentionMs = 600_000
/** Interval in ms of the removal of old revocations. */
const pruneMs = 3_600_000

/**
 * Revoked subscriber access tokens that have not expired. Kept in memory, because every request needs them.
 */
export class Revocations {
  readonly #deps: RevocationDeps
  /** Time until which each revocation is kept, by the token's id. */
  #ended = new Map<string, number>()
  /** Listeners by the subscriber whose tokens they watch. */
  readonly #watching = new Map<string, Set<() => void>>()
  #prunedAt: number

  private constructor(deps: RevocationDeps) {
    this.#deps = deps
    this.#prunedAt = deps.now()
  }

  /** Reads the stored revocations. */
  static async open(deps: RevocationDeps): Promise<Revocations> {
    const revocations = new Revocations(deps)
    await revocations.reload()
    return revocations
  }

  /** Number of remembered tokens. */
  get size(): number {
    return this.#ended.size
  }

  /** Returns whether a token was revoked: itself, its source, or all tokens of its subscriber. */
  has({ kind, id, source, subscriberId, issuedAt }: RevocationSubject): boolean {
    if (this.#ended.has(id) || (source !== undefined && this.#ended.has(source))) return true
    if (kind === 'guest' || kind === 'room') return false
    // Compared in whole milliseconds, the precision of both values.
    return Math.round(issuedAt * 1000) < this.#deps.tokensAfter(subscriberId)
  }

  /**
   * Revokes one token; the revocation is stored when this resolves. `store` stores it together with another
   * change, and is not called for a token that is revoked already. If the token's subscriber is unknown, all
   * listeners are notified.
   */
  async revoke(
    token: RevocableToken,
    store = (row: RevokedToken): Promise<void> => this.#deps.rows.add(row),
  ): Promise<void> {
    const { id, subscriberId, expiresAt } = token
    const { now } = this.#deps
    if (expiresAt * 1000 <= now() || this.#ended.has(id)) return
    const row = { id, expiresAt: expiresAt * 1000 + retentionMs }
    await store(row)
    this.#ended.set(id, row.expiresAt)
    this.changed(subscriberId === undefined ? this.#watching.keys() : [subscriberId])
    await this.#prune()
  }

  /** Handles a revocation, or its removal, by another gateway on the same database. */
  async learn(id: string): Promise<void> {
    const token = await this.#deps.rows.find(id)
    if (!token) this.#ended.delete(id)
    else if (!this.#ended.has(id)) {
      this.#ended.set(id, token.expiresAt)
      this.changed(this.#watching.keys())
    }
  }

  /** Reads all revocations again, after notifications of other gateways were missed. */
  async reload(): Promise<void> {
    const all = await this.#deps.rows.all(this.#deps.now())
    // Revocations that this gateway added during the query stay.
    for (const { id, expiresAt } of all) this.#ended.set(id, expiresAt)
    this.changed(this.#watching.keys())
  }

  /**
   * Calls the listener whenever tokens of a subscriber or a guest may have been revoked. Returns a function
   * that ends this.
   */
  watch(subscriberId: string, listener: () => void): () => void {
    const watching = this.#watching.get(subscriberId) ?? new Set()
    this.#watching.set(subscriberId, watching.add(listener))
    return () => {
      watching.delete(listener)
      if (watching.size === 0) this.#watching.delete(subscriberId)
    }
  }

  /** Notifies the listeners of changed subscribers. */
  changed(subscriberIds: Iterable<string>): void {
    for (const id of [...subscriberIds]) for (const listener of this.#watching.get(id) ?? []) listener()
  }

  async #prune(): Promise<void> {
    const now = this.#deps.now()
    if (now - this.#prunedAt < pruneMs) return
    this.#prunedAt = now
    for (const [id, expiresAt] of this.#ended) if (expiresAt <= now) this.#ended.delete(id)
    await this.#deps.rows.removeEnded(now)
  }
}
