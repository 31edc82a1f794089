import { unverifiedHeader } from '@trunkline/sip-agent'
import type { AudioCodec } from '../../../media/types.ts'
import type { Leg, LegSignalling } from '../../calls/leg/leg.ts'
import type { ReferOptions, ReferOutcome } from '../../calls/leg/referral.ts'
import type { Clock, Timer } from '../../core/clock.ts'
import { type Cause, codeOf, TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import { allowedMethods, refusalHeaders, serverHeader } from '../admission/refusals.ts'
import type { Connection } from '../agent-link.ts'
import { EstablishedDialog, type EstablishedDialogDeps } from '../dialog/established-dialog.ts'
import { Renegotiation, textOf } from '../dialog/renegotiation.ts'
import { sendDigits } from '../dialog/send-digits.ts'
import { answeringChallenges, credentialsInside, type DialogTrust } from '../digest/dialog-digest.ts'
import { printable } from '../headers.ts'
import { sdpOf } from '../media/sdp-body.ts'
import type { SipMedia } from '../media/sip-media.ts'
import { causeOfCancel, refusalStatus } from '../sip-causes.ts'
import type { Headers, SipDialog, SipRequest, SipResponse, SrfLike } from '../srf.ts'
import { Provisionals, type Reliability } from './provisionals.ts'

/** Collaborators and settings of {@link InboundLeg}. */
export interface InboundLegDeps {
  readonly leg: Leg
  readonly media: SipMedia
  readonly request: SipRequest
  readonly response: SipResponse
  readonly srf: Pick<SrfLike, 'createUAS'>
  readonly connection: Connection
  readonly clock: Clock
  readonly log: Pick<Log, 'debug' | 'info' | 'warn'>
  readonly userAgent: string
  /** Default `none`. */
  readonly reliability?: Reliability
  /** Headers of the 200: session timer and supported extensions. Default none. */
  readonly answerHeaders?: Headers
  /** Header that names the caller's carrier to the agent, for later messages to the caller. Default none. */
  readonly farEnd?: Headers
  /** Settings of the established dialog; see {@link EstablishedDialogDeps}. */
  readonly dialog?: Pick<EstablishedDialogDeps, 'timers' | 'allowsUpdate' | 'random' | 'transfers' | 'origin'>
  /** Credentials that answer challenges inside the dialog; default none. */
  readonly trust?: DialogTrust
  /** Time after which a caller may try again after a 503; default 10 s. */
  readonly retryAfterMs?: number
  /** The caller has yet to prove that it is at its address; default: it has. */
  readonly unconfirmed?: UnconfirmedCaller
  /** Nothing is left of the INVITE and its dialog. Called once. */
  readonly onReleased: () => void
}

/** A caller over UDP that is neither known by its address nor authenticated: the INVITE may be forged. */
export interface UnconfirmedCaller {
  /** The agent understands the mark of responses to such a caller. */
  readonly hasPrivateHeaders: boolean
  /** Called once at most, at an ACK, a PRACK or another request within the dialog. */
  readonly onConfirmed: () => void
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

/** The caller's side of a call that came in: responses to its INVITE, and then the dialog. */
export class InboundLeg implements LegSignalling {
  readonly connection: Connection
  #deps: InboundLegDeps
  #provisionals: Provisionals
  #early: Renegotiation
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
  /** Time of the 200; undefined before. */
  #answeredAt: number | undefined
  #isCallerGone = false
  #isReleased = false

  constructor(deps: InboundLegDeps) {
    this.#deps = deps
    this.connection = deps.connection
    this.#isConfirmed = deps.unconfirmed === undefined
    this.#provisionals = new Provisionals({
      ...deps,
      headers: () => this.#headers(),
      reliability: deps.reliability ?? 'none',
      onPrack: (request, response, described) => this.#prack(request, response, described),
      onTimeout: () => this.#silent(),
    })
    this.#early = new Renegotiation({ ...deps, dialog: { local: { sdp: '', contact: '' } } })
    deps.request.on('cancel', (cancel) => this.#canceled(cancel))
    deps.request.on('update', (request, response) => {
      this.#confirm()
      this.#early.take(request, response, false)
    })
  }

  ring(): void {
    if (this.#isCallerGone) return
    const { isAlwaysReliable } = this.#provisionals
    // The first reliable response to an INVITE without an offer carries the offer (RFC 3262 section 5).
    if (this.#deps.media.isWaiting && !this.#offered && isAlwaysReliable) void this.#offer(180)
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
      this.#timer = this.#deps.clock.after(maxWaitMs, () => this.#silent())
      // The body of the 200 depends on the PRACK (RFC 3262 section 5).
      this.#provisionals.whenIdle(() => this.#sendAnswer())
    }
    return this.#answer.promise
  }

  sendDigits(digits: string): Promise<void> {
    const dialog = this.#dialog
    const { media, leg, clock, log } = this.#deps
    const info = dialog && ((digit: string) => dialog.sendInfoDigit(digit))
    return sendDigits(digits, { port: media.port, info, leg, clock, log })
  }

  refer(target: string, options?: ReferOptions): Promise<ReferOutcome> {
    return this.#dialog?.refer(target, options) ?? Promise.resolve({ kind: 'failed', status: 481 })
  }

  end(cause: Cause): void {
    this.#timer?.cancel()
    this.#provisionals.stop()
    this.#answer?.resolve()
    // Without an answer to the offer, the leg never owned the port.
    if (!this.#deps.leg.port) void this.#deps.media.port.close()
    if (this.#dialog) this.#dialog.bye(cause)
    else if (this.#isCallerGone || !this.connection.isAlive) this.#release()
    else if (this.#isAnswerSent) this.#timer = this.#deps.clock.after(maxWaitMs, () => this.#release())
    else this.#refuse(cause)
  }

  /** Ends the leg as if its call had done so. */
  hangUp(cause: Cause): void {
    this.#deps.leg.end(cause)
  }

  /** Called when the connection to the agent is lost for good. */
  lost(): void {
    this.#deps.leg.ended({ code: 'control_lost' })
    this.#dialog?.lost()
    this.#release()
  }

  /** Opens the audio before the answer if possible: with a late offer, only by a reliable response. */
  #open(): Promise<void> {
    const { media } = this.#deps
    if (this.#isCallerGone) return Promise.resolve()
    if (this.#offered) return this.#offered
    const { canCarryOffers } = this.#provisionals
    // Without a PRACK an unconfirmed caller would hear silence: its own ringing tone is better.
    if (!media.isWaiting && !this.#isConfirmed && !canCarryOffers) return this.#provisionals.send(180)
    if (!media.isWaiting) {
      this.#isShown = true
      return this.#provisionals.send(183, media.local)
    }
    return canCarryOffers ? this.#offer(183) : this.#provisionals.send(180)
  }

  #offer(status: 180 | 183): Promise<void> {
    this.#offered = this.#provisionals.send(status, this.#deps.media.local)
    return this.#offered
  }

  /**
   * Limits the codecs if the caller has not seen the local description yet. Returns false if the call is
   * refused because it offers none of these codecs.
   */
  #limitTo(codecs: readonly AudioCodec[]): boolean {
    const { media, leg } = this.#deps
    const isSeen = this.#offered !== undefined || this.#isShown
    if (isSeen || this.#isCallerGone || leg.isEnded) return true
    try {
      media.limitTo?.(codecs)
      return true
    } catch (error) {
      leg.end({ code: codeOf(error), detail: textOf(error) })
      return false
    }
  }

  #canceled(cancel: Pick<SipRequest, 'get'> | undefined): void {
    if (this.#isCallerGone || this.#dialog) return
    this.#isCallerGone = true
    this.#deps.leg.ended(causeOfCancel(cancel?.get('Reason')))
    this.#release()
  }

  /**
   * Handles the PRACK of a response: it carries the answer to an offer, a new offer, or no description (RFC
   * 3262 section 5).
   */
  #prack(request: SipRequest, response: SipResponse, described: boolean): void {
    const { media, leg, log } = this.#deps
    this.#confirm()
    try {
      media.setSource(request.source_address)
      const sdp = sdpOf(request)
      if (described && media.isWaiting) {
        if (sdp === undefined) throw new TrunklineError('bad_sdp', 'The PRACK has no answer to our offer.')
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
      const detail = textOf(error)
      log.warn({ event: 'call.prack-rejected', code, reason: detail }, 'PRACK rejected')
      const status = code === 'unsupported_body' ? 415 : 488
      response.send(status, { headers: refusalHeaders({ code }, status, this.#deps.userAgent, { detail }) })
      if (media.isWaiting) leg.end({ code, detail })
    }
  }

  #sendAnswer(): void {
    const { srf, request, response, media, leg, answerHeaders = {} } = this.#deps
    if (this.#isCallerGone || leg.isEnded) return
    this.#isAnswerSent = true
    const headers = { ...this.#headers(), Allow: allowedMethods, ...answerHeaders }
    // After a reliable answer the 200 has no description: it would be an offer (RFC 6337 section 3.1).
    const { exchange } = media
    const said = exchange.isStable && exchange.hasSession
    const sdp = said ? {} : { localSdp: media.local }
    const type: Headers = said ? {} : { 'Content-Type': 'application/sdp' }
    try {
      media.restart()
      srf.createUAS(request, response, { ...sdp, headers: { ...headers, ...type } }, (error, dialog) =>
        this.#answerSent(error, dialog),
      )
    } catch (error) {
      this.#answerSent(error)
    }
  }

  /** The agent has taken the 200, or has not. */
  #answerSent(error: unknown, dialog?: SipDialog): void {
    if (this.#dialog) return
    const { leg, clock, media } = this.#deps
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
    // If the BYE follows the ACK at once, drachtio-srf reports the BYE only.
    this.#answeredAt = clock.now()
    if (this.#isConfirmed) leg.answerSent(this.#answeredAt)
    if (media.exchange.exchange.kind === 'remote offer') media.exchange.sendAnswer()
    this.#dialog = this.#established(dialog)
    if (leg.state.kind === 'ended') this.#dialog.bye(leg.state.cause)
    else if (!this.#isConfirmed)
      this.#timer = clock.after(unconfirmedWaitMs, () => leg.end({ code: 'unreachable', detail: 'no ACK' }))
    else
      this.#timer = media.isWaiting
        ? clock.after(maxWaitMs, () => this.#silent())
        : clock.after(ackWaitMs, () => this.#settle())
  }

  /**
   * The agent reports neither the PRACK that the answer waits for, nor the 200, nor an ACK with the answer to
   * the offer.
   */
  #silent(): void {
    this.#deps.leg.end({ code: 'unreachable', detail: 'no report of the SIP agent on the answer in time' })
  }

  #established(made: SipDialog): EstablishedDialog {
    const { leg, media, connection, clock, log, userAgent, trust } = this.#deps
    const credentials = trust && credentialsInside(trust, made.remote.uri)
    const dialog = answeringChallenges(made, credentials, log)
    return new EstablishedDialog({
      dialog,
      leg,
      media,
      connection,
      clock,
      log,
      userAgent,
      isAcked: false,
      ...this.#deps.dialog,
      onAck: () => this.#acked(),
      onHeard: () => this.#heard(),
      onReleased: () => this.#release(),
    })
  }

  /**
   * The caller has proved that it is at its address: its request repeats data that only a response contained.
   */
  #confirm(): void {
    if (this.#isConfirmed) return
    this.#isConfirmed = true
    this.#deps.media.confirm?.()
    this.#deps.unconfirmed?.onConfirmed()
  }

  /** A request within the dialog proves as much as the ACK, which may be lost. */
  #heard(): void {
    const { leg, media } = this.#deps
    if (this.#isConfirmed) return
    this.#confirm()
    leg.answerSent(this.#answeredAt)
    if (!leg.isEnded && !media.isWaiting) this.#settle()
  }

  #acked(): void {
    const { leg, media } = this.#deps
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
    const { leg, media } = this.#deps
    this.#timer?.cancel()
    leg.answered()
    leg.hold(media.isHeld, 'media')
    this.#answer?.resolve(media.ready?.())
  }

  #refuse(cause: Cause): void {
    const { response, log, userAgent, retryAfterMs } = this.#deps
    const status = refusalStatus(cause)
    const headers = { ...refusalHeaders(cause, status, userAgent, { retryAfterMs }), ...this.#mark() }
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
    return { ...serverHeader(this.#deps.userAgent), ...this.#deps.farEnd, ...this.#mark() }
  }

  /** Returns the header by which the embedded agent limits what it sends to an unconfirmed caller. */
  #mark(): Headers {
    return !this.#isConfirmed && this.#deps.unconfirmed?.hasPrivateHeaders ? { [unverifiedHeader]: '1' } : {}
  }

  #release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#timer?.cancel()
    this.#provisionals.stop()
    this.#early.stop()
    this.#deps.onReleased()
  }
}
