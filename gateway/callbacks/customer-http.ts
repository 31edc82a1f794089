import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { DocumentRequest, FetchedDocument, HttpRequest, HttpResponse } from '../../handlers/handler.ts'
import type { Timer } from '../core/clock.ts'
import type { TrunklineError } from '../core/errors/catalogue.ts'
import {
  asUnreachable,
  decode,
  drain,
  headerOf,
  headersOf,
  readAnswer,
  readBeginning,
  unreachable,
} from './answers.ts'
import { longestConnectMs, type Overrides, type RetryOn, readOverrides } from './overrides.ts'
import type { Signer } from './signatures.ts'
import {
  late,
  type OpenFile,
  type Outgoing,
  type Response,
  Transport,
  type TransportOptions,
} from './transport.ts'

/** What a {@link CustomerHttp} is made of. */
export interface CustomerHttpOptions extends TransportOptions {
  /** Longest time of one request in milliseconds: name, connection, redirects and body together. */
  readonly timeoutMs: number
  /** Largest document in bytes; default 256 KiB. */
  readonly maxBytes?: number
  /** Signs what is sent for a project. */
  readonly signer: (projectId: string) => Signer
}

/** What ends a request. */
export interface FetchLimits {
  readonly maxBytes: number
  /** Default {@link CustomerHttpOptions.timeoutMs}. */
  readonly timeoutMs?: number
  /** Gives up. */
  readonly signal?: AbortSignal
}

/** A file for somebody's server. */
export interface Upload {
  readonly url: string
  readonly method: 'PUT' | 'POST'
  readonly contentType: string
  readonly open: () => Promise<OpenFile>
}

/** Longer ones would only fill memory while they are thrown away. */
const defaultMaxBytes = 262_144
/** Of an answer to a document's own request. */
const mostOutsideBytes = 65_536
/** A document's own request may take longer than a document. */
const longestOutsideMs = 60_000
/** Of a file: the longest recordings have hundreds of megabytes. */
const longestUploadMs = 600_000
/** Headers that only we set: they say where a request goes, or how its body travels. */
const ownHeaders =
  /^(host|content-length|content-type|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|proxy-.*)$/i

/**
 * The one client for customers' URLs. It speaks only http and https, and only to public addresses and the allowed networks: a name is
 * resolved once for each connection, every address of the answer is checked, and the connection is made to just these. Each redirect is
 * checked anew. User and password in a URL become Basic authentication; they, the query and the fragment never stand in an error. The
 * fragment says how long to wait and how often to try ({@link readOverrides}); it is not sent.
 *
 * Everything that goes wrong is a {@link TrunklineError} with the code `document_unreachable` and the facts `url`, `reason` and, where
 * there was one, `status`.
 */
export class CustomerHttp {
  #options: CustomerHttpOptions
  readonly #transport: Transport
  readonly #running = new Set<AbortController>()
  #closed = false

  constructor(options: CustomerHttpOptions) {
    this.#options = options
    this.#transport = new Transport(options)
  }

  /** Sends by these settings from now on; requests on their way are not touched. */
  change(settings: Pick<CustomerHttpOptions, 'timeoutMs' | 'allowedNetworks' | 'cacheBytes'>): void {
    this.#options = { ...this.#options, ...settings }
    this.#transport.change(settings)
  }

  /** Requests that are on their way. */
  get running(): number {
    return this.#running.size
  }

  /** Servers that are not asked for a while, as they have not answered. */
  get openCircuits(): number {
    return this.#transport.breakers.open
  }

  /**
   * Fetches a document, signed for its project. Its `url` is where it was found in the end, with the user and password that led there, so that
   * relative URLs reach the same server; do not log it as it is. It is tried again once where the request cannot have reached its server, and
   * given up when `signal` fires.
   */
  async document(wanted: DocumentRequest, projectId: string, signal?: AbortSignal): Promise<FetchedDocument> {
    const { maxBytes = defaultMaxBytes } = this.#options
    const signed = { by: this.#options.signer(projectId), id: randomUUID() }
    const overrides = readOverrides(wanted.url)
    const answer = await this.#within(
      { ...wanted, signed, overrides: { ...overrides, retries: overrides.retries ?? 1 } },
      ({ url, response }) => readAnswer(url, response, maxBytes),
      signal,
    )
    return {
      url: answer.url,
      contentType: answer.contentType,
      text: decode(answer.bytes, answer.contentType),
    }
  }

