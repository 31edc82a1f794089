/**
 * What an offer asks of us: the text without candidates, which an ICE-lite side does not need, and without
 * what changes with them: the port and address of an m-line. An offer that was made anew has another version
 * of the session.
 */
const askedBy = (offer: string): string =>
  offer
    .split(/\r?\n/)
    .filter((line) => !/^(?:a=(?:candidate:|end-of-candidates|rtcp:)|c=)/.test(line))
    .map((line) => line.replace(/^(m=\w+) \d+/, '$1'))
    .join('\n')

/**
 * Knows an offer that a page has made before. The published SDK sends each of its offers a second time once
 * all candidates are there, and hangs up over a second answer when it has taken the first one.
 */
export class OfferRepetition {
  #last: { readonly id: unknown; readonly asks: string } | undefined

  /**
   * Whether the offer asks for what the one before it did. A message that comes again under its own id is
   * none of these: its page has no answer yet.
   */
  repeats(id: unknown, offer: string): boolean {
    const asks = askedBy(offer)
    const last = this.#last
    if (last?.asks === asks) return last.id !== id
    this.#last = { id, asks }
    return false
  }

  /** The last one was refused: the next one is answered, whatever it asks. */
  forget(): void {
    this.#last = undefined
  }
}
