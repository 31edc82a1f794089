/** A header field as it stands in a message. `key` is the lower-case full name, also for compact forms. */
export interface Header {
  readonly name: string
  readonly key: string
  readonly value: string
}

const compact: Readonly<Record<string, string>> = {
  i: 'call-id',
  m: 'contact',
  e: 'content-encoding',
  l: 'content-length',
  c: 'content-type',
  f: 'from',
  s: 'subject',
  k: 'supported',
  t: 'to',
  v: 'via',
  o: 'event',
  u: 'allow-events',
  r: 'refer-to',
  b: 'referred-by',
  a: 'accept-contact',
  j: 'reject-contact',
  d: 'request-disposition',
  x: 'session-expires',
  y: 'identity',
}

const irregular: Readonly<Record<string, string>> = {
  'call-id': 'Call-ID',
  cseq: 'CSeq',
  rack: 'RAck',
  rseq: 'RSeq',
  'min-se': 'Min-SE',
  'mime-version': 'MIME-Version',
  'www-authenticate': 'WWW-Authenticate',
  'sip-etag': 'SIP-ETag',
  'sip-if-match': 'SIP-If-Match',
}

/** The key of a header name: lower case, compact forms written out (RFC 3261 7.3.3). */
export const headerKey = (name: string): string => {
  const lower = name.toLowerCase()
  return lower.length === 1 ? (compact[lower] ?? lower) : lower
}

/** The usual spelling of a header name. Extension names starting with `X-` are kept as the application wrote them. */
export const headerName = (name: string): string => {
  if (/^x-/i.test(name)) return name
  const key = headerKey(name)
  return (
    irregular[key] ?? key.replace(/(^|-)([a-z])/g, (_, dash: string, c: string) => dash + c.toUpperCase())
  )
}

/** The header fields of one message, in order. */
export class Headers {
  readonly #list: Header[] = []

  /** Number of fields. */
  get size(): number {
    return this.#list.length
  }

  /** Every field, in order. */
  list(): readonly Header[] {
    return this.#list
  }

  /** The value of the first field with this key. */
  first(key: string): string | undefined {
    for (const header of this.#list) if (header.key === key) return header.value
    return undefined
  }

  /** The values of all fields with this key. */
  all(key: string): string[] {
    const values: string[] = []
    for (const header of this.#list) if (header.key === key) values.push(header.value)
    return values
  }

  /** Adds a field at the end, keeping the name as given. */
  append(name: string, value: string): this {
    this.#list.push({ name, key: headerKey(name), value })
    return this
  }

  /** Replaces the value of the first field with this key, or adds the field. */
  replace(name: string, value: string): this {
    const key = headerKey(name)
    const index = this.#list.findIndex((header) => header.key === key)
    if (index < 0) return this.append(name, value)
    this.#list[index] = { name: (this.#list[index] as Header).name, key, value }
    return this
  }
}
