import type { AudioCodec, BrowserMedia, WebRtc } from '../../../media/types.ts'
import type { TokenIdentity } from '../../auth/token-identity.ts'
import type { Arrivals } from '../../calls/call/arrival.ts'
import { newCallId, newLegId } from '../../calls/call/ids.ts'
import { Leg, type LegSignalling } from '../../calls/leg/leg.ts'
import type { PlayState } from '../../calls/leg/leg-signalling.ts'
import type { Clock, Timer } from '../../core/clock.ts'
import { type Cause, type Code, catalogue } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import { shownUri } from '../../core/sip-uri.ts'
import type { Directory } from '../../directory/types.ts'
import type { AddressBook, Party, Target } from '../../model.ts'
import type { CarrierQuotas } from '../../sip/trunks/carrier-quotas.ts'
import { BrowserCall } from './browser-call.ts'
import type { BrowserSession, SessionCall } from './browser-session.ts'
import { byeOf, causeOf } from './bye-causes.ts'
import type { CallParties } from './call-parties.ts'
import { mediaErrorCode } from './media-error.ts'
import type { VertoRequest } from './verto-messages.ts'

/** Collaborators of {@link BrowserInboundLeg}. */
export interface BrowserInboundLegDeps {
  readonly directory: AddressBook & Pick<Directory, 'resources'>
  readonly webrtc: Pick<WebRtc, 'answer'>
  readonly parties: CallParties
  /** Returns the codecs that a callee probably supports; default none. */
  readonly likelyCodecs?: (to: string, projectId: string) => readonly AudioCodec[]
  readonly arrivals: Arrivals
  /** Attributes carrier calls to the caller; default no attribution. */
  readonly quotas?: Pick<CarrierQuotas, 'attribute'>
  readonly metrics: Pick<Metrics, 'rejections'>
  readonly clock: Clock
  readonly log: Log
}

/** Codecs for callees without known codecs, in the order of preference: most calls go to G.711. */
const browserCodecs: readonly AudioCodec[] = ['PCMU', 'PCMA', 'opus', 'G722']

/** Invite without its offer, which is long and needed once. */
type Invite = Omit<Extract<VertoRequest, { kind: 'invite' }>, 'sdp'>

/** Call that a browser dialed: an inbound leg of the gateway. */
export class BrowserInboundLeg implements LegSignalling, SessionCall {
  #deps: BrowserInboundLegDeps
  #browser: BrowserSession
  #invite: Invite
  #callId = newCallId()
  #call: BrowserCall | undefined
  #earlyMedia: Timer | undefined
  /** Whether the dialed address never has video. */
  #isAudioOnly = false
  /** Cause of the end if the browser ended the call. */
  #endCause: Cause | undefined

  constructor(deps: BrowserInboundLegDeps, browser: BrowserSession, invite: Invite) {
    this.#deps = deps
    this.#browser = browser
    this.#invite = invite
    browser.calls.set(invite.callId, this)
  }

