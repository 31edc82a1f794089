import type { Readable } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import { AddressGuard } from '@trunkline/sip-agent/address-guard'
import { Agent, buildConnector, type Dispatcher, request } from 'undici'
import type { Clock } from '../core/clock.ts'
import { asUnreachable, discard, headerOf, refused, unreachable } from './answers.ts'
import { cacheBefore } from './audio-cache.ts'
import { breakerOpenMs, CircuitBreakers } from './circuit-breakers.ts'
import { guardedLookup, literalOf, type Resolve } from './guarded-lookup.ts'
import type { Overrides } from './overrides.ts'
import { nextRequest, parseTarget } from './redirects.ts'
import type { Signer } from './signatures.ts'

/** Content of a file, from its beginning. */
export interface OpenFile {
  readonly bytes: number
  readonly stream: Readable
}

/** One request in the form in which it is sent. */
export interface Outgoing {
  readonly url: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly body?: { readonly contentType: string; readonly text: string }
  /** File in place of `body`, opened for each request. */
  readonly file?: { readonly contentType: string; readonly open: () => Promise<OpenFile> }
  /** Further headers; those that name the destination or frame the body are ignored. */
  readonly headers?: Readonly<Record<string, string>>
  /** Signer, and id of the event. */
  readonly signed?: { readonly by: Signer; readonly id: string }
  /** Whether the response may come from the cache, if its headers permit caching. */
  readonly cached?: boolean
  /** Timeouts and retries that the URL sets; they also apply after a redirect. */
  readonly overrides: Overrides
}

/** Options of a {@link Transport}. */
export interface TransportOptions {
  /** Networks (CIDR) that are permitted although they are not public. */
  readonly allowedNetworks: readonly string[]
  /** Value of the User-Agent header; empty for no header. */
  readonly userAgent: string
  /** Maximum number of redirects; default 3. */
  readonly maxRedirects?: number
  /** Maximum time for one connection in milliseconds; default 2 s. */
  readonly connectTimeoutMs?: number
  /**
   * Memory for cached responses (RFC 9111), in bytes; default no cache. Responses to requests with
   * credentials are never cached.
   */
  readonly cacheBytes?: number
  readonly clock: Clock
  /** Default: the system's resolver. */
  readonly resolve?: Resolve
}

/** Response with an unread body, and its final URL. */
export interface Response {
  readonly url: string
  readonly response: Dispatcher.ResponseData
}

/**
 * Step to which connection timeouts are rounded up, in ms: each distinct timeout needs its own agent and
 * connections.
 */
const connectStepMs = 500
/** Reason for which a server is not contacted. */
const circuitOpenText = `Its server failed lately, and is contacted again within ${breakerOpenMs / 1000} s.`
/** Reasons of failures that do not count against the server. */
const blameless: ReadonlySet<unknown> = new Set(['address-refused', 'request'])
/** Maximum number of connections to one server. */
const maxConnections = 64
/** Maximum time in ms between two chunks. The limit of the total time usually ends a slow request first. */
const maxReadMs = 300_000

/**
 * Sends requests to customers' servers, follows redirects, and keeps circuit breakers of servers and of
 * paths.
 */
export class Transport {
  #options: TransportOptions
  readonly #guard: AddressGuard
  readonly #agents = new Map<number, Agent>()
  #cached: Dispatcher | undefined
  readonly breakers: CircuitBreakers

  constructor(options: TransportOptions) {
    this.#options = options
    this.#guard = new AddressGuard(options.allowedNetworks)
    this.breakers = new CircuitBreakers(options.clock)
    this.#cached = this.#newCache()
  }

