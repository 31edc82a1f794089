/** What the fragment of a customer's URL says of how it is to be reached; what is absent is as configured. */
export interface Overrides {
  /** Longest wait for a connection, in ms. */
  readonly connectMs?: number
  /** Longest wait between two pieces of the answer, in ms. */
  readonly readMs?: number
  /** Longest time in all, in ms. */
  readonly totalMs?: number
  /** How often it is tried again. */
  readonly retries?: number
  /** After which failures; default only where the request cannot have reached its server. */
  readonly retryOn?: ReadonlySet<RetryOn>
}

/** A failed connection, a silent server, a status of that class, or any of these. */
export type RetryOn = 'ct' | 'rt' | '4xx' | '5xx' | 'all'

const retryOns: readonly string[] = ['ct', 'rt', '4xx', '5xx', 'all'] satisfies RetryOn[]

/** Longest wait for a connection that anybody can ask for, in ms. */
export const longestConnectMs = 10_000
/** Smallest and largest value of each time, in ms. */
const bounds = { connect: [100, longestConnectMs], read: [100, 15_000], total: [100, 15_000] } as const
const mostRetries = 5

/**
 * Reads the fragment of a URL: `#ct=2000&rt=5000&tt=15000&rc=2&rp=ct,5xx`, where `ot` is the same as `ct`. What is no number or too small or large counts as the
 * nearest that is permitted, or is passed over: a document must not fail for it.
 */
export const readOverrides = (url: string): Overrides => {
  const at = url.indexOf('#')
  if (at < 0) return {}
  const fields = new URLSearchParams(url.slice(at + 1))
  const connectMs = within(fields.get('ct') ?? fields.get('ot'), bounds.connect)
  const readMs = within(fields.get('rt'), bounds.read)
  const totalMs = within(fields.get('tt'), bounds.total)
  const retries = within(fields.get('rc'), [0, mostRetries])
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
