/**
 * Limits for senders whose address is unverified; see `unverifiedHeader`. With them, one spoofed INVITE makes
 * the agent send a few thousand bytes instead of some twenty copies of each response.
 */

/** Maximum number of retransmissions of one response. */
export const maxUnverifiedRepeats = 2
/** Wait for the ACK of a 2xx or the PRACK of a provisional response, in multiples of T1. */
export const unverifiedWaitT1 = 10
