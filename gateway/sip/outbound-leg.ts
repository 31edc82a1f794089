import type { Leg, LegSignalling } from '../calls/leg.ts'
import type { Clock, Timer } from '../clock.ts'
import { type Cause, codeOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { causeOfRefusal } from './causes.ts'
import { EstablishedDialog } from './dialog.ts'
import { sendDigits } from './digits.ts'
import { reasonHeader } from './headers.ts'
import type { Connection } from './link.ts'
import type { LegMedia } from './media.ts'
import { readSdp } from './sdp/read.ts'
import type { FarResponse, Refusal, SipDialog, SipRequest, SrfLike, UacOptions } from './srf.ts'

/** What an outbound leg's far side works with. */
export interface OutboundLegParts {
  readonly leg: Leg
  readonly srf: Pick<SrfLike, 'createUAC'>
  readonly connection: Connection
  readonly clock: Clock
  readonly log: Pick<Log, 'debug' | 'info' | 'warn'>
  readonly userAgent: string
  /** Nothing is left of the INVITE and its dialog. Called once. */
  readonly onReleased: () => void
}

/** Longest wait for the final response after a CANCEL. */
const longestWaitMs = 40_000

/** The called side of a leg that we make: our INVITE, and then the dialog. */
export class OutboundLeg implements LegSignalling {
  readonly connection: Connection
  #parts: OutboundLegParts
  #media: LegMedia | undefined
  #request: SipRequest | undefined
  #dialog: EstablishedDialog | undefined
  #sent = false
  #final = false
  #canceled: Cause | undefined
  #cancelSent = false
  #rang = false
  #remoteSdp = ''
  #guard: Timer | undefined
  #released = false

  constructor(parts: OutboundLegParts) {
    this.#parts = parts
    this.connection = parts.connection
  }

  /** Sends the INVITE with the offer of `media`. Whatever goes wrong ends the leg. */
  invite(uri: string, media: LegMedia, options: UacOptions): void {
    this.#media = media
    this.#sent = true
    const progress = {
      cbRequest: this.#guarded((_error: unknown, request?: SipRequest) => this.#requestSent(request)),
      cbProvisional: this.#guarded((response: FarResponse) => this.#provisional(response)),
    }
    try {
      this.#parts.srf.createUAC(
        uri,
        options,
        progress,
        this.#guarded((error: Refusal | null, dialog?: SipDialog) =>
          dialog ? this.#answered(dialog, media) : this.#refused(error ?? {}),
        ),
      )
    } catch (error) {
      this.#refused({ message: error instanceof Error ? error.message : String(error) })
    }
  }

  ring(): void {}

  async progress(): Promise<void> {}

  async answer(): Promise<void> {}

  sendDigits(digits: string): Promise<void> {
    const dialog = this.#dialog
    const { clock, log } = this.#parts
    if (!this.#media) return Promise.resolve()
    const info = dialog && ((digit: string) => dialog.sendInfoDigit(digit))
    return sendDigits(digits, { port: this.#media.port, info, clock, log })
  }

  end(cause: Cause): void {
    if (this.#dialog) this.#dialog.bye(cause)
    else if (!this.#sent || this.#final || !this.connection.alive) this.#release()
    else this.#cancel(cause)
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

  #requestSent(request: SipRequest | undefined): void {
    this.#request = request
    if (this.#canceled && !this.#cancelSent) this.#sendCancel(this.#canceled)
  }

  #provisional(response: FarResponse): void {
    const { leg, log } = this.#parts
    // 199 says that one branch of a fork is over (RFC 6228).
    if (leg.isEnded || response.status < 180 || response.status === 199) return
    this.#rang = true
    if (!response.body) {
      leg.early(false)
      return
    }
    try {
      this.#take(response.body)
      leg.early(true)
    } catch (error) {
      // The answer may still bring a description that can be used.
      log.warn(
        { code: codeOf(error), status: response.status, reason: String(error) },
        'early media cannot be used',
      )
      leg.early(false)
    }
  }

  #answered(dialog: SipDialog, media: LegMedia): void {
    this.#final = true
    this.#guard?.cancel()
    const { leg, connection, clock, log, userAgent } = this.#parts
    this.#dialog = new EstablishedDialog({
      ...{ dialog, leg, media, connection, clock, log, userAgent, acked: true },
      onReleased: () => this.#release(),
    })
    if (leg.state.kind === 'ended') {
      // The answer crossed our CANCEL. The agent sends a BYE as well, where it knows of the CANCEL; one of the two finds nothing.
      this.#dialog.bye(leg.state.cause)
      return
    }
    this.#startTalking(dialog.remote.sdp, media)
  }

  #startTalking(sdp: string | undefined, media: LegMedia): void {
    const { leg } = this.#parts
    try {
      const news = sdp ? this.#take(sdp) : false
      if (media.isWaiting) {
        leg.end({ code: 'bad_sdp', detail: 'The 200 has no answer to our offer.' })
        return
      }
      if (!news) media.restart()
      leg.answered()
    } catch (error) {
      leg.end({ code: codeOf(error), detail: error instanceof Error ? error.message : String(error) })
    }
  }

  /** Takes an answer to our offer; false where it was taken already: the 200 usually repeats that of the 183. */
  #take(sdp: string): boolean {
    if (sdp === this.#remoteSdp) return false
    this.#media?.accept(readSdp(sdp))
    this.#remoteSdp = sdp
    return true
  }

  #refused(refusal: Refusal): void {
    if (this.#final) return
    this.#final = true
    this.#guard?.cancel()
    this.#parts.leg.ended(causeOfRefusal(refusal, this.#rang))
    this.#release()
  }

  #cancel(cause: Cause): void {
    this.#canceled = cause
    this.#guard = this.#parts.clock.after(longestWaitMs, () => this.#release())
    // Before the agent has taken the INVITE there is nothing that could be cancelled.
    if (this.#request) this.#sendCancel(cause)
  }

  #sendCancel(cause: Cause): void {
    this.#cancelSent = true
    try {
      this.#request?.cancel({ headers: { Reason: reasonHeader(cause) } }, (error) => {
        if (error) this.#parts.log.debug({ reason: String(error) }, 'CANCEL: the INVITE was answered already')
      })
    } catch (error) {
      this.#parts.log.debug({ reason: String(error) }, 'CANCEL could not be sent')
    }
  }

  #release(): void {
    if (this.#released) return
    this.#released = true
    this.#guard?.cancel()
    this.#parts.onReleased()
  }

  #guarded<A extends unknown[]>(run: (...args: A) => void): (...args: A) => void {
    return (...args) => {
      try {
        run(...args)
      } catch (error) {
        this.#parts.log.warn({ err: error }, 'a response could not be handled')
        this.#parts.leg.end({ code: 'internal' })
      }
    }
  }
}
