import type { Leg } from '../../calls/leg/leg.ts'
import type { ReferOptions, ReferOutcome } from '../../calls/leg/referral.ts'
import type { Clock, Timer } from '../../core/clock.ts'
import { type Cause, codeOf } from '../../core/errors/catalogue.ts'
import { guard } from '../../core/guard.ts'
import type { Log } from '../../core/log.ts'
import { allowedMethods, serverHeader } from '../admission/refusals.ts'
import type { Connection } from '../agent-link.ts'
import { reasonHeader } from '../headers.ts'
import { answerIn } from '../media/sdp-body.ts'
import type { SipMedia } from '../media/sip-media.ts'
import { causeOfBye } from '../sip-causes.ts'
import type { InDialogMethod, SipDialog, SipRequest, SipResponse } from '../srf.ts'
import { InboundRefer } from './inbound-refer.ts'
import { type DigitType, digitOfInfo, digitTypeFor, digitTypeOf, infoOfDigit } from './info-digits.ts'
import type { DialogOrigin } from './known-dialogs.ts'
import { OutboundRefer } from './outbound-refer.ts'
import { Refresher } from './refresher.ts'
import { Renegotiation } from './renegotiation.ts'
import type { SessionTimerSettings, TimerTerms } from './session-timer.ts'
import type { Transfers } from './transfers.ts'

/** Collaborators and settings of {@link EstablishedDialog}. */
export interface EstablishedDialogDeps {
  readonly dialog: SipDialog
  readonly leg: Leg
  readonly media: SipMedia
  readonly connection: Connection
  readonly clock: Clock
  readonly log: Pick<Log, 'debug' | 'info' | 'warn'>
  readonly userAgent: string
  /** Whether the ACK has been received or sent: always true for an outbound INVITE. */
  readonly isAcked: boolean
  /** Session timers on the gateway's clock with the agreed terms; undefined: the agent runs its own. */
  readonly timers?: { readonly settings: SessionTimerSettings; readonly terms: TimerTerms | undefined }
  /** The peer supports UPDATE; default false. */
  readonly allowsUpdate?: boolean
  /** Transfers, and the party that requests them; default: REFER is refused. */
  readonly transfers?: Pick<Transfers, 'dialogs' | 'target' | 'enter' | 'join' | 'refused'>
  readonly origin?: DialogOrigin
  /** From 0 to 1; default `Math.random`. */
  readonly random?: () => number
  /** Called at the ACK of an inbound INVITE, with the peer's SDP if the INVITE had none. */
  readonly onAck?: (sdp: string | undefined) => void
  /** Called at a request within the dialog: only the receiver of the gateway's response can send it. */
  readonly onHeard?: () => void
  /** Nothing is left of the dialog. Called once. */
  readonly onReleased: () => void
}

/**
 * Maximum wait for the ACK, or for the end of a BYE. The agent itself times out after 32 s; this timer is the
 * fallback.
 */
const maxWaitMs = 40_000

/**
 * An established dialog: requests of the peer, digits as INFO, and the end. It ends once, by either side, or
 * with the connection to the agent.
 */
export class EstablishedDialog {
  #deps: EstablishedDialogDeps
  #refresher: Refresher | undefined
  #renegotiation: Renegotiation
  #referIn: InboundRefer | undefined
  #referOut: OutboundRefer
  #forget: () => void = () => {}
  #acked: boolean
  #digitType: DigitType
  #ending: Cause | undefined
  #byeSent = false
  #released = false
  #guard: Timer | undefined
  /** Wraps a listener of the dialog: no error may reach the socket reader of drachtio-srf. */
  #guarded = <A extends unknown[]>(listener: (...args: A) => void) =>
    guard(listener, (error) =>
      this.#deps.log.warn({ event: 'dialog.event-failed', err: error }, 'event of the dialog not handled'),
    )

