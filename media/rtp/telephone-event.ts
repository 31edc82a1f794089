/** Digits by event code (RFC 4733 section 3.2). */
export const dtmfDigits = '0123456789*#ABCD'

/** Maximum duration in one packet; a longer event continues in segments (RFC 4733 section 2.5.1.3). */
export const maxEventDuration = 0xffff

/** Payload length of an event. */
export const eventBytes = 4
