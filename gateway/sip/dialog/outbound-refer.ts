import type { ReferOptions, ReferOutcome } from '../../calls/leg/referral.ts'
import type { Timer } from '../../core/clock.ts'
import { parseSipUri, shownUri } from '../../core/sip-uri.ts'
import { answeringChallenges } from '../digest/dialog-digest.ts'
import { printable } from '../headers.ts'
import type { FarResponse, SipDialog, SipRequest } from '../srf.ts'
import type { SignallingContext } from './leg-session.ts'

const defaultTimeoutMs = 60_000

/** A REFER whose outcome is unknown. */
interface Pending {
  readonly settle: (outcome: ReferOutcome) => void
  readonly timer: Timer
  /** Status of the response to the REFER. */
  status?: number
  /** Status of the last NOTIFY. */
  notifyStatus?: number
}

/** Sends a REFER inside a dialog and follows its NOTIFYs (RFC 3515), one REFER at a time. */
export class OutboundRefer {
  readonly #dialog: SipDialog
  readonly #context: SignallingContext
  #pending: Pending | undefined
  #isStopped = false

  constructor(dialog: SipDialog, context: SignallingContext) {
    this.#dialog = dialog
    this.#context = context
  }

  /**
   * Never rejects. Resolves with 400 for text that is no SIP URI, and with 491 while another REFER is
   * pending.
   */
  refer(target: string, options: ReferOptions = {}): Promise<ReferOutcome> {
    const uri = parseSipUri(target)
    const by = options.referredBy === undefined ? undefined : parseSipUri(options.referredBy)
    const refused =
      !uri || (options.referredBy !== undefined && !by) ? 400 : this.#isStopped ? 481 : undefined
    if (!uri || refused || this.#pending) return Promise.resolve({ kind: 'failed', status: refused ?? 491 })
    const { promise, resolve } = Promise.withResolvers<ReferOutcome>()
    const { clock, headers, log } = this.#context
    const dialog = answeringChallenges(this.#dialog, options.credentials, log)
    const timer = clock.after(options.timeoutMs ?? defaultTimeoutMs, () => this.#settle('no-answer', 408))
    this.#pending = { settle: resolve, timer }
    log.info({ event: 'transfer.refer-sent', to: printable(shownUri(uri.bare), 256) }, 'REFER sent')
    const all = {
      ...headers.request,
      'Refer-To': `<${uri.bare}>`,
      ...(by && { 'Referred-By': `<${by.bare}>` }),
      Contact: dialog.local.contact,
    }
    try {
      dialog.request({ method: 'REFER', headers: all }, (error, response) => this.#answered(error, response))
    } catch {
      this.#settle('failed', 503)
    }
    return promise
  }

  /** Handles a NOTIFY of the peer. Returns the status to answer it with. */
  handleNotify(request: SipRequest): 200 | 481 {
    const pending = this.#pending
    if (!pending || !/^\s*refer\b/i.test(request.get('Event') ?? '')) return 481
    const status = Number(/^\s*SIP\/2\.0 (\d{3})\b/i.exec(request.body ?? '')?.[1] ?? 0)
    const over = /^\s*terminated\b/i.test(request.get('Subscription-State') ?? '')
    if (status >= 100) pending.notifyStatus = status
    // The peer has accepted the request, even if its response comes later or is lost.
    if (status >= 200) this.#settle(kindOf(status), 202)
    // The subscription ended without a result.
    else if (over) this.#settle('canceled', 202)
    return 200
  }

  /** Settles a pending REFER as cancelled. Called when the dialog ends. Idempotent. */
  stop(): void {
    this.#isStopped = true
    this.#settle('canceled', 408)
  }

  #answered(error: unknown, response: FarResponse | undefined): void {
    const pending = this.#pending
    if (!pending) return
    if (error || !response) {
      this.#settle('failed', 503)
      return
    }
    pending.status = response.status
    if (response.status >= 300) this.#settle(kindOf(response.status), response.status)
    // The peer will send no NOTIFY (RFC 4488), so nothing more than its acceptance will be known.
    else if (response.status >= 200 && /^\s*false\b/i.test(response.get('Refer-Sub') ?? ''))
      this.#settle('completed', response.status)
  }

  /** `status`: used if no response has come. */
  #settle(kind: ReferOutcome['kind'], status: number): void {
    const pending = this.#pending
    if (!pending) return
    this.#pending = undefined
    pending.timer.cancel()
    const { notifyStatus } = pending
    pending.settle({
      kind,
      status: pending.status ?? status,
      ...(notifyStatus !== undefined && { notifyStatus }),
    })
  }
}

/** Returns the outcome that a final status means. */
const kindOf = (status: number): ReferOutcome['kind'] => {
  if (status < 300) return 'completed'
  if (status === 486 || status === 600) return 'busy'
  if (status === 408 || status === 480) return 'no-answer'
  return status === 487 ? 'canceled' : 'failed'
}
