/** Digits by their event code (RFC 4733 section 3.2). */
export const DIGITS = '0123456789*#ABCD'

/** Longest duration that one packet can tell; a longer event goes on in segments (RFC 4733 section 2.5.1.3). */
export const SEGMENT = 0xffff

/** Length of an event's payload. */
export const EVENT_BYTES = 4