  /**
   * Checks the call, answers the offer and hands the leg over. The leg is handed over ended if the browser
   * left meanwhile, so that a CDR is written. A rejection or internal failure sends `verto.bye`.
   */
  async open(offer: string): Promise<void> {
    let media: BrowserMedia | undefined
    try {
      const refusal = this.#refusal()
      if (refusal) {
        this.#refuse(refusal, { reason: 'call not permitted' })
        return
      }
      media = await this.#answerOffer(offer)
      if (!media) return
      const leg = this.#newLeg()
      if (!this.#endCause) this.#begin(leg, media)
      else {
        leg.ended(this.#endCause)
        this.#handOver(leg)
        await media.close()
      }
    } catch (error) {
      await this.#fail(error, media)
    }
  }

  browserCall(): BrowserCall | undefined {
    return this.#call
  }

  /** Does nothing: a browser does not answer a call that it dialed. */
  async onAnswer(): Promise<void> {}

  onBye(_client: BrowserSession, causeCode: number | undefined): void {
    const leg = this.#call?.leg
    this.#endCause = causeOf(causeCode, leg?.isAnswered ? 'normal' : 'canceled')
    this.#browser.calls.delete(this.#invite.callId)
    leg?.ended(this.#endCause)
  }

  onDigits(_client: BrowserSession, digits: string): void {
    for (const digit of digits) this.#call?.leg.digit(digit)
  }

  onSessionLost(): void {
    this.#endCause = { code: 'client_lost' }
    this.#call?.leg.ended(this.#endCause)
  }

  // Signalling to the browser.

  /**
   * Reports ringing. Clients that ignore failures once they have the SDP receive it only with early media or
   * the answer.
   */
  ring(): void {
    this.#call?.reportState('ringing')
    if (!this.makesRingingTone) this.#sendMedia()
  }

  /** Whether the gateway needs no ringing tone, because the application shows `call.state`. */
  get makesRingingTone(): boolean {
    return !this.#browser.quirks.canFailOnceDescribed
  }

  async progress(): Promise<void> {
    this.#sendMedia()
    await this.#call?.untilHeard()
  }

  async answer(): Promise<void> {
    const call = this.#call
    if (!call) return
    this.#earlyMedia?.cancel()
    call.reportAnswer()
    call.leg.answered()
    await call.untilHeard()
  }

  end(cause: Cause): void {
    this.#earlyMedia?.cancel()
    this.#call?.close(cause, this.#endCause !== undefined)
  }

  async sendDigits(digits: string): Promise<void> {
    this.#call?.verto('verto.info', { dtmf: digits })
  }

  calling(partner: Leg): void {
    this.#call?.members.calling(partner)
  }

  paired(partner: Leg | undefined): void {
    this.#call?.members.paired(partner)
  }

  gathered(others: readonly Leg[]): void {
    this.#call?.members.gathered(others)
  }

  plays(id: string, state: PlayState): void {
    this.#call?.reportPlayback(id, state)
  }

  userEvent(event: Readonly<Record<string, unknown>>): boolean {
    this.#call?.userEvent(event)
    return this.#call !== undefined
  }

  #refusal(): Code | undefined {
    const { to, part } = this.#invite
    const { identity, isAuthorized: authorized } = this.#browser
    if (!authorized) return 'unauthorized'
    if (part === 'device') return 'verb_unavailable'
    const target = this.#deps.directory.resolve(to, identity.projectId)
    const outward = !identity.mayDialOut && target?.kind === 'sip' && target.address === undefined
    return outward || !this.#reaches(target) ? 'not_permitted' : undefined
  }

  /** Whether the identity may call the target. A limited token learns nothing of other addresses. */
  #reaches(target: Target | undefined): boolean {
    const { addressIds, projectId } = this.#browser.identity
    if (!addressIds) return true
    if (target?.address === undefined) return false
    const { resources } = this.#deps.directory
    return [...addressIds].some((id) => {
      const { context, name } = resources.findByAddressId(projectId, id)?.address ?? {}
      return `/${context}/${name}` === target.address
    })
  }

  async #answerOffer(offer: string): Promise<BrowserMedia | undefined> {
    try {
      const likely = this.#deps.likelyCodecs?.(this.#invite.to, this.#browser.identity.projectId) ?? []
      const codecs = [...likely, ...browserCodecs]
      const target = this.#deps.directory.resolve(this.#invite.to, this.#browser.identity.projectId)
      this.#isAudioOnly = target?.kind === 'handler' && target.isAudioOnly === true
      return await this.#deps.webrtc.answer(this.#callId, offer, codecs, { video: !this.#isAudioOnly })
    } catch (error) {
      this.#refuse(mediaErrorCode(error), { reason: error instanceof Error ? error.message : String(error) })
      return undefined
    }
  }

