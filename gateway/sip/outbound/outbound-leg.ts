import type { DialAttempt, Leg, LegSignalling } from '../../calls/leg/leg.ts'
import type { ReferOptions, ReferOutcome } from '../../calls/leg/referral.ts'
import type { Clock } from '../../core/clock.ts'
import { type Cause, catalogue, codeOf } from '../../core/errors/catalogue.ts'
import { guard } from '../../core/guard.ts'
import type { Log } from '../../core/log.ts'
import { parseSipUri, shownUri } from '../../core/sip-uri.ts'
import type { Connection } from '../agent-link.ts'
import { EstablishedDialog } from '../dialog/established-dialog.ts'
import { hangUp } from '../dialog/hang-up.ts'
import { Renegotiation } from '../dialog/renegotiation.ts'
import { sendDigits } from '../dialog/send-digits.ts'
import { answeringChallenges, credentialsInside } from '../digest/dialog-digest.ts'
import { DigestSession } from '../digest/digest-session.ts'
import { printable, withoutBody } from '../headers.ts'
import type { Negotiation } from '../media/negotiation.ts'
import type { SipMedia } from '../media/sip-media.ts'
import { causeOfRefusal, problemOf } from '../sip-causes.ts'
import type { FarResponse, Headers, Refusal, SipDialog, SipRequest, SipResponse, SrfLike } from '../srf.ts'
import { familyOfHop, type Hop, isLocal, maxRedirects, type Route, shouldTryNext } from '../trunks/route.ts'
import { Invite } from './invite.ts'
import { InviteBudget, maxInvites } from './invite-budget.ts'
import { OutboundSession, type OutboundSessionOptions } from './outbound-session.ts'

/** Collaborators and settings of {@link OutboundLeg}. */
export interface OutboundLegDeps extends OutboundSessionOptions {
  readonly leg: Leg
  readonly srf: Pick<SrfLike, 'createUAC'>
  readonly connection: Connection
  readonly clock: Clock
  readonly log: Pick<Log, 'debug' | 'info' | 'warn'>
  readonly userAgent: string
  /** Nothing is left of the INVITEs and the dialog. Called once. */
  readonly onReleased: () => void
}

/** The place that is being tried. */
interface Attempt {
  readonly hop: Hop
  readonly invite: Invite
  readonly digest: DigestSession
  readonly startedAt: number
}

/** Callee side of an outbound leg: INVITEs to one target after the other, and then the dialog. */
export class OutboundLeg implements LegSignalling {
  readonly connection: Connection
  #deps: OutboundLegDeps
  #route: Route | undefined
  #left: Hop[] = []
  #media: SipMedia | undefined
  #negotiation: Negotiation | undefined
  /** Handles UPDATE before the answer. */
  #early: Renegotiation | undefined
  #session: OutboundSession
  #attempt: Attempt | undefined
  /** INVITEs that are not finished: the current one, and cancelled ones. */
  #live = new Set<Invite>()
  #dialog: EstablishedDialog | undefined
  #dialogGone = false
  #redirects = 0
  #budget = new InviteBudget()
  #rang = false
  #released = false
  /** Wraps a listener of the INVITE: no error may reach the socket reader of drachtio-srf. */
  #guarded = <A extends unknown[]>(listener: (...args: A) => void) =>
    guard(listener, (error) => {
      this.#deps.log.warn({ event: 'leg.response-failed', err: error }, 'response not handled')
      this.#deps.leg.end({ code: 'internal' })
    })

  constructor(deps: OutboundLegDeps) {
    this.#deps = deps
    this.#session = new OutboundSession(deps)
    this.connection = deps.connection
  }

  /** Sends INVITEs along the route, with the offer of `media`, or without one. Every failure ends the leg. */
  invite(route: Route, media: SipMedia, negotiation: Negotiation): void {
    this.#media = media
    this.#negotiation = negotiation
    this.#route = route
    this.#left = [...route.hops]
    const dialog = { local: { sdp: '', contact: '' } }
    this.#early = new Renegotiation({ ...this.#deps, timers: undefined, media, dialog })
    this.#tryNext()
  }

  ring(): void {}

  async progress(): Promise<void> {}

  async answer(): Promise<void> {}

