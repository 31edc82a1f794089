import type { LookupAddress } from 'node:dns'
import { lookup as systemLookup } from 'node:dns'
import { isIP } from 'node:net'
import type { Dispatcher } from 'undici'
import { Agent, buildConnector, request } from 'undici'
import type { DocumentRequest, FetchedDocument } from '../../handlers/handler.ts'
import type { Clock } from '../clock.ts'
import { TrunklineError } from '../errors.ts'
import { AddressGuard } from './guard.ts'
import { cleanUrl, nextRequest, parseTarget } from './redirects.ts'

/** Resolves a name to all its addresses. */
export type Resolve = (
  hostname: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void

/** What a {@link CustomerHttp} is made of. */
export interface CustomerHttpOptions {
  /** Longest time of one request in milliseconds: name, connection, redirects and body together. */
  readonly timeoutMs: number
  /** Networks (CIDR) that may be reached although they are not public. */
  readonly allowedNetworks: readonly string[]
  /** Value of the User-Agent header; empty: none. */
  readonly userAgent: string
  /** Redirects that are followed; default 3. */
  readonly maxRedirects?: number
  /** Largest document in bytes; default 256 KiB. */
  readonly maxBytes?: number
  /** Largest time for one connection in milliseconds; default 2 s. */
  readonly connectTimeoutMs?: number
  readonly clock: Clock
  /** Default: the system's resolver. */
  readonly resolve?: Resolve
}

/** One request, as it goes out. */
export interface Outgoing {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly body?: DocumentRequest['body']
}

interface Answer {
  readonly url: string
  readonly contentType: string
  readonly bytes: Uint8Array
}

/** Longer ones would only fill memory while they are thrown away. */
const defaultMaxBytes = 262_144

const resolveBySystem: Resolve = (hostname, done) =>
  systemLookup(hostname, { all: true }, (error, addresses) => done(error, addresses))

/**
 * The one client for customers' URLs. It speaks only http and https, and only to public addresses and the allowed networks: a name is
 * resolved once for each connection, every address of the answer is checked, and the connection is made to just these. Each redirect is
 * checked anew. User and password in a URL become Basic authentication; they, the query and the fragment never stand in an error.
 *
 * Everything that goes wrong is a {@link TrunklineError} with the code `document_unreachable` and the facts `url`, `reason` and, where
 * there was one, `status`.
 */
export class CustomerHttp {
  #options: CustomerHttpOptions
  #guard: AddressGuard
  #agent: Agent
  #running = new Set<AbortController>()
  #closed = false

  constructor(options: CustomerHttpOptions) {
    this.#options = options
    this.#guard = new AddressGuard(options.allowedNetworks)
    const connectTimeout = options.connectTimeoutMs ?? 2000
    const connect = buildConnector({
      allowH2: false,
      timeout: connectTimeout,
      lookup: guardedLookup(this.#guard, options),
    })
    this.#agent = new Agent({ connect, allowH2: false, maxHeaderSize: 16_384 })
  }

  /** Requests that are on their way. */
  get running(): number {
    return this.#running.size
  }

  /**
   * Fetches a document. Its `url` is where it was found in the end, with the user and password that led there, so that relative URLs
   * reach the same server; do not log it as it is.
   */
  async document(wanted: DocumentRequest): Promise<FetchedDocument> {
    const { url, contentType, bytes } = await this.#fetch(wanted, this.#options.maxBytes ?? defaultMaxBytes)
    return { url, contentType, text: decode(bytes, contentType) }
  }

  /** Fetches something of at most `maxBytes`, for instance audio. */
  async bytes(url: string, maxBytes: number): Promise<{ bytes: Uint8Array; contentType: string }> {
    const { bytes, contentType } = await this.#fetch({ url, method: 'GET' }, maxBytes)
    return { bytes, contentType }
  }

  /** Gives up every request and closes all connections. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    for (const controller of this.#running) controller.abort()
    void this.#agent.destroy()
  }

  async #fetch(wanted: Outgoing, maxBytes: number): Promise<Answer> {
    if (this.#closed) throw unreachable(wanted.url, 'closed', 'The gateway is shutting down.')
    const controller = new AbortController()
    this.#running.add(controller)
    let late = false
    const timer = this.#options.clock.after(this.#options.timeoutMs, () => {
      late = true
      controller.abort()
    })
    try {
      return await this.#follow(wanted, maxBytes, controller.signal)
    } catch (error) {
      if (late) throw unreachable(wanted.url, 'timeout', `It took longer than ${this.#options.timeoutMs} ms.`)
      if (this.#closed) throw unreachable(wanted.url, 'closed', 'The gateway is shutting down.')
      throw asUnreachable(error, wanted.url)
    } finally {
      timer.cancel()
      this.#running.delete(controller)
    }
  }

  async #follow(first: Outgoing, maxBytes: number, signal: AbortSignal): Promise<Answer> {
    const { maxRedirects = 3 } = this.#options
    let outgoing = first
    for (let redirects = 0; ; redirects++) {
      const response = await this.#send(outgoing, signal)
      const next = nextRequest(outgoing, response.statusCode, headerOf(response, 'location'))
      if (!next) return await readAnswer(outgoing.url, response, maxBytes)
      discard(response.body)
      if (redirects >= maxRedirects) {
        throw unreachable(first.url, 'redirects', `It redirects more than ${maxRedirects} times.`)
      }
      outgoing = next
    }
  }

  async #send({ url, method, body }: Outgoing, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { target, authorization } = parseTarget(url)
    const literal = target.hostname.replace(/^\[|\]$/g, '')
    // For an address nobody asks the resolver, so it is checked here.
    if (isIP(literal) !== 0 && !this.#guard.permits(literal)) throw refused(url, literal)
    try {
      return await request(target, {
        method,
        dispatcher: this.#agent,
        signal,
        headers: {
          accept: '*/*',
          'accept-encoding': 'identity',
          ...(this.#options.userAgent && { 'user-agent': this.#options.userAgent }),
          ...(body && { 'content-type': body.contentType }),
          ...(authorization && { authorization }),
        },
        ...(body && { body: body.text }),
      })
    } catch (error) {
      throw asUnreachable(error, url)
    }
  }
}

