import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16

/**
 * Seals texts that the store must keep and nobody is to read out of it (AES-256-GCM), with a key made of the
 * gateway's secret.
 */
export class Sealing {
  readonly #key: Uint8Array

  /** `purpose` makes the key another one for each kind of text. */
  constructor(secret: Uint8Array, purpose: string) {
    this.#key = createHmac('sha256', secret).update(purpose).digest()
  }

  /**
   * Base64url. It can be opened with the same `context` alone: what it belongs to, so that nobody can put it
   * elsewhere.
   */
  seal(text: string, context: string): string {
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv(algorithm, this.#key, iv).setAAD(Buffer.from(context))
    return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
      'base64url',
    )
  }

  /** Throws when the text was not sealed with this key for this context. */
  open(sealed: string, context: string): string {
    const bytes = Buffer.from(sealed, 'base64url')
    if (bytes.length < ivBytes + tagBytes) throw new Error('A sealed text is cut off.')
    const decipher = createDecipheriv(algorithm, this.#key, bytes.subarray(0, ivBytes), {
      authTagLength: tagBytes,
    })
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-tagBytes))
    return Buffer.concat([decipher.update(bytes.subarray(ivBytes, -tagBytes)), decipher.final()]).toString()
  }
}
