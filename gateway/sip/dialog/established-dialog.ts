import type { ReferOptions, ReferOutcome } from '../../calls/leg/referral.ts'
import type { Timer } from '../../core/clock.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import { guard } from '../../core/guard.ts'
import { allowedMethods } from '../gateway-headers.ts'
import { reasonHeader } from '../headers.ts'
import type { Random } from '../media/offer-answer.ts'
import { answerIn } from '../media/sdp-body.ts'
import { causeOfBye } from '../sip-causes.ts'
import type { InDialogMethod, SipDialog, SipRequest, SipResponse } from '../srf.ts'
import { InboundRefer } from './inbound-refer.ts'
import { type DigitType, digitOfInfo, digitTypeFor, digitTypeOf, infoOfDigit } from './info-digits.ts'
import type { LegSession } from './leg-session.ts'
import { OutboundRefer } from './outbound-refer.ts'
import { Refresher } from './refresher.ts'
import { Renegotiation } from './renegotiation.ts'
import type { SessionTimerSettings, TimerTerms } from './session-timer.ts'
import type { Transferor } from './transferor.ts'

/** Terms of a dialog, agreed when it was established. */
export interface DialogTerms {
  /** Session timer on the gateway's clock; undefined: the agent runs its own. */
  readonly timer?: { readonly settings: SessionTimerSettings; readonly terms: TimerTerms | undefined }
  /** The peer supports UPDATE; default false. */
  readonly allowsUpdate?: boolean
  /** The peer's permissions for transfers; default: REFER is rejected. */
  readonly transferor?: Transferor
}

/** Listener of an {@link EstablishedDialog}. */
export interface DialogListener {
  /** Called when the ACK of an inbound INVITE has arrived. */
  acknowledged?(): void
  /**
   * Called for each request within the dialog. Only a peer that has received the gateway's response can send
   * one.
   */
  requestReceived?(): void
  /** Called once, when nothing of the dialog is left at the agent. */
  released(): void
}

/**
 * Maximum wait for the ACK, or for the response to a BYE. The agent itself times out after 32 s; this timer
 * is the fallback.
 */
const maxWaitMs = 40_000

/**
 * An established dialog. Handles the peer's requests, sends digits as INFO, and ends the dialog. The end is
 * reported exactly once, whether a side ends the dialog or the connection to the agent is lost.
 */
export class EstablishedDialog {
  readonly #dialog: SipDialog
  readonly #session: LegSession
  readonly #listener: DialogListener
  readonly #refresher: Refresher | undefined
  readonly #renegotiation: Renegotiation
  readonly #inboundRefer: InboundRefer | undefined
  readonly #outboundRefer: OutboundRefer
  readonly #unregister: () => void
  #isAcked: boolean
  #digitType: DigitType
  #ending: Cause | undefined
  #isByeSent = false
  #isReleased = false
  #guard: Timer | undefined
  /** Wraps a listener of the dialog: no error may reach the socket reader of drachtio-srf. */
  #guarded = <A extends unknown[]>(listener: (...args: A) => void) =>
    guard(listener, (error) =>
      this.#session.log.warn({ event: 'dialog.event-failed', err: error }, 'event of the dialog not handled'),
    )

  /** `random`: from 0 to 1, default `Math.random`. */
  constructor(
    dialog: SipDialog,
    session: LegSession,
    { timer, allowsUpdate = false, transferor }: DialogTerms,
    listener: DialogListener,
    random: Random = Math.random,
  ) {
    this.#dialog = dialog
    this.#session = session
    this.#listener = listener
    const isOutbound = session.leg.direction === 'outbound'
    // The ACK of an outbound leg's 200 was sent before the dialog was reported.
    this.#isAcked = isOutbound
    this.#digitType = digitTypeFor(dialog.res?.get('Accept'))
    const refreshes = { ownsCallId: isOutbound, allowsUpdate, random }
    this.#refresher = timer && new Refresher(dialog, session, timer.settings, refreshes)
    this.#renegotiation = new Renegotiation(session, dialog.local, this.#refresher)
    this.#refresher?.start(timer?.terms)
    this.#outboundRefer = new OutboundRefer(dialog, session)
    this.#inboundRefer = transferor && new InboundRefer(dialog, session, transferor)
    const names = dialog.sip
    this.#unregister = (names && transferor?.register(names, session.leg)) ?? (() => {})
    this.#listen()
  }

