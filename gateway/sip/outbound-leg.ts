import type { Leg, LegSignalling, Try } from '../calls/leg.ts'
import type { ReferOptions, ReferOutcome } from '../calls/referral.ts'
import type { Clock } from '../clock.ts'
import { type Cause, catalogue, codeOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { DigestSession } from './carriers/digest.ts'
import { goesOn, type Hop, isLocal, mostRedirects, type Route } from './carriers/route.ts'
import { causeOfRefusal, problemOf } from './causes.ts'
import { EstablishedDialog } from './dialog.ts'
import { answeringChallenges, credentialsInside } from './dialog-digest.ts'
import { sendDigits } from './digits.ts'
import { EarlyMedia } from './early-media.ts'
import { guarding } from './guarding.ts'
import { printable } from './headers.ts'
import { Invite } from './invite.ts'
import type { Connection } from './link.ts'
import { OutboundSession, type OutboundSessionParts } from './outbound-session.ts'
import { Renegotiation } from './renegotiation.ts'
import { learntFromSource, type SipMedia } from './sip-media.ts'
import type { FarResponse, Refusal, SipDialog, SipRequest, SipResponse, SrfLike } from './srf.ts'
import { parseSipUri, shownUri } from './uri.ts'

/** What an outbound leg's far side works with. */
export interface OutboundLegParts extends OutboundSessionParts {
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

/** The called side of a leg that we make: our INVITEs to one place after the other, and then the dialog. */
export class OutboundLeg implements LegSignalling {
  readonly connection: Connection
  #parts: OutboundLegParts
  #route: Route | undefined
  #left: Hop[] = []
  #localSdp = ''
  #media: SipMedia | undefined
  /** What happens to the session before the answer: UPDATE. */
  #early: Renegotiation | undefined
  #session: OutboundSession
  #attempt: Attempt | undefined
  /** INVITEs of which something is left: the present one, and those that were given up. */
  #live = new Set<Invite>()
  #dialog: EstablishedDialog | undefined
  #dialogGone = false
  #redirects = 0
  #rang = false
  #earlyMedia = new EarlyMedia()
  #remoteSdp = ''
  #released = false
  #guarded = guarding((error) => {
    this.#parts.log.warn({ err: error }, 'a response could not be handled')
    this.#parts.leg.end({ code: 'internal' })
  })

  constructor(parts: OutboundLegParts) {
    this.#parts = parts
    this.#session = new OutboundSession(parts)
    this.connection = parts.connection
  }

  /** Sends INVITEs with the offer of `media` along the route. Whatever goes wrong ends the leg. */
  invite(route: Route, media: SipMedia, localSdp: string): void {
    this.#media = media
    this.#route = route
    this.#left = [...route.hops]
    this.#localSdp = localSdp
    const dialog = { local: { sdp: '', contact: '' } }
    this.#early = new Renegotiation({ ...this.#parts, timers: undefined, media, dialog })
    this.#tryNext()
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

  refer(target: string, options?: ReferOptions): Promise<ReferOutcome> {
    return this.#dialog?.refer(target, options) ?? Promise.resolve({ status: 481 })
  }

  end(cause: Cause): void {
    const attempt = this.#attempt
    const { alive } = this.connection
    if (attempt) {
      this.#tried(alive ? 'canceled' : 'unreachable')
      if (alive) attempt.invite.cancel(cause)
    }
    if (!alive) this.#forget()
    this.#dialog?.bye(cause)
    this.#settle()
  }

  /** Ends the leg as if its call had done so. */
  hangUp(cause: Cause): void {
    this.#parts.leg.end(cause)
  }

  /** The connection to the agent is gone for good. */
  lost(): void {
    this.#parts.leg.ended({ code: 'control_lost' })
    this.#dialog?.lost()
    this.#forget()
    this.#release()
  }

  /** False where no place is left. */
  #tryNext(): boolean {
    const hop = this.#left.shift()
    if (!hop) return false
    const { srf, clock, log, leg } = this.#parts
    const digest = new DigestSession(hop.credentials)
    const invite: Invite = new Invite({
      ...{ srf, clock, log, digest, uri: hop.uri, nextHop: hop.nextHop },
      headers: { ...hop.headers, ...this.#session.headers },
      localSdp: this.#localSdp,
      noProgressMs: this.#route?.noProgressMs,
      listener: {
        sent: (sipCallId) => leg.note({ sipCallId }),
        updated: this.#guarded((request: SipRequest, response: SipResponse) =>
          this.#early?.take(request, response, false),
        ),
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
    log.info({ to: printable(shownUri(hop.uri)), headers: Object.keys(hop.headers) }, 'INVITE')
    invite.send()
    return true
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
    if (!this.#earlyMedia.isNews(response)) return
    try {
      this.#take(response.body, response.source_address)
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

  #answered(answered: SipDialog): void {
    const attempt = this.#attempt
    const media = this.#media
    if (!attempt || !media) return
    this.#tried('answered', 200)
    const { leg, connection, clock, log, userAgent } = this.#parts
    const trust = {
      credentials: attempt.hop.credentials,
      realms: attempt.digest.realms,
      host: parseSipUri(attempt.hop.uri)?.host,
    }
    const dialog = answeringChallenges(answered, credentialsInside(trust, answered.remote.uri), log)
    this.#early?.stop()
    this.#dialog = new EstablishedDialog({
      ...{ dialog, leg, media, connection, clock, log, userAgent, acked: true },
      ...this.#session.agreed(answered.res, leg.facts.carrier),
      onReleased: () => {
        this.#dialogGone = true
        this.#settle()
      },
    })
    this.#startTalking(dialog.remote.sdp, answered.res?.source_address, media)
  }

  #startTalking(sdp: string | undefined, source: string | undefined, media: SipMedia): void {
    const { leg } = this.#parts
    try {
      const news = sdp ? this.#take(sdp, source) : false
      if (media.isWaiting) {
        leg.end({ code: 'bad_sdp', detail: 'The 200 has no answer to our offer.' })
        return
      }
      if (!news) media.restart()
      leg.answered()
      leg.hold(media.isHeld, 'media')
    } catch (error) {
      leg.end({ code: codeOf(error), detail: error instanceof Error ? error.message : String(error) })
    }
  }

  /** Takes an answer to our offer; false where it was taken already: the 200 usually repeats that of the 183. */
  #take(sdp: string, source: string | undefined): boolean {
    if (sdp === this.#remoteSdp) return false
    this.#media?.heardFrom(source)
    this.#media?.acceptSdp(sdp)
    this.#remoteSdp = sdp
    if (this.#media?.behindNat) this.#parts.log.info({ source }, learntFromSource)
    return true
  }

  #refused(refusal: Refusal): void {
    const attempt = this.#attempt
    const route = this.#route
    if (!attempt || !route) return
    const problem = problemOf(refusal)
    if (problem !== undefined) this.#parts.log.warn({ problem }, catalogue.unreachable.text)
    if (isLocal(refusal)) this.#tried('unreachable')
    else this.#tried('refused', refusal.status)
    attempt.hop.heard?.(refusal)
    if (this.#again(refusal, attempt.hop, route)) return
    if (goesOn(refusal, route, this.#rang) && this.#tryNext()) return
    this.#parts.leg.ended(causeOfRefusal(refusal, this.#rang))
  }

  /** The same place with another session timer, or where a redirection leads. */
  #again(refusal: Refusal, hop: Hop, route: Route): boolean {
    const { status = 0, res } = refusal
    if (this.#session.grows(refusal)) this.#left.unshift(hop)
    else {
      if (status < 300 || status > 399 || this.#redirects >= mostRedirects) return false
      const hops = route.redirected(res?.get('Contact') ?? '')
      if (hops.length === 0) return false
      this.#redirects++
      this.#left.unshift(...hops)
    }
    return this.#tryNext()
  }

  #silent(): void {
    const attempt = this.#attempt
    if (!attempt) return
    this.#tried('no-progress')
    attempt.hop.heard?.('silent')
    if (this.#tryNext()) return
    this.#parts.leg.ended({ code: 'unreachable', detail: 'no provisional response in time' })
  }

  /** Writes down how the present attempt ended, which is over with it. */
  #tried(outcome: Try['outcome'], sipStatus?: number): void {
    const attempt = this.#attempt
    this.#attempt = undefined
    if (!attempt) return
    const { hop, startedAt } = attempt
    const target = printable(shownUri(hop.uri), 256)
    const endedAt = this.#parts.clock.now()
    this.#parts.leg.tried({
      ...{ target, startedAt, endedAt, outcome },
      ...(sipStatus !== undefined && { sipStatus }),
    })
  }

  #forget(): void {
    for (const invite of [...this.#live]) invite.lost()
  }

  #settle(): void {
    const { leg } = this.#parts
    if (leg.isEnded && this.#live.size === 0 && (!this.#dialog || this.#dialogGone)) this.#release()
  }

  #release(): void {
    if (this.#released) return
    this.#released = true
    this.#early?.stop()
    this.#parts.onReleased()
  }
}
