import type { Gateway } from '../gateway.ts'

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/
const mailTime = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000$/
const webToken = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/

/** Moment of all times of the examples. */
const moment = Date.UTC(2026, 2, 2, 9, 30)
const isoMoment = new Date(moment).toISOString()
const mailMoment = new Date(moment).toUTCString().replace('GMT', '+0000')

/** Names of fields with a secret that the gateway has generated. */
const secretName = /^(?:token|secret|client_secret|signing_key|push_notification_key)$/

/** Returns whether a number is a time of this century, in seconds or milliseconds. */
const isTime = (value: number): boolean =>
  Number.isInteger(value) && ((value > 1.7e9 && value < 4e9) || (value > 1.7e12 && value < 4e12))

/**
 * Replaces values that differ from run to run: ids by numbered ones, times by one moment, and secrets by
 * example texts. Addresses of a test become example names (RFC 2606, RFC 5737).
 */
export class Stable {
  readonly #ids = new Map<string, string>()
  readonly #names: [string, string][]

  constructor(gateway: Gateway) {
    this.#names = [
      [`https://gw.localhost:${gateway.tlsPort}`, 'https://gw.example.com'],
      [`http://127.0.0.1:${gateway.httpPort}`, 'https://gw.example.com'],
      [`127.0.0.1:${gateway.httpPort}`, 'gw.example.com'],
    ]
  }

  /** Lets the examples show a name in place of an address of the test, such as `127.0.0.1:4711`. */
  rename(address: string, name: string): void {
    this.#names.unshift([address, name])
  }

  /** Returns a value of JSON with all texts and times replaced. */
  value(value: unknown, name = ''): unknown {
    if (typeof value === 'string') return this.#text(value, name)
    if (typeof value === 'number' && isTime(value)) return value > 1e12 ? moment : moment / 1000
    if (Array.isArray(value)) return value.map((each) => this.value(each, name))
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.value(each, key)]))
  }

  /** Returns the texts of an object, replaced. */
  texts(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    return Object.fromEntries(Object.entries(values).map(([name, text]) => [name, this.#text(text, name)]))
  }

  #text(text: string, name: string): string {
    if (webToken.test(text)) return 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJleGFtcGxlIn0.c2lnbmF0dXJl'
    if (secretName.test(name) && text.length > 16) return `${text.slice(0, 3)}${'0'.repeat(12)}`
    if (isoTime.test(text)) return isoMoment
    if (mailTime.test(text)) return mailMoment
    const renamed = this.#names.reduce((result, [from, to]) => result.replaceAll(from, to), text)
    return renamed.replace(uuid, (id) => this.#id(id)).replaceAll('127.0.0.1', '203.0.113.7')
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
