import type { TrunklineError } from '../core/errors/catalogue.ts'

/** Reasons of failures that stay, whenever it is tried again. */
const lasting: ReadonlySet<unknown> = new Set(['address-refused', 'scheme', 'request', 'file', 'given-up'])

/** Why nothing came of a request to a customer's server, as far as its error says. */
export const failureOf = (error: Error): Readonly<Record<string, unknown>> =>
  (error as Partial<TrunklineError>).facts ?? {}

/**
 * Whether a later try of a request may be taken, by the status that came or the error: not where the server has refused it for good, or where it may
 * not go. Whether saying it twice is safe is another question.
 */
export const mayComeLater = (outcome: number | Error): boolean =>
  typeof outcome === 'number'
    ? outcome >= 500 || outcome === 408 || outcome === 429
    : !lasting.has(failureOf(outcome).reason)
