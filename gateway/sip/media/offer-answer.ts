/** What an offer stands in; for the log, and to know where its answer has to stand. */
export type OfferIn = 'invite' | 'response' | 'prack' | 'update'

/** Where a dialog's exchange of descriptions stands (RFC 3264; RFC 6337 for which message may carry what). */
export type Exchange =
  | { readonly kind: 'stable' }
  /** Our offer is out. */
  | { readonly kind: 'local offer'; readonly in: OfferIn }
  /** The far side's offer is here, and ours is to answer. */
  | { readonly kind: 'remote offer'; readonly in: OfferIn }

/** Why an offer of the far side cannot be taken now: status, and whether it is told when to come again. */
export interface OfferRefusal {
  readonly status: 491 | 500
  /** Seconds for Retry-After; undefined with 491, which has its own back-off. */
  readonly retryAfter?: number
}

/** A number from 0 to 1, 1 excluded. */
export type Random = () => number

/**
 * Offers and answers of one dialog: at most one offer is open at any time, whoever made it and whatever
 * message it stands in. All of INVITE, reliable 18x, PRACK, UPDATE and re-INVITE go through the same four
 * transitions:
 *
 *     stable ── sendOffer ────► local offer  ── receiveAnswer ──► stable
 *     stable ── receiveOffer ─► remote offer ── sendAnswer ─────► stable
 *
 * and back to stable by `abandon` when an offer is refused, or its transaction fails.
 */
export class OfferAnswer {
  #exchange: Exchange = { kind: 'stable' }
  #random: Random
  #agreed = false

  constructor(random: Random) {
    this.#random = random
  }

  get exchange(): Exchange {
    return this.#exchange
  }

  get isStable(): boolean {
    return this.#exchange.kind === 'stable'
  }

  /** A first offer has been answered: there is a session. */
  get hasSession(): boolean {
    return this.#agreed
  }

  /** Our offer goes out. False where one is open: it must not be sent. */
  sendOffer(where: OfferIn): boolean {
    if (!this.isStable) return false
    this.#exchange = { kind: 'local offer', in: where }
    return true
  }

  /** An offer has come. Undefined: it is to be answered. */
  receiveOffer(where: OfferIn): OfferRefusal | undefined {
    // Two offers have crossed (RFC 3261 section 14.2, RFC 3311 section 5.2).
    if (this.#exchange.kind === 'local offer') return { status: 491 }
    // A second one before the first is answered; from 0 to 10 s (the same sections).
    if (this.#exchange.kind === 'remote offer')
      return { status: 500, retryAfter: Math.floor(this.#random() * 11) }
    this.#exchange = { kind: 'remote offer', in: where }
    return undefined
  }

  /** Our answer goes out. Throws where none is due: that is an error of ours. */
  sendAnswer(): void {
    this.#settle('remote offer')
  }

  /** An answer has come. False where none is due: what came is a repetition, or has no meaning. */
  receiveAnswer(): boolean {
    if (this.#exchange.kind !== 'local offer') return false
    this.#settle('local offer')
    return true
  }

  /**
   * The open offer came to nothing: it was refused, or its answer cannot be used. The session stays as it was
   * (RFC 3261 section 14.1).
   */
  abandon(): void {
    this.#exchange = { kind: 'stable' }
  }

  #settle(from: Exchange['kind']): void {
    if (this.#exchange.kind !== from) throw new Error(`no ${from} is open, but ${this.#exchange.kind}`)
    this.#exchange = { kind: 'stable' }
    this.#agreed = true
  }
}

/**
 * How long to wait after a 491 before our request is sent again, in ms (RFC 3261 section 14.1): 2.1 to 4 s
 * for the side that made the Call-ID, 0 to 2 s for the other, in steps of 10 ms; so the same two do not cross
 * again.
 */
export const glareBackoffMs = (ownsCallId: boolean, random: Random): number =>
  ownsCallId ? 2_100 + 10 * Math.floor(random() * 191) : 10 * Math.floor(random() * 201)
