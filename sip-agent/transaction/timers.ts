/** The timer values of RFC 3261 17.1.1.1, in ms. Tests make them small. */
export interface Timers {
  /** Round-trip estimate. Default 500. */
  readonly t1: number
  /** Longest interval between retransmissions of non-INVITE requests and of responses to INVITE. Default 4,000. */
  readonly t2: number
  /** How long a message stays in the network. Default 5,000. */
  readonly t4: number
  /**
   * How long an INVITE may be without progress (timer C): one that we sent is cancelled then, each provisional starts the wait
   * anew; one that was received is refused then, unless the application has said something. Default 185,000.
   */
  readonly ringing: number
  /** How long the application may take to answer a request other than INVITE: its sender waits no longer. Default 64 * t1. */
  readonly answer: number
  /** How long it may take from its last provisional to the final response. Default 1,800,000 (half an hour). */
  readonly early: number
  /** How long an INVITE stays without any answer before a 100 goes out (RFC 3261 17.2.1). Default 200. */
  readonly trying: number
  /** Interval at which the last provisional to an INVITE is repeated (RFC 3261 13.3.1.1). Default 60,000. */
  readonly progress: number
}

/** The standard values, with `changes`. */
export const makeTimers = (changes: Partial<Timers> = {}): Timers => {
  const t1 = changes.t1 ?? 500
  const usual = { t1, t2: 4_000, t4: 5_000, ringing: 185_000, early: 1_800_000, answer: 64 * t1 }
  return { ...usual, trying: 200, progress: 60_000, ...changes }
}
