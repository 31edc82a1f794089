import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto'
import type { SessionKeys } from './srtp-keys.ts'
import { rtcpClearBytes, rtcpWordBytes, rtcpWordOf, type Transform } from './srtp-transform.ts'

const ivBytes = 12
const gcmTagBytes = 16
const options = { authTagLength: gcmTagBytes } as const

/** AES in Galois/counter mode (RFC 7714). */
export class Gcm implements Transform {
  readonly tagBytes = gcmTagBytes
  #algorithm: 'aes-128-gcm' | 'aes-256-gcm'
  #key: KeyObject
  #salt: Buffer
  /** Overwritten by each use: node:crypto copies it. */
  #iv = Buffer.alloc(ivBytes)
  #rtcpAad = Buffer.alloc(rtcpClearBytes + rtcpWordBytes)

  constructor({ cipher, salt }: SessionKeys) {
    this.#algorithm = cipher.length === 16 ? 'aes-128-gcm' : 'aes-256-gcm'
    this.#key = createSecretKey(cipher)
    this.#salt = salt
  }

  sealRtp(packet: Buffer, start: number, ssrc: number, high: number, low: number): Buffer {
    const end = packet.length
    const sealed = Buffer.allocUnsafe(end + gcmTagBytes)
    packet.copy(sealed, 0, 0, start)
    this.#setIv(ssrc, high, low)
    this.#seal(sealed, packet.subarray(0, start), packet.subarray(start), start)
    return sealed
  }

  openRtp(packet: Buffer, start: number, ssrc: number, high: number, low: number): boolean {
    const end = packet.length - gcmTagBytes
    this.#setIv(ssrc, high, low)
    return this.#open(packet, packet.subarray(0, start), start, end)
  }

  sealRtcp(packet: Buffer, ssrc: number, index: number): Buffer {
    const end = packet.length
    const sealed = Buffer.allocUnsafe(end + gcmTagBytes + rtcpWordBytes)
    packet.copy(sealed, 0, 0, rtcpClearBytes)
    sealed.writeUInt32BE(rtcpWordOf(index), end + gcmTagBytes)
    this.#setIv(ssrc, 0, index)
    this.#seal(sealed, this.#aadOf(packet, index), packet.subarray(rtcpClearBytes), rtcpClearBytes)
    return sealed
  }

  openRtcp(packet: Buffer, ssrc: number, index: number): Buffer | undefined {
    const end = packet.length - rtcpWordBytes - gcmTagBytes
    this.#setIv(ssrc, 0, index)
    return this.#open(packet, this.#aadOf(packet, index), rtcpClearBytes, end)
      ? packet.subarray(0, end)
      : undefined
  }

  rtcpWord(packet: Buffer): number | undefined {
    const at = packet.length - rtcpWordBytes
    return at < rtcpClearBytes + gcmTagBytes ? undefined : packet.readUInt32BE(at)
  }

  /** Returns the authenticated but unencrypted data of an RTCP compound (section 9.2). */
  #aadOf(packet: Buffer, index: number): Buffer {
    packet.copy(this.#rtcpAad, 0, 0, rtcpClearBytes)
    this.#rtcpAad.writeUInt32BE(rtcpWordOf(index), rtcpClearBytes)
    return this.#rtcpAad
  }

  /** Sections 8.1 and 9.1: two zeros, the SSRC, and the index. */
  #setIv(ssrc: number, high: number, low: number): void {
    const iv = this.#iv
    const salt = this.#salt
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
    decipher.setAuthTag(packet.subarray(to, to + gcmTagBytes))
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
