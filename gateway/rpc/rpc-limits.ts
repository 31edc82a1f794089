/** Limits of one session. */
export interface RpcLimits {
  /** Timeout of the gateway's requests, in milliseconds; default 10 s. */
  readonly requestTimeoutMs: number
  /** Maximum number of unsent octets before the connection is closed; default 1 MiB. */
  readonly maxBuffered: number
  /** Maximum number of concurrent requests; default 64. */
  readonly maxPending: number
  /** Number of malformed frames after which the connection is closed; default 10. */
  readonly maxMalformed: number
  /** Maximum requests per second of browsers and of clients that have not signed in; default 100. */
  readonly requestsPerSecond: number
  /**
   * Interval of WebSocket pings, in milliseconds; default 25 s. A connection without a pong by the next ping
   * is closed.
   */
  readonly pingMs: number
}

/** Default limits of a session. */
export const defaultRpcLimits: RpcLimits = {
  requestTimeoutMs: 10_000,
  maxBuffered: 1 << 20,
  maxPending: 64,
  maxMalformed: 10,
  requestsPerSecond: 100,
  pingMs: 25_000,
}
