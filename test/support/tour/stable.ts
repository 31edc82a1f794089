import { measurementOf, timeOf } from './measured.ts'

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/
const mailTime = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000$/
const webToken = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/

/** Names of fields with a secret that the gateway has generated. */
const secretName = /^(?:token|refresh_token|secret|client_secret|signing_key|push_notification_key)$/

/** Values within texts that differ from run to run, and addresses of the test with their example names. */
const replacements: readonly (readonly [RegExp, string])[] = [
  [/http:\/\/localhost:\d+/g, 'https://gw.example.com'],
  [/\bdapp\.localhost\b/g, 'dapp.gw.example.com'],
  [/\bexample\.test\b/g, 'example.com'],
  [/\bcarrier\.test\b/g, 'carrier.example'],
  [/\b127\.0\.0\.0\/8\b/g, '203.0.113.0/24'],
  [/\b127\.0\.0\.1\b/g, '203.0.113.7'],
  [/\bcursor=[\w-]+/g, 'cursor=MTc3MjQ0MzgwMDAwMA'],
  [/\bexpires=\d+&signature=[\w-]+/g, 'expires=1772530200&signature=example'],
  [/^\d+-\d+@/, 'a84b4c76e66710@'],
]

/** Returns whether a number is a time of this century, in seconds or milliseconds. */
const isTime = (value: number): boolean =>
  (value > 1.7e9 && value < 4e9) || (Number.isInteger(value) && value > 1.7e12 && value < 4e12)

/** Returns a time as the kind of text that `text` is, or undefined if `text` is no time. */
const timeLike = (text: string, time: number): string | undefined => {
  if (isoTime.test(text)) return new Date(time).toISOString()
  return mailTime.test(text) ? new Date(time).toUTCString().replace('GMT', '+0000') : undefined
}

/**
 * Replaces values that differ from run to run. Ids become numbered ones, times and measurements those of one
 * example call, and secrets example texts. Addresses of a test become example names (RFC 2606, RFC 5737).
 */
export class Stable {
  readonly #ids = new Map<string, string>()
  readonly #names: [string, string][] = []

  /** Lets the examples show a name in place of an address of the test, such as `127.0.0.1:4711`. */
  rename(address: string, name: string): void {
    this.#names.unshift([address, name])
  }

  /** Returns the body of a request with all texts and times replaced. */
  request(value: unknown): unknown {
    return this.#value(value, '', {}, false)
  }

  /** Returns the body of a response with all texts, times and measurements replaced. */
  response(value: unknown): unknown {
    return this.#value(value, '', {}, true)
  }

  /** Returns the texts of an object, replaced. */
  texts(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    return Object.fromEntries(Object.entries(values).map(([name, text]) => [name, this.#text(text, name)]))
  }

  /** `owner` is the object that has the field `name`. */
  #value(value: unknown, name: string, owner: { readonly name?: unknown }, isResponse: boolean): unknown {
    const measurement = isResponse ? measurementOf(name, value) : undefined
    if (measurement !== undefined) return measurement
    if (typeof value === 'string') return timeLike(value, timeOf(name, owner.name)) ?? this.#text(value, name)
    if (typeof value === 'number' && isTime(value)) {
      const time = timeOf(name)
      return value > 1e12 ? time : time / 1000
    }
    if (Array.isArray(value)) return value.map((each) => this.#value(each, name, owner, isResponse))
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, this.#value(each, key, value, isResponse)]),
    )
  }

  #text(text: string, name: string): string {
    if (webToken.test(text)) return 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJleGFtcGxlIn0.c2lnbmF0dXJl'
    if (text.startsWith('vpt_')) return 'vpt_example-conference-token-0000'
    if (secretName.test(name) && text.length > 16) return `example-${name.replaceAll('_', '-')}-0000`
    const renamed = this.#names.reduce((result, [from, to]) => result.replaceAll(from, to), text)
    const replaced = replacements.reduce((result, [from, to]) => result.replace(from, to), renamed)
    return replaced.replace(uuid, (id) => this.#id(id))
  }

  #id(id: string): string {
    const known = this.#ids.get(id)
    if (known) return known
    const number = String(this.#ids.size + 1).padStart(12, '0')
    const made = `5c0ffee0-0000-4000-8000-${number}`
    this.#ids.set(id, made)
    return made
  }
}
