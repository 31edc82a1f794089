import { newCallId } from '../../calls/call/ids.ts'
import type { Clock, Timer } from '../../core/clock.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import type { CallId } from '../../model.ts'
import type { BrowserCall } from './browser-call.ts'
import { BrowserLeg } from './browser-leg.ts'
import type { BrowserSession, SessionCall } from './browser-session.ts'
import { causeOf } from './bye-causes.ts'
import type { Invite } from './verto-messages.ts'

/** Call that a browser dialed: an inbound leg of the gateway. */
export class BrowserInboundLeg extends BrowserLeg implements SessionCall {
  readonly callId: CallId
  readonly browser: BrowserSession
  readonly invite: Invite
  readonly #clock: Clock
  #earlyMedia: Timer | undefined
  #endCause: Cause | undefined

  /** `callId`: call of the gateway that the leg belongs to; default a new one. */
  constructor(browser: BrowserSession, invite: Invite, clock: Clock, callId: CallId = newCallId()) {
    super()
    this.callId = callId
    this.browser = browser
    this.invite = invite
    this.#clock = clock
    browser.calls.set(invite.callId, this)
  }

  /** Cause of the end if the browser ended the call. */
  get endCause(): Cause | undefined {
    return this.#endCause
  }

  /** Sets the call, once the offer is answered. */
  begin(call: BrowserCall): void {
    this.call = call
    call.leg.attach(this)
    call.leg.setPort(call.media.port, call.media.video)
    call.reportState('created')
  }

  /** Schedules the gateway's SDP so that it is sent before the client cancels an unanswered call. */
  awaitDescription(): void {
    const { maxDescriptionWaitMs } = this.browser.quirks
    if (maxDescriptionWaitMs === undefined || this.call?.leg.isEnded) return
    this.#earlyMedia = this.#clock.after(maxDescriptionWaitMs, () => this.#sendMedia())
  }

  browserCall(): BrowserCall | undefined {
    return this.call
  }

  /** Does nothing: a browser does not answer a call that it dialed. */
  async onAnswer(): Promise<void> {}

  onBye(_browser: BrowserSession, causeCode: number | undefined): void {
    const leg = this.call?.leg
    this.#endCause = causeOf(causeCode, leg?.isAnswered ? 'normal' : 'canceled')
    this.browser.calls.delete(this.invite.callId)
    leg?.ended(this.#endCause)
  }

  onDigits(_browser: BrowserSession, digits: string): void {
    for (const digit of digits) this.call?.leg.digit(digit)
  }

  onSessionLost(): void {
    this.#endCause = { code: 'client_lost' }
    this.call?.leg.ended(this.#endCause)
  }

  /**
   * Reports ringing. Clients that ignore failures once they have the SDP receive it only with early media or
   * the answer.
   */
  ring(): void {
    this.call?.reportState('ringing')
    if (!this.makesRingingTone) this.#sendMedia()
  }

  /** Whether the gateway needs no ringing tone, because the application shows `call.state`. */
  get makesRingingTone(): boolean {
    return !this.browser.quirks.canFailOnceDescribed
  }

  async progress(): Promise<void> {
    this.#sendMedia()
    await this.call?.untilConnected()
  }

  async answer(): Promise<void> {
    const { call } = this
    if (!call) return
    this.#earlyMedia?.cancel()
    call.reportAnswer()
    call.leg.answered()
    await call.untilConnected()
  }

  end(cause: Cause): void {
    this.#earlyMedia?.cancel()
    this.call?.close(cause, this.#endCause !== undefined)
  }

  #sendMedia(): void {
    this.#earlyMedia?.cancel()
    this.call?.sendDescription()
  }
}
