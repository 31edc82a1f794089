import type { ReferOptions, ReferOutcome } from '../../calls/referral.ts'
import type { Clock, Timer } from '../../clock.ts'
import type { Log } from '../../log.ts'
import { printable } from '../headers.ts'
import type { FarResponse, Headers, SipDialog, SipRequest } from '../srf.ts'
import { parseSipUri, shownUri } from '../uri.ts'

/** What REFERs of ours work with. */
export interface ReferOutParts {
  readonly dialog: Pick<SipDialog, 'local' | 'request'>
  readonly clock: Clock
  readonly log: Pick<Log, 'info'>
  /** Further headers of our requests. */
  readonly headers: Headers
}

const defaultTimeoutMs = 60_000

/** A REFER of ours inside a dialog, and the NOTIFYs that follow (RFC 3515). One at a time. */
export class ReferOut {
  #parts: ReferOutParts
  #pending: { readonly settle: (outcome: ReferOutcome) => void; readonly timer: Timer } | undefined
  #stopped = false

  constructor(parts: ReferOutParts) {
    this.#parts = parts
  }

  /** Never rejects. 400 for what is no SIP URI, 491 while another one is under way. */
  refer(target: string, options: ReferOptions = {}): Promise<ReferOutcome> {
    const uri = parseSipUri(target)
    const by = options.referredBy === undefined ? undefined : parseSipUri(options.referredBy)
    if (!uri || (options.referredBy !== undefined && !by)) return Promise.resolve({ status: 400 })
    if (this.#stopped) return Promise.resolve({ status: 481 })
    if (this.#pending) return Promise.resolve({ status: 491 })
    const { promise, resolve } = Promise.withResolvers<ReferOutcome>()
    const { clock, dialog, headers, log } = this.#parts
    const timer = clock.after(options.timeoutMs ?? defaultTimeoutMs, () => this.#settle(408))
    this.#pending = { settle: resolve, timer }
    log.info({ to: printable(shownUri(uri.bare), 256) }, 'REFER sent')
    const all = {
      ...headers,
      'Refer-To': `<${uri.bare}>`,
      ...(by && { 'Referred-By': `<${by.bare}>` }),
      Contact: dialog.local.contact,
    }
    try {
      dialog.request({ method: 'REFER', headers: all }, (error, response) => this.#answered(error, response))
    } catch {
      this.#settle(503)
    }
    return promise
  }

  /** A NOTIFY of the far side: the status that it is to be answered with. */
  notified(request: SipRequest): 200 | 481 {
    if (!this.#pending || !/^\s*refer\b/i.test(request.get('Event') ?? '')) return 481
    const status = Number(/^\s*SIP\/2\.0 (\d{3})\b/i.exec(request.body ?? '')?.[1] ?? 0)
    const over = /^\s*terminated\b/i.test(request.get('Subscription-State') ?? '')
    if (status >= 200) this.#settle(status)
    // It was given up without a word of how it went.
    else if (over) this.#settle(487)
    return 200
  }

  /** The dialog is over. Idempotent. */
  stop(): void {
    this.#stopped = true
    this.#settle(487)
  }

  #answered(error: unknown, response: FarResponse | undefined): void {
    if (error || !response) this.#settle(503)
    else if (response.status >= 300) this.#settle(response.status)
    // It will tell nothing (RFC 4488): that it was accepted is all that can be known.
    else if (response.status >= 200 && /^\s*false\b/i.test(response.get('Refer-Sub') ?? '')) this.#settle(200)
  }

  #settle(status: number): void {
    const pending = this.#pending
    this.#pending = undefined
    pending?.timer.cancel()
    pending?.settle({ status })
  }
}
