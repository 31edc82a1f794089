import { type Code, catalogue } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { GatewayHeaders, RefusalHeaderOptions } from '../gateway-headers.ts'
import { refusalStatus } from '../sip-causes.ts'
import type { Headers, SipResponse } from '../srf.ts'
import { RecentRefusals } from './recent-refusals.ts'
import { RefusalLog } from './refusal-log.ts'

/** Options of one rejection. */
export interface RefusalOptions extends RefusalHeaderOptions {
  readonly headers?: Headers
  /** The rejection is neither logged nor counted, because it is no fault, such as a first challenge. */
  readonly isQuiet?: boolean
}

/**
 * Rejects requests that never became a leg: one response, one count, and one log line with the checked facts.
 * The number of log lines is limited.
 */
export class Refusals {
  readonly #headers: GatewayHeaders
  readonly #log: Pick<Log, 'warn'>
  readonly #metrics: Pick<Metrics, 'rejections'>
  readonly #lines: RefusalLog | undefined
  readonly #recent: RecentRefusals
  readonly #now: () => number

  /**
   * `now`: clock in ms that limits the number of log lines; default: no limit. `recent`: keeps the latest
   * rejections.
   */
  constructor(
    headers: GatewayHeaders,
    log: Pick<Log, 'warn'>,
    metrics: Pick<Metrics, 'rejections'>,
    now?: () => number,
    recent = new RecentRefusals(),
  ) {
    this.#headers = headers
    this.#log = log
    this.#metrics = metrics
    this.#recent = recent
    this.#now = now ?? (() => 0)
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
    const { detail, headers, isQuiet = false } = options
    // A rejection with this header is a challenge of the gateway itself. `refusalStatus` replaces a 401,
    // which may be the challenge of another carrier.
    const status = headers?.['WWW-Authenticate'] === undefined ? refusalStatus({ code }) : 401
    if (!isQuiet) {
      this.#metrics.rejections.inc({ code })
      this.#recent.add({ at: this.#now(), code, status, facts })
      if (this.#lines?.shouldLog(String(facts.source)) ?? true)
        this.#log.warn(
          { event: 'sip.request-rejected', code, status, ...facts },
          detail ?? catalogue[code].text,
        )
    }
    if (response.finalResponseSent) return
    const usual = this.#headers.refusal({ code }, status, options)
    try {
      response.send(status, { headers: { ...usual, ...headers, ...this.#headers.offense(code) } })
    } catch (error) {
      this.#log.warn({ event: 'sip.response-failed', code, reason: String(error) }, 'response not sent')
    }
  }

  /** Logs the number of rejections that had no separate log line. */
  close(): void {
    this.#lines?.close()
  }
}
