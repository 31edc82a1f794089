import type { Headers } from './headers.ts'

/** The one error that the parsers of this folder throw: what is wrong, where, and with which status a request is refused. */
export class SipParseError extends Error {
  /** The header or part of the message, for instance `CSeq` or `start line`. */
  readonly part: string
  /** The status with which a request is answered, if it can be answered at all: 400, 413 or 505. */
  readonly status: number
  /** What was read of a request before the fault was found, so that it can be answered. */
  request?: { readonly method: string; readonly headers: Headers }

  constructor(part: string, problem: string, status = 400) {
    super(`${part}: ${problem}`)
    this.name = 'SipParseError'
    this.part = part
    this.status = status
  }
}
