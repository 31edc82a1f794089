import type { AudioCodec } from '../../../media/types.ts'
import type { LegSignalling } from '../../calls/leg/leg.ts'
import type { ReferOptions, ReferOutcome } from '../../calls/leg/referral.ts'
import type { Timer } from '../../core/clock.ts'
import { type Cause, codeOf, TrunklineError } from '../../core/errors/catalogue.ts'
import type { Connection } from '../agent-link.ts'
import { type DialogTerms, EstablishedDialog } from '../dialog/established-dialog.ts'
import { sendDigits } from '../dialog/leg-digits.ts'
import { errorText, type LegSession } from '../dialog/leg-session.ts'
import { Renegotiation } from '../dialog/renegotiation.ts'
import { answeringChallenges, credentialsInside, type DialogTrust } from '../digest/dialog-digest.ts'
import { allowedMethods } from '../gateway-headers.ts'
import { printable } from '../headers.ts'
import { sdpOf } from '../media/sdp-body.ts'
import { causeOfCancel, refusalStatus } from '../sip-causes.ts'
import type { Headers, SipDialog, SipRequest, SipResponse, SrfLike } from '../srf.ts'
import { Provisionals, type Reliability } from './provisionals.ts'

/** INVITE of an inbound leg, with the means to answer it. */
export interface ReceivedInvite {
  readonly request: SipRequest
  readonly response: SipResponse
  readonly srf: Pick<SrfLike, 'createUAS'>
}

/** Options of {@link InboundLeg}. */
export interface InboundLegOptions {
  /** Default `none`. */
  readonly reliability?: Reliability
  /** Headers of the 200: session timer and supported extensions. Default none. */
  readonly answerHeaders?: Headers
  /** Header that names the caller's carrier to the agent, for later messages to the caller. Default none. */
  readonly farEnd?: Headers
  /** Terms of the dialog that the 200 establishes. */
  readonly terms?: DialogTerms
  /** Credentials that answer challenges inside the dialog; default none. */
  readonly trust?: DialogTrust
  /**
   * Called at most once, when the caller has proved that it receives messages at its address. The proof is an
   * ACK, a PRACK or another request within the dialog. Default: no proof is needed. The INVITE of an
   * untrusted caller over UDP may be forged.
   */
  readonly onConfirmed?: () => void
}

/** Longest wait for the ACK of an unconfirmed caller, after which the call ends. */
const unconfirmedWaitMs = 5_000
/**
 * Maximum wait for the ACK before the call goes on. The 200 is repeated meanwhile, and the agent hangs up
 * after 32 s without an ACK.
 */
const ackWaitMs = 2_000
/**
 * Maximum wait for the agent's report that the 200 was sent, or that the caller acknowledged it. The agent
 * itself times out after 32 s; this timer is the fallback.
 */
const maxWaitMs = 40_000

/** Caller's side of an inbound call: responses to the INVITE, and then the dialog. */
export class InboundLeg implements LegSignalling {
  readonly connection: Connection
  readonly #session: LegSession
  readonly #invite: ReceivedInvite
  readonly #options: InboundLegOptions
  readonly #onReleased: () => void
  readonly #provisionals: Provisionals
  readonly #early: Renegotiation
  #dialog: EstablishedDialog | undefined
  #answer: PromiseWithResolvers<void> | undefined
  #isAnswerSent = false
  #timer: Timer | undefined
  #progress: Promise<void> | undefined
  /** Resolves with the PRACK of the reliable response that carried the offer. */
  #offered: Promise<void> | undefined
  /** A provisional response has carried the local description. */
  #isShown = false
  #isConfirmed: boolean
  /** Time of the 200; undefined until it is sent. */
  #answeredAt: number | undefined
  #isCallerGone = false
  #isReleased = false