/** An address that is not permitted came out of the resolver. */
class AddressRefused extends Error {
  readonly address: string

  constructor(address: string) {
    super(`the address ${address} is not permitted`)
    this.address = address
  }
}

/** The `lookup` of `net.connect`: what it hands on is what is connected to, so nobody can resolve the name a second time. */
const guardedLookup =
  (guard: AddressGuard, { resolve = resolveBySystem }: CustomerHttpOptions) =>
  (
    hostname: string,
    options: { readonly all?: boolean },
    done: (error: Error | null, address: string | LookupAddress[], family?: number) => void,
  ): void => {
    resolve(hostname, (error, addresses) => {
      const [first] = addresses ?? []
      if (error || !first) return done(error ?? new Error(`the name ${hostname} has no address`), [])
      const bad = addresses.find(({ address }) => !guard.permits(address))
      if (bad) return done(new AddressRefused(bad.address), [])
      if (options.all) return done(null, [...addresses])
      return done(null, first.address, first.family)
    })
  }

const headerOf = (response: Dispatcher.ResponseData, name: string): string => {
  const value = response.headers[name]
  return (Array.isArray(value) ? value[0] : value) ?? ''
}

/** Gives up a body with its connection: it could be as long as its server likes. That is told as an error, which nobody needs. */
const discard = (body: Dispatcher.ResponseData['body']): void => {
  body.on('error', () => {})
  body.destroy()
}

const readAnswer = async (
  url: string,
  response: Dispatcher.ResponseData,
  maxBytes: number,
): Promise<Answer> => {
  const { statusCode: status, body } = response
  if (status < 200 || status > 299) {
    discard(body)
    throw unreachable(url, 'status', `Its server answered ${status}.`, { status })
  }
  const encoding = headerOf(response, 'content-encoding')
  if (encoding && encoding !== 'identity') {
    discard(body)
    throw unreachable(
      url,
      'encoding',
      `It came encoded as ${encoding.slice(0, 20)}, which was not asked for.`,
    )
  }
  const tooLarge = () => unreachable(url, 'too-large', `It is larger than ${maxBytes} bytes.`)
  const chunks: Uint8Array[] = []
  let size = 0
  if (Number(headerOf(response, 'content-length')) > maxBytes) {
    discard(body)
    throw tooLarge()
  }
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    size += chunk.length
    // Leaving the loop destroys the body, and with it the connection.
    if (size > maxBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return { url, contentType: headerOf(response, 'content-type'), bytes: Buffer.concat(chunks) }
}

const decode = (bytes: Uint8Array, contentType: string): string => {
  const charset = /charset="?([\w-]+)/i.exec(contentType)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes)
  }
}

const unreachable = (
  url: string,
  reason: string,
  detail: string,
  more: object = {},
  cause?: unknown,
): TrunklineError =>
  new TrunklineError(
    'document_unreachable',
    `${cleanUrl(url)}: ${detail}`,
    { url: cleanUrl(url), reason, ...more },
    cause,
  )

const refused = (url: string, address: string): TrunklineError =>
  unreachable(
    url,
    'address-refused',
    `Its address ${address} is not public, nor in limits.documentNetworks.`,
    { address },
  )

const asUnreachable = (error: unknown, url: string): TrunklineError => {
  if (error instanceof TrunklineError) return error
  if (error instanceof AddressRefused) return refused(url, error.address)
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return unreachable(url, 'dns', 'Its name has no address.')
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return unreachable(url, 'connect', 'The connection took too long.')
  // Messages of the network name addresses and ports, and nothing of the URL's path or credentials.
  return unreachable(url, 'connect', `The connection failed: ${code ?? message}.`, {}, error)
}
