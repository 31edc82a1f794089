/**
 * Crypto suites of SRTP (RFC 4568, RFC 6188, RFC 7714), by their names in SDP. Their order is the default
 * order of an offer: the mandatory suite first, then longer keys, and short tags last.
 */
export const srtpSuites = [
  'AES_CM_128_HMAC_SHA1_80',
  'AEAD_AES_256_GCM',
  'AEAD_AES_128_GCM',
  'AES_256_CM_HMAC_SHA1_80',
  'AES_CM_128_HMAC_SHA1_32',
  'AES_256_CM_HMAC_SHA1_32',
] as const

/** Name of a suite of {@link srtpSuites}. */
export type SrtpSuiteName = (typeof srtpSuites)[number]
