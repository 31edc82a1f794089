/**
 * Timeouts and retries in the fragment of a customer's URL; absent values are taken from the configuration.
 */
export interface Overrides {
  /** Maximum time for a connection, in ms. */
  readonly connectMs?: number
  /** Maximum time between two chunks of the response, in ms. */
  readonly readMs?: number
  /** Maximum total time, in ms. */
  readonly totalMs?: number
  /** Number of retries. */
  readonly retries?: number
  /** Failures that are retried; by default only those in which the request did not reach its server. */
  readonly retryOn?: ReadonlySet<RetryOn>
}

/** Kind of failure: connection (`ct`), read timeout (`rt`), a class of statuses, or any of these (`all`). */
export type RetryOn = 'ct' | 'rt' | '4xx' | '5xx' | 'all'

const retryOns: readonly string[] = ['ct', 'rt', '4xx', '5xx', 'all'] satisfies RetryOn[]

/** Maximum connection time that a URL may set, in ms. */
export const maxConnectMs = 10_000
/** Minimum and maximum value of each time, in ms. */
const bounds = { connect: [100, maxConnectMs], read: [100, 15_000], total: [100, 15_000] } as const
const maxRetries = 5

/**
 * Reads the fragment of a URL: `#ct=2000&rt=5000&tt=15000&rc=2&rp=ct,5xx`, where `ot` is the same as `ct`.
 * Values out of range become the nearest permitted one, and malformed values are ignored: they must not make
 * a document fail.
 */
export const readOverrides = (url: string): Overrides => {
  const at = url.indexOf('#')
  if (at < 0) return {}
  const fields = new URLSearchParams(url.slice(at + 1))
  const connectMs = within(fields.get('ct') ?? fields.get('ot'), bounds.connect)
  const readMs = within(fields.get('rt'), bounds.read)
  const totalMs = within(fields.get('tt'), bounds.total)
  const retries = within(fields.get('rc'), [0, maxRetries])
  const retryOn = fields
    .get('rp')
    ?.split(',')
    .filter((each): each is RetryOn => retryOns.includes(each))
  return {
    ...(connectMs !== undefined && { connectMs }),
    ...(readMs !== undefined && { readMs }),
    ...(totalMs !== undefined && { totalMs }),
    ...(retries !== undefined && { retries }),
    ...(retryOn && retryOn.length > 0 && { retryOn: new Set(retryOn) }),
  }
}

const within = (text: string | null, [least, most]: readonly [number, number]): number | undefined =>
  text !== null && /^\d{1,9}$/.test(text) ? Math.max(least, Math.min(most, Number(text))) : undefined
