import { createCipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'

/** Keys of a subscription, from the browser's `PushSubscription`. */
export interface SubscriptionKeys {
  /** Public key of the browser: an uncompressed point of P-256, 65 bytes. */
  readonly p256dh: Uint8Array
  /** Shared secret, 16 bytes. */
  readonly auth: Uint8Array
}

/** Random parts of a message; passed in only to reproduce a message. */
export interface MessageSecrets {
  /** 16 bytes. */
  readonly salt: Uint8Array
  /** Private key of the message's own pair, 32 bytes. */
  readonly privateKey: Uint8Array
}

/**
 * Record size. Push services must accept 4096 bytes, and may reject more (RFC 8030 section 7.2).
 */
const recordSize = 4096
/**
 * Maximum length of a text: a record without header (86), delimiter (1) and tag (16) (RFC 8188 section 2).
 */
export const maxPlaintextBytes: number = recordSize - 86 - 1 - 16

/**
 * Encrypts a push message for a browser (RFC 8291), with the content coding `aes128gcm` in one record (RFC
 * 8188). Throws if the public key is not a point of the curve, or the text is longer than
 * {@link maxPlaintextBytes}.
 */
export const encryptForBrowser = (
  text: Uint8Array,
  { p256dh, auth }: SubscriptionKeys,
  secrets?: MessageSecrets,
): Buffer => {
  if (text.length > maxPlaintextBytes) throw new RangeError(`longer than ${maxPlaintextBytes} bytes`)
  const pair = createECDH('prime256v1')
  if (secrets) pair.setPrivateKey(secrets.privateKey)
  else pair.generateKeys()
  const own = pair.getPublicKey()
  const salt = secrets?.salt ?? randomBytes(16)
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), p256dh, own])
  const keying = derive(pair.computeSecret(p256dh), auth, info, 32)
  const key = derive(keying, salt, 'Content-Encoding: aes128gcm\0', 16)
  const nonce = derive(keying, salt, 'Content-Encoding: nonce\0', 12)
  const cipher = createCipheriv('aes-128-gcm', key, nonce)
  // The delimiter 2 marks the last record; no padding follows.
  const record = [cipher.update(text), cipher.update(Buffer.of(2)), cipher.final(), cipher.getAuthTag()]
  const sizes = Buffer.alloc(5)
  sizes.writeUInt32BE(recordSize)
  sizes.writeUInt8(own.length, 4)
  return Buffer.concat([salt, sizes, own, ...record])
}

/** Derives bytes by HKDF with SHA-256 (RFC 5869). */
const derive = (keying: Uint8Array, salt: Uint8Array, info: Uint8Array | string, length: number): Buffer =>
  Buffer.from(hkdfSync('sha256', keying, salt, info, length))
