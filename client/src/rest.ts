import type { Environment } from './environment.ts'
import { ClientError, type Refusal } from './errors.ts'
import { type Json, record, text } from './frames.ts'
import type { Hosts } from './hosts.ts'

/** Values of a query string. Undefined values are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>

// The default of browsers is several minutes.
const maxWaitMs = 30_000

/** Requests to the gateway's REST API on behalf of the signed-in subscriber. */
export class Rest {
  readonly #hosts: Hosts
  readonly #environment: Pick<Environment, 'fetch' | 'clock'>
  readonly #token: () => string

  /** `token` is called for each request. */
  constructor(hosts: Hosts, environment: Pick<Environment, 'fetch' | 'clock'>, token: () => string) {
    this.#hosts = hosts
    this.#environment = environment
    this.#token = token
  }

  /**
   * Sends a GET request. Like the other methods it rejects with `auth` (401), or with `http`: the server's
   * message, status and list of faults.
   */
  get(path: string, query: Query = {}): Promise<unknown> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined)
    const search = new URLSearchParams(
      given.map(([key, value]): [string, string] => [key, String(value)]),
    ).toString()
    return this.#ask('GET', search ? `${path}?${search}` : path)
  }

  post(path: string, body: Json): Promise<unknown> {
    return this.#ask('POST', path, body)
  }

  delete(path: string): Promise<unknown> {
    return this.#ask('DELETE', path)
  }

  async #ask(method: string, path: string, body?: Json): Promise<unknown> {
    let response: Response
    let content: string
    const { fetch, clock } = this.#environment
    const abort = new AbortController()
    const limit = clock.after(maxWaitMs, () => abort.abort(new Error('no answer in time')))
    try {
      const authorization = `Bearer ${this.#token()}`
      response = await fetch(this.#hosts.http + path, {
        method,
        signal: abort.signal,
        headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      })
      content = await response.text()
    } catch (cause) {
      throw new ClientError('http', `${path}: ${this.#hosts.httpHost} cannot be reached.`, { cause })
    } finally {
      limit.cancel()
    }
    const answer = parsed(content)
    if (!response.ok) throw refused(path, response, answer)
    if (answer === undefined)
      throw new ClientError('http', `${path}: expected JSON; is ${this.#hosts.httpHost} a gateway?`)
    return answer
  }
}

// The body may be empty. If a proxy has sent the response, the body may be any text.
const parsed = (answer: string): unknown => {
  try {
    return JSON.parse(answer || '{}')
  } catch {
    return undefined
  }
}

const refused = (path: string, { status, statusText }: Response, answer: unknown): ClientError => {
  const list = record(answer).errors
  const refusals = (Array.isArray(list) ? list : []).map(record).map(refusalIn)
  const message = refusals.map((refusal) => refusal.message).join(' ') || `${path}: ${status} ${statusText}`
  return new ClientError(status === 401 ? 'auth' : 'http', message, { serverCode: String(status), refusals })
}

const refusalIn = (error: Json): Refusal => ({
  code: text(error.code) ?? '',
  message: text(error.message) ?? '',
  attribute: text(error.attribute),
})
