import type { TrunklineError } from '../core/errors/catalogue.ts'

/** Reasons of permanent failures, which a retry cannot fix. */
const lastingReasons: ReadonlySet<unknown> = new Set([
  'address-refused',
  'scheme',
  'request',
  'file',
  'given-up',
])

/** Returns the facts of a failed request to a customer's server. */
export const failureFacts = (error: Error): Readonly<Record<string, unknown>> =>
  (error as Partial<TrunklineError>).facts ?? {}

/**
 * Returns whether a later retry may succeed, by the status or the error. Returns false if the server rejected
 * the request permanently, or the destination is not permitted. The caller decides whether a repetition is
 * safe.
 */
export const mayRetryLater = (outcome: number | Error): boolean =>
  typeof outcome === 'number'
    ? outcome >= 500 || outcome === 408 || outcome === 429
    : !lastingReasons.has(failureFacts(outcome).reason)
