/** Codecs that a port supports, by their SDP names. All are mono. */
export type AudioCodec = 'PCMU' | 'PCMA' | 'G722' | 'L16' | 'opus'

/** Sampling rates of linear audio inside `media/`, in Hz. */
export type PcmRate = 8000 | 16000 | 48000

/** Direction of the audio, seen from the gateway (RFC 3264). */
export type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive'

/** SDES crypto suites, by their names in `a=crypto` (RFC 4568, RFC 6188, RFC 7714). */
export type SrtpSuite =
  | 'AES_CM_128_HMAC_SHA1_80'
  | 'AES_CM_128_HMAC_SHA1_32'
  | 'AES_256_CM_HMAC_SHA1_80'
  | 'AES_256_CM_HMAC_SHA1_32'
  | 'AEAD_AES_128_GCM'
  | 'AEAD_AES_256_GCM'
