/** Message that carries an offer. It determines the message that must carry the answer. */
export type OfferIn = 'invite' | 'response' | 'prack' | 'update'

/** State of a dialog's exchange of descriptions (RFC 3264; RFC 6337 for the messages that may carry them). */
export type Exchange =
  | { readonly kind: 'stable' }
  /** A local offer waits for its answer. */
  | { readonly kind: 'local offer'; readonly in: OfferIn }
  /** An offer of the peer must be answered. */
  | { readonly kind: 'remote offer'; readonly in: OfferIn }

/** Rejection of an offer that cannot be accepted now. */
export interface OfferRefusal {
  readonly status: 491 | 500
  /** Seconds for Retry-After; undefined with 491, which has its own back-off. */
  readonly retryAfter?: number
}

/** A number from 0 to 1, 1 excluded. */
export type Random = () => number

/**
 * Offers and answers of one dialog. At most one offer is open at any time, whichever side made it and
 * whichever message carries it. INVITE, reliable 18x, PRACK, UPDATE and re-INVITE all use the same four
 * transitions:
 *
 *     stable ── sendOffer ────► local offer  ── receiveAnswer ──► stable
 *     stable ── receiveOffer ─► remote offer ── sendAnswer ─────► stable
 *
 * `abandon` returns to stable when an offer is rejected, or its transaction fails.
 */
export class OfferAnswer {
  #exchange: Exchange = { kind: 'stable' }
  #random: Random
  #hasSession = false

  constructor(random: Random) {
    this.#random = random
  }

  get exchange(): Exchange {
    return this.#exchange
  }

  get isStable(): boolean {
    return this.#exchange.kind === 'stable'
  }

  /** Whether a first offer has been answered, and so a session exists. */
  get hasSession(): boolean {
    return this.#hasSession
  }

  /** Opens a local offer. Returns false if an offer is open already: it must not be sent. */
  sendOffer(where: OfferIn): boolean {
    if (!this.isStable) return false
    this.#exchange = { kind: 'local offer', in: where }
    return true
  }

  /** Opens an offer of the peer. Returns undefined if it must be answered. */
  receiveOffer(where: OfferIn): OfferRefusal | undefined {
    // Two offers have crossed (RFC 3261 section 14.2, RFC 3311 section 5.2).
    if (this.#exchange.kind === 'local offer') return { status: 491 }
    // A second offer came before the first one was answered. Retry-After is from 0 to 10 s (the same
    // sections).
    if (this.#exchange.kind === 'remote offer')
      return { status: 500, retryAfter: Math.floor(this.#random() * 11) }
    this.#exchange = { kind: 'remote offer', in: where }
    return undefined
  }

  /** Closes the peer's offer by an answer. Throws if none is open: a fault of the gateway. */
  sendAnswer(): void {
    this.#settle('remote offer')
  }

  /**
   * Closes the local offer by an answer. Returns false if none is open: the answer is a repetition or has no
   * meaning.
   */
  receiveAnswer(): boolean {
    if (this.#exchange.kind !== 'local offer') return false
    this.#settle('local offer')
    return true
  }

  /**
   * Closes the open offer without effect: it was rejected, or its answer is unusable. The session stays
   * unchanged (RFC 3261 section 14.1).
   */
  abandon(): void {
    this.#exchange = { kind: 'stable' }
  }

  #settle(from: Exchange['kind']): void {
    if (this.#exchange.kind !== from) throw new Error(`no ${from} is open, but ${this.#exchange.kind}`)
    this.#exchange = { kind: 'stable' }
    this.#hasSession = true
  }
}

/**
 * Returns the wait after a 491 before the request is repeated, in ms (RFC 3261 section 14.1). The side that
 * made the Call-ID (`ownsCallId`) waits 2.1 to 4 s, the other side 0 to 2 s, in steps of 10 ms. So their
 * requests do not cross again.
 */
export const glareBackoffMs = (ownsCallId: boolean, random: Random): number =>
  ownsCallId ? 2_100 + 10 * Math.floor(random() * 191) : 10 * Math.floor(random() * 201)