  /** `onReleased` is called once, when nothing is left of the INVITE and its dialog. */
  constructor(
    session: LegSession,
    invite: ReceivedInvite,
    options: InboundLegOptions,
    onReleased: () => void,
  ) {
    this.#session = session
    this.#invite = invite
    this.#options = options
    this.#onReleased = onReleased
    this.connection = session.connection
    this.#isConfirmed = options.onConfirmed === undefined
    const { request, response } = invite
    const { reliability = 'none' } = options
    this.#provisionals = new Provisionals(response, session, reliability, () => this.#headers(), {
      acknowledged: (prack, answer, described) => this.#prack(prack, answer, described),
      timedOut: () => this.#timedOut(),
    })
    this.#early = new Renegotiation(session)
    request.on('cancel', (cancel) => this.#canceled(cancel))
    request.on('update', (update, answer) => {
      this.#confirm()
      this.#early.take(update, answer, false)
    })
  }

  ring(): void {
    if (this.#isCallerGone) return
    const { isAlwaysReliable } = this.#provisionals
    // The first reliable response to an INVITE without an offer carries the offer (RFC 3262 section 5).
    if (this.#session.media.isWaiting && !this.#offered && isAlwaysReliable) void this.#offer(180)
    else void this.#provisionals.send(180)
  }

  progress(): Promise<void> {
    if (this.#answer) return Promise.resolve()
    this.#progress ??= this.#open()
    return this.#progress
  }

  answer(codecs?: readonly AudioCodec[]): Promise<void> {
    if (!this.#answer) {
      if (codecs && !this.#limitTo(codecs)) return Promise.resolve()
      this.#answer = Promise.withResolvers<void>()
      this.#timer = this.#session.clock.after(maxWaitMs, () => this.#timedOut())
      // The body of the 200 depends on the PRACK (RFC 3262 section 5).
      this.#provisionals.whenIdle(() => this.#sendAnswer())
    }
    return this.#answer.promise
  }

  sendDigits(digits: string): Promise<void> {
    const dialog = this.#dialog
    return sendDigits(digits, this.#session, dialog && ((digit) => dialog.sendInfoDigit(digit)))
  }

  refer(target: string, options?: ReferOptions): Promise<ReferOutcome> {
    return this.#dialog?.refer(target, options) ?? Promise.resolve({ kind: 'failed', status: 481 })
  }

  end(cause: Cause): void {
    this.#timer?.cancel()
    this.#provisionals.stop()
    this.#answer?.resolve()
    // Without an answer to the offer, the leg never owned the port.
    if (!this.#session.leg.port) void this.#session.media.port.close()
    if (this.#dialog) this.#dialog.bye(cause)
    else if (this.#isCallerGone || !this.connection.isAlive) this.#release()
    else if (this.#isAnswerSent) this.#timer = this.#session.clock.after(maxWaitMs, () => this.#release())
    else this.#refuse(cause)
  }

  /** Ends the leg as if its call had done so. */
  hangUp(cause: Cause): void {
    this.#session.leg.end(cause)
  }

  /** Called when the connection to the agent is lost for good. */
  lost(): void {
    this.#session.leg.ended({ code: 'control_lost' })
    this.#dialog?.lost()
    this.#release()
  }

  /** Opens the audio before the answer if possible. With a late offer, this needs a reliable response. */
  #open(): Promise<void> {
    const { media } = this.#session
    if (this.#isCallerGone) return Promise.resolve()
    if (this.#offered) return this.#offered
    const { canCarryOffers } = this.#provisionals
    // Without a PRACK no audio may be sent to an unconfirmed caller yet. A 180 makes its telephone ring
    // instead of silence.
    if (!media.isWaiting && !this.#isConfirmed && !canCarryOffers) return this.#provisionals.send(180)
    if (!media.isWaiting) {
      this.#isShown = true
      return this.#provisionals.send(183, media.local)
    }
    return canCarryOffers ? this.#offer(183) : this.#provisionals.send(180)
  }

  #offer(status: 180 | 183): Promise<void> {
    this.#offered = this.#provisionals.send(status, this.#session.media.local)
    return this.#offered
  }

  /**
   * Limits the codecs if the caller has not seen the local description yet. Returns false if the call is
   * rejected because it offers none of these codecs.
   */
  #limitTo(codecs: readonly AudioCodec[]): boolean {
    const { media, leg } = this.#session
    const isSeen = this.#offered !== undefined || this.#isShown
    if (isSeen || this.#isCallerGone || leg.isEnded) return true
    try {
      media.limitTo?.(codecs)
      return true
    } catch (error) {
      this.#session.fail(error)
      return false
    }
  }

  #canceled(cancel: Pick<SipRequest, 'get'> | undefined): void {
    if (this.#isCallerGone || this.#dialog) return
    this.#isCallerGone = true
    this.#session.leg.ended(causeOfCancel(cancel?.get('Reason')))
    this.#release()
  }

  /**
   * Handles the PRACK of a response: it carries the answer to an offer, a new offer, or no description (RFC
   * 3262 section 5).
   */
  #prack(request: SipRequest, response: SipResponse, described: boolean): void {
    const { media, leg, log, headers } = this.#session
    this.#confirm()
    try {
      media.setSource(request.source_address)
      const sdp = sdpOf(request)
      if (described && media.isWaiting) {
        if (sdp === undefined) throw new TrunklineError('bad_sdp', 'The PRACK has no answer to the offer.')
        media.acceptSdp(sdp)
        if (!leg.port) leg.setPort(media.port)
        response.send(200, { headers: this.#headers() })
        return
      }
      // The response carried the answer. A 180 without SDP carries none yet.
      if (described && media.exchange.exchange.kind === 'remote offer') media.exchange.sendAnswer()
      this.#early.take(request, response, false)
    } catch (error) {
      const code = codeOf(error)
      const detail = errorText(error)
      log.warn({ event: 'call.prack-rejected', code, reason: detail }, 'PRACK rejected')
      const status = code === 'unsupported_body' ? 415 : 488
      response.send(status, { headers: headers.refusal({ code }, status, { detail }) })
      if (media.isWaiting) leg.end({ code, detail })
    }
  }

  #sendAnswer(): void {
    const { media, leg } = this.#session
    const { srf, request, response } = this.#invite
    if (this.#isCallerGone || leg.isEnded) return
    this.#isAnswerSent = true
    const headers = { ...this.#headers(), Allow: allowedMethods, ...this.#options.answerHeaders }
    // After a reliable answer the 200 has no description: it would be an offer (RFC 6337 section 3.1).
    const { exchange } = media
    const isDescribed = exchange.isStable && exchange.hasSession
    const sdp = isDescribed ? {} : { localSdp: media.local }
    const type: Headers = isDescribed ? {} : { 'Content-Type': 'application/sdp' }
    try {
      media.restart()
      srf.createUAS(request, response, { ...sdp, headers: { ...headers, ...type } }, (error, dialog) =>
        this.#answerSent(error, dialog),
      )
    } catch (error) {
      this.#answerSent(error)
    }
  }

  /** Handles the agent's report on the 200: sent, or failed. */
  #answerSent(error: unknown, dialog?: SipDialog): void {
    if (this.#dialog) return
    const { leg, clock, media } = this.#session
    if (this.#isReleased) {
      // The caller is answered although the leg has ended: the call must be hung up.
      if (dialog && leg.state.kind === 'ended') this.#established(dialog).bye(leg.state.cause)
      return
    }
    if (!dialog) {
      this.#isCallerGone = true
      const reason = printable(error instanceof Error ? error.message : String(error))
      // A CANCEL that crossed the 200 has already ended the transaction at the agent.
      const canceled = /unknown transaction|Request Terminated|: 487/i.test(reason)
      leg.ended(canceled ? { code: 'canceled' } : { code: 'unreachable', detail: reason })
      this.#release()
      return
    }
    this.#timer?.cancel()
    // The time is kept here, as drachtio-srf reports only the BYE if it follows the ACK at once.
    this.#answeredAt = clock.now()
    if (this.#isConfirmed) leg.answerSent(this.#answeredAt)
    if (media.exchange.exchange.kind === 'remote offer') media.exchange.sendAnswer()
    this.#dialog = this.#established(dialog)
    if (leg.state.kind === 'ended') this.#dialog.bye(leg.state.cause)
    else if (!this.#isConfirmed)
      this.#timer = clock.after(unconfirmedWaitMs, () => leg.end({ code: 'unreachable', detail: 'no ACK' }))
    else
      this.#timer = media.isWaiting
        ? clock.after(maxWaitMs, () => this.#timedOut())
        : clock.after(ackWaitMs, () => {
            leg.ackOverdue(true)
            this.#settle()
          })
  }

  /**
   * Ends the leg if the agent does not report in time. It reports the PRACK that the answer waits for, the
   * 200, or an ACK with an answer.
   */
  #timedOut(): void {
    this.#session.leg.end({ code: 'unreachable', detail: 'no report of the SIP agent on the answer in time' })
  }

  #established(made: SipDialog): EstablishedDialog {
    const { trust, terms = {} } = this.#options
    const credentials = trust && credentialsInside(trust, made.remote.uri)
    const dialog = answeringChallenges(made, credentials, this.#session.log)
    return new EstablishedDialog(dialog, this.#session, terms, {
      acknowledged: () => this.#acked(),
      requestReceived: () => this.#requestReceived(),
      released: () => this.#release(),
    })
  }

  /**
   * Records that the caller receives messages at its address: its request repeats data that only a response
   * contained.
   */
  #confirm(): void {
    if (this.#isConfirmed) return
    this.#isConfirmed = true
    this.#session.media.confirm?.()
    this.#options.onConfirmed?.()
  }

  /** Handles a request within the dialog, which proves as much as the ACK. The ACK itself may be lost. */
  #requestReceived(): void {
    const { leg, media } = this.#session
    leg.ackOverdue(false)
    if (!this.#isConfirmed) {
      this.#confirm()
      leg.answerSent(this.#answeredAt)
    }
    if (!leg.isEnded && !leg.isAnswered && !media.isWaiting) this.#settle()
  }

  #acked(): void {
    const { leg, media } = this.#session
    leg.ackOverdue(false)
    if (!leg.isEnded && !leg.isAnswered && !leg.port) {
      if (media.isWaiting) {
        leg.end({ code: 'bad_sdp', detail: 'The ACK has no answer to the offer of the 200.' })
        return
      }
      leg.setPort(media.port)
    }
    this.#settle()
  }

  #settle(): void {
    const { leg, media } = this.#session
    this.#timer?.cancel()
    leg.answered()
    this.#session.reportHold()
    this.#answer?.resolve(media.ready?.())
  }

  #refuse(cause: Cause): void {
    const { response } = this.#invite
    const { log } = this.#session
    const status = refusalStatus(cause)
    const headers = { ...this.#session.headers.refusal(cause, status), ...this.#mark() }
    try {
      if (!response.finalResponseSent)
        response.send(status, { headers }, (error) => {
          if (error) log.debug({ status, reason: String(error) }, 'response not sent')
        })
    } catch (error) {
      log.warn({ event: 'call.response-failed', status, reason: String(error) }, 'response not sent')
    }
    this.#release()
  }

  #headers(): Headers {
    return { ...this.#session.headers.response, ...this.#options.farEnd, ...this.#mark() }
  }

  /** Returns the header by which the embedded agent limits what it sends to an unconfirmed caller. */
  #mark(): Headers {
    return this.#isConfirmed ? {} : this.#session.headers.unverified
  }

  #release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#timer?.cancel()
    this.#provisionals.stop()
    this.#early.stop()
    this.#onReleased()
  }
}