  sendDigits(digits: string): Promise<void> {
    const dialog = this.#dialog
    const { leg, clock, log } = this.#deps
    if (!this.#media) return Promise.resolve()
    const info = dialog && ((digit: string) => dialog.sendInfoDigit(digit))
    return sendDigits(digits, { port: this.#media.port, info, leg, clock, log })
  }

  refer(target: string, options?: ReferOptions): Promise<ReferOutcome> {
    return this.#dialog?.refer(target, options) ?? Promise.resolve({ kind: 'failed', status: 481 })
  }

  end(cause: Cause): void {
    const attempt = this.#attempt
    const { isAlive } = this.connection
    if (attempt) {
      this.#tried(isAlive ? 'canceled' : 'unreachable')
      if (isAlive) attempt.invite.cancel(cause)
    }
    if (!isAlive) this.#forget()
    this.#dialog?.bye(cause)
    this.#settle()
  }

  /** Ends the leg as if its call had done so. */
  hangUp(cause: Cause): void {
    this.#deps.leg.end(cause)
  }

  /** Called when the connection to the agent is lost for good. */
  lost(): void {
    this.#deps.leg.ended({ code: 'control_lost' })
    this.#dialog?.lost()
    this.#forget()
    this.#release()
  }

  /**
   * Tries the next target. Returns false if none is left. `repetition`: headers of the INVITE that this one
   * repeats. Demands of one target do not hold for others.
   */
  #tryNext(repetition?: Headers): boolean {
    const hop = this.#left.shift()
    if (!hop) return false
    if (!this.#budget.take()) {
      this.#deps.log.warn(
        { event: 'invite.budget-exhausted', maxInvites },
        'no further INVITE sent: maximum number reached',
      )
      return false
    }
    if (!repetition) this.#media?.demandKeys?.(false)
    this.#media?.offerOver?.(familyOfHop(hop))
    const { srf, clock, log, leg } = this.#deps
    const digest = new DigestSession(hop.credentials)
    const localSdp = this.#negotiation?.localSdp
    const headers = localSdp === undefined ? withoutBody(hop.headers) : hop.headers
    const invite: Invite = new Invite({
      srf,
      clock,
      log,
      digest,
      uri: hop.uri,
      nextHop: hop.nextHop,
      localSdp,
      budget: this.#budget,
      headers: { ...headers, ...this.#session.headers, ...repetition },
      noProgressMs: this.#route?.noProgressMs,
      listener: {
        sent: (sipCallId) => leg.note({ sipCallId }),
        responded: (response) => leg.note({ response }),
        updated: this.#guarded((request: SipRequest, response: SipResponse) =>
          this.#early?.take(request, response, false),
        ),
        offered: (response) => this.#negotiation?.offered(response),
        provisional: this.#guarded((response: FarResponse) => this.#provisional(response)),
        answered: this.#guarded((dialog: SipDialog) => this.#answered(dialog)),
        refused: this.#guarded((refusal: Refusal) => this.#refused(refusal)),
        silent: this.#guarded(() => this.#silent()),
        gone: () => {
          this.#live.delete(invite)
          this.#settle()
        },
      },
    })
    this.#attempt = { hop, invite, digest, startedAt: clock.now() }
    this.#live.add(invite)
    log.info(
      { event: 'invite.sent', to: printable(shownUri(hop.uri)), headers: Object.keys(hop.headers) },
      'INVITE',
    )
    invite.send()
    return true
  }

  #provisional(response: FarResponse): void {
    const { leg } = this.#deps
    // 199 reports the end of one branch of a fork (RFC 6228).
    if (leg.isEnded || response.status < 180 || response.status === 199) return
    this.#rang = true
    this.#orEnd(() => {
      const audible = this.#negotiation?.provisional(response)
      if (audible !== undefined) leg.early(audible)
    })
  }

  #answered(answered: SipDialog): void {
    const attempt = this.#attempt
    const media = this.#media
    if (!attempt || !media) return
    this.#tried('answered', { sipStatus: 200 })
    try {
      this.#dialog = this.#established(answered, attempt, media)
    } catch (error) {
      // No other code would hang it up.
      hangUp(answered, { code: 'internal' }, this.#deps.log)
      throw error
    }
    const { leg } = this.#deps
    this.#orEnd(() => {
      this.#negotiation?.answered(answered)
      leg.answered()
      leg.hold(media.isHeld, 'media')
    })
  }

  #established(answered: SipDialog, attempt: Attempt, media: SipMedia): EstablishedDialog {
    const { leg, connection, clock, log, userAgent } = this.#deps
    const trust = {
      credentials: attempt.hop.credentials,
      realms: attempt.digest.realms,
      host: parseSipUri(attempt.hop.uri)?.host,
    }
    const dialog = answeringChallenges(answered, credentialsInside(trust, answered.remote.uri), log)
    this.#early?.stop()
    return new EstablishedDialog({
      dialog,
      leg,
      media,
      connection,
      clock,
      log,
      userAgent,
      isAcked: true,
      ...this.#session.agreed(answered.res, leg.facts.carrier),
      onReleased: () => {
        this.#dialogGone = true
        this.#settle()
      },
    })
  }

  /** Ends the leg if its session fails. */
  #orEnd(run: () => void): void {
    try {
      run()
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error)
      this.#deps.leg.end({ code: codeOf(error), detail })
    }
  }

  #refused(refusal: Refusal): void {
    const attempt = this.#attempt
    const route = this.#route
    if (!attempt || !route) return
    const cause = causeOfRefusal(refusal, this.#rang)
    const problem = problemOf(refusal)
    const to = printable(shownUri(attempt.hop.uri))
    if (problem !== undefined)
      this.#deps.log.warn({ event: 'invite.target-failed', to, problem }, catalogue.unreachable.text)
    if (isLocal(refusal)) this.#tried('unreachable', { detail: cause.detail })
    else this.#tried('refused', { sipStatus: refusal.status })
    attempt.hop.onFailure?.(refusal)
    if (this.#again(refusal, attempt, route)) return
    if (shouldTryNext(refusal, route, this.#rang) && this.#tryNext()) return
    this.#deps.leg.ended(cause)
  }

  /**
   * Repeats the INVITE to the same target with another session timer (RFC 4028 section 7.3) or with mandatory
   * keys, or follows a redirection. Returns false if neither applies.
   */
  #again(refusal: Refusal, { hop, invite }: Attempt, route: Route): boolean {
    const { status = 0, res } = refusal
    const demand = status === 488 && !route.statuses.has(status) ? this.#media?.demandKeys?.(true) : undefined
    if (demand !== undefined || this.#session.grows(refusal)) {
      this.#left.unshift(hop)
      return this.#tryNext(invite.repetition)
    }
    if (status < 300 || status > 399 || this.#redirects >= maxRedirects) return false
    const hops = route.redirected(res?.get('Contact') ?? '')
    if (hops.length === 0) return false
    this.#redirects++
    this.#left.unshift(...hops)
    return this.#tryNext()
  }

  #silent(): void {
    const attempt = this.#attempt
    if (!attempt) return
    this.#tried('no-progress')
    attempt.hop.onFailure?.('silent')
    if (this.#tryNext()) return
    this.#deps.leg.ended({ code: 'unreachable', sip: 408, detail: 'no provisional response in time' })
  }

  /** Writes down how the present attempt ended, which is over with it. */
  #tried(
    outcome: DialAttempt['outcome'],
    { sipStatus, detail }: Pick<DialAttempt, 'sipStatus' | 'detail'> = {},
  ): void {
    const attempt = this.#attempt
    this.#attempt = undefined
    if (!attempt) return
    const { hop, startedAt } = attempt
    const target = printable(shownUri(hop.uri), 256)
    const endedAt = this.#deps.clock.now()
    this.#deps.leg.addAttempt({
      target,
      startedAt,
      endedAt,
      outcome,
      ...(sipStatus !== undefined && { sipStatus }),
      ...(detail !== undefined && { detail }),
    })
  }

  #forget(): void {
    for (const invite of [...this.#live]) invite.lost()
  }

  #settle(): void {
    const { leg } = this.#deps
    if (leg.isEnded && this.#live.size === 0 && (!this.#dialog || this.#dialogGone)) this.#release()
  }

  #release(): void {
    if (this.#released) return
    this.#released = true
    this.#early?.stop()
    this.#deps.onReleased()
  }
}
