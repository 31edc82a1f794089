import type { DialAttempt, Leg, LegSignalling } from '../../calls/leg/leg.ts'
import type { ReferOptions, ReferOutcome } from '../../calls/leg/referral.ts'
import { type Cause, catalogue } from '../../core/errors/catalogue.ts'
import { guard } from '../../core/guard.ts'
import { parseSipUri, shownUri } from '../../core/sip-uri.ts'
import type { Connection } from '../agent-link.ts'
import { EstablishedDialog } from '../dialog/established-dialog.ts'
import { hangUp } from '../dialog/hang-up.ts'
import { sendDigits } from '../dialog/leg-digits.ts'
import { LegSession, type SignallingContext } from '../dialog/leg-session.ts'
import { Renegotiation } from '../dialog/renegotiation.ts'
import { answeringChallenges, credentialsInside } from '../digest/dialog-digest.ts'
import { DigestSession } from '../digest/digest-session.ts'
import { printable, withoutBody } from '../headers.ts'
import type { Negotiation } from '../media/early-offer.ts'
import type { SipMedia } from '../media/sip-media.ts'
import { causeOfRefusal, problemOf } from '../sip-causes.ts'
import type { FarResponse, Headers, Refusal, SipDialog, SipRequest, SipResponse, SrfLike } from '../srf.ts'
import { familyOfHop, type Hop, isLocal, maxRedirects, type Route, shouldTryNext } from '../trunks/route.ts'
import type { DialogProposal } from './dialog-proposal.ts'
import { Invite } from './invite.ts'
import { InviteBudget, maxInvites } from './invite-budget.ts'

/** Current attempt: the hop that is being tried. */
interface Attempt {
  readonly hop: Hop
  readonly invite: Invite
  readonly digest: DigestSession
  readonly startedAt: number
}

/** Callee's side of an outbound leg: INVITEs to one target after the other, and then the dialog. */
export class OutboundLeg implements LegSignalling {
  readonly connection: Connection
  readonly #leg: Leg
  readonly #context: SignallingContext
  readonly #srf: Pick<SrfLike, 'createUAC'>
  readonly #proposal: DialogProposal
  readonly #onReleased: () => void
  #route: Route | undefined
  #left: Hop[] = []
  #session: LegSession | undefined
  #negotiation: Negotiation | undefined
  /** Handles UPDATE before the answer. */
  #early: Renegotiation | undefined
  #attempt: Attempt | undefined
  /** INVITEs in progress: the current INVITE, and cancelled INVITEs. */
  #live = new Set<Invite>()
  #dialog: EstablishedDialog | undefined
  #isDialogGone = false
  #redirects = 0
  #budget = new InviteBudget()
  #hasRung = false
  #isReleased = false
  /** Wraps a listener of the INVITE: no error may reach the socket reader of drachtio-srf. */
  #guarded = <A extends unknown[]>(listener: (...args: A) => void) =>
    guard(listener, (error) => {
      this.#context.log.warn({ event: 'leg.response-failed', err: error }, 'response not handled')
      this.#leg.end({ code: 'internal' })
    })

  /** `onReleased` is called once, when nothing is left of the INVITEs and the dialog. */
  constructor(
    leg: Leg,
    context: SignallingContext,
    srf: Pick<SrfLike, 'createUAC'>,
    proposal: DialogProposal,
    onReleased: () => void,
  ) {
    this.#leg = leg
    this.#context = context
    this.#srf = srf
    this.#proposal = proposal
    this.#onReleased = onReleased
    this.connection = context.connection
  }

  /** Sends INVITEs along the route, with the offer of `media`, or without one. Every failure ends the leg. */
  invite(route: Route, media: SipMedia, negotiation: Negotiation): void {
    this.#session = new LegSession(this.#leg, media, this.#context)
    this.#negotiation = negotiation
    this.#route = route
    this.#left = [...route.hops]
    this.#early = new Renegotiation(this.#session)
    this.#tryNext()
  }

  ring(): void {}

  async progress(): Promise<void> {}

  async answer(): Promise<void> {}

