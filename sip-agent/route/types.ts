import type { Protocol } from '../transport/types.ts'

/** One place to send a request to. */
export interface Hop {
  readonly protocol: Protocol
  /** IP address, IPv6 without brackets. */
  readonly address: string
  readonly port: number
  /** Host as the URI has it: what TLS asks for and checks (RFC 5922). */
  readonly host: string
  /** The same place over TCP, for a request that is too large for UDP (RFC 3261 18.1.1); see {@link Router.fit}. */
  readonly overTcp?: Hop
  /** Set on a {@link overTcp} one: worth a short try only, because the peer may well not listen there at all. */
  readonly isTentative?: true
}

/** Finds out where requests go (RFC 3263), never on the receive path. */
export interface Router {
  /**
   * The places that a SIP URI names, best first: those after the first are for when it fails. `done` is called once: at once for an IP
   * literal, later for a name, with an empty list where the name has no address, and after 5 s at the latest. Returns false, without
   * calling `done`, where the URI needs a transport that is not there. Throws `SipParseError` for what is no URI.
   */
  find(uri: string, done: (hops: readonly Hop[]) => void): boolean
  /**
   * The places in the order to be tried for a request of so many bytes: one of more than 1,300 goes over TCP first where nothing said that
   * it has to be UDP (RFC 3261 18.1.1). Build the request for the first hop, ask, and build it again where the first one is another.
   */
  fit(hops: readonly Hop[], bytes: number): readonly Hop[]
  /** Reports that nothing could be sent to a place, or that nothing came back: it is the last choice for 30 s. A tentative one is left out for 10 min. */
  failed(hop: Hop): void
}
