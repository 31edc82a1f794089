/** Who has put an offer on the table: we, or the peer. */
export type Offerer = 'ours' | 'theirs'

/**
 * The offers of one dialog that wait for their answer (RFC 3264, RFC 3311 5.2), each under the request that it belongs to, as in
 * `INVITE 7`. It only remembers; what stands in the descriptions is the applications' business.
 */
export class Offers {
  #open: { readonly side: Offerer; readonly of: string } | undefined

  /** The open offer; undefined where there is none. */
  get open(): Offerer | undefined {
    return this.#open?.side
  }

  /**
   * A session description went out (`ours`) or came in (`theirs`) with a message of the request `of`. It is the answer where the other
   * side's offer is open, else an offer; one more from the side that has an offer open changes nothing.
   */
  noteDescription(side: Offerer, of: string): void {
    if (!this.#open) this.#open = { side, of }
    else if (this.#open.side !== side) this.#open = undefined
  }

  /** The request ended: an offer that it brought, and that nobody answered, is off the table. */
  noteRequestEnd(of: string): void {
    if (this.#open?.of === of) this.#open = undefined
  }

  /**
   * Why an offer of the peer in an UPDATE or re-INVITE has to wait: 491 while one of ours is open, 500 while we owe an answer
   * (RFC 3311 5.2, RFC 3261 14.2).
   */
  get refusal(): 491 | 500 | undefined {
    if (!this.#open) return undefined
    return this.#open.side === 'ours' ? 491 : 500
  }
}
