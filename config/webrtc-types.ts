/** WebRTC towards browsers. */
export interface WebRtcConfig {
  /** Default 0.0.0.0. */
  readonly bind: string
  /** Addresses for ICE candidates; default `bind`, or every address of the machine when that is 0.0.0.0. */
  readonly announce: readonly string[]
  /** One port for all browsers, UDP and TCP; default 44444. */
  readonly port: number
  /** Servers that browsers are told of; default none. */
  readonly turn?: TurnConfig
}

/** TURN and STUN servers (RFC 8656, RFC 8489), and how browsers sign in there. */
export interface TurnConfig {
  /** `turn:`, `turns:` (RFC 7065) and `stun:` (RFC 7064) URIs; at least one. */
  readonly urls: readonly string[]
  /**
   * Shared with the TURN servers: passwords are made of it. There wherever a URI is not `stun:`. A secret.
   */
  readonly secret?: string
  /** How long a password is good at least; default 12 h. */
  readonly ttlMs: number
}
