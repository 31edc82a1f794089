/**
 * Returns an offer without what changes with its candidates: candidate lines, ports and addresses. The
 * ICE-lite gateway needs no candidates. A new offer has another session version.
 */
const requestOf = (offer: string): string =>
  offer
    .split(/\r?\n/)
    .filter((line) => !/^(?:a=(?:candidate:|end-of-candidates|rtcp:)|c=)/.test(line))
    .map((line) => line.replace(/^(m=\w+) \d+/, '$1'))
    .join('\n')

/**
 * Detects repeated offers. The published SDK sends each offer again once all candidates are gathered. It ends
 * the call on a second answer if it has accepted the first.
 */
export class OfferRepetition {
  #last: { readonly id: unknown; readonly request: string } | undefined

  /**
   * Whether the offer repeats the former one. A message that arrives again under the same id is no
   * repetition: it has no answer yet.
   */
  repeats(id: unknown, offer: string): boolean {
    const request = requestOf(offer)
    const last = this.#last
    if (last?.request === request) return last.id !== id
    this.#last = { id, request }
    return false
  }

  /** Forgets the former offer after its rejection, so that the next one is answered. */
  forget(): void {
    this.#last = undefined
  }
}
