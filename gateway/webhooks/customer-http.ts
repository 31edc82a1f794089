import { isIP } from 'node:net'
import { Agent, buildConnector, type Dispatcher, request } from 'undici'
import type { DocumentRequest, FetchedDocument } from '../../handlers/handler.ts'
import type { Clock } from '../clock.ts'
import {
  type Answer,
  asUnreachable,
  decode,
  discard,
  headerOf,
  readAnswer,
  refused,
  unreachable,
} from './answers.ts'
import { cacheBefore } from './audio-cache.ts'
import { AddressGuard } from './guard.ts'
import { guardedLookup, type Resolve } from './guarded-lookup.ts'
import { nextRequest, parseTarget } from './redirects.ts'

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
  /** Memory for answers to {@link CustomerHttp.bytes}, in bytes, kept and revalidated as RFC 9111 has it; default none are kept. Those
   * to requests with credentials never are. */
  readonly cacheBytes?: number
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

/** What ends a request. */
export interface FetchLimits {
  readonly maxBytes: number
  /** Default {@link CustomerHttpOptions.timeoutMs}. */
  readonly timeoutMs?: number
  /** Gives up. */
  readonly signal?: AbortSignal
}

/** Longer ones would only fill memory while they are thrown away. */
const defaultMaxBytes = 262_144

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
  /** The agent behind a cache, where there is one. */
  #cached: Dispatcher
  #running = new Set<AbortController>()
  #closed = false

  constructor(options: CustomerHttpOptions) {
    this.#options = options
    this.#guard = new AddressGuard(options.allowedNetworks)
    const connectTimeout = options.connectTimeoutMs ?? 2000
    const connect = buildConnector({
      allowH2: false,
      timeout: connectTimeout,
      lookup: guardedLookup(this.#guard, options.resolve),
    })
    this.#agent = new Agent({ connect, allowH2: false, maxHeaderSize: 16_384 })
    this.#cached = options.cacheBytes ? cacheBefore(this.#agent, options.cacheBytes) : this.#agent
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
    const limits = { maxBytes: this.#options.maxBytes ?? defaultMaxBytes }
    const { url, contentType, bytes } = await this.#fetch(wanted, limits, this.#agent)
    return { url, contentType, text: decode(bytes, contentType) }
  }

  /** Fetches something such as audio; from the cache where its server allows that. */
  async bytes(url: string, limits: FetchLimits): Promise<{ bytes: Uint8Array; contentType: string }> {
    const { bytes, contentType } = await this.#fetch({ url, method: 'GET' }, limits, this.#cached)
    return { bytes, contentType }
  }

  /** Gives up every request and closes all connections. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    for (const controller of this.#running) controller.abort()
    void this.#agent.destroy()
  }

  async #fetch(wanted: Outgoing, limits: FetchLimits, dispatcher: Dispatcher): Promise<Answer> {
    if (this.#closed) throw unreachable(wanted.url, 'closed', 'The gateway is shutting down.')
    const { maxBytes, timeoutMs = this.#options.timeoutMs, signal } = limits
    const controller = new AbortController()
    this.#running.add(controller)
    let late = false
    const timer = this.#options.clock.after(timeoutMs, () => {
      late = true
      controller.abort()
    })
    const signals = signal ? AbortSignal.any([controller.signal, signal]) : controller.signal
    try {
      return await this.#follow(wanted, maxBytes, signals, dispatcher)
    } catch (error) {
      if (late) throw unreachable(wanted.url, 'timeout', `It took longer than ${timeoutMs} ms.`)
      if (this.#closed) throw unreachable(wanted.url, 'closed', 'The gateway is shutting down.')
      if (signal?.aborted) throw unreachable(wanted.url, 'given-up', 'Nobody wants it any more.')
      throw asUnreachable(error, wanted.url)
    } finally {
      timer.cancel()
      this.#running.delete(controller)
    }
  }

  async #follow(
    first: Outgoing,
    maxBytes: number,
    signal: AbortSignal,
    dispatcher: Dispatcher,
  ): Promise<Answer> {
    const { maxRedirects = 3 } = this.#options
    let outgoing = first
    for (let redirects = 0; ; redirects++) {
      const response = await this.#send(outgoing, signal, dispatcher)
      const next = nextRequest(outgoing, response.statusCode, headerOf(response, 'location'))
      if (!next) return await readAnswer(outgoing.url, response, maxBytes)
      discard(response.body)
      if (redirects >= maxRedirects) {
        throw unreachable(first.url, 'redirects', `It redirects more than ${maxRedirects} times.`)
      }
      outgoing = next
    }
  }

  async #send(
    { url, method, body }: Outgoing,
    signal: AbortSignal,
    dispatcher: Dispatcher,
  ): Promise<Dispatcher.ResponseData> {
    const { target, authorization } = parseTarget(url)
    const literal = target.hostname.replace(/^\[|\]$/g, '')
    // For an address nobody asks the resolver, so it is checked here.
    if (isIP(literal) !== 0 && !this.#guard.permits(literal)) throw refused(url, literal)
    try {
      return await request(target, {
        method,
        // What one caller's credentials opened is not for the next one, whatever the server says of it.
        dispatcher: authorization ? this.#agent : dispatcher,
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
