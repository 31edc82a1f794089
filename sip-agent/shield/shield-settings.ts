/** Settings of the shield in front of the parser; see `docs/operations.md`. */
export interface SipShield {
  /** Maximum number of packets per second from one address outside `known`. */
  readonly packetsPerSecond: number
  /** Maximum number of packets per second from one address in `known`. */
  readonly knownPacketsPerSecond: number
  /** Number of offences within a minute that cause a ban. */
  readonly banAfter: number
  readonly banForMs: number
  /** Parts of User-Agent headers, in lower case. */
  readonly scanners: readonly string[]
  /** Treatment of requests from outside `known`. */
  readonly untrusted: 'answer' | 'drop'
  /** Networks (CIDR) of known senders. */
  readonly known: readonly string[]
}

/** Reason for a drop by the shield; `tls`: failed TLS handshake of an accepted connection. */
export type ShieldReason = 'rate' | 'banned' | 'scanner' | 'stranger' | 'tls'
