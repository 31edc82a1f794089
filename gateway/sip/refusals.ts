import { type Code, catalogue } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { refusalStatus } from './causes.ts'
import { reasonHeader } from './headers.ts'
import type { Headers, SipResponse } from './srf.ts'

/** Methods that the gateway takes, as the Allow header has them. */
export const allowedMethods = 'INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE'

/** Seconds after which a caller may try again after a 503. */
const retryAfterSeconds = 10

/** What a refusal is written to. */
export interface RefusalParts {
  readonly log: Pick<Log, 'warn'>
  readonly metrics: Pick<Metrics, 'rejections'>
  /** Value of the Server header; empty: none. */
  readonly userAgent: string
}

/** Says no to requests that never became a leg: one response, one log line with the checked facts, one count. */
export class Refusals {
  #parts: RefusalParts

  constructor(parts: RefusalParts) {
    this.#parts = parts
  }

  /** `facts` must hold nothing secret; `detail` is what a person at the far side may read. */
  refuse(
    response: SipResponse,
    code: Code,
    facts: Readonly<Record<string, unknown>>,
    options: { readonly detail?: string; readonly headers?: Headers } = {},
  ): void {
    const status = refusalStatus({ code })
    this.#parts.metrics.rejections.inc({ code })
    this.#parts.log.warn({ code, status, ...facts }, options.detail ?? catalogue[code].text)
    if (response.finalResponseSent) return
    try {
      response.send(status, {
        headers: {
          ...refusalHeaders(code, status, this.#parts.userAgent, options.detail),
          ...options.headers,
        },
      })
    } catch (error) {
      this.#parts.log.warn({ code, reason: String(error) }, 'the refusal could not be sent')
    }
  }
}

/** The headers of a refusal: Reason, Retry-After with 503, a warning with 488 (RFC 3261 section 20.43), Server. */
export const refusalHeaders = (code: Code, status: number, userAgent: string, detail?: string): Headers => ({
  ...serverHeader(userAgent),
  Reason: reasonHeader({ code }),
  ...(status === 503 && { 'Retry-After': String(retryAfterSeconds) }),
  ...(status === 405 && { Allow: allowedMethods }),
  ...(status === 488 && { Warning: warning(detail ?? catalogue[code].text) }),
})

/** The Server header, where one is wanted. */
export const serverHeader = (userAgent: string): Headers => (userAgent === '' ? {} : { Server: userAgent })

const warning = (text: string): string =>
  `399 trunkline "${text.replace(/[^\x20-\x7e]/g, '?').replace(/[\\"]/g, '\\$&')}"`
