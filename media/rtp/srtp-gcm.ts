import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto'
import type { SessionKeys } from './srtp-keys.ts'
import { RTCP_CLEAR_BYTES, RTCP_WORD_BYTES, rtcpWordOf, type Transform } from './srtp-transform.ts'

const IV_BYTES = 12
const TAG_BYTES = 16
const options = { authTagLength: TAG_BYTES } as const

/** AES in Galois/counter mode (RFC 7714). */
export class Gcm implements Transform {
  readonly tagBytes = TAG_BYTES
  #algorithm: 'aes-128-gcm' | 'aes-256-gcm'
  #key: KeyObject
  #salt: Buffer
  /** Overwritten by each use: node:crypto copies it. */
  #iv = Buffer.alloc(IV_BYTES)
  #rtcpAad = Buffer.alloc(RTCP_CLEAR_BYTES + RTCP_WORD_BYTES)

  constructor({ cipher, salt }: SessionKeys) {
    this.#algorithm = cipher.length === 16 ? 'aes-128-gcm' : 'aes-256-gcm'
    this.#key = createSecretKey(cipher)
    this.#salt = salt
  }

  sealRtp(packet: Buffer, start: number, ssrc: number, high: number, low: number): Buffer {
    const end = packet.length
    const sealed = Buffer.allocUnsafe(end + TAG_BYTES)
    packet.copy(sealed, 0, 0, start)
    this.#setIv(ssrc, high, low)
    this.#seal(sealed, packet.subarray(0, start), packet.subarray(start), start)
    return sealed
  }

  openRtp(packet: Buffer, start: number, ssrc: number, high: number, low: number): boolean {
    const end = packet.length - TAG_BYTES
    this.#setIv(ssrc, high, low)
    return this.#open(packet, packet.subarray(0, start), start, end)
  }

  sealRtcp(packet: Buffer, ssrc: number, index: number): Buffer {
    const end = packet.length
    const sealed = Buffer.allocUnsafe(end + TAG_BYTES + RTCP_WORD_BYTES)
    packet.copy(sealed, 0, 0, RTCP_CLEAR_BYTES)
    sealed.writeUInt32BE(rtcpWordOf(index), end + TAG_BYTES)
    this.#setIv(ssrc, 0, index)
    this.#seal(sealed, this.#aadOf(packet, index), packet.subarray(RTCP_CLEAR_BYTES), RTCP_CLEAR_BYTES)
    return sealed
  }

  openRtcp(packet: Buffer, ssrc: number, index: number): Buffer | undefined {
    const end = packet.length - RTCP_WORD_BYTES - TAG_BYTES
    this.#setIv(ssrc, 0, index)
    return this.#open(packet, this.#aadOf(packet, index), RTCP_CLEAR_BYTES, end)
      ? packet.subarray(0, end)
      : undefined
  }

  rtcpWord(packet: Buffer): number | undefined {
    const at = packet.length - RTCP_WORD_BYTES
    return at < RTCP_CLEAR_BYTES + TAG_BYTES ? undefined : packet.readUInt32BE(at)
  }

  /** Returns the authenticated but unencrypted data of an RTCP compound (section 9.2). */
  #aadOf(packet: Buffer, index: number): Buffer {
    packet.copy(this.#rtcpAad, 0, 0, RTCP_CLEAR_BYTES)
    this.#rtcpAad.writeUInt32BE(rtcpWordOf(index), RTCP_CLEAR_BYTES)
    return this.#rtcpAad
  }

  /** Sections 8.1 and 9.1: two zeros, the SSRC, and the index. */
  #setIv(ssrc: number, high: number, low: number): void {
    const [iv, salt] = [this.#iv, this.#salt]
    salt.copy(iv, 0, 0, 2)
    iv.writeUInt32BE((salt.readUInt32BE(2) ^ ssrc) >>> 0, 2)
    iv.writeUInt16BE(salt.readUInt16BE(6) ^ high, 6)
    iv.writeUInt32BE((salt.readUInt32BE(8) ^ low) >>> 0, 8)
  }

  #seal(sealed: Buffer, aad: Buffer, plain: Buffer, at: number): void {
    const cipher = createCipheriv(this.#algorithm, this.#key, this.#iv, options)
    cipher.setAAD(aad)
    cipher.update(plain).copy(sealed, at)
    cipher.final()
    cipher.getAuthTag().copy(sealed, at + plain.length)
  }

  #open(packet: Buffer, aad: Buffer, from: number, to: number): boolean {
    const decipher = createDecipheriv(this.#algorithm, this.#key, this.#iv, options)
    decipher.setAAD(aad)
    decipher.setAuthTag(packet.subarray(to, to + TAG_BYTES))
    const plain = decipher.update(packet.subarray(from, to))
    try {
      decipher.final()
    } catch {
      return false
    }
    plain.copy(packet, from)
    return true
  }
}
