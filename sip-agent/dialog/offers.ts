/** Side that sent an offer: the agent, or the peer. */
export type Offerer = 'ours' | 'theirs'

/**
 * Offers of one dialog without an answer (RFC 3264, RFC 3311 5.2), each under the name of its request, such
 * as `INVITE 7`. The content of the descriptions is left to the applications.
 */
export class Offers {
  #open: { readonly side: Offerer; readonly of: string } | undefined

  /** Side of the open offer; undefined without one. */
  get open(): Offerer | undefined {
    return this.#open?.side
  }

  /**
   * Notes a session description that was sent (`ours`) or received (`theirs`) in a message of the request
   * `of`. It is the answer if the other side's offer is open, else an offer. A further description of the
   * offering side has no effect.
   */
  noteDescription(side: Offerer, of: string): void {
    if (!this.#open) this.#open = { side, of }
    else if (this.#open.side !== side) this.#open = undefined
  }

  /** Closes the unanswered offer of a request that has ended. */
  noteRequestEnd(of: string): void {
    if (this.#open?.of === of) this.#open = undefined
  }

  /**
   * Status for a peer's offer in an UPDATE or re-INVITE that must wait. It is 491 while an offer of the agent
   * is open, and 500 while the agent owes an answer (RFC 3311 5.2, RFC 3261 14.2).
   */
  get refusal(): 491 | 500 | undefined {
    if (!this.#open) return undefined
    return this.#open.side === 'ours' ? 491 : 500
  }
}
