import type { Leg, LegSignalling } from '../calls/leg.ts'
import type { Clock, Timer } from '../clock.ts'
import type { Cause } from '../errors.ts'
import type { Log } from '../log.ts'
import { refusalStatus } from './causes.ts'
import { EstablishedDialog } from './dialog.ts'
import { sendDigits } from './digits.ts'
import { printable } from './headers.ts'
import type { Connection } from './link.ts'
import type { LegMedia } from './media.ts'
import { allowedMethods, refusalHeaders, serverHeader } from './refusals.ts'
import type { Headers, SipDialog, SipRequest, SipResponse, SrfLike } from './srf.ts'

/** What an inbound leg's far side works with. */
export interface InboundLegParts {
  readonly leg: Leg
  readonly media: LegMedia
  readonly request: SipRequest
  readonly response: SipResponse
  readonly srf: Pick<SrfLike, 'createUAS'>
  readonly connection: Connection
  readonly clock: Clock
  readonly log: Pick<Log, 'debug' | 'info' | 'warn'>
  readonly userAgent: string
  /** Nothing is left of the INVITE and its dialog. Called once. */
  readonly onReleased: () => void
}

/** Longest wait for the ACK before the call goes on; the 200 is repeated meanwhile, and the agent hangs up after 32 s without one. */
const ackWaitMs = 2_000
/** Longest wait for the agent to say that the 200 went out. */
const longestWaitMs = 40_000

/** The caller's side of a call that came in: responses to its INVITE, and then the dialog. */
export class InboundLeg implements LegSignalling {
  readonly connection: Connection
  #parts: InboundLegParts
  #dialog: EstablishedDialog | undefined
  #answer: PromiseWithResolvers<void> | undefined
  #timer: Timer | undefined
  #progressed = false
  #farGone = false
  #released = false
  /** The INVITE had no SDP: our offer goes out in the 200, the answer comes in the ACK. */
  #lateOffer: boolean

  constructor(parts: InboundLegParts) {
    this.#parts = parts
    this.connection = parts.connection
    this.#lateOffer = parts.media.isWaiting
    parts.request.on('cancel', () => this.#canceled())
  }

  ring(): void {
    this.#send(180, { headers: this.#headers() })
  }

  async progress(): Promise<void> {
    if (this.#progressed || this.#answer) return
    this.#progressed = true
    // An offer may stand only in a reliable provisional response (RFC 3262 section 5): such a caller hears nothing before the answer.
    if (this.#lateOffer) this.#send(180, { headers: this.#headers() })
    else
      this.#send(183, {
        headers: { ...this.#headers(), 'Content-Type': 'application/sdp' },
        body: this.#parts.media.local,
      })
  }

  answer(): Promise<void> {
    if (this.#answer) return this.#answer.promise
    const answer = Promise.withResolvers<void>()
    this.#answer = answer
    const { srf, request, response, media } = this.#parts
    const headers = { ...this.#headers(), Allow: allowedMethods, 'Content-Type': 'application/sdp' }
    try {
      media.restart()
      srf.createUAS(request, response, { localSdp: media.local, headers }, (error, dialog) =>
        this.#answerSent(error, dialog),
      )
    } catch (error) {
      this.#answerSent(error)
    }
    return answer.promise
  }

  sendDigits(digits: string): Promise<void> {
    const dialog = this.#dialog
    const { media, clock, log } = this.#parts
    const info = dialog && ((digit: string) => dialog.sendInfoDigit(digit))
    return sendDigits(digits, { port: media.port, info, clock, log })
  }

  end(cause: Cause): void {
    this.#timer?.cancel()
    this.#answer?.resolve()
    // Without an answer to our offer the port was never the leg's.
    if (!this.#parts.leg.port) void this.#parts.media.port.close()
    if (this.#dialog) this.#dialog.bye(cause)
    else if (this.#farGone || !this.connection.alive) this.#release()
    else if (this.#answer) this.#timer = this.#parts.clock.after(longestWaitMs, () => this.#release())
    else this.#refuse(cause)
  }

  /** Ends the leg as if its call had done so. */
  hangUp(cause: Cause): void {
    this.#parts.leg.end(cause)
  }

  /** The connection to the agent is gone for good. */
  lost(): void {
    this.#parts.leg.ended({ code: 'control_lost' })
    this.#dialog?.lost()
    this.#release()
  }

  #canceled(): void {
    if (this.#farGone || this.#dialog) return
    this.#farGone = true
    this.#parts.leg.ended({ code: 'canceled' })
    this.#release()
  }

  /** The agent has taken the 200, or has not. */
  #answerSent(error: unknown, dialog?: SipDialog): void {
    if (this.#released || this.#dialog) return
    const { leg, clock } = this.#parts
    if (!dialog) {
      this.#farGone = true
      const reason = printable(error instanceof Error ? error.message : String(error))
      // A CANCEL that crossed our 200 has ended the transaction at the agent already.
      const canceled = /unknown transaction|Request Terminated|: 487/i.test(reason)
      leg.ended(canceled ? { code: 'canceled' } : { code: 'unreachable', detail: reason })
      this.#release()
      return
    }
    this.#timer?.cancel()
    this.#dialog = this.#established(dialog)
    if (leg.state.kind === 'ended') this.#dialog.bye(leg.state.cause)
    else if (!this.#lateOffer) this.#timer = clock.after(ackWaitMs, () => this.#settle())
  }

  #established(dialog: SipDialog): EstablishedDialog {
    const { leg, media, connection, clock, log, userAgent } = this.#parts
    return new EstablishedDialog({
      ...{ dialog, leg, media, connection, clock, log, userAgent, acked: false },
      onAck: () => this.#acked(),
      onReleased: () => this.#release(),
    })
  }

  #acked(): void {
    const { leg, media } = this.#parts
    if (this.#lateOffer && !leg.isEnded && !leg.isAnswered) {
      if (media.isWaiting) {
        leg.end({ code: 'bad_sdp', detail: 'The ACK has no answer to the offer of the 200.' })
        return
      }
      leg.setPort(media.port)
    }
    this.#settle()
  }

  #settle(): void {
    this.#timer?.cancel()
    this.#parts.leg.answered()
    this.#answer?.resolve()
  }

  #refuse(cause: Cause): void {
    const status = refusalStatus(cause)
    this.#send(status, { headers: refusalHeaders(cause.code, status, this.#parts.userAgent) })
    this.#release()
  }

  #send(status: number, options: { headers: Headers; body?: string }): void {
    const { response, log } = this.#parts
    if (this.#farGone || !this.connection.alive || response.finalResponseSent) return
    try {
      response.send(status, options, (error) => {
        if (error) log.debug({ status, reason: String(error) }, 'response not sent')
      })
    } catch (error) {
      log.warn({ status, reason: String(error) }, 'response not sent')
    }
  }

  #headers(): Headers {
    return serverHeader(this.#parts.userAgent)
  }

  #release(): void {
    if (this.#released) return
    this.#released = true
    this.#timer?.cancel()
    this.#parts.onReleased()
  }
}
