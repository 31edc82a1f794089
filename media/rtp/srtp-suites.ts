import type { SrtpSuite } from '../types.ts'

/** Fixed properties of a crypto suite. Sizes in bytes. */
export interface SuiteInfo {
  readonly mode: 'counter' | 'gcm'
  /** Size of the master key and of the session key. */
  readonly keyBytes: 16 | 32
  /** Size of the master salt and of the session salt. */
  readonly saltBytes: 14 | 12
  /** Size of the tag on RTP. */
  readonly tagBytes: number
  /**
   * Size of the tag on RTCP: with HMAC always the longer one (RFC 4568 section 6.2.2, RFC 6188 section 4).
   */
  readonly rtcpTagBytes: number
}

const counter = (keyBytes: 16 | 32, tagBytes: number): SuiteInfo => ({
  mode: 'counter',
  keyBytes,
  saltBytes: 14,
  tagBytes,
  rtcpTagBytes: 10,
})

const gcm = (keyBytes: 16 | 32): SuiteInfo => ({
  mode: 'gcm',
  keyBytes,
  saltBytes: 12,
  tagBytes: 16,
  rtcpTagBytes: 16,
})

/** Supported suites: RFC 4568 section 6.2, RFC 6188, RFC 7714. */
export const suiteInfo: Readonly<Record<SrtpSuite, SuiteInfo>> = {
  AES_CM_128_HMAC_SHA1_80: counter(16, 10),
  AES_CM_128_HMAC_SHA1_32: counter(16, 4),
  AES_256_CM_HMAC_SHA1_80: counter(32, 10),
  AES_256_CM_HMAC_SHA1_32: counter(32, 4),
  AEAD_AES_128_GCM: gcm(16),
  AEAD_AES_256_GCM: gcm(32),
}

/** Returns the length of a master key with its salt, as carried in `a=crypto`. */
export const masterBytes = (suite: SrtpSuite): number => {
  const { keyBytes, saltBytes } = suiteInfo[suite]
  return keyBytes + saltBytes
}
