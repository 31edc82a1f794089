import type { Leg } from '../../calls/leg/leg.ts'
import type { OutboundRequest, OutboundSubscriber } from '../../calls/leg/outbound-request.ts'
import type { Directory } from '../../directory/directory.ts'
import type { Party, Target } from '../../model.ts'
import { BrowserOutboundLeg, type BrowserOutboundLegDeps } from './browser-outbound-leg.ts'
import type { BrowserQuotas } from './browser-quotas.ts'
import type { ShownNames } from './displayed-party.ts'
import type { Presence } from './presence.ts'
import type { SubscriberCallLog } from './subscriber-call-log.ts'

/** Collaborators of {@link SubscriberRinger}. */
export interface SubscriberRingerDeps {
  readonly directory: Pick<Directory, 'subscriber'>
  readonly presence: Pick<Presence, 'online' | 'onOnline'>
  readonly quotas: Pick<BrowserQuotas, 'checkRinging'>
  readonly callLog: Pick<SubscriberCallLog, 'watch'>
  /** Collaborators of each outbound leg. */
  readonly legDeps: BrowserOutboundLegDeps
}

/** Calls to subscribers: rings their browsers and devices. */
export class SubscriberRinger implements OutboundSubscriber {
  readonly #deps: SubscriberRingerDeps
  readonly #legs = new Map<string, BrowserOutboundLeg>()

  constructor(deps: SubscriberRingerDeps) {
    this.#deps = deps
    // A browser that comes online also rings for calls that are already ringing.
    deps.presence.onOnline((browser, isRequested) => {
      for (const leg of this.#legsOf(browser.identity.id)) leg.invite(browser, isRequested)
    })
  }

  /** Number of outbound legs that have not ended. */
  get size(): number {
    return this.#legs.size
  }

  /** Returns the outbound leg with an id in browsers, if it has not ended. */
  find(wireId: string): BrowserOutboundLeg | undefined {
    return this.#legs.get(wireId)
  }

  dial({ subscriberId, address }: Extract<Target, { kind: 'subscriber' }>, request: OutboundRequest): Leg {
    const { directory, presence, quotas, callLog, legDeps } = this.#deps
    const { from, callId, codec, destination, projectId } = request
    const name = directory.subscriber(subscriberId)?.displayName ?? ''
    const outboundLeg = new BrowserOutboundLeg(legDeps, {
      from,
      to: { uri: address, user: address.split('/').at(-1) ?? address, name },
      callId,
      subscriberId,
      codec,
      video: wantsVideo(request),
      names: namesIn(request),
      userVariables: destination.userVariables,
    })
    const { leg } = outboundLeg
    const ringing = this.#legsOf(subscriberId)
    this.#legs.set(outboundLeg.wireId, outboundLeg)
    leg.whenGone(() => this.#legs.delete(outboundLeg.wireId))
    callLog.watch(leg, { id: subscriberId, projectId, callId: outboundLeg.wireId })
    // Deferred, because the caller must own the leg before the leg changes state.
    queueMicrotask(() => {
      if (leg.isEnded) return
      const over = quotas.checkRinging(leg, subscriberId, ringing)
      if (directory.subscriber(subscriberId)?.doNotDisturb)
        leg.ended({ code: 'busy', detail: 'do not disturb' })
      else if (over) leg.ended({ code: over.code })
      else void outboundLeg.start(() => presence.online(subscriberId))
    })
    return leg
  }

  #legsOf(subscriberId: string): readonly BrowserOutboundLeg[] {
    return [...this.#legs.values()].filter((leg) => leg.subscriberId === subscriberId)
  }
}

/** Returns the names that the called browser sees: the invite names one party. */
const namesIn = ({ from, caller, inviter = caller, callerName }: OutboundRequest): ShownNames => {
  const names = new Map<Leg, Party>()
  if (caller && callerName) names.set(caller, callerName)
  if (inviter) names.set(inviter, from)
  return names
}

/** Whether the caller has video or the address requests it. */
const wantsVideo = ({ destination, caller }: OutboundRequest): boolean =>
  caller?.video?.isSending === true ||
  caller?.video?.isReceiving === true ||
  /^[^?]*\?(?:.*&)?channel=video(?:&|$)/.test(destination.to)
