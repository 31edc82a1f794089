/**
 * Returns an offer without the parts that depend on its candidates: candidate lines, ports and addresses. The
 * ICE-lite gateway needs no candidates. A new offer has another session version.
 */
const requestOf = (offer: string): string =>
  offer
    .split(/\r?\n/)
    .filter((line) => !/^(?:a=(?:candidate:|end-of-candidates|rtcp:)|c=)/.test(line))
    .map((line) => line.replace(/^(m=\w+) \d+/, '$1'))
    .join('\n')

/** Returns user name and session id of a description (RFC 8866 section 5.2); undefined without. */
const sessionOf = (offer: string): string | undefined => /^o=(\S+ \S+) /m.exec(offer)?.[1]

/**
 * Detects repeated offers. The published SDK sends each offer again once all candidates are gathered. If the
 * SDK has accepted the first answer, a second answer makes it end the call.
 */
export class OfferRepetition {
  #last: { readonly id: unknown; readonly request: string } | undefined
  /** Session of the latest description of the page; kept after a rejection. */
  #session: string | undefined

  /**
   * Returns whether an offer repeats the previous one. A message that arrives again with the same id is not a
   * repetition, because its answer was lost.
   */
  repeats(id: unknown, offer: string): boolean {
    const request = requestOf(offer)
    const last = this.#last
    if (last?.request === request) return last.id !== id
    this.#last = { id, request }
    this.describe(offer)
    return false
  }

  /** Records the session of an answer of the page; {@link repeats} records those of offers. */
  describe(description: string): void {
    this.#session = sessionOf(description)
  }

  /**
   * Returns whether an offer belongs to the same session as the latest description of the page (RFC 9429
   * section 5.2.2). A reloaded page begins another session.
   */
  continues(offer: string): boolean {
    const session = sessionOf(offer)
    return session !== undefined && this.#session === session
  }

  /**
   * Forgets the former offer after its rejection, so that the next one is answered. `rejected`: forgotten
   * only while it is the latest offer; default any.
   */
  forget(rejected?: string): void {
    if (rejected === undefined || this.#last?.request === requestOf(rejected)) this.#last = undefined
  }
}