  /**
   * Applies new settings. Open connections and cached responses may belong to a network that is no longer
   * allowed. So any change discards them once the running requests have ended.
   */
  change({ allowedNetworks, cacheBytes }: Pick<TransportOptions, 'allowedNetworks' | 'cacheBytes'>): void {
    const present = this.#options
    if (cacheBytes === present.cacheBytes && isDeepStrictEqual(allowedNetworks, present.allowedNetworks))
      return
    this.#options = { ...present, allowedNetworks, cacheBytes }
    this.#guard.change(allowedNetworks)
    for (const agent of this.#agents.values()) void agent.close()
    this.#agents.clear()
    this.#cached = this.#newCache()
  }

  /**
   * Returns the response, whatever its status. Throws a TrunklineError (`document_unreachable`) if no
   * response arrives.
   */
  async send(first: Outgoing, signal: AbortSignal): Promise<Response> {
    const { maxRedirects = 3 } = this.#options
    let outgoing = first
    for (let redirects = 0; ; redirects++) {
      const response = await this.#once(outgoing, signal)
      const next = nextRequest(outgoing, response.statusCode, headerOf(response, 'location'))
      if (!next) return { url: outgoing.url, response }
      discard(response.body)
      if (redirects >= maxRedirects)
        throw unreachable(first.url, 'redirects', `It redirects more than ${maxRedirects} times.`)
      outgoing = next
    }
  }

  /** Closes all connections. */
  close(): void {
    for (const agent of this.#agents.values()) void agent.destroy()
  }

  async #once(outgoing: Outgoing, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { url, method, body, cached, overrides } = outgoing
    const { target, authorization } = parseTarget(url)
    const literal = literalOf(target)
    // An IP address is not resolved, so it is checked here.
    if (literal !== undefined && !this.#guard.permits(literal)) throw refused(url, literal)
    const { origin, pathname } = target
    const path = origin + pathname
    if (!this.breakers.admits(origin) || !this.breakers.admits(path))
      throw unreachable(url, 'circuit-open', circuitOpenText)
    const { connectMs, readMs = maxReadMs } = overrides
    // A response to a request with credentials must not reach another caller, even if the server permits
    // caching.
    const fromCache = cached && !authorization ? this.#cached : undefined
    const file = await outgoing.file?.open()
    try {
      const response = await request(target, {
        method,
        signal,
        headersTimeout: readMs,
        bodyTimeout: readMs,
        dispatcher: fromCache ?? this.#agent(connectMs),
        headers: {
          ...this.#headers(outgoing, target, authorization),
          ...(file && { 'content-length': String(file.bytes) }),
        },
        ...(body && { body: body.text }),
        ...(file && { body: file.stream }),
      })
      this.breakers.answered(origin)
      this.breakers.answered(path)
      return response
    } catch (error) {
      const failure = asUnreachable(error, url)
      const { reason, sent } = failure.facts
      // An abort by the caller does not count as a failure of the server; the timeout of the whole request
      // does.
      const given = signal.aborted && signal.reason !== late
      // A path that hangs does not open the breaker of other paths, which may belong to another customer.
      if (!given && !blameless.has(reason))
        this.breakers.failed(sent === false || reason === 'dns' || reason === 'tls' ? origin : path)
      throw failure
    }
  }

  #headers(
    { body, file, headers, signed }: Outgoing,
    target: URL,
    authorization: string | undefined,
  ): Record<string, string> {
    const { userAgent, clock } = this.#options
    return {
      accept: '*/*',
      ...(userAgent && { 'user-agent': userAgent }),
      ...headers,
      'accept-encoding': 'identity',
      ...((body ?? file) && { 'content-type': (body ?? file)?.contentType }),
      ...(authorization && { authorization }),
      ...signed?.by.headers({ url: target.href, ...(body && { body }), id: signed.id, at: clock.now() }),
    }
  }

  #newCache(): Dispatcher | undefined {
    const { cacheBytes } = this.#options
    return cacheBytes ? cacheBefore(this.#agent(undefined), cacheBytes) : undefined
  }

  #agent(connectMs: number | undefined): Agent {
    const { connectTimeoutMs = 2000, resolve } = this.#options
    const timeout =
      connectMs === undefined ? connectTimeoutMs : Math.ceil(connectMs / connectStepMs) * connectStepMs
    const present = this.#agents.get(timeout)
    if (present) return present
    const connect = buildConnector({ allowH2: false, timeout, lookup: guardedLookup(this.#guard, resolve) })
    const agent = new Agent({ connect, allowH2: false, maxHeaderSize: 16_384, connections: maxConnections })
    this.#agents.set(timeout, agent)
    return agent
  }
}

/** Reason of a signal that fires after the total time. */
export const late: unique symbol = Symbol('late')
