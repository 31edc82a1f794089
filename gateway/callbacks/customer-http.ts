import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import type {
  DocumentRequest,
  DocumentSocket,
  FetchedDocument,
  HttpRequest,
  HttpResponse,
  SocketListener,
  SocketRequest,
} from '../../handlers/handler.ts'
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
  saveAnswer,
  unreachable,
} from './answers.ts'
import { CustomerSockets } from './customer-sockets.ts'
import { maxConnectMs, type Overrides, type RetryOn, readOverrides } from './overrides.ts'
import type { Signer } from './signatures.ts'
import {
  late,
  type OpenFile,
  type Outgoing,
  type Response,
  Transport,
  type TransportOptions,
} from './transport.ts'

/** Options of a {@link CustomerHttp}. */
export interface CustomerHttpOptions extends TransportOptions {
  /** Maximum time of one request in milliseconds, including resolution, connection, redirects and body. */
  readonly timeoutMs: number
  /** Maximum size of a document in bytes; default 256 KiB. */
  readonly maxBytes?: number
  /** Returns the signer of a project. */
  readonly signer: (projectId: string) => Signer
}

/** Limits of a request. */
export interface FetchLimits {
  readonly maxBytes: number
  /** Default {@link CustomerHttpOptions.timeoutMs}. */
  readonly timeoutMs?: number
  /** Aborts the request. */
  readonly signal?: AbortSignal
}

/** Upload of a file to a customer's server. */
export interface Upload {
  readonly url: string
  readonly method: 'PUT' | 'POST'
  readonly contentType: string
  readonly open: () => Promise<OpenFile>
}

/** Default maximum size of a document in bytes. Larger documents would only fill memory. */
const defaultMaxBytes = 262_144
/** Maximum number of bytes read from the response to a request that a document makes itself. */
const maxOutsideBytes = 65_536
/** Maximum time in ms of a request that a document makes itself; more than for fetching a document. */
const maxOutsideMs = 60_000
/** Maximum time in ms of an upload: the longest recordings have hundreds of megabytes. */
const maxUploadMs = 600_000
/** Headers that only this client sets: they name the destination, or frame the body. */
const ownHeaders =
  /^(host|content-length|content-type|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|proxy-.*)$/i

/**
 * The client for customers' URLs. It supports only http and https, and only public addresses and the allowed
 * networks. A name is resolved once for each connection, every resolved address is checked, and only these
 * addresses are used. Each redirect is checked in the same way. User and password in a URL become Basic
 * authentication. Errors never contain user, password, query or fragment. The fragment sets timeouts and
 * retries ({@link readOverrides}) and is not sent.
 *
 * Every failure is a {@link TrunklineError} with the code `document_unreachable` and the facts `url`,
 * `reason` and, if there was a response, `status`.
 */
export class CustomerHttp {
  #options: CustomerHttpOptions
  readonly #transport: Transport
  readonly #sockets: CustomerSockets
  readonly #running = new Set<AbortController>()
  #closed = false

  constructor(options: CustomerHttpOptions) {
    this.#options = options
    this.#transport = new Transport(options)
    this.#sockets = new CustomerSockets(options)
  }

  /** Applies new settings to later requests. */
  change(settings: Pick<CustomerHttpOptions, 'timeoutMs' | 'allowedNetworks' | 'cacheBytes'>): void {
    this.#options = { ...this.#options, ...settings }
    this.#transport.change(settings)
    this.#sockets.change(settings.allowedNetworks)
  }

  /** Number of requests that are being sent. */
  get running(): number {
    return this.#running.size
  }

  /** Number of WebSockets that are open or being opened. */
  get openSockets(): number {
    return this.#sockets.running
  }

  /** Number of servers with an open circuit breaker. */
  get openCircuits(): number {
    return this.#transport.breakers.open
  }

