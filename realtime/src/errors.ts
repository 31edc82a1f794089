/** Something that was asked for did not happen. */
export class RealtimeError extends Error {
  /**
   * What the gateway says: like an HTTP status for a request that it refuses (`400`, `404`, …), the reason for a call that nobody answered
   * (`noAnswer`, `busy`, `decline`, `cancel`, `error`), `unauthorized` for a wrong token, and `lost` where the connection was lost, or the call
   * with it.
   */
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.name = 'RealtimeError'
    this.code = code
  }
}
