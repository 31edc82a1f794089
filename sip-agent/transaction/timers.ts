/** Timer values of RFC 3261 17.1.1.1, in ms. Tests use small ones. */
export interface Timers {
  /** Round-trip estimate. Default 500. */
  readonly t1: number
  /**
   * Maximum interval between retransmissions of non-INVITE requests and of responses to INVITE. Default
   * 4,000.
   */
  readonly t2: number
  /** Maximum lifetime of a message in the network. Default 5,000. */
  readonly t4: number
  /**
   * Maximum time of an INVITE without progress (timer C). After it, a sent INVITE is cancelled; each
   * provisional response restarts the timer. A received INVITE to which the application has not responded is
   * rejected. Default 185,000.
   */
  readonly ringing: number
  /**
   * Maximum time for the application's response to a request other than INVITE. Default 64 * t1, after which
   * the sender no longer waits.
   */
  readonly answer: number
  /**
   * Maximum time from the application's latest provisional response to the final one. Default 1,800,000 (half
   * an hour).
   */
  readonly early: number
  /** Time of an INVITE without a response after which a 100 is sent (RFC 3261 17.2.1). Default 200. */
  readonly trying: number
  /**
   * Interval of repetitions of the latest provisional response to an INVITE (RFC 3261 13.3.1.1). Default
   * 60,000.
   */
  readonly progress: number
}

/** Returns the standard values with `changes`. */
export const makeTimers = (changes: Partial<Timers> = {}): Timers => {
  const t1 = changes.t1 ?? 500
  const usual = { t1, t2: 4_000, t4: 5_000, ringing: 185_000, early: 1_800_000, answer: 64 * t1 }
  return { ...usual, trying: 200, progress: 60_000, ...changes }
}
