import { createCipheriv } from 'node:crypto'

/** Crypto suites of SDES (RFC 4568 section 6.2) that a port can speak. */
export type SrtpSuite = 'AES_CM_128_HMAC_SHA1_80' | 'AES_CM_128_HMAC_SHA1_32'

/** Bytes of a master key with its salt, as `a=crypto` carries them. */
export const MASTER_BYTES = 30
const KEY_BYTES = 16
const SALT_BYTES = 14
const AUTH_BYTES = 20

/** Session keys of one direction, for RTP or for RTCP. */
export interface SessionKeys {
  readonly cipher: Buffer
  readonly auth: Buffer
  /** 14 bytes. */
  readonly salt: Buffer
}

/** Labels of the key derivation (RFC 3711 sections 4.3.1 and 4.3.2). */
const labels = { rtp: { cipher: 0, auth: 1, salt: 2 }, rtcp: { cipher: 3, auth: 4, salt: 5 } } as const

/** Derives the session keys of a master key with salt (RFC 3711 section 4.3); the derivation rate is zero, as SDES has it by default. */
export const deriveKeys = (master: Uint8Array, kind: keyof typeof labels): SessionKeys => {
  if (master.length !== MASTER_BYTES)
    throw new Error(`SRTP: a master key with salt of ${MASTER_BYTES} bytes expected, got ${master.length}`)
  const key = master.subarray(0, KEY_BYTES)
  const salt = master.subarray(KEY_BYTES)
  const derive = (label: number, bytes: number) => {
    const counter = Buffer.alloc(16)
    counter.set(salt)
    // The label stands before the 48 bits of the index, which is zero.
    counter[7] = counter[7]! ^ label
    return createCipheriv('aes-128-ctr', key, counter).update(Buffer.alloc(bytes))
  }
  const { cipher, auth, salt: salting } = labels[kind]
  return {
    cipher: derive(cipher, KEY_BYTES),
    auth: derive(auth, AUTH_BYTES),
    salt: derive(salting, SALT_BYTES),
  }
}

/**
 * Encrypts or decrypts `packet` from `from` to `to` in place: AES in counter mode (RFC 3711 section 4.1.1). `high` and `low` are the
 * upper 16 and the lower 32 bits of the packet's 48-bit index.
 */
export const applyCipher = (
  keys: SessionKeys,
  packet: Buffer,
  range: { readonly from: number; readonly to: number },
  ssrc: number,
  index: { readonly high: number; readonly low: number },
): void => {
  const counter = Buffer.alloc(16)
  keys.salt.copy(counter)
  counter.writeUInt32BE((counter.readUInt32BE(4) ^ ssrc) >>> 0, 4)
  counter.writeUInt16BE(counter.readUInt16BE(8) ^ index.high, 8)
  counter.writeUInt32BE((counter.readUInt32BE(10) ^ index.low) >>> 0, 10)
  const plain = packet.subarray(range.from, range.to)
  createCipheriv('aes-128-ctr', keys.cipher, counter).update(plain).copy(packet, range.from)
}
