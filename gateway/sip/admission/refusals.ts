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

/** Time after which a caller may try again after a 503, where nothing else says, in ms. */
const defaultRetryAfterMs = 10_000

/**
 * What is wrong with one call alone. A Retry-After with 503 would keep carriers from sending us any other
 * (RFC 3261 section 21.5.4).
 */
const singleCallCodes: ReadonlySet<Code> = new Set([
  ...(['far_refused', 'unreachable', 'document_unreachable', 'document_invalid'] as const),
])

/** What a refusal is written to. */
export interface RefusalDeps {
  readonly log: Pick<Log, 'warn'>
  readonly metrics: Pick<Metrics, 'rejections'>
  /** Value of the Server header; empty: none. */
  readonly userAgent: string
  /** Time after which a caller may try again after a 503, read at each refusal; default 10 s. */
  readonly retryAfterMs?: () => number
  /** Our own agent is told whom to blame; a drachtio-server would tell it to the sender. Default false. */
  readonly hasPrivateHeaders?: boolean
  /** Time in ms, for what bounds the lines of the log; without it there is no bound. */
  readonly now?: () => number
}

/** What a refusal may bring along. */
export interface RefusalOptions {
  /** What a person at the far side may read. */
  readonly detail?: string
  readonly headers?: Headers
  /** Neither written down nor counted: nothing is wrong. */
  readonly isQuiet?: boolean
  /** Other calls from there may be taken: no Retry-After. */
  readonly hasRoomForOthers?: boolean
}

/**
 * Says no to requests that never became a leg: one response, one count, and a log line with the checked
 * facts, but no flood of lines.
 */
export class Refusals {
  #deps: RefusalDeps
  #lines: RefusalLog | undefined

  constructor(deps: RefusalDeps) {
    this.#deps = deps
    const { log, now } = deps
    this.#lines =
      now &&
      new RefusalLog(now, (leftOut) => log.warn(leftOut, 'more refusals that have no line of their own'))
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
    // A challenge of our own; refusalStatus passes on none of others.
    const status = headers?.['WWW-Authenticate'] === undefined ? refusalStatus({ code }) : 401
    if (!isQuiet) {
      metrics.rejections.inc({ code })
      if (this.#lines?.shouldLog(String(facts.source)) ?? true)
        log.warn({ code, status, ...facts }, detail ?? catalogue[code].text)
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
      log.warn({ code, reason: String(error) }, 'the refusal could not be sent')
    }
  }

  /** Writes down how many refusals had no line of their own. */
  close(): void {
    this.#lines?.close()
  }
}

/**
 * The headers of a refusal: Reason, Retry-After with a 503 of the whole gateway or of the carrier that calls,
 * Allow with 405, Accept with a 415 of ours, a warning with 488 (RFC 3261 section 20.43), Server. The time is
 * 10 s where `retryAfterMs` is not given.
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

/** The Server header, where one is wanted. */
export const serverHeader = (userAgent: string): Headers => (userAgent === '' ? {} : { Server: userAgent })

/** Value of a Warning header for people (RFC 3261 section 20.43). */
export const warning = (text: string): string =>
  `399 trunkline "${text.replace(/[^\x20-\x7e]/g, '?').replace(/[\\"]/g, '\\$&')}"`
