import { type Agent, cacheStores, type Dispatcher, interceptors } from 'undici'

type Handler = Dispatcher.DispatchHandler
type Controller = Dispatcher.DispatchController
type Headers = Parameters<NonNullable<Handler['onResponseStart']>>[2]

/** Maximum size of response headers, which the cache does not count towards its size. */
const headerBytes = 16_384

/**
 * Caches the responses that a shared cache may keep, up to `maxSize` bytes. Revalidates them by ETag and
 * Last-Modified (RFC 9111). A response without freshness information is revalidated each time. Requests with
 * credentials must bypass the cache, because other callers could get their responses.
 */
export const cacheBefore = (agent: Agent, maxSize: number): Dispatcher => {
  const maxCount = Math.ceil(maxSize / headerBytes)
  const store = new cacheStores.MemoryCacheStore({ maxSize, maxEntrySize: maxSize, maxCount })
  return agent.compose(fitForCache, interceptors.cache({ store, methods: ['GET'], type: 'shared' }))
}

/** Interceptor between the cache and the network: makes responses safe for the cache. */
export const fitForCache: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch(options, new FitForCache(handler))

/** Size in bytes up to which chunks are joined before they are passed to the cache. */
const gatheredBytes = 16_384

class FitForCache implements Handler {
  readonly #next: Handler
  readonly #gathered = Buffer.allocUnsafe(gatheredBytes)
  #length = 0

  constructor(next: Handler) {
    this.#next = next
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.#next.onRequestStart?.(controller, context)
  }

  onRequestSent(): void {
    this.#next.onRequestSent?.()
  }

  onResponseStart(controller: Controller, status: number, headers: Headers, message?: string): void {
    this.#next.onResponseStart?.(controller, status, withSafeControl(status, headers), message)
  }

  /**
   * Joins small chunks: the cache stores each chunk separately, and a chunk of one byte would take a hundred.
   */
  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#length + chunk.length > gatheredBytes) this.#pass(controller)
    if (chunk.length > gatheredBytes) this.#next.onResponseData?.(controller, chunk)
    else this.#length += chunk.copy(this.#gathered, this.#length)
  }

  onResponseEnd(controller: Controller, trailers: Headers): void {
    this.#pass(controller)
    this.#next.onResponseEnd?.(controller, trailers)
  }

  onResponseError(controller: Controller, error: Error): void {
    this.#next.onResponseError?.(controller, error)
  }

  #pass(controller: Controller): void {
    if (this.#length === 0) return
    const chunk = Buffer.from(this.#gathered.subarray(0, this.#length))
    this.#length = 0
    this.#next.onResponseData?.(controller, chunk)
  }
}

const staleWhileRevalidate = /(^|,)\s*stale-while-revalidate\s*(=\s*("[^"]*"|[^,]*))?/gi
const freshness = /max-?age|no-cache|no-store|private|immutable/i

/**
 * Removes `stale-while-revalidate`, which would make the cache fetch in the background without limits. Adds
 * `no-cache` to a response without freshness information. Otherwise the cache would guess: a file unchanged
 * for a year would stay stale for a month.
 */
const withSafeControl = (status: number, headers: Headers): Headers => {
  const { 'cache-control': given, expires } = headers
  // A 304 without one of these headers keeps the stored value.
  if (given === undefined && (expires !== undefined || status === 304)) return headers
  const said = [given ?? []].flat().join(', ').replace(staleWhileRevalidate, '$1')
  const isSaid = expires !== undefined || freshness.test(said)
  return { ...headers, 'cache-control': isSaid ? said : `${said && `${said}, `}no-cache` }
}
