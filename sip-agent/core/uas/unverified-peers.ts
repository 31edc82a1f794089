/**
 * Bounds for senders who have yet to prove that they are at their address; see `unconfirmedHeader`. With them one forged INVITE makes the
 * agent send a few thousand bytes, and not some twenty copies of each response.
 */

/** Maximum number of repetitions of one response. */
export const maxUnverifiedRepeats = 2
/** Wait for the ACK of a 2xx or the PRACK of a provisional response, in multiples of T1. */
export const unverifiedWaitT1 = 10
