import type { RevokedRows } from '../directory/revoked-tokens.ts'
import type { SubscriberToken } from './token-claims.ts'

/** What is known of a token that is to be revoked. */
export type RevocableToken = Pick<SubscriberToken, 'id' | 'expiresAt'> &
  Partial<Pick<SubscriberToken, 'subscriberId'>>

/** What revocations work with. */
export interface RevocationParts {
  readonly rows: RevokedRows
  /** Tokens of a subscriber that were issued before this are not good, in milliseconds since 1970; Infinity: there is no such subscriber. */
  readonly tokensAfter: (subscriberId: string) => number
  readonly now: () => number
}

/** How much longer than the token its revocation is kept: its refresh token is good for a little longer, and is not to be. */
const keptMs = 600_000
/** How often the old ones are forgotten, at a revocation. */
const pruneMs = 3_600_000

/** Which subscriber access tokens were revoked before they ended: in memory, for every request asks. */
export class Revocations {
  readonly #parts: RevocationParts
  /** When each may be forgotten, by the token's id. */
  #ended = new Map<string, number>()
  /** By the subscriber whose tokens they watch. */
  readonly #watching = new Map<string, Set<() => void>>()
  #prunedAt: number

  private constructor(parts: RevocationParts) {
    this.#parts = parts
    this.#prunedAt = parts.now()
  }

  /** Reads what was revoked before. */
  static async open(parts: RevocationParts): Promise<Revocations> {
    const revocations = new Revocations(parts)
    await revocations.reload()
    return revocations
  }

  /** Tokens that are remembered. */
  get size(): number {
    return this.#ended.size
  }

  /** Whether the token was revoked, by itself or with all of its subscriber. */
  has({ kind, id, subscriberId, issuedAt }: SubscriberToken): boolean {
    if (this.#ended.has(id)) return true
    // In whole milliseconds, which is what both are made of.
    return kind !== 'guest' && Math.round(issuedAt * 1000) < this.#parts.tokensAfter(subscriberId)
  }

  /** Revokes one token; it is kept before this resolves. Where the subscriber is not named, all are looked at. */
  async revoke(token: RevocableToken): Promise<void> {
    const { id, subscriberId, expiresAt } = token
    const { rows, now } = this.#parts
    if (expiresAt * 1000 <= now() || this.#ended.has(id)) return
    const kept = { id, expiresAt: expiresAt * 1000 + keptMs }
    await rows.add(kept)
    this.#ended.set(id, kept.expiresAt)
    this.changed(subscriberId === undefined ? this.#watching.keys() : [subscriberId])
    await this.#prune()
  }

  /** Another gateway on the same database has revoked this one, or forgotten it. */
  async learn(id: string): Promise<void> {
    const token = await this.#parts.rows.find(id)
    if (!token) this.#ended.delete(id)
    else if (!this.#ended.has(id)) {
      this.#ended.set(id, token.expiresAt)
      this.changed(this.#watching.keys())
    }
  }

  /** Reads all of them again: nobody knows which other gateways have revoked. */
  async reload(): Promise<void> {
    const all = await this.#parts.rows.all(this.#parts.now())
    // One that was revoked here meanwhile stays.
    for (const { id, expiresAt } of all) this.#ended.set(id, expiresAt)
    this.changed(this.#watching.keys())
  }

  /** Calls the listener whenever tokens of a subscriber, or of a guest, may have been revoked; returns what ends it. */
  watch(subscriberId: string, listener: () => void): () => void {
    const watching = this.#watching.get(subscriberId) ?? new Set()
    this.#watching.set(subscriberId, watching.add(listener))
    return () => {
      watching.delete(listener)
      if (watching.size === 0) this.#watching.delete(subscriberId)
    }
  }

  /** Something about these subscribers is another: who watches one is to look. */
  changed(subscriberIds: Iterable<string>): void {
    for (const id of [...subscriberIds]) for (const listener of this.#watching.get(id) ?? []) listener()
  }

  async #prune(): Promise<void> {
    const now = this.#parts.now()
    if (now - this.#prunedAt < pruneMs) return
    this.#prunedAt = now
    for (const [id, expiresAt] of this.#ended) if (expiresAt <= now) this.#ended.delete(id)
    await this.#parts.rows.removeEnded(now)
  }
}
