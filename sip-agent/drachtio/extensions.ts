/** Additions to drachtio's protocol, which the agent and its applications agree on. */

/**
 * Header by which an application marks the rejection of an INVITE as an offence of the sender. After the ACK,
 * the offence counts towards a ban. The value is ignored. The header is private to the agent and its
 * applications: it never reaches the network, and is removed from received messages.
 */
export const offenseHeader = 'X-Trunkline-Offence'

/**
 * Header by which an application marks a response to an INVITE from an unverified address. Such a response is
 * retransmitted at most twice, and its ACK or PRACK is awaited for 10 * T1. This limits the traffic that a
 * spoofed INVITE directs to another address. The value is ignored. Private, like {@link offenseHeader}.
 */
export const unverifiedHeader = 'X-Trunkline-Unconfirmed'

/**
 * Header by which an application names the far end of a request outside dialogs, or, in a response to an
 * INVITE, that of the dialog. Its value is `carrier <name>`, or `project <id>` for a SIP URI that a project
 * dials without a carrier. Private, like {@link offenseHeader}.
 */
export const reachHeader = 'X-Trunkline-Reach'

/** Beginning of the agent's answer to a request whose destination is not permitted; the reason follows. */
export const notPermitted = 'not permitted: '
