import type { AudioCodec, BrowserMedia } from '../../../media/types.ts'
import type { TokenIdentity } from '../../auth/token-identity.ts'
import type { Arrivals } from '../../calls/call/arrival.ts'
import type { Leg } from '../../calls/leg/leg.ts'
import { noopLegOwner } from '../../calls/leg/noop-leg-owner.ts'
import type { Clock } from '../../core/clock.ts'
import { type Code, catalogue } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import { shownUri } from '../../core/sip-uri.ts'
import type { Party } from '../../model.ts'
import type { BrowserCall } from './browser-call.ts'
import type { BrowserCallFactory } from './browser-call-factory.ts'
import { type BrowserDialRules, roomCodecs } from './browser-dial-rules.ts'
import { BrowserInboundLeg } from './browser-inbound-leg.ts'
import type { BrowserSession } from './browser-session.ts'
import { byeOf } from './bye-causes.ts'
import { mediaErrorCode } from './media-error.ts'
import { reattachFault } from './reattach-fault.ts'
import { callOfMember, RenewalQueue, renewableCall } from './renewable-call.ts'
import { SharedSource } from './shared-source.ts'
import type { LoggedSubscriber, SubscriberCallLog } from './subscriber-call-log.ts'
import type { Invite } from './verto-messages.ts'

/** Collaborators of {@link BrowserDialer}. */
export interface BrowserDialerDeps {
  readonly rules: BrowserDialRules
  readonly calls: BrowserCallFactory
  readonly arrivals: Arrivals
  readonly callLog: Pick<SubscriberCallLog, 'watch' | 'rejected'>
  readonly metrics: Pick<Metrics, 'rejections'>
  readonly clock: Clock
  readonly log: Log
}

/** Opens the calls and further sources that browsers request by `verto.invite`. */
export class BrowserDialer {
  readonly #deps: BrowserDialerDeps
  readonly #renewals = new RenewalQueue()

  constructor(deps: BrowserDialerDeps) {
    this.#deps = deps
  }

  /** Opens a call or a further source with a browser's offer. A rejection or failure sends `verto.bye`. */
  async open(browser: BrowserSession, invite: Invite, offer: string): Promise<void> {
    const { calls, metrics, clock, log } = this.#deps
    if (invite.part) {
      await new SharedSource({ calls, metrics, log }, browser, invite).open(offer)
      return
    }
    const former = renewableCall(browser, invite)
    const fault = former ? undefined : reattachFault(browser, invite)
    if (fault) {
      this.#rejectReattach(browser, invite, fault)
      return
    }
    const dialed = new BrowserInboundLeg(browser, invite, clock, former?.roomId)
    if (!former?.room) {
      await this.#dial(dialed, offer)
      return
    }
    const { room } = former
    // The next invite is another member again, unless the role changes again.
    room.renewal = 'none'
    const memberId = room.member.id
    await this.#renewals.run(browser, memberId, () => this.#renew(dialed, offer, memberId))
  }

