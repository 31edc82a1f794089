/** Limits of one session. Times are milliseconds. */
export interface RpcLimits {
  /** Wait for the answer to a request of ours; default 10 s. */
  readonly requestTimeoutMs: number
  /** Octets that may wait to be sent before the connection is cut; default 1 MiB. */
  readonly maxBuffered: number
  /** Requests that are being answered at once; default 64. */
  readonly maxPending: number
  /** Malformed frames before the connection is closed; default 10. */
  readonly maxMalformed: number
  /** Requests within a second, of a far end that has not signed in or is a browser; default 100. */
  readonly requestsPerSecond: number
  /** Between WebSocket pings; a connection that answers none within this time is cut. Default 25 s. */
  readonly pingMs: number
}

/** The default limits. */
export const defaultRpcLimits: RpcLimits = {
  requestTimeoutMs: 10_000,
  maxBuffered: 1 << 20,
  maxPending: 64,
  maxMalformed: 10,
  requestsPerSecond: 100,
  pingMs: 25_000,
}
