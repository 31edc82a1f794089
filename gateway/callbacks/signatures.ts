import { createHmac } from 'node:crypto'

/** Request to be signed. */
export interface Signed {
  /** URL with its query, without user, password and fragment. */
  readonly url: string
  readonly body?: { readonly contentType: string; readonly text: string }
  /** Id of the event; the same for every attempt. */
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

/**
 * Signs requests to customers' servers, so that they can verify the sender. Each request has the headers of
 * two schemes. `X-SignalWire-Signature` uses one key; Standard Webhooks signs by every key. So a key can be
 * replaced without a gap. The operator puts the new key first, and removes the old key once every server
 * knows the new one.
 */
export class Signer {
  readonly #keys: readonly string[]

  /** `keys`: empty for no signatures. */
  constructor(keys: readonly string[]) {
    this.#keys = keys
  }

  /** Returns the signature headers of a request; empty without keys. */
  headers(signed: Signed): Readonly<Record<string, string>> {
    const [first] = this.#keys
    if (first === undefined) return {}
    return { ...familyHeaders(first, signed), ...standardHeaders(this.#keys, signed) }
  }
}

/** Returns the `X-SignalWire-Signature` header. Forms and empty bodies are signed differently from JSON. */
const familyHeaders = (key: string, { url, body }: Signed): Record<string, string> => {
  if (!body || /^application\/x-www-form-urlencoded\b/i.test(body.contentType)) {
    const text = url + sortedForm(body?.text ?? '')
    return { 'x-signalwire-signature': hmac('sha1', key, text).toString('base64') }
  }
  return {
    'x-signalwire-signature': hmac('sha1', key, url + body.text).toString('hex'),
    'x-signalwire-sha256-signature': hmac('sha256', key, url + body.text).toString('hex'),
  }
}

/** Returns names and values of a form, sorted by name and joined without separators. */
const sortedForm = (text: string): string => {
  const fields = [...new URLSearchParams(text)]
  fields.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return fields.flat().join('')
}

/**
 * Returns the headers of https://www.standardwebhooks.com: id, time and signatures, each with the version of
 * its scheme.
 */
const standardHeaders = (keys: readonly string[], { id, at, body }: Signed): Record<string, string> => {
  const timestamp = String(Math.floor(at / 1000))
  const signatures = keys.map(
    (key) =>
      `v1,${hmac('sha256', secretOf(key), `${id}.${timestamp}.${body?.text ?? ''}`).toString('base64')}`,
  )
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}

/** Returns the bytes of a key. Standard Webhooks writes it as `whsec_` and Base64. */
const secretOf = (key: string): string | Buffer =>
  key.startsWith('whsec_') ? Buffer.from(key.slice(6), 'base64') : key

const hmac = (algorithm: string, key: string | Buffer, text: string): Buffer =>
  createHmac(algorithm, key).update(text).digest()