  /**
   * Fetches a document, signed for its project. The result's `url` is the final URL, with user and password,
   * so that relative URLs reach the same server. Do not log it unchanged. A request that certainly did not
   * reach its server is retried once. The time-out is that of the URL, else that of the request, else that of
   * the options. `signal` aborts.
   */
  async document(wanted: DocumentRequest, projectId: string, signal?: AbortSignal): Promise<FetchedDocument> {
    const { maxBytes = defaultMaxBytes } = this.#options
    const signed = { by: this.#options.signer(projectId), id: randomUUID() }
    const { timeoutMs, ...request } = wanted
    const overrides = readOverrides(wanted.url)
    const totalMs = overrides.totalMs ?? (timeoutMs && Math.min(timeoutMs, maxOutsideMs))
    const retries = overrides.retries ?? 1
    const answer = await this.#within(
      { ...request, signed, overrides: { ...overrides, retries, ...(totalMs && { totalMs }) } },
      ({ url, response }) => readAnswer(url, response, maxBytes),
      signal,
    )
    return {
      url: answer.url,
      contentType: answer.contentType,
      text: decode(answer.bytes, answer.contentType),
    }
  }

  /** Fetches a file such as audio. Uses the cache if the response headers permit it. */
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

  /**
   * Fetches a file that is too large for memory: passes its parts to `write`, in their order. Rejects also
   * with the errors of `write`. Nothing is cached.
   */
  async download(
    url: string,
    { maxBytes, timeoutMs: totalMs, signal }: FetchLimits,
    write: (part: Uint8Array) => Promise<unknown>,
  ): Promise<void> {
    const { connectMs, readMs } = readOverrides(url)
    await this.#within(
      { url, method: 'GET', overrides: { connectMs, readMs, totalMs } },
      (found) => saveAnswer(found.url, found.response, maxBytes, write),
      signal,
    )
  }

  /** Sends a request that a document makes itself, unsigned and without retries. */
  async request(outside: HttpRequest, signal?: AbortSignal): Promise<HttpResponse> {
    const { url, method, body, headers = {}, timeoutMs, connectTimeoutMs } = outside
    const own = Object.entries(headers)
      .filter(([name]) => !ownHeaders.test(name))
      .map(([name, value]) => [name.toLowerCase(), value])
    const overrides = {
      ...(connectTimeoutMs && { connectMs: Math.min(connectTimeoutMs, maxConnectMs) }),
      totalMs: Math.min(timeoutMs || this.#options.timeoutMs, maxOutsideMs),
    }
    return this.#within(
      { url, method, ...(body && { body }), headers: Object.fromEntries(own), overrides },
      async ({ response }) => {
        const bytes = await readBeginning(response, maxOutsideBytes)
        const text = decode(bytes, headerOf(response, 'content-type'))
        return { status: response.statusCode, headers: headersOf(response), text }
      },
      signal,
    )
  }

  /** Opens a WebSocket, signed for a project; see `HandlerContext.openSocket`. */
  openSocket(request: SocketRequest, projectId: string, listener: SocketListener): DocumentSocket {
    return this.#sockets.open(request, projectId, listener)
  }

  /**
   * Sends a signed callback to a customer's server. `id` is that of the event, the same for every attempt.
   * Resolves with the status.
   */
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
   * Uploads a file, unsigned: its URL is the authorisation. The file is opened for each redirect and each
   * retry that the URL's fragment sets. Resolves with the status. The error has `reason` `file` if the
   * file cannot be read.
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
    const overrides = { totalMs: maxUploadMs, ...readOverrides(url) }
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
      // A server may respond before it has read the whole file, and leave a stream open.
      for (const stream of streams) stream.destroy()
    }
  }

  /** Aborts every request and closes all connections. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    for (const controller of this.#running) controller.abort()
    this.#sockets.close()
    this.#transport.close()
  }

  /** Sends one request with its retries within the total time. */
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
      if (signal?.aborted) throw unreachable(url, 'given-up', 'The request was aborted.')
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
        // The earlier failure explains more than the breaker that it opened.
        if (before && failure.facts.reason === 'circuit-open') throw before
        if (signal.aborted || tries >= retries || !mayRetry(failure, wanted.method, retryOn)) throw failure
        before = failure
      }
    }
  }
}

/**
 * Returns whether a failed request may be retried: if its server cannot have acted on it, or its URL permits
 * it.
 */
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
