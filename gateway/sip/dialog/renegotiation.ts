import type { Timer } from '../../core/clock.ts'
import { codeOf, TrunklineError } from '../../core/errors/catalogue.ts'
import { allowedMethods } from '../gateway-headers.ts'
import type { OfferIn } from '../media/offer-answer.ts'
import { sdpOf } from '../media/sdp-body.ts'
import type { Headers, SipDialog, SipRequest, SipResponse } from '../srf.ts'
import { errorText, type LegSession } from './leg-session.ts'
import type { Refresher } from './refresher.ts'
import { timerAnswer } from './session-timer.ts'

/** Effects of an accepted request. */
interface AcceptedRequest {
  readonly headers: Headers
  /** Called when the request has refreshed the session. */
  refreshed(): void
}

const offerIn: Readonly<Record<string, OfferIn>> = { INVITE: 'invite', PRACK: 'prack' }

/** Maximum wait for the ACK to the offer in the 200 of a re-INVITE; the agent itself times out after 32 s. */
const ackWaitMs = 40_000

/**
 * Handles offers of the peer in an established or early dialog. They come by re-INVITE with and without an
 * offer (RFC 3261 section 14.2, RFC 3264 section 8), UPDATE (RFC 3311) and PRACK (RFC 3262). Each also
 * refreshes the session timer. A rejected request leaves the session and its timer unchanged.
 */
export class Renegotiation {
  readonly #session: LegSession
  readonly #local: SipDialog['local']
  readonly #refresher: Pick<Refresher, 'settings' | 'terms' | 'start'> | undefined
  #guard: Timer | undefined
  #isStopped = false

  /**
   * `local`: local side of the dialog; default: of an early dialog, for which the agent chooses the Contact.
   * `refresher`: session timer of the dialog; default: the dialog has none, or is still early.
   */
  constructor(
    session: LegSession,
    local: SipDialog['local'] = { sdp: '', contact: '' },
    refresher?: Pick<Refresher, 'settings' | 'terms' | 'start'>,
  ) {
    this.#session = session
    this.#local = local
    this.#refresher = refresher
  }

  /**
   * `busy`: a re-INVITE of the gateway is pending, so the two requests have crossed (RFC 3261 section 14.2).
   */
  take(request: SipRequest, response: SipResponse, busy: boolean): void {
    const { log, media } = this.#session
    const { method } = request
    if (busy && method === 'INVITE') {
      this.#refuse(response, 491)
      return
    }
    const timer = this.#timer(request)
    if (timer && 'refuse' in timer) {
      log.warn({ event: 'session.timer-rejected', method, status: timer.refuse }, 'session timer rejected')
      this.#refuse(response, timer.refuse, timer.headers)
      return
    }
    const taken: AcceptedRequest = {
      headers: timer?.headers ?? {},
      refreshed: () => timer && this.#refresher?.start(timer.terms),
    }
    const before = media.exchange.exchange
    try {
      media.setSource(request.source_address)
      const offer = sdpOf(request)
      if (offer !== undefined) this.#answer(request, response, offer, taken)
      else if (method === 'INVITE') this.#offer(response, taken)
      else this.#refresh(response, taken)
    } catch (error) {
      // Only an offer of this request is abandoned, and not one that was open before.
      if (media.exchange.exchange !== before) media.exchange.abandon()
      this.#unusable(method, response, error)
    }
  }

  /**
   * Handles the ACK to an offer. An ACK without the answer changes nothing: some equipment refreshes in this
   * way.
   */
  acked(sdp: string | undefined): void {
    this.#guard?.cancel()
    const { media, log } = this.#session
    const { exchange } = media.exchange
    // The answer to an offer in a request of the gateway comes in another message.
    if (exchange.kind !== 'local offer' || exchange.in !== 'response') return
    try {
      if (sdp === undefined) throw new TrunklineError('bad_sdp', 'The ACK has no answer.')
      media.acceptSdp(sdp)
      this.#session.reportHold()
    } catch (error) {
      media.exchange.abandon()
      log.warn(
        { event: 'session.ack-rejected', code: codeOf(error), reason: errorText(error) },
        'ACK of a re-INVITE has no usable answer',
      )
    }
  }

