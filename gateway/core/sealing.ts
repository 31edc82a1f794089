import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16

/** Encrypts secrets in the store (AES-256-GCM), with a key that is derived from the gateway's secret. */
export class Sealing {
  readonly #key: Uint8Array

  /** `purpose` gives each kind of text its own key. */
  constructor(secret: Uint8Array, purpose: string) {
    this.#key = createHmac('sha256', secret).update(purpose).digest()
  }

  /**
   * Returns the encrypted text, in base64url. Decryption needs the same `context`, such as the id of the row,
   * so a copy in another row is useless.
   */
  seal(text: string, context: string): string {
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv(algorithm, this.#key, iv).setAAD(Buffer.from(context))
    return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
      'base64url',
    )
  }

  /** Decrypts a text. Throws if it was not sealed with this key and context. */
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
