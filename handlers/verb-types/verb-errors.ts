/** Error of a verb on a call that has ended. Handlers let it propagate. */
export class CallEnded extends Error {
  constructor() {
    super('The call has ended.')
    this.name = 'CallEnded'
  }
}

/**
 * Error of a verb on a call that was redirected to another document. For the previous document the call has
 * ended.
 */
export class CallRedirected extends CallEnded {
  constructor() {
    super()
    this.name = 'CallRedirected'
  }
}

/** Error of a verb that could not do its work. */
export class VerbFailed extends Error {
  /** Code of the gateway's error catalogue or of the handler's language. */
  readonly code: string

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'VerbFailed'
    this.code = code
  }
}
