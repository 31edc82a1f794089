import type { Hop } from '../transport/types.ts'

/** Finds the hops of requests (RFC 3263), never on the receive path. */
export interface Router {
  /**
   * Finds the hops of a SIP URI, best first; the later ones are for failover. `done` is called once, with an
   * empty list if the name has no address. For an IP literal it is called at once, for a name within 5 s.
   * Returns false, without calling `done`, if the URI needs a transport that is not bound. Throws
   * `SipParseError` for a malformed URI.
   */
  find(uri: string, done: (hops: readonly Hop[]) => void): boolean
  /**
   * Returns the hops in the order of attempts for a request of this size. A request of more than 1,300 bytes
   * goes over TCP first, unless the URI or DNS asks for UDP (RFC 3261 18.1.1). Build the request for the
   * first hop, call this, and rebuild it if the first hop has changed.
   */
  fit(hops: readonly Hop[], bytes: number): readonly Hop[]
  /**
   * Notes that sending to a hop failed, or that the hop did not answer. The hop is tried last for the next 30
   * s; a tentative hop is left out for 10 min.
   */
  failed(hop: Hop): void
}