  /** Fetches something such as audio; from the cache where its server allows that. */
  async bytes(url: string, limits: FetchLimits): Promise<{ bytes: Uint8Array; contentType: string }> {
    const { maxBytes, timeoutMs: totalMs, signal } = limits
    const { connectMs, readMs } = readOverrides(url)
    const { bytes, contentType } = await this.#within(
      { url, method: 'GET', cached: true, overrides: { connectMs, readMs, totalMs } },
      (found) => readAnswer(found.url, found.response, maxBytes),
      signal,
    )
    return { bytes, contentType }
  }

  /** A request that a document makes for itself. It is not signed, and tried once. */
  async request(outside: HttpRequest, signal?: AbortSignal): Promise<HttpResponse> {
    const { url, method, body, headers = {}, timeoutMs, connectTimeoutMs } = outside
    const own = Object.entries(headers)
      .filter(([name]) => !ownHeaders.test(name))
      .map(([name, value]) => [name.toLowerCase(), value])
    const overrides = {
      ...(connectTimeoutMs && { connectMs: Math.min(connectTimeoutMs, longestConnectMs) }),
      totalMs: Math.min(timeoutMs || this.#options.timeoutMs, longestOutsideMs),
    }
    return this.#within(
      { url, method, ...(body && { body }), headers: Object.fromEntries(own), overrides },
      async ({ response }) => {
        const bytes = await readBeginning(response, mostOutsideBytes)
        const text = decode(bytes, headerOf(response, 'content-type'))
        return { status: response.statusCode, headers: headersOf(response), text }
      },
      signal,
    )
  }

  /** Tells a customer's server something, signed; `id` is that of the event, whenever it is told. Resolves with the status of the answer. */
  async deliver(
    callback: DocumentRequest,
    { projectId, id }: { projectId: string; id: string },
  ): Promise<number> {
    const signed = { by: this.#options.signer(projectId), id }
    const overrides = readOverrides(callback.url)
    return this.#within({ ...callback, signed, overrides }, async ({ response }) => {
      await drain(response.body)
      return response.statusCode
    })
  }

  /**
   * Sends a file, unsigned: its URL says who may. It is opened, and read from its beginning, for each redirect and each try that the URL's
   * fragment asks for. Resolves with the status of the answer; `reason` of the error is `file` where it cannot be read.
   */
  async upload({ url, method, contentType, open }: Upload, signal?: AbortSignal): Promise<number> {
    const streams: Readable[] = []
    const opening = async () => {
      const file = await open().catch((error) => {
        throw unreachable(url, 'file', 'The file cannot be read.', {}, error)
      })
      streams.push(file.stream)
      return file
    }
    const overrides = { totalMs: longestUploadMs, ...readOverrides(url) }
    try {
      return await this.#within(
        { url, method, file: { contentType, open: opening }, overrides },
        async ({ response }) => {
          await drain(response.body)
          return response.statusCode
        },
        signal,
      )
    } finally {
      // Who answers early, or not at all, has not read all of it.
      for (const stream of streams) stream.destroy()
    }
  }

  /** Gives up every request and closes all connections. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    for (const controller of this.#running) controller.abort()
    this.#transport.close()
  }

  /** One request with its retries, in the time for all of it. */
  async #within<T>(
    wanted: Outgoing,
    read: (found: Response) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const { url, overrides } = wanted
    if (this.#closed) throw unreachable(url, 'closed', 'The gateway is shutting down.')
    const { totalMs: ms = this.#options.timeoutMs } = overrides
    const controller = new AbortController()
    this.#running.add(controller)
    const timer: Timer = this.#options.clock.after(ms, () => controller.abort(late))
    const signals = signal ? AbortSignal.any([controller.signal, signal]) : controller.signal
    try {
      return await this.#try(wanted, read, signals)
    } catch (error) {
      if (controller.signal.reason === late)
        throw unreachable(url, 'timeout', `It took longer than ${ms} ms.`)
      if (this.#closed) throw unreachable(url, 'closed', 'The gateway is shutting down.')
      if (signal?.aborted) throw unreachable(url, 'given-up', 'Nobody wants it any more.')
      throw error
    } finally {
      timer.cancel()
      this.#running.delete(controller)
    }
  }

  async #try<T>(wanted: Outgoing, read: (found: Response) => Promise<T>, signal: AbortSignal): Promise<T> {
    const { retries = 0, retryOn } = wanted.overrides
    let before: TrunklineError | undefined
    for (let tries = 0; ; tries++) {
      try {
        const found = await this.#transport.send(wanted, signal)
        return await read(found)
      } catch (error) {
        const failure = asUnreachable(error, wanted.url)
        // What went wrong says more than that it is not tried again.
        if (before && failure.facts.reason === 'circuit-open') throw before
        if (signal.aborted || tries >= retries || !mayRetry(failure, wanted.method, retryOn)) throw failure
        before = failure
      }
    }
  }
}

/** Whether a request that failed so may be sent again: where its server cannot have acted on it, or its URL says so. */
const mayRetry = (
  { facts }: TrunklineError,
  method: Outgoing['method'],
  retryOn: Overrides['retryOn'],
): boolean => {
  const { reason, status, sent } = facts
  if (!retryOn) return sent === false || (sent === true && method === 'GET')
  const wants = (on: RetryOn) => retryOn.has(on) || retryOn.has('all')
  if (sent === false) return wants('ct')
  if (sent === true || reason === 'silent') return wants('rt')
  return reason === 'status' && wants(Number(status) >= 500 ? '5xx' : '4xx')
}
