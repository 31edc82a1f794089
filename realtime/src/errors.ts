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

  constructor(code: string, message: string) {
    super(message)
    this.name = 'RealtimeError'
    this.code = code
  }
}
