/** Error codes of the edge. */
export type EdgeErrorCode =
  /** Every port pair of the range is in use or in quarantine. */
  | 'no_ports'
  /** The far end's address cannot be sent to. */
  | 'bad_far'
  /** A character is not a digit. */
  | 'bad_digits'
  /** A port cannot be joined to itself. */
  | 'not_joinable'
  /** The options of the edge are invalid. */
  | 'bad_options'
  /** The edge or the port is closed. */
  | 'closed'
  /** A socket could not be bound, or the worker thread died. */
  | 'failed'

/** Error of the edge, classified by `code`. */
export class EdgeError extends Error {
  readonly code: EdgeErrorCode

  constructor(code: EdgeErrorCode, message: string) {
    super(message)
    this.name = 'EdgeError'
    this.code = code
  }
}