  #newLeg(): Leg {
    const { identity } = this.#browser
    const { to } = this.#invite
    const leg = new Leg({
      id: newLegId(),
      kind: 'browser',
      direction: 'inbound',
      from: holderParty(identity),
      to: dialledParty(to),
      now: () => this.#deps.clock.now(),
    })
    this.#deps.log.info(
      {
        event: 'browser.call-dialed',
        call: this.#callId,
        leg: leg.id,
        subscriber: identity.id,
        kind: identity.kind,
        to: shownUri(to),
      },
      'browser dialed',
    )
    return leg
  }

  #handOver(leg: Leg): void {
    const plan = { kind: 'dial', to: this.#invite.to } as const
    const { projectId, subscriber } = this.#browser.identity
    const { userVariables } = this.#invite
    const payer = { projectId, ...(subscriber && { subscriber }) }
    const onOver = this.#deps.quotas?.attribute(this.#callId, payer)
    const arrival = { leg, callId: this.#callId, projectId, plan, headers: [] }
    const optional = { ...(userVariables && { userVariables }), ...(onOver && { onOver }) }
    this.#deps.arrivals.arrive({ ...arrival, ...optional })
  }

  #begin(leg: Leg, media: BrowserMedia): void {
    const { parties, clock, log } = this.#deps
    const { callId: wireId, userVariables } = this.#invite
    leg.attach(this)
    const roomId = this.#callId
    const from = { browser: this.#browser, callId: wireId, roomId, leg, media }
    this.#call = new BrowserCall({ ...from, isAudioOnly: this.#isAudioOnly, parties, clock, log })
    leg.setPort(media.port, media.video)
    this.#call.reportState('created')
    // Only names are logged: values may be secrets.
    const names = Object.keys(userVariables ?? {})
    if (names.length > 0)
      log.debug({ call: this.#callId, userVariables: names }, 'variables of a browser set')
    this.#handOver(leg)
    const { maxDescriptionWaitMs: maxWaitMs } = this.#browser.quirks
    if (leg.isEnded || maxWaitMs === undefined) return
    this.#earlyMedia = clock.after(maxWaitMs, () => this.#sendMedia())
  }

  #sendMedia(): void {
    this.#earlyMedia?.cancel()
    this.#call?.sendDescription()
  }

  async #fail(error: unknown, media: BrowserMedia | undefined): Promise<void> {
    if (!this.#call) {
      this.#refuse('internal', { err: error })
      await media?.close()
      return
    }
    const { leg } = this.#call
    this.#deps.log.error(
      { event: 'browser.call-failed', call: this.#callId, leg: leg.id, err: error },
      'call of a browser failed',
    )
    leg.end({ code: 'internal' })
  }

  #refuse(code: Code, why: { readonly reason: string } | { readonly err: unknown }): void {
    const { to, callId } = this.#invite
    this.#deps.metrics.rejections.inc({ code })
    this.#deps.log[catalogue[code].level](
      {
        event: 'browser.dial-rejected',
        code,
        call: this.#callId,
        subscriber: this.#browser.identity.id,
        to: shownUri(to),
        ...why,
      },
      catalogue[code].text,
    )
    // A reloaded page may have dialed again under the same id.
    if (this.#browser.calls.get(callId) === this) this.#browser.calls.delete(callId)
    if (!this.#endCause) this.#browser.sendVerto('verto.bye', { callID: callId, ...byeOf({ code }) })
  }
}

const holderParty = ({ address, displayName: name }: TokenIdentity): Party => ({
  uri: address,
  user: address.split('/').at(-1) ?? address,
  name,
})

/** Returns the dialed party: `/context/name` without its query, or the text as dialed. */
const dialledParty = (to: string): Party => {
  const uri = to.startsWith('/') ? (to.split('?', 1)[0] ?? to) : to
  const user = /^sips?:([^@;?:]+)(?::[^@]*)?@/i.exec(uri)?.[1] ?? uri.split('/').at(-1) ?? uri
  return { uri, user, name: '' }
}
