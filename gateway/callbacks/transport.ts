import type { Readable } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import { AddressGuard } from '@trunkline/sip-agent/address-guard'
import { Agent, buildConnector, type Dispatcher, request } from 'undici'
import type { Clock } from '../core/clock.ts'
import { asUnreachable, discard, headerOf, refused, unreachable } from './answers.ts'
import { cacheBefore } from './audio-cache.ts'
import { Breakers } from './breakers.ts'
import { guardedLookup, literalOf, type Resolve } from './guarded-lookup.ts'
import type { Overrides } from './overrides.ts'
import { nextRequest, parseTarget } from './redirects.ts'
import type { Signer } from './signatures.ts'

/** A file, from its beginning. */
export interface OpenFile {
  readonly bytes: number
  readonly stream: Readable
}

/** One request, as it goes out. */
export interface Outgoing {
  readonly url: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly body?: { readonly contentType: string; readonly text: string }
  /** In place of `body`. Opened for each request anew. */
  readonly file?: { readonly contentType: string; readonly open: () => Promise<OpenFile> }
  /** Further headers; those that say where it goes, or how its body travels, are passed over. */
  readonly headers?: Readonly<Record<string, string>>
  /** By whom it is signed, and the id of what it tells. */
  readonly signed?: { readonly by: Signer; readonly id: string }
  /** From the cache, where its server allows that. */
  readonly cached?: boolean
  /** How its server is reached, also where it redirects to. */
  readonly overrides: Overrides
}

/** What a {@link Transport} is made of. */
export interface TransportOptions {
  /** Networks (CIDR) that may be reached although they are not public. */
  readonly allowedNetworks: readonly string[]
  /** Value of the User-Agent header; empty: none. */
  readonly userAgent: string
  /** Redirects that are followed; default 3. */
  readonly maxRedirects?: number
  /** Longest wait for one connection in milliseconds; default 2 s. */
  readonly connectTimeoutMs?: number
  /** Memory for answers that may be kept (RFC 9111), in bytes; default none are. Those to requests with credentials never are. */
  readonly cacheBytes?: number
  readonly clock: Clock
  /** Default: the system's resolver. */
  readonly resolve?: Resolve
}

/** An answer whose body was not read yet, and where it came from in the end. */
export interface Response {
  readonly url: string
  readonly response: Dispatcher.ResponseData
}

/** Connection time-outs are rounded up to these steps, in ms: each has an agent with connections of its own. */
const connectStepMs = 500
/** Reasons of failures that say nothing of the server. */
const blameless: ReadonlySet<unknown> = new Set(['address-refused', 'request'])
/** Connections to one server. */
const mostConnections = 64
/** Requests end by their whole time; nothing else ends one whose server sends a byte now and then. */
const longestReadMs = 300_000

/** Sends requests to customers' servers, follows redirects, and knows which servers, and which of their paths, do not answer. */
export class Transport {
  #options: TransportOptions
  readonly #guard: AddressGuard
  readonly #agents = new Map<number, Agent>()
  #cached: Dispatcher | undefined
  readonly breakers: Breakers

  constructor(options: TransportOptions) {
    this.#options = options
    this.#guard = new AddressGuard(options.allowedNetworks)
    this.breakers = new Breakers(options.clock)
    this.#cached = this.#newCache()
  }

  /**
   * Sends by these settings from now on. Connections and answers that are kept may be from a network that is no longer allowed: they are
   * given up with any change, when the requests under way are over.
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

  /** The answer, whatever its status. Throws a TrunklineError (`document_unreachable`) where there is none. */
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
    // For an address nobody asks the resolver, so it is checked here.
    if (literal !== undefined && !this.#guard.permits(literal)) throw refused(url, literal)
    const { origin, pathname } = target
    const path = origin + pathname
    if (!this.breakers.admits(origin) || !this.breakers.admits(path))
      throw unreachable(url, 'circuit-open', 'Its server has not answered lately, and is not asked now.')
    const { connectMs, readMs = longestReadMs } = overrides
    // What one caller's credentials opened is not for the next one, whatever the server says of it.
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
      // Who gave up early says nothing of the server; a time-out of the whole does.
      const given = signal.aborted && signal.reason !== late
      // One path that hangs says nothing of the others, which may be somebody else's.
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
    const agent = new Agent({ connect, allowH2: false, maxHeaderSize: 16_384, connections: mostConnections })
    this.#agents.set(timeout, agent)
    return agent
  }
}

/** Reason of a signal that fires because the whole took too long. */
export const late: unique symbol = Symbol('late')