  constructor(deps: EstablishedDialogDeps) {
    this.#deps = deps
    this.#acked = deps.isAcked
    this.#digitType = digitTypeFor(deps.dialog.res?.get('Accept'))
    this.#refresher = this.#refresherOf(deps)
    this.#renegotiation = new Renegotiation({
      ...deps,
      timers: deps.timers?.settings,
      terms: () => this.#refresher?.terms,
      refreshed: (terms) => this.#refresher?.start(terms),
    })
    this.#refresher?.start(deps.timers?.terms)
    this.#referOut = new OutboundRefer({ ...deps, headers: this.#agentHeader() })
    const { transfers, origin, dialog, leg } = deps
    if (transfers && origin) {
      this.#referIn = new InboundRefer({ ...deps, transfers, origin })
      if (dialog.sip) this.#forget = transfers.dialogs.add({ ...dialog.sip, leg, origin })
    }
    this.#listen()
  }

  /** Hangs up, once the far side's ACK is there (RFC 3261 section 15): before it no BYE may be sent. */
  bye(cause: Cause): void {
    if (this.#released || this.#ending) return
    this.#ending = cause
    // Only the BYE is sent from now on, whatever is pending.
    this.#stop()
    if (!this.#deps.connection.isAlive) {
      this.#release()
      return
    }
    if (this.#acked) this.#sendBye()
    else this.#guard = this.#deps.clock.after(maxWaitMs, () => this.#sendBye())
  }

  /** Releases the dialog without a message, after a lost connection. */
  lost(): void {
    this.#release()
  }

  /** Asks the peer to call another party; see `LegSignalling.refer`. */
  refer(target: string, options?: ReferOptions): Promise<ReferOutcome> {
    return this.#referOut.refer(target, options)
  }

  /** Sends one digit as INFO; false when it was not taken. */
  sendInfoDigit(digit: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const { dialog, connection, clock } = this.#deps
    if (this.#released || this.#ending || !connection.isAlive) return Promise.resolve(false)
    const guard = clock.after(maxWaitMs, () => resolve(false))
    const settle = (taken: boolean) => {
      guard.cancel()
      resolve(taken)
    }
    const type = this.#digitType
    const headers = { 'Content-Type': type }
    try {
      dialog.request({ method: 'INFO', headers, body: infoOfDigit(digit, type) }, (error, response) =>
        settle(!error && response !== undefined && response.status < 300),
      )
    } catch (error) {
      this.#deps.log.debug({ reason: String(error) }, 'INFO could not be sent')
      settle(false)
    }
    return promise
  }

  #listen(): void {
    const { dialog } = this.#deps
    dialog.on(
      'destroy',
      this.#guarded((request: Partial<SipRequest>, reason?: string) => {
        const cause = causeOfBye(reason, request.get?.('Reason'))
        if (cause.code === 'normal') this.#deps.onHeard?.()
        this.#farEnded(cause)
      }),
    )
    dialog.on(
      'ack',
      this.#guarded((request: SipRequest) => this.#ack(answerIn(request))),
    )
    this.#take('modify', (request, response) => this.#renegotiate(request, response))
    this.#take('update', (request, response) => this.#renegotiate(request, response))
    this.#take('info', (request, response) => this.#info(request, response))
    const server = serverHeader(this.#deps.userAgent)
    const can = { ...server, Allow: allowedMethods, Accept: 'application/sdp' }
    this.#take('options', (_request, response) => response.send(200, { headers: can }))
    // By default drachtio-srf would accept these.
    const refuse = (response: SipResponse) =>
      response.send(405, { headers: { ...server, Allow: allowedMethods } })
    for (const method of ['message', 'publish'] as const)
      this.#take(method, (_request, response) => refuse(response))
    this.#take('refer', (request, response) => {
      if (this.#referIn && !this.#ending) this.#referIn.take(request, response)
      else refuse(response)
    })
    this.#take('notify', (request, response) =>
      response.send(this.#referOut.handleNotify(request), { headers: server }),
    )
  }

  #ack(sdp: string | undefined): void {
    if (this.#acked) {
      this.#renegotiation.acked(sdp)
      return
    }
    this.#acked = true
    this.#deps.onHeard?.()
    if (this.#deps.media.isWaiting && sdp) this.#lateAnswer(sdp)
    this.#deps.onAck?.(sdp)
    if (this.#ending) this.#sendBye()
  }

  #renegotiate(request: SipRequest, response: SipResponse): void {
    // A BYE is on its way, or waits for an ACK: there is no session left.
    if (this.#ending) response.send(481, { headers: this.#server() })
    else this.#renegotiation.take(request, response, this.#refresher?.isInviting === true)
  }

  /** Takes the answer in the ACK to an offer in the 200 (RFC 3261 section 13.2.1). */
  #lateAnswer(sdp: string): void {
    try {
      this.#deps.media.acceptSdp(sdp)
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error)
      this.#deps.leg.end({ code: codeOf(error), detail })
    }
  }

  #info(request: SipRequest, response: SipResponse): void {
    const contentType = request.get('Content-Type') ?? ''
    const body = request.body ?? ''
    // An INFO without a body only checks that the dialog still exists (RFC 2976 section 2.1).
    const type = digitTypeOf(contentType)
    if (body !== '' && !type) {
      response.send(415, {
        headers: { ...this.#server(), Accept: 'application/dtmf-relay, application/dtmf' },
      })
      return
    }
    response.send(200, { headers: this.#server() })
    const digit = digitOfInfo(contentType, body)
    if (digit === undefined) return
    // The peer can read the type that it writes.
    this.#digitType = type ?? this.#digitType
    this.#deps.leg.digit(digit)
  }

  #farEnded(cause: Cause): void {
    // Also called for the agent's own BYE after a CANCEL that crossed the answer, and for a BYE that crossed
    // the gateway's.
    this.#ending ??= cause
    this.#release()
    this.#deps.leg.ended(cause)
  }

  #sendBye(): void {
    if (this.#byeSent || this.#released) return
    this.#byeSent = true
    const { dialog, log, clock } = this.#deps
    // Fallback, if the agent reports no response.
    this.#guard?.cancel()
    this.#guard = clock.after(maxWaitMs, () => this.#release())
    const headers = { ...this.#agentHeader(), Reason: reasonHeader(this.#ending ?? { code: 'normal' }) }
    try {
      dialog.destroy({ headers }, (error) => {
        if (error) log.debug({ reason: String(error) }, 'BYE: the dialog was gone already')
        this.#release()
      })
    } catch (error) {
      log.debug({ reason: String(error) }, 'BYE could not be sent')
      this.#release()
    }
  }

  #stop(): void {
    this.#refresher?.stop()
    this.#renegotiation.stop()
    this.#referIn?.stop()
    this.#referOut.stop()
    this.#forget()
  }

  #release(): void {
    if (this.#released) return
    this.#released = true
    this.#guard?.cancel()
    this.#stop()
    this.#deps.onReleased()
  }

  #server(): Record<string, string> {
    return serverHeader(this.#deps.userAgent)
  }

  #agentHeader(): Record<string, string> {
    return this.#deps.userAgent === '' ? {} : { 'User-Agent': this.#deps.userAgent }
  }

  #refresherOf(deps: EstablishedDialogDeps): Refresher | undefined {
    const { dialog, media, clock, log, timers, isAcked, random = Math.random } = deps
    if (!timers) return undefined
    return new Refresher({
      dialog,
      media,
      clock,
      log,
      random,
      settings: timers.settings,
      ownsCallId: isAcked,
      allowsUpdate: deps.allowsUpdate === true,
      headers: { ...this.#agentHeader(), Allow: allowedMethods, Supported: 'timer' },
      negotiated: () => deps.leg.hold(media.isHeld, 'media'),
      over: (cause) => deps.leg.end(cause),
    })
  }

  #take(method: InDialogMethod, run: (request: SipRequest, response: SipResponse) => void): void {
    this.#deps.dialog.on(method, (request, response) => {
      try {
        this.#deps.onHeard?.()
        run(request, response)
      } catch (error) {
        this.#deps.log.warn(
          { event: 'dialog.request-failed', err: error, method },
          'request inside the dialog not handled',
        )
        this.#guarded(() => response.finalResponseSent || response.send(500))()
      }
    })
  }
}