  /**
   * Checks the call, answers the offer and hands the leg over. If the browser left meanwhile, an ended leg is
   * handed over, so that a CDR is written.
   */
  async #dial(dialed: BrowserInboundLeg, offer: string): Promise<void> {
    const { browser, invite } = dialed
    const { rules } = this.#deps
    let media: BrowserMedia | undefined
    try {
      const refusal = rules.refusal(browser, invite)
      if (refusal) {
        this.#reject(dialed, refusal, { reason: 'call not permitted' })
        return
      }
      media = await this.#answerOffer(dialed, offer, rules.codecsOf(invite.to, browser.identity))
      if (!media) return
      const leg = this.#newLeg(dialed)
      if (!dialed.endCause) this.#begin(dialed, leg, media)
      else {
        leg.ended(dialed.endCause)
        this.#handOver(dialed, leg)
        await media.close()
      }
    } catch (error) {
      await this.#fail(dialed, error, media)
    }
  }

  /**
   * Gives the place of a member to another connection of its page, which replaces the former call. Returns
   * whether it was replaced; otherwise the former connection goes on.
   */
  async #renew(dialed: BrowserInboundLeg, offer: string, memberId: string): Promise<boolean> {
    const former = callOfMember(dialed.browser, memberId)
    if (!former) {
      this.#reject(dialed, 'call_not_in_progress', { reason: 'the member has left its room' })
      return true
    }
    const media = dialed.endCause ? undefined : await this.#answerOffer(dialed, offer, roomCodecs)
    if (media && !dialed.endCause) return this.#replace(former, dialed, media)
    await media?.close()
    return false
  }

  async #replace(former: BrowserCall, dialed: BrowserInboundLeg, media: BrowserMedia): Promise<boolean> {
    const { browser, invite, callId: roomId } = dialed
    const { room } = former
    const { from, to } = former.leg
    const leg = this.#deps.calls.newLeg('inbound', from, to)
    leg.own(noopLegOwner)
    const options = { browser, callId: invite.callId, roomId, leg, media, isRenewal: true }
    const call = this.#deps.calls.begin(options)
    dialed.begin(call)
    try {
      await leg.answer()
      if (leg.isEnded) return false
      // The role may have changed again meanwhile.
      const isAwaited = room?.renewal === 'awaited'
      if (room) room.renewal = 'replaced'
      if (!former.leg.replaced(leg)) leg.end({ code: 'call_not_in_progress' })
      else if (isAwaited && call.room) call.room.renewal = 'awaited'
      return true
    } catch (error) {
      await this.#fail(dialed, error, media)
      return false
    }
  }

  async #answerOffer(
    dialed: BrowserInboundLeg,
    offer: string,
    codecs: readonly AudioCodec[],
  ): Promise<BrowserMedia | undefined> {
    const { webrtc } = this.#deps.calls
    try {
      const { room } = dialed.browser.identity
      return await webrtc.answer(dialed.callId, offer, codecs, { video: room?.media !== 'audio-only' })
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      this.#reject(dialed, mediaErrorCode(error), { reason })
      return undefined
    }
  }

  #newLeg(dialed: BrowserInboundLeg): Leg {
    const { browser, callId, invite } = dialed
    const { identity } = browser
    const { to } = invite
    const leg = this.#deps.calls.newLeg('inbound', callerParty(identity), dialedParty(to))
    const subscriber = subscriberOf(dialed)
    if (subscriber) this.#deps.callLog.watch(leg, subscriber)
    this.#deps.log.info(
      {
        event: 'browser.call-dialed',
        call: callId,
        leg: leg.id,
        subscriber: identity.id,
        kind: identity.kind,
        to: shownUri(to),
      },
      'browser dialed',
    )
    return leg
  }

  #begin(dialed: BrowserInboundLeg, leg: Leg, media: BrowserMedia): void {
    const { browser, callId: roomId, invite } = dialed
    const { callId, to } = invite
    const isAudioChannel = to.endsWith('?channel=audio')
    dialed.begin(this.#deps.calls.begin({ browser, callId, roomId, leg, media, isAudioChannel }))
    // Only names are logged: values may be secrets.
    const names = Object.keys(invite.userVariables ?? {})
    if (names.length > 0)
      this.#deps.log.debug({ call: roomId, userVariables: names }, 'browser has set variables for the call')
    this.#handOver(dialed, leg)
    dialed.awaitDescription()
  }

  #handOver({ browser, callId, invite: { to, userVariables } }: BrowserInboundLeg, leg: Leg): void {
    const { rules, arrivals } = this.#deps
    const { identity } = browser
    arrivals.arrive({
      leg,
      callId,
      projectId: identity.projectId,
      plan: identity.room ? { kind: 'room', name: identity.room.room } : { kind: 'dial', to },
      headers: [],
      ...(userVariables && { userVariables }),
      onOver: rules.attribute(callId, identity),
    })
  }

  async #fail(dialed: BrowserInboundLeg, err: unknown, media: BrowserMedia | undefined): Promise<void> {
    const leg = dialed.browserCall()?.leg
    if (!leg) {
      this.#reject(dialed, 'internal', { err })
      await media?.close()
      return
    }
    this.#deps.log.error(
      { event: 'browser.call-failed', call: dialed.callId, leg: leg.id, err },
      'call of a browser failed',
    )
    leg.end({ code: 'internal' })
  }

  /** Rejects a page that asks for the wrong call. The history of its subscriber has no such call. */
  #rejectReattach(browser: BrowserSession, { callId, to }: Invite, code: Code): void {
    const { metrics, log } = this.#deps
    // A subscriber may have several pages, which begin independently of each other.
    browser.isRejected = code === 'unknown_call' && browser.identity.room !== undefined
    metrics.rejections.inc({ code })
    log.info(
      { event: 'browser.reattach-rejected', code, subscriber: browser.identity.id, to: shownUri(to) },
      'reattach of a page rejected',
    )
    browser.sendVerto('verto.bye', { callID: callId, ...byeOf({ code }) })
  }

  #reject(
    dialed: BrowserInboundLeg,
    code: Code,
    why: { readonly reason: string } | { readonly err: unknown },
  ): void {
    const { browser, callId: call, invite } = dialed
    const subscriber = subscriberOf(dialed)
    if (subscriber)
      this.#deps.callLog.rejected(call, subscriber, dialedParty(invite.to), code, this.#deps.clock.now())
    this.#deps.metrics.rejections.inc({ code })
    this.#deps.log[catalogue[code].level](
      {
        event: 'browser.dial-rejected',
        code,
        call,
        subscriber: browser.identity.id,
        to: shownUri(invite.to),
        ...why,
      },
      catalogue[code].text,
    )
    // A reloaded page may have dialed again under the same id.
    if (browser.calls.get(invite.callId) === dialed) browser.calls.delete(invite.callId)
    if (!dialed.endCause) browser.sendVerto('verto.bye', { callID: invite.callId, ...byeOf({ code }) })
  }
}

const callerParty = ({ address, displayName: name }: TokenIdentity): Party => ({
  uri: address,
  user: address.split('/').at(-1) ?? address,
  name,
})

/** Returns the subscriber whose history has the call; undefined for a guest or an invited user. */
const subscriberOf = ({ browser: { identity }, invite }: BrowserInboundLeg): LoggedSubscriber | undefined =>
  identity.kind === 'subscriber'
    ? { id: identity.id, projectId: identity.projectId, callId: invite.callId }
    : undefined

/** Returns the dialed party: `/context/name` without its query, or the text as dialed. */
const dialedParty = (to: string): Party => {
  const uri = to.startsWith('/') ? (to.split('?', 1)[0] ?? to) : to
  const user = /^sips?:([^@;?:]+)(?::[^@]*)?@/i.exec(uri)?.[1] ?? uri.split('/').at(-1) ?? uri
  return { uri, user, name: '' }
}
