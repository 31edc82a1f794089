/** Header field of a message. `key` is the full name in lower case, also for compact forms. */
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

/**
 * Compact forms that drachtio-srf understands. Headers in other compact forms are delivered with their full
 * name.
 */
const understood = new Set(['i', 'm', 'l', 'c', 'f', 's', 'k', 't', 'v'])

const irregular: ReadonlyMap<string, string> = new Map([
  ['call-id', 'Call-ID'],
  ['cseq', 'CSeq'],
  ['rack', 'RAck'],
  ['rseq', 'RSeq'],
  ['min-se', 'Min-SE'],
  ['mime-version', 'MIME-Version'],
  ['www-authenticate', 'WWW-Authenticate'],
  ['sip-etag', 'SIP-ETag'],
  ['sip-if-match', 'SIP-If-Match'],
])

/** Further names that occur often. */
const common = [
  'accept',
  'accept-language',
  'alert-info',
  'allow',
  'authorization',
  'content-disposition',
  'date',
  'diversion',
  'expires',
  'history-info',
  'max-forwards',
  'organization',
  'p-asserted-identity',
  'p-early-media',
  'p-preferred-identity',
  'privacy',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-require',
  'reason',
  'record-route',
  'remote-party-id',
  'replaces',
  'reply-to',
  'require',
  'retry-after',
  'route',
  'server',
  'subscription-state',
  'timestamp',
  'unsupported',
  'user-agent',
  'warning',
]

const spell = (key: string): string =>
  irregular.get(key) ?? key.replace(/(^|-)([a-z])/g, (_, dash: string, c: string) => dash + c.toUpperCase())

/** Header name in one of its usual spellings; always a token. */
export interface KnownName {
  readonly key: string
  /**
   * Name as written. The same string object serves every message, because a text cut out of a message would
   * keep that message in memory.
   */
  readonly name: string
  readonly usual: string
}

const known: ReadonlyMap<string, KnownName> = new Map(
  [...Object.values(compact), ...irregular.keys(), ...common].flatMap((key) => {
    const usual = spell(key)
    const short = Object.keys(compact).find((each) => compact[each] === key)
    const forms = short === undefined ? [] : [short, short.toUpperCase()]
    const named = (form: string) => (understood.has(form.toLowerCase()) ? form : usual)
    return [
      ...[key, usual].map((name) => [name, { key, name, usual }] as const),
      ...forms.map((form) => [form, { key, name: named(form), usual }] as const),
    ]
  }),
)

/** Returns a known header name; undefined for a rare name or an unusual spelling. */
export const knownName = (name: string): KnownName | undefined => known.get(name)

/** Returns the key of a header name: lower case, compact forms in full (RFC 3261 7.3.3). */
export const headerKey = (name: string): string => {
  const found = known.get(name)
  if (found) return found.key
  const lower = name.toLowerCase()
  return lower.length === 1 ? (compact[lower] ?? lower) : lower
}

/** Returns the usual spelling of a header name. Extension names starting with `X-` are kept as written. */
export const headerName = (name: string): string => {
  const found = known.get(name)
  if (found) return found.usual
  return /^x-/i.test(name) ? name : spell(headerKey(name))
}

/** Header fields of one message, in order. */
export class Headers {
  readonly #list: Header[] = []

  /** Number of fields. */
  get size(): number {
    return this.#list.length
  }

  /** Returns every field, in order. */
  list(): readonly Header[] {
    return this.#list
  }

  /** Returns the value of the first field with this key. */
  first(key: string): string | undefined {
    for (const header of this.#list) if (header.key === key) return header.value
    return undefined
  }

  /** Returns the number of fields with this key. */
  count(key: string): number {
    let count = 0
    for (const header of this.#list) if (header.key === key) count++
    return count
  }

  /** Returns the values of all fields with this key. */
  all(key: string): string[] {
    const values: string[] = []
    for (const header of this.#list) if (header.key === key) values.push(header.value)
    return values
  }

  /** Adds a field at the end; keeps the name as given. */
  append(name: string, value: string): this {
    const found = known.get(name)
    if (found) this.add(found, value)
    else this.#list.push({ name, key: headerKey(name), value })
    return this
  }

  /** Adds a field with a known name at the end. */
  add(known: KnownName, value: string): void {
    this.#list.push({ name: known.name, key: known.key, value })
  }

  /** Removes every field with this key. */
  remove(key: string): void {
    for (let i = this.#list.length - 1; i >= 0; i--) if (this.#list[i]?.key === key) this.#list.splice(i, 1)
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
