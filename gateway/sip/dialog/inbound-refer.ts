import { readNameAddr } from '@trunkline/sip-agent/message'
import type { Leg } from '../../calls/leg/leg.ts'
import type { Clock } from '../../core/clock.ts'
import { catalogue, codeOf, sipStatusOf } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import { shownUri } from '../../core/sip-uri.ts'
import { CallRates } from '../admission/call-rates.ts'
import { serverHeader } from '../admission/refusals.ts'
import { printable } from '../headers.ts'
import type { Headers, SipDialog, SipRequest, SipResponse } from '../srf.ts'
import { type DialogOrigin, isSameOrigin } from './known-dialogs.ts'
import { type NamedDialog, type ReferTo, readReferTo } from './refer-to.ts'
import type { Transfers } from './transfers.ts'

/** Collaborators of {@link InboundRefer}. */
export interface InboundReferDeps {
  readonly dialog: Pick<SipDialog, 'local' | 'request'>
  readonly leg: Leg
  readonly transfers: Pick<Transfers, 'dialogs' | 'target' | 'enter' | 'join' | 'refused'>
  readonly clock: Pick<Clock, 'now'>
  readonly origin: DialogOrigin
  readonly log: Pick<Log, 'debug' | 'info' | 'warn'>
  readonly userAgent: string
}

/** Lifetime of the REFER subscription, in seconds. */
const subscriptionSeconds = 180

const maxReferredByLength = 1_024

/** Maximum number of REFERs of one dialog in a second. A telephone sends one for each transfer. */
const maxRefersPerSecond = 5

/** Returns a header's value for the log: cut first, so that a long value costs no more than a short one. */
const shown = (value: string): string => printable(shownUri(value.slice(0, 512)), 256)

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
 * Handles REFERs of the peer (RFC 3515): blind, or with Replaces to another of its calls (RFC 5589). NOTIFY
 * reports the progress, unless the peer wants none (RFC 4488).
 */
export class InboundRefer {
  #deps: InboundReferDeps
  #rates: CallRates
  #first = true
  #joining = false
  #stopped = false

  constructor(deps: InboundReferDeps) {
    this.#deps = deps
    this.#rates = new CallRates(() => deps.clock.now())
  }

  /** Handles one REFER. Answers 503 to the sixth and further ones within a second, without reading them. */
  take(request: SipRequest, response: SipResponse): void {
    const { log, origin, transfers, userAgent } = this.#deps
    if (!this.#rates.has('refer', maxRefersPerSecond)) {
      transfers.refused('over_call_rate')
      response.send(503, { headers: serverHeader(userAgent) })
      return
    }
    this.#rates.take('refer', maxRefersPerSecond)
    const value = request.get('Refer-To') ?? ''
    const referTo = readReferTo(value)
    const facts = {
      referTo: shown(value),
      by: shown(request.get('Referred-By') ?? ''),
      carrier: origin.carrier,
      endpoint: origin.endpoint?.id,
    }
    const refusal = referTo ? this.#start(referTo, request, response) : 400
    if (refusal) log.info({ event: 'transfer.refer-rejected', ...facts, status: refusal }, 'REFER rejected')
    else log.info({ event: 'transfer.refer-accepted', ...facts }, 'REFER accepted')
    if (refusal) response.send(refusal, { headers: serverHeader(userAgent) })
  }

  /** Stops all further NOTIFYs. Idempotent. */
  stop(): void {
    this.#stopped = true
  }

  /** Starts the transfer. Returns the status that refuses it; undefined if it was accepted. */
  #start(referTo: ReferTo, request: SipRequest, response: SipResponse): number | undefined {
    const { transfers, leg, origin, log } = this.#deps
    const replaces = referTo.kind === 'uri' ? referTo.replaces : undefined
    if (replaces) return this.#attended(replaces, request, response)
    const target = transfers.target(referTo, origin)
    if ('refuse' in target) return target.refuse
    const early: number[] = []
    let tell = (status: number): void => void early.push(status)
    const by = request.get('Referred-By') ?? ''
    const referredBy = readNameAddr(by) && by.length <= maxReferredByLength ? { referredBy: by } : {}
    const over = transfers.enter(origin)
    if (typeof over === 'string') {
      log.warn(
        { event: 'transfer.limit-exceeded', code: over, endpoint: origin.endpoint?.id },
        catalogue[over].text,
      )
      return 503
    }
    if (!leg.referred({ to: target.to, ...referredBy, progress: (status) => tell(status), over })) {
      over()
      return 603
    }
    tell = this.#accept(request, response)
    for (const status of early) tell(status)
    return undefined
  }

  #attended(named: NamedDialog, request: SipRequest, response: SipResponse): number | undefined {
    const { transfers, leg, origin, log } = this.#deps
    const other = transfers.dialogs.find(named)
    if (!other || other.leg === leg || !isSameOrigin(other.origin, origin)) return 603
    if (this.#joining || !leg.isAnswered || !other.leg.isAnswered) return 603
    this.#joining = true
    const tell = this.#accept(request, response)
    transfers
      .join(leg, other.leg, () => tell(200))
      .then(
        (done) => done || tell(603),
        (error: unknown) => {
          const code = codeOf(error)
          log.warn({ event: 'transfer.join-failed', code, reason: String(error) }, 'calls not joined')
          tell(sipStatusOf({ code }))
        },
      )
      .finally(() => {
        this.#joining = false
      })
    return undefined
  }

  /** Accepts the REFER. Returns the function that reports progress to the peer. */
  #accept(request: SipRequest, response: SipResponse): (status: number) => void {
    const { userAgent, dialog } = this.#deps
    const silent = /^\s*false\b/i.test(request.get('Refer-Sub') ?? '')
    const sequence = /^\s*(\d+)/.exec(request.get('CSeq') ?? '')?.[1]
    // Only the first REFER of a dialog may do without an id (RFC 3515 section 2.4.6).
    const event = this.#first || sequence === undefined ? 'refer' : `refer;id=${sequence}`
    this.#first = false
    const headers = { ...serverHeader(userAgent), Contact: dialog.local.contact }
    response.send(202, { headers: { ...headers, ...(silent && { 'Refer-Sub': 'false' }) } })
    if (silent) return () => {}
    let over = false
    const tell = (status: number) => {
      if (over) return
      over = status >= 200
      this.#notify(event, status)
    }
    tell(100)
    return tell
  }

  #notify(event: string, status: number): void {
    const { dialog, log } = this.#deps
    if (this.#stopped) return
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
          log.debug({ status: response?.status }, 'NOTIFY was not taken')
      })
    } catch (error) {
      log.debug({ reason: String(error) }, 'NOTIFY could not be sent')
    }
  }
}
