import { createHmac } from 'node:crypto'

/** A request as it is signed. */
export interface Signed {
  /** With its query, without user, password and fragment. */
  readonly url: string
  readonly body?: { readonly contentType: string; readonly text: string }
  /** Of the event; stays the same when it is told again. */
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

/**
 * Signs what customers' servers are sent, so that they know that it is from us. Each request carries the headers of two schemes:
 * `X-SignalWire-Signature`, the family's own, which knows one key; and those of Standard Webhooks, which signs by every key. So a key can be
 * changed without a gap: the new one is put first, and the old one is taken away when every server knows the new one.
 */
export class Signer {
  readonly #keys: readonly string[]

  /** `keys`: none means that nothing is signed. */
  constructor(keys: readonly string[]) {
    this.#keys = keys
  }

  /** The headers of a request; none without keys. */
  headers(signed: Signed): Readonly<Record<string, string>> {
    const [first] = this.#keys
    if (first === undefined) return {}
    return { ...familyHeaders(first, signed), ...standardHeaders(this.#keys, signed) }
  }
}

/** By the type of the body: what is a form, or has no body, is signed in another way than JSON is. */
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

/** Names and values of a form, sorted by name, one after the other without anything between. */
const sortedForm = (text: string): string => {
  const fields = [...new URLSearchParams(text)]
  fields.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return fields.flat().join('')
}

/** https://www.standardwebhooks.com: identity, time and signatures, each signature with the version of its scheme before it. */
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

/** A key may be written as Standard Webhooks has it: `whsec_` and Base64. */
const secretOf = (key: string): string | Buffer =>
  key.startsWith('whsec_') ? Buffer.from(key.slice(6), 'base64') : key

const hmac = (algorithm: string, key: string | Buffer, text: string): Buffer =>
  createHmac(algorithm, key).update(text).digest()