  sendDigits(digits: string): Promise<void> {
    const dialog = this.#dialog
    if (!this.#session) return Promise.resolve()
    return sendDigits(digits, this.#session, dialog && ((digit) => dialog.sendInfoDigit(digit)))
  }

  refer(target: string, options?: ReferOptions): Promise<ReferOutcome> {
    return this.#dialog?.refer(target, options) ?? Promise.resolve({ kind: 'failed', status: 481 })
  }

  end(cause: Cause): void {
    const attempt = this.#attempt
    const { isAlive } = this.connection
    if (attempt) {
      this.#recordAttempt(isAlive ? 'canceled' : 'unreachable')
      if (isAlive) attempt.invite.cancel(cause)
    }
    if (!isAlive) this.#forget()
    this.#dialog?.bye(cause)
    this.#settle()
  }

  /** Ends the leg as if its call had done so. */
  hangUp(cause: Cause): void {
    this.#leg.end(cause)
  }

  /** Called when the connection to the agent is lost for good. */
  lost(): void {
    this.#leg.ended({ code: 'control_lost' })
    this.#dialog?.lost()
    this.#forget()
    this.#release()
  }

  /**
   * Tries the next target. Returns false if none is left. `repetition`: headers for an INVITE that repeats an
   * earlier one. Mandatory keys that one target has asked for are not offered to the next one.
   */
  #tryNext(repetition?: Headers): boolean {
    const hop = this.#left.shift()
    if (!hop) return false
    if (!this.#budget.take()) {
      this.#context.log.warn(
        { event: 'invite.budget-exhausted', maxInvites },
        'no further INVITE sent: maximum number reached',
      )
      return false
    }
    const leg = this.#leg
    const { clock, log } = this.#context
    const media = this.#session?.media
    if (!repetition) media?.demandKeys?.(false)
    media?.offerOver?.(familyOfHop(hop))
    const digest = new DigestSession(hop.credentials)
    const localSdp = this.#negotiation?.localSdp
    const headers = localSdp === undefined ? withoutBody(hop.headers) : hop.headers
    const invite: Invite = new Invite(
      { srf: this.#srf, clock, log, budget: this.#budget },
      {
        uri: hop.uri,
        nextHop: hop.nextHop,
        headers: { ...headers, ...this.#proposal.headers, ...repetition },
        localSdp,
        digest,
        noProgressMs: this.#route?.noProgressMs,
      },
      {
        sent: (sipCallId) => leg.note({ sipCallId, ...formerCallIds(leg.facts, sipCallId) }),
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
    )
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
    const leg = this.#leg
    // 199 reports the end of one branch of a fork (RFC 6228).
    if (leg.isEnded || response.status < 180 || response.status === 199) return
    this.#hasRung = true
    this.#orEnd(() => {
      const audible = this.#negotiation?.provisional(response)
      if (audible !== undefined) leg.early(audible)
    })
  }

  #answered(answered: SipDialog): void {
    const attempt = this.#attempt
    const session = this.#session
    if (!attempt || !session) return
    this.#recordAttempt('answered', { sipStatus: 200 })
    try {
      this.#dialog = this.#established(answered, attempt, session)
    } catch (error) {
      // The leg has not taken over the dialog, so it is hung up here.
      hangUp(answered, { code: 'internal' }, session.log)
      throw error
    }
    this.#orEnd(() => {
      this.#negotiation?.answered(answered)
      session.leg.answered()
      session.reportHold()
    })
  }

  #established(answered: SipDialog, { hop, digest }: Attempt, session: LegSession): EstablishedDialog {
    const trust = {
      credentials: hop.credentials,
      realms: digest.realms,
      host: parseSipUri(hop.uri)?.host,
    }
    const credentials = credentialsInside(trust, answered.remote.uri)
    const dialog = answeringChallenges(answered, credentials, session.log)
    this.#early?.stop()
    const terms = this.#proposal.agreed(answered.res, session.leg.facts.carrier)
    return new EstablishedDialog(dialog, session, terms, {
      released: () => {
        this.#isDialogGone = true
        this.#settle()
      },
    })
  }

  /** Ends the leg if its session fails. */
  #orEnd(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#session?.fail(error)
    }
  }

  #refused(refusal: Refusal): void {
    const attempt = this.#attempt
    const route = this.#route
    if (!attempt || !route) return
    const cause = causeOfRefusal(refusal, this.#hasRung)
    const problem = problemOf(refusal)
    const to = printable(shownUri(attempt.hop.uri))
    if (problem !== undefined)
      this.#context.log.warn({ event: 'invite.target-failed', to, problem }, catalogue.unreachable.text)
    if (isLocal(refusal)) this.#recordAttempt('unreachable', { detail: cause.detail })
    else this.#recordAttempt('refused', { sipStatus: refusal.status })
    attempt.hop.onFailure?.(refusal)
    if (this.#again(refusal, attempt, route)) return
    if (shouldTryNext(refusal, route, this.#hasRung) && this.#tryNext()) return
    this.#leg.ended(cause)
  }

  /**
   * Repeats the INVITE to the same target with another session timer (RFC 4028 section 7.3) or with mandatory
   * keys, or follows a redirection. Returns false if neither applies.
   */
  #again(refusal: Refusal, { hop, invite }: Attempt, route: Route): boolean {
    const { status = 0, res } = refusal
    const demand =
      status === 488 && !route.statuses.has(status) ? this.#session?.media.demandKeys?.(true) : undefined
    if (demand !== undefined || this.#proposal.grows(refusal)) {
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
    this.#recordAttempt('no-progress')
    attempt.hop.onFailure?.('silent')
    if (this.#tryNext()) return
    this.#leg.ended({ code: 'unreachable', sip: 408, detail: 'no provisional response in time' })
  }

  /** Ends the current attempt, and records its outcome. */
  #recordAttempt(
    outcome: DialAttempt['outcome'],
    { sipStatus, detail }: Pick<DialAttempt, 'sipStatus' | 'detail'> = {},
  ): void {
    const attempt = this.#attempt
    this.#attempt = undefined
    if (!attempt) return
    const { hop, startedAt } = attempt
    const target = printable(shownUri(hop.uri), 256)
    const endedAt = this.#context.clock.now()
    this.#leg.addAttempt({
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
    if (this.#leg.isEnded && this.#live.size === 0 && (!this.#dialog || this.#isDialogGone)) this.#release()
  }

  #release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#early?.stop()
    this.#onReleased()
  }
}

/** Returns the Call-IDs of earlier attempts, when a leg sends a further INVITE. */
const formerCallIds = (
  { sipCallId, formerSipCallIds = [] }: Leg['facts'],
  next: string,
): Pick<Leg['facts'], 'formerSipCallIds'> =>
  sipCallId === undefined || sipCallId === next ? {} : { formerSipCallIds: [...formerSipCallIds, sipCallId] }