  /** Hangs up. The BYE is sent after the ACK of the far side, as RFC 3261 section 15 requires. */
  bye(cause: Cause): void {
    if (this.#isReleased || this.#ending) return
    this.#ending = cause
    // Nothing but the BYE is sent from now on, even if other requests are pending.
    this.#stop()
    if (!this.#session.connection.isAlive) {
      this.#release()
      return
    }
    if (this.#isAcked) this.#sendBye()
    else this.#guard = this.#session.clock.after(maxWaitMs, () => this.#sendBye())
  }

  /** Releases the dialog without a message, after a lost connection. */
  lost(): void {
    this.#release()
  }

  /** Sends a REFER, which asks the peer to call another party; see `LegSignalling.refer`. */
  refer(target: string, options?: ReferOptions): Promise<ReferOutcome> {
    return this.#outboundRefer.refer(target, options)
  }

  /** Sends one digit as INFO. Resolves with false if the peer rejects it. */
  sendInfoDigit(digit: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const { connection, clock, log } = this.#session
    if (this.#isReleased || this.#ending || !connection.isAlive) return Promise.resolve(false)
    const guard = clock.after(maxWaitMs, () => resolve(false))
    const settle = (taken: boolean) => {
      guard.cancel()
      resolve(taken)
    }
    const type = this.#digitType
    const headers = { 'Content-Type': type }
    try {
      this.#dialog.request({ method: 'INFO', headers, body: infoOfDigit(digit, type) }, (error, response) =>
        settle(!error && response !== undefined && response.status < 300),
      )
    } catch (error) {
      log.debug({ reason: String(error) }, 'INFO not sent')
      settle(false)
    }
    return promise
  }

  #listen(): void {
    this.#dialog.on(
      'destroy',
      this.#guarded((request: Partial<SipRequest>, reason?: string) => {
        const cause = causeOfBye(reason, request.get?.('Reason'))
        if (cause.code === 'normal') this.#listener.requestReceived?.()
        this.#byeReceived(cause)
      }),
    )
    this.#dialog.on(
      'ack',
      this.#guarded((request: SipRequest) => this.#ack(answerIn(request))),
    )
    this.#take('modify', (request, response) => this.#renegotiate(request, response))
    this.#take('update', (request, response) => this.#renegotiate(request, response))
    this.#take('info', (request, response) => this.#info(request, response))
    const { headers } = this.#session
    const allow = () => ({ ...headers.response, Allow: allowedMethods })
    this.#take('options', (_request, response) =>
      response.send(200, { headers: { ...allow(), Accept: 'application/sdp' } }),
    )
    // Without these listeners drachtio-srf would accept the requests.
    const refuse = (response: SipResponse) => response.send(405, { headers: allow() })
    for (const method of ['message', 'publish'] as const)
      this.#take(method, (_request, response) => refuse(response))
    this.#take('refer', (request, response) => {
      if (this.#inboundRefer && !this.#ending) this.#inboundRefer.take(request, response)
      else refuse(response)
    })
    this.#take('notify', (request, response) =>
      response.send(this.#outboundRefer.handleNotify(request), { headers: headers.response }),
    )
  }

  #ack(sdp: string | undefined): void {
    if (this.#isAcked) {
      this.#renegotiation.acked(sdp)
      return
    }
    this.#isAcked = true
    this.#listener.requestReceived?.()
    if (this.#session.media.isWaiting && sdp) this.#lateAnswer(sdp)
    this.#listener.acknowledged?.()
    if (this.#ending) this.#sendBye()
  }

  #renegotiate(request: SipRequest, response: SipResponse): void {
    // A BYE was sent, or will be sent after the ACK: no session is left.
    if (this.#ending) response.send(481, { headers: this.#session.headers.response })
    else this.#renegotiation.take(request, response, this.#refresher?.isInviting === true)
  }

  /** Takes the answer in the ACK to an offer in the 200 (RFC 3261 section 13.2.1). */
  #lateAnswer(sdp: string): void {
    try {
      this.#session.media.acceptSdp(sdp)
    } catch (error) {
      this.#session.fail(error)
    }
  }

  #info(request: SipRequest, response: SipResponse): void {
    const { headers, leg } = this.#session
    const contentType = request.get('Content-Type') ?? ''
    const body = request.body ?? ''
    // An INFO without a body only checks that the dialog still exists (RFC 2976 section 2.1).
    const type = digitTypeOf(contentType)
    if (body !== '' && !type) {
      response.send(415, {
        headers: { ...headers.response, Accept: 'application/dtmf-relay, application/dtmf' },
      })
      return
    }
    response.send(200, { headers: headers.response })
    const digit = digitOfInfo(contentType, body)
    if (digit === undefined) return
    // The peer can read the content type that it sends.
    this.#digitType = type ?? this.#digitType
    leg.digit(digit)
  }

  #byeReceived(cause: Cause): void {
    // Also runs for a BYE that the agent sends after a CANCEL crossed the answer, and for a BYE that crossed
    // the gateway's BYE.
    this.#ending ??= cause
    this.#release()
    this.#session.leg.ended(cause)
  }

  #sendBye(): void {
    if (this.#isByeSent || this.#isReleased) return
    this.#isByeSent = true
    const { log, clock, headers } = this.#session
    // Fallback, if the agent reports no response.
    this.#guard?.cancel()
    this.#guard = clock.after(maxWaitMs, () => this.#release())
    const reason = reasonHeader(this.#ending ?? { code: 'normal' })
    try {
      this.#dialog.destroy({ headers: { ...headers.request, Reason: reason } }, (error) => {
        if (error) log.debug({ reason: String(error) }, 'BYE failed, dialog already ended')
        this.#release()
      })
    } catch (error) {
      log.debug({ reason: String(error) }, 'BYE not sent')
      this.#release()
    }
  }

  #stop(): void {
    this.#refresher?.stop()
    this.#renegotiation.stop()
    this.#inboundRefer?.stop()
    this.#outboundRefer.stop()
    this.#unregister()
  }

  #release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#guard?.cancel()
    this.#stop()
    this.#listener.released()
  }

  #take(method: InDialogMethod, run: (request: SipRequest, response: SipResponse) => void): void {
    this.#dialog.on(method, (request, response) => {
      try {
        this.#listener.requestReceived?.()
        run(request, response)
      } catch (error) {
        this.#session.log.warn(
          { event: 'dialog.request-failed', err: error, method },
          'request inside the dialog not handled',
        )
        this.#guarded(() => response.finalResponseSent || response.send(500))()
      }
    })
  }
}
