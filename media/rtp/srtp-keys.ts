import { createCipheriv, createSecretKey } from 'node:crypto'
import type { SrtpSuite } from '../types.ts'
import { masterBytes, suiteInfo } from './srtp-suites.ts'

/** Session keys of one direction, for RTP or for RTCP. */
export interface SessionKeys {
  readonly cipher: Buffer
  /** 20 bytes; unused with GCM. */
  readonly auth: Buffer
  readonly salt: Buffer
}

/** Key length of HMAC-SHA1. */
const authBytes = 20

/** Labels of the key derivation (RFC 3711 sections 4.3.1 and 4.3.2). */
const labels = { rtp: { cipher: 0, auth: 1, salt: 2 }, rtcp: { cipher: 3, auth: 4, salt: 5 } } as const

/**
 * Derives the session keys from a master key with salt (RFC 3711 section 4.3). RFC 6188 section 3 and RFC
 * 7714 section 11 define the longer keys and the shorter salt. The derivation rate is zero, the default of
 * SDES.
 */
export const deriveKeys = (suite: SrtpSuite, master: Uint8Array, kind: keyof typeof labels): SessionKeys => {
  const bytes = masterBytes(suite)
  if (master.length !== bytes)
    throw new Error(
      `SRTP: a master key with salt of ${bytes} bytes expected for ${suite}, got ${master.length}`,
    )
  const { keyBytes, saltBytes } = suiteInfo[suite]
  const key = createSecretKey(master.subarray(0, keyBytes))
  const derive = (label: number, length: number) => {
    // A salt of 12 bytes is padded with zeros.
    const counter = Buffer.alloc(16)
    counter.set(master.subarray(keyBytes))
    // The label precedes the 48 bits of the index, which is zero.
    counter[7] = counter[7]! ^ label
    return createCipheriv(`aes-${keyBytes * 8}-ctr`, key, counter).update(Buffer.alloc(length))
  }
  const { cipher, auth, salt } = labels[kind]
  return {
    cipher: derive(cipher, keyBytes),
    auth: derive(auth, authBytes),
    salt: derive(salt, saltBytes),
  }
}
