/**
 * Crypto suites of SRTP (RFC 4568, RFC 6188, RFC 7714), by their names in SDP, in the order in which they are
 * offered unless a carrier has its own: the suite that everybody has, longer keys, and short tags last of
 * all.
 */
export const srtpSuites = [
  'AES_CM_128_HMAC_SHA1_80',
  'AEAD_AES_256_GCM',
  'AEAD_AES_128_GCM',
  'AES_256_CM_HMAC_SHA1_80',
  'AES_CM_128_HMAC_SHA1_32',
  'AES_256_CM_HMAC_SHA1_32',
] as const

/** One of {@link srtpSuites}. */
export type SrtpSuiteName = (typeof srtpSuites)[number]
