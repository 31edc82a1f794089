/** What can be wrong with a request to the edge. */
export type EdgeErrorCode =
  /** Every port pair of the range is in use or in quarantine. */
  | 'no_ports'
  /** A far end that cannot be sent to. */
  | 'bad_far'
  /** A character that is no digit. */
  | 'bad_digits'
  /** A port and itself. */
  | 'not_joinable'
  /** The options of the edge itself. */
  | 'bad_options'
  /** The edge or the port is closed. */
  | 'closed'
  /** A socket could not be bound, or the worker thread died. */
  | 'failed'

/** The edge's only error; `code` says which. */
export class EdgeError extends Error {
  readonly code: EdgeErrorCode

  constructor(code: EdgeErrorCode, message: string) {
    super(message)
    this.name = 'EdgeError'
    this.code = code
  }
}
