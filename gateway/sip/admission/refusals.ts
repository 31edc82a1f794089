import { offenseHeader } from '@trunkline/sip-agent'
import { type Cause, type Code, catalogue } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import { reasonHeader } from '../headers.ts'
import { refusalStatus } from '../sip-causes.ts'
import type { Headers, SipResponse } from '../srf.ts'
import { RefusalLog } from './refusal-log.ts'

/** Methods that the gateway takes, as the Allow header has them. */
export const allowedMethods = 'INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE, PRACK, REFER, NOTIFY'

/** Default time after which a caller may retry after a 503, in ms. */
const defaultRetryAfterMs = 10_000

/**
 * Codes that concern one call only. A Retry-After with 503 would keep carriers from sending any other call
 * (RFC 3261 section 21.5.4).
 */
const singleCallCodes: ReadonlySet<Code> = new Set<Code>([
  'far_refused',
  'unreachable',
  'document_unreachable',
  'document_invalid',
])

/** Collaborators and settings of {@link Refusals}. */
export interface RefusalDeps {
  readonly log: Pick<Log, 'warn'>
  readonly metrics: Pick<Metrics, 'rejections'>
  /** Value of the Server header; empty: none. */
  readonly userAgent: string
  /** Time after which a caller may try again after a 503, read at each refusal; default 10 s. */
  readonly retryAfterMs?: () => number
  /**
   * The agent learns which source is to blame; a drachtio-server would forward the header to the sender.
   * Default false.
   */
  readonly hasPrivateHeaders?: boolean
  /** Time in ms, which limits the log lines; default: no limit. */
  readonly now?: () => number
}

/** Options of one refusal. */
export interface RefusalOptions {
  /** Text for a person at the peer. */
  readonly detail?: string
  readonly headers?: Headers
  /** Neither written down nor counted: nothing is wrong. */
  readonly isQuiet?: boolean
  /** Other calls from there may be taken: no Retry-After. */
  readonly hasRoomForOthers?: boolean
}

/**
 * Refuses requests that never became a leg: one response, one count, and one log line with the checked facts.
 * The number of log lines is limited.
 */
export class Refusals {
  #deps: RefusalDeps
  #lines: RefusalLog | undefined

  constructor(deps: RefusalDeps) {
    this.#deps = deps
    const { log, now } = deps
    this.#lines =
      now &&
      new RefusalLog(now, (suppressed) =>
        log.warn({ event: 'sip.rejections-suppressed', ...suppressed }, 'log lines of rejections suppressed'),
      )
  }

  /** `facts` must hold nothing secret. */
  refuse(
    response: SipResponse,
    code: Code,
    facts: Readonly<Record<string, unknown>>,
    options: RefusalOptions = {},
  ): void {
    const { log, metrics, userAgent, retryAfterMs, hasPrivateHeaders = false } = this.#deps
    const { detail, headers, isQuiet = false, hasRoomForOthers } = options
    // A challenge of the gateway; `refusalStatus` passes on none of other carriers.
    const status = headers?.['WWW-Authenticate'] === undefined ? refusalStatus({ code }) : 401
    if (!isQuiet) {
      metrics.rejections.inc({ code })
      if (this.#lines?.shouldLog(String(facts.source)) ?? true)
        log.warn({ event: 'sip.request-rejected', code, status, ...facts }, detail ?? catalogue[code].text)
    }
    if (response.finalResponseSent) return
    const usual = refusalHeaders({ code }, status, userAgent, {
      detail,
      hasRoomForOthers,
      retryAfterMs: retryAfterMs?.(),
    })
    // Of all refusals only this one has its reason in the address that it is sent to.
    const blame: Headers = hasPrivateHeaders && code === 'source_not_allowed' ? { [offenseHeader]: '1' } : {}
    try {
      response.send(status, { headers: { ...usual, ...headers, ...blame } })
    } catch (error) {
      log.warn({ event: 'sip.response-failed', code, reason: String(error) }, 'response not sent')
    }
  }

  /** Writes down how many refusals had no line of their own. */
  close(): void {
    this.#lines?.close()
  }
}

/**
 * Returns the headers of a refusal: Reason, Server, Allow with 405, Accept with 415, and a warning with 488
 * (RFC 3261 section 20.43). A 503 that concerns the gateway or the carrier has Retry-After: `retryAfterMs`,
 * default 10 s.
 */
export const refusalHeaders = (
  cause: Cause,
  status: number,
  userAgent: string,
  options: Pick<RefusalOptions, 'detail' | 'hasRoomForOthers'> & {
    readonly retryAfterMs?: number | undefined
  } = {},
): Headers => {
  const {
    detail = catalogue[cause.code].text,
    retryAfterMs = defaultRetryAfterMs,
    hasRoomForOthers,
  } = options
  const retry = status === 503 && !hasRoomForOthers && !singleCallCodes.has(cause.code)
  return {
    ...serverHeader(userAgent),
    Reason: reasonHeader(cause),
    ...(retry && { 'Retry-After': String(Math.ceil(retryAfterMs / 1_000)) }),
    ...(status === 405 && { Allow: allowedMethods }),
    ...(status === 415 &&
      cause.code === 'unsupported_body' && { Accept: 'application/sdp, multipart/mixed' }),
    ...(status === 488 && { Warning: warning(detail) }),
  }
}

/** Returns the Server header; none if `userAgent` is empty. */
export const serverHeader = (userAgent: string): Headers => (userAgent === '' ? {} : { Server: userAgent })

/** Value of a Warning header for people (RFC 3261 section 20.43). */
export const warning = (text: string): string =>
  `399 trunkline "${text.replace(/[^\x20-\x7e]/g, '?').replace(/[\\"]/g, '\\$&')}"`
