import { textOf, type Values } from './wire.ts'

/** Failure of a request or of a call. */
export class RealtimeError extends Error {
  /**
   * Code of the failure:
   *
   * - like an HTTP status for a rejected request (`400`, `404`, …)
   * - reason of a call that was not answered: `noAnswer`, `busy`, `decline`, `cancel`, `error`
   * - `unauthorized` for a wrong token
   * - `lost` if the connection, or the call with it, was lost
   */
  readonly code: string
  /**
   * Error code of the gateway for a call that was not answered, such as `no_carrier`; undefined for other
   * failures.
   */
  readonly reason: string | undefined

  constructor(code: string, message: string, reason?: string) {
    super(message)
    this.name = 'RealtimeError'
    this.code = code
    this.reason = reason
  }
}

/**
 * Returns the error for a dial or connect that has failed. `reason`: key of the reason. `text`: message
 * without one of the gateway.
 */
export const notAnswered = (params: Values, reason: string, text: string): RealtimeError =>
  new RealtimeError(
    textOf(params, reason),
    textOf(params, 'message') || text,
    textOf(params, 'error') || undefined,
  )