  /** Idempotent. */
  stop(): void {
    this.#isStopped = true
    this.#guard?.cancel()
  }

  #timer(request: SipRequest) {
    const refresher = this.#refresher
    return refresher && timerAnswer(request, refresher.settings, refresher.terms)
  }

  #refresh(response: SipResponse, { headers, refreshed }: AcceptedRequest): void {
    response.send(200, { headers: { ...this.#headers(), ...headers } })
    refreshed()
  }

  #answer(request: SipRequest, response: SipResponse, offer: string, taken: AcceptedRequest): void {
    const { media } = this.#session
    const { method } = request
    const refusal = media.exchange.receiveOffer(offerIn[method] ?? 'update')
    if (refusal) {
      const { status, retryAfter } = refusal
      this.#refuse(response, status, retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) })
      return
    }
    const refresh = media.isRepeatedOffer(offer)
    const answer = media.answerSdp(offer)
    const send = (sdp: string) => this.#answered(response, sdp, taken, { method, refresh })
    if (typeof answer === 'string') send(answer)
    else
      answer.then(send).catch((error: unknown) => {
        media.exchange.abandon()
        this.#unusable(method, response, error)
      })
  }

  #answered(
    response: SipResponse,
    answer: string,
    taken: AcceptedRequest,
    facts: Record<string, unknown>,
  ): void {
    const { media, log } = this.#session
    media.exchange.sendAnswer()
    // The dialog may have ended while the answer was made.
    if (this.#isStopped) {
      this.#refuse(response, 481)
      return
    }
    this.#send(response, answer, taken.headers)
    log.info({ event: 'session.renegotiated', ...facts, held: media.isHeld }, 'session renegotiated')
    this.#session.reportHold()
    taken.refreshed()
  }

  /**
   * Answers a re-INVITE without an offer with an offer of all permitted codecs. The ACK carries the answer.
   */
  #offer(response: SipResponse, { headers, refreshed }: AcceptedRequest): void {
    const { media, clock, leg, log } = this.#session
    if (!media.exchange.isStable) {
      this.#refuse(response, 491)
      return
    }
    this.#send(response, media.offer(undefined, 'response'), headers)
    log.info({ event: 'session.renegotiated', method: 'INVITE', offer: false }, 'session renegotiated')
    this.#guard = clock.after(ackWaitMs, () =>
      leg.end({ code: 'unreachable', detail: 'no ACK to a re-INVITE' }),
    )
    refreshed()
  }

  #unusable(method: string, response: SipResponse, error: unknown): void {
    const { log, headers } = this.#session
    const code = codeOf(error)
    const detail = errorText(error)
    log.warn(
      { event: 'session.offer-rejected', code, method, reason: detail },
      'offer rejected; session unchanged',
    )
    const status = code === 'internal' ? 500 : code === 'unsupported_body' ? 415 : 488
    response.send(status, { headers: headers.refusal({ code }, status, { detail }) })
  }

  #send(response: SipResponse, sdp: string, headers: Headers): void {
    this.#local.sdp = sdp
    const all = { ...this.#headers(), ...headers, 'Content-Type': 'application/sdp' }
    response.send(200, { headers: all, body: sdp })
  }

  #refuse(response: SipResponse, status: number, headers: Headers = {}): void {
    response.send(status, { headers: { ...this.#session.headers.response, ...headers } })
  }

  #headers(): Headers {
    const { contact } = this.#local
    return {
      ...this.#session.headers.response,
      ...(contact !== '' && { Contact: contact }),
      Allow: allowedMethods,
      ...(this.#refresher && { Supported: 'timer' }),
    }
  }
}
