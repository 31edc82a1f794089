/** Codecs that a port can carry, by their names in SDP. All are mono here. */
export type AudioCodec = 'PCMU' | 'PCMA' | 'G722' | 'L16' | 'opus'

/** Rates of linear audio inside `media/`, in Hz. */
export type PcmRate = 8000 | 16000 | 48000

/** Which way audio flows, seen from us (RFC 3264). */
export type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive'

/** Crypto suites of SDES, by their names in `a=crypto` (RFC 4568, RFC 6188, RFC 7714). */
export type SrtpSuite =
  | 'AES_CM_128_HMAC_SHA1_80'
  | 'AES_CM_128_HMAC_SHA1_32'
  | 'AES_256_CM_HMAC_SHA1_80'
  | 'AES_256_CM_HMAC_SHA1_32'
  | 'AEAD_AES_128_GCM'
  | 'AEAD_AES_256_GCM'
