import { readNameAddr } from '@trunkline/sip-agent/message'
import { catalogue, codeOf, sipStatusOf } from '../../core/errors/catalogue.ts'
import { shownUri } from '../../core/sip-uri.ts'
import { CallRateBuckets } from '../admission/call-rate-buckets.ts'
import { printable } from '../headers.ts'
import type { Headers, SipDialog, SipRequest, SipResponse } from '../srf.ts'
import type { LegSession } from './leg-session.ts'
import { type NamedDialog, type ReferTo, readReferTo } from './refer-to.ts'
import type { Transferor } from './transferor.ts'

/** Lifetime of the REFER subscription, in seconds. */
const subscriptionSeconds = 180

const maxReferredByLength = 1_024

/** Maximum number of REFERs of one dialog in a second. A telephone sends one REFER for each transfer. */
const maxRefersPerSecond = 5

/**
 * Returns a header's value for the log. The value is truncated first, so that a long value takes no more time
 * than a short one.
 */
const loggedText = (value: string): string => printable(shownUri(value.slice(0, 512)), 256)

const reasons: Readonly<Record<number, string>> = {
  100: 'Trying',
  180: 'Ringing',
  200: 'OK',
  403: 'Forbidden',
  404: 'Not Found',
  408: 'Request Timeout',
  410: 'Gone',
  480: 'Temporarily Unavailable',
  483: 'Too Many Hops',
  484: 'Address Incomplete',
  486: 'Busy Here',
  487: 'Request Terminated',
  488: 'Not Acceptable Here',
  500: 'Server Internal Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Server Time-out',
  600: 'Busy Everywhere',
  603: 'Decline',
  604: 'Does Not Exist Anywhere',
  606: 'Not Acceptable',
}

/**
 * Handles REFERs of the peer (RFC 3515) for blind and attended transfers. In an attended transfer, Replaces
 * names another call of the peer (RFC 5589). NOTIFY reports the progress, unless the peer has declined the
 * subscription (RFC 4488).
 */
export class InboundRefer {
  readonly #dialog: Pick<SipDialog, 'local' | 'request'>
  readonly #session: LegSession
  readonly #transferor: Transferor
  readonly #rates: CallRateBuckets
  #isFirst = true
  #isJoining = false
  #isStopped = false

  constructor(dialog: Pick<SipDialog, 'local' | 'request'>, session: LegSession, transferor: Transferor) {
    this.#dialog = dialog
    this.#session = session
    this.#transferor = transferor
    this.#rates = new CallRateBuckets(() => session.clock.now())
  }

  /** Handles one REFER. From the sixth REFER within a second, responds 503 without reading the headers. */
  take(request: SipRequest, response: SipResponse): void {
    const { log, headers } = this.#session
    const transferor = this.#transferor
    if (!this.#rates.has('refer', maxRefersPerSecond)) {
      transferor.countRefusal('over_call_rate')
      response.send(503, { headers: headers.response })
      return
    }
    this.#rates.take('refer', maxRefersPerSecond)
    const value = request.get('Refer-To') ?? ''
    const referTo = readReferTo(value)
    const facts = {
      referTo: loggedText(value),
      by: loggedText(request.get('Referred-By') ?? ''),
      carrier: transferor.origin.carrier,
      endpoint: transferor.origin.endpoint?.id,
    }
    const refusal = referTo ? this.#start(referTo, request, response) : 400
    if (refusal) log.info({ event: 'transfer.refer-rejected', ...facts, status: refusal }, 'REFER rejected')
    else log.info({ event: 'transfer.refer-accepted', ...facts }, 'REFER accepted')
    if (refusal) response.send(refusal, { headers: headers.response })
  }

  /** Stops all further NOTIFYs. Idempotent. */
  stop(): void {
    this.#isStopped = true
  }

  /** Starts the transfer. Returns the status that rejects the REFER; undefined if it was accepted. */
  #start(referTo: ReferTo, request: SipRequest, response: SipResponse): number | undefined {
    const { leg, log } = this.#session
    const transferor = this.#transferor
    const replaces = referTo.kind === 'uri' ? referTo.replaces : undefined
    if (replaces) return this.#attended(replaces, request, response)
    const target = transferor.target(referTo)
    if ('refuse' in target) return target.refuse
    const early: number[] = []
    let report = (status: number): void => void early.push(status)
    const by = request.get('Referred-By') ?? ''
    const referredBy = readNameAddr(by) && by.length <= maxReferredByLength ? { referredBy: by } : {}
    const over = transferor.countCall()
    if (typeof over === 'string') {
      log.warn(
        { event: 'transfer.limit-exceeded', code: over, endpoint: transferor.origin.endpoint?.id },
        catalogue[over].text,
      )
      return 503
    }
    if (!leg.referred({ to: target.to, ...referredBy, progress: (status) => report(status), over })) {
      over()
      return 603
    }
    report = this.#accept(request, response)
    for (const status of early) report(status)
    return undefined
  }

  #attended(named: NamedDialog, request: SipRequest, response: SipResponse): number | undefined {
    const { leg, log } = this.#session
    const other = this.#transferor.legOf(named)
    if (!other || other === leg || this.#isJoining || !leg.isAnswered || !other.isAnswered) return 603
    this.#isJoining = true
    const report = this.#accept(request, response)
    this.#transferor
      .join(leg, other, () => report(200))
      .then(
        (done) => done || report(603),
        (error: unknown) => {
          const code = codeOf(error)
          log.warn({ event: 'transfer.join-failed', code, reason: String(error) }, 'calls not joined')
          report(sipStatusOf({ code }))
        },
      )
      .finally(() => {
        this.#isJoining = false
      })
    return undefined
  }

  /** Accepts the REFER. Returns the function that reports progress to the peer. */
  #accept(request: SipRequest, response: SipResponse): (status: number) => void {
    const isSilent = /^\s*false\b/i.test(request.get('Refer-Sub') ?? '')
    const sequence = /^\s*(\d+)/.exec(request.get('CSeq') ?? '')?.[1]
    // NOTIFY may omit the id only for the first REFER of a dialog (RFC 3515 section 2.4.6).
    const event = this.#isFirst || sequence === undefined ? 'refer' : `refer;id=${sequence}`
    this.#isFirst = false
    const headers = { ...this.#session.headers.response, Contact: this.#dialog.local.contact }
    response.send(202, { headers: { ...headers, ...(isSilent && { 'Refer-Sub': 'false' }) } })
    if (isSilent) return () => {}
    let isOver = false
    const report = (status: number) => {
      if (isOver) return
      isOver = status >= 200
      this.#notify(event, status)
    }
    report(100)
    return report
  }

  #notify(event: string, status: number): void {
    const dialog = this.#dialog
    const { log } = this.#session
    if (this.#isStopped) return
    const state = status >= 200 ? 'terminated;reason=noresource' : `active;expires=${subscriptionSeconds}`
    const headers: Headers = {
      Event: event,
      'Subscription-State': state,
      Contact: dialog.local.contact,
      'Content-Type': 'message/sipfrag;version=2.0',
    }
    const body = `SIP/2.0 ${status} ${reasons[status] ?? 'Status'}\r\n`
    try {
      dialog.request({ method: 'NOTIFY', headers, body }, (error, response) => {
        if (error || (response && response.status >= 300))
          log.debug({ status: response?.status }, 'NOTIFY rejected or failed')
      })
    } catch (error) {
      log.debug({ reason: String(error) }, 'NOTIFY not sent')
    }
  }
}
