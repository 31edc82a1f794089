import type { Headers } from './headers.ts'

/**
 * Error of the parsers in this folder: the fault, the faulty part of the message, and the status of the
 * rejection.
 */
export class SipParseError extends Error {
  /** Header or part of the message, for instance `CSeq` or `start line`. */
  readonly part: string
  /** Status of the rejection, if the request can be answered at all: 400, 413 or 505. */
  readonly status: number
  /** Values of the request that were read before the fault, needed to answer the request. */
  request?: { readonly method: string; readonly headers: Headers }

  constructor(part: string, problem: string, status = 400) {
    super(`${part}: ${problem}`)
    this.name = 'SipParseError'
    this.part = part
    this.status = status
  }
}

/** Returns the result of a parser; undefined if it throws {@link SipParseError}. */
export const withoutFault = <T>(parse: () => T): T | undefined => {
  try {
    return parse()
  } catch (error) {
    if (error instanceof SipParseError) return undefined
    throw error
  }
}
