import { type Agent, cacheStores, type Dispatcher, interceptors } from 'undici'

type Handler = Dispatcher.DispatchHandler
type Controller = Dispatcher.DispatchController
type Headers = Parameters<NonNullable<Handler['onResponseStart']>>[2]

/** Most of what a server may send as headers, which the store does not count. */
const headerBytes = 16_384

/**
 * Keeps what servers allow a shared cache to keep, up to `maxSize` bytes, and revalidates it by ETag and Last-Modified (RFC 9111). What a
 * server says nothing of is revalidated each time. Requests with credentials must not come here: any caller would be answered by them.
 */
export const cacheBefore = (agent: Agent, maxSize: number): Dispatcher => {
  const maxCount = Math.ceil(maxSize / headerBytes)
  const store = new cacheStores.MemoryCacheStore({ maxSize, maxEntrySize: maxSize, maxCount })
  return agent.compose(fitForCache, interceptors.cache({ store, methods: ['GET'], type: 'shared' }))
}

/** Stands between the cache and the network, and makes answers such that the cache does no harm with them. */
export const fitForCache: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch(options, new FitForCache(handler))

/** Bytes that are gathered before they are handed on. */
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

  /** The cache keeps chunks as they come: of single bytes each would cost it a hundred. */
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
 * Without `stale-while-revalidate`, for which the cache would fetch behind our back, without limits; and with `no-cache` where nothing is
 * said of freshness, because the cache would guess: a file that has been the same for a year would be old for a month when it changes.
 */
const withSafeControl = (status: number, headers: Headers): Headers => {
  const { 'cache-control': given, expires } = headers
  // A 304 that says nothing leaves what was said before.
  if (given === undefined && (expires !== undefined || status === 304)) return headers
  const said = [given ?? []].flat().join(', ').replace(staleWhileRevalidate, '$1')
  const isSaid = expires !== undefined || freshness.test(said)
  return { ...headers, 'cache-control': isSaid ? said : `${said && `${said}, `}no-cache` }
}
