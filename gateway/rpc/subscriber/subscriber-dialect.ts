import { randomUUID } from 'node:crypto'
import type { BrowserLimits, TurnConfig } from '../../../config/types.ts'
import type { AudioCodec, WebRtc } from '../../../media/types.ts'
import type { SessionStates } from '../../auth/states.ts'
import type { SubscriberTokens } from '../../auth/tokens.ts'
import { newLegId } from '../../calls/call/ids.ts'
import type { Arrivals, OutboundRequest, OutboundSubscriber } from '../../calls/call-ports.ts'
import { Leg } from '../../calls/leg/leg.ts'
import type { Clock } from '../../core/clock.ts'
import { catalogue } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Directory } from '../../directory/types.ts'
import type { Target } from '../../model.ts'
import type { Push } from '../../push/push.ts'
import type { CarrierQuotas } from '../../sip/trunks/carrier-quotas.ts'
import { closeCodes, type RpcHandler, type RpcSession } from '../rpc-session.ts'
import { BrowserConnection } from './browser-connection.ts'
import { BrowserOutboundLeg } from './browser-outbound-leg.ts'
import { BrowserQuotas, type QuotaExceeded } from './browser-quotas.ts'
import type { BrowserSession, SlowSession } from './browser-session.ts'
import { CallParties } from './call-parties.ts'
import { Presence } from './presence.ts'

/** Limits of the browser dialect. */
export interface SubscriberLimits {
  /** How long a page that lost its connection is waited for, in milliseconds. */
  readonly graceMs: number
  /** Calls of one page at once. */
  readonly maxCallsPerSession: number
  /** Events that a page has not acknowledged. */
  readonly unacknowledged: number
  /** How long a page may take to acknowledge an event, in milliseconds. */
  readonly acknowledgeMs: number
}

/** The default limits. */
export const defaultSubscriberLimits: SubscriberLimits = {
  graceMs: 20_000,
  maxCallsPerSession: 20,
  unacknowledged: 1_000,
  acknowledgeMs: 60_000,
}

/** What the browser dialect works with. */
export interface SubscriberDialectDeps {
  readonly directory: Directory
  readonly tokens: Pick<SubscriberTokens, 'verify' | 'isRevoked' | 'onRevocation'>
  readonly states: SessionStates
  readonly webrtc: Pick<WebRtc, 'answer' | 'offer' | 'screen'>
  /** What whoever is dialled is likely to speak; default: nothing is known of that. */
  readonly likelyCodecs?: (to: string, projectId: string) => readonly AudioCodec[]
  readonly arrivals: Arrivals
  /** Counts what a page's call dials to carriers as the page's; default: nothing is counted. */
  readonly quotas?: Pick<CarrierQuotas, 'attribute'>
  /** Tells devices of calls; default none. */
  readonly push?: Pick<Push, 'call'>
  readonly metrics: Pick<Metrics, 'rejections'>
  readonly clock: Clock
  readonly log: Log
  readonly limits?: Partial<SubscriberLimits>
  /** What subscribers, tokens and network addresses may have; default those of the configuration. */
  readonly browserQuotas?: Partial<BrowserLimits>
  /** TURN servers that pages are told of; default none. */
  readonly turn?: TurnConfig
  /** Name of this gateway in the dialect; default a random one. */
  readonly nodeId?: string
}

/** Settings of the browser dialect that can change while it runs. */
export interface SubscriberDialectChange {
  readonly browserQuotas: BrowserLimits
  readonly limits: Partial<SubscriberLimits>
  readonly turn: TurnConfig | undefined
}

/** Events that a page has not acknowledged, up to which it is told what it can also fetch. */
const maxWaiting = 50

/** The dialect that browsers speak: it knows which pages are online, takes their calls and rings them. */
export class SubscriberDialect implements OutboundSubscriber {
  #deps: SubscriberDialectDeps
  #limits: SubscriberLimits
  #presence: Presence
  #browserQuotas: BrowserQuotas
  #outboundLegs = new Map<string, BrowserOutboundLeg>()
  #nodeId: string
  #parties: CallParties

  constructor(deps: SubscriberDialectDeps) {
    this.#deps = deps
    this.#limits = { ...defaultSubscriberLimits, ...deps.limits }
    this.#presence = new Presence(deps.clock, this.#limits.graceMs)
    this.#browserQuotas = new BrowserQuotas(deps.clock, this.#presence, deps.browserQuotas)
    this.#nodeId = deps.nodeId ?? randomUUID()
    this.#parties = new CallParties(this.#nodeId)
  }

  /** Works by these settings from now on; `turn` undefined: pages that connect are told of no TURN server. */
  change({ browserQuotas, limits, turn }: SubscriberDialectChange): void {
    const { turn: _turn, ...deps } = this.#deps
    this.#deps = { ...deps, ...(turn && { turn }) }
    this.#limits = { ...this.#limits, ...limits }
    this.#browserQuotas.change(browserQuotas)
  }

  /** Subscribers that receive invitations. */
  get subscribersOnline(): number {
    return this.#presence.subscribersOnline
  }

  /** Pages that are known, connected or waited for. */
  get browsers(): number {
    return this.#presence.browsers
  }

  /** Browsers in calls, and telephones that they talk to. */
  get parties(): number {
    return this.#parties.size
  }

  /** Legs to subscribers that have not ended. */
  get outboundLegs(): number {
    return this.#outboundLegs.size
  }

  /** Gives a new WebSocket its vocabulary. */
  open(session: RpcSession): RpcHandler {
    const { directory, tokens, states, webrtc, likelyCodecs, arrivals, metrics, clock, log } = this.#deps
    const { turn, quotas } = this.#deps
    return new BrowserConnection(
      {
        directory,
        tokens,
        states,
        webrtc,
        likelyCodecs,
        arrivals,
        metrics,
        clock,
        log,
        ...(turn && { turn }),
        ...(quotas && { quotas }),
        parties: this.#parties,
        presence: this.#presence,
        nodeId: this.#nodeId,
        maxCallsPerSession: this.#limits.maxCallsPerSession,
        outboundLeg: (wireId) => this.#outboundLegs.get(wireId),
        browserQuotas: this.#browserQuotas,
        browserLimits: this.#limits,
        onSlow: (browser, why) => this.#slow(browser, why),
        cameOnline: (browser, anew) => this.#ringLate(browser, anew),
      },
      session,
    )
  }

  dial(target: Extract<Target, { kind: 'subscriber' }>, request: OutboundRequest): Leg {
    const { directory, webrtc, push, metrics, clock, log } = this.#deps
    const { subscriberId, address } = target
    const name = directory.subscriber(subscriberId)?.displayName ?? ''
    const leg = new Leg({
      id: newLegId(),
      kind: 'browser',
      direction: 'outbound',
      from: request.from,
      to: { uri: address, user: address.split('/').at(-1) ?? address, name },
      now: () => clock.now(),
    })
    const shared = { webrtc, parties: this.#parties, nodeId: this.#nodeId, ...(push && { push }) }
    const deps = { ...shared, metrics, clock, log }
    const { callId, codec, caller } = request
    const { userVariables } = request.destination
    const told = { ...(caller && { caller }), ...(userVariables && { userVariables }) }
    const options = { leg, callId, subscriberId, codec, ...told }
    const outboundLeg = new BrowserOutboundLeg(deps, { ...options, video: wantsVideo(request) })
    leg.attach(outboundLeg)
    this.#outboundLegs.set(outboundLeg.wireId, outboundLeg)
    leg.whenGone(() => this.#outboundLegs.delete(outboundLeg.wireId))
    // It is one of them itself.
    const others = [...this.#outboundLegs.values()].filter((each) => each.subscriberId === subscriberId)
    const over = this.#browserQuotas.checkRinging(
      subscriberId,
      others.filter((each) => each !== outboundLeg),
    )
    // The leg must have an owner before anything happens to it.
    queueMicrotask(() => {
      if (leg.isEnded) return
      if (over) this.#refuse(leg, subscriberId, over)
      else void outboundLeg.start(() => this.#presence.online(subscriberId))
    })
    return leg
  }

  /**
   * Sends an event to the connected pages of a subscriber or a guest. A page that acknowledges nothing misses
   * it: it must not take the place of what a page is told of its calls.
   */
  tell(holderId: string, event: string, params: object): void {
    for (const browser of this.#presence.connected(holderId))
      if (browser.unacknowledged < maxWaiting) browser.emit(event, params)
  }

  /** Forgets every page; their calls end. Sessions are closed by their server. */
  close(): void {
    this.#presence.close()
  }

  /** Subscribers, tokens and addresses whose connections and calls are counted. */
  get counted(): number {
    return this.#browserQuotas.counted
  }

  #refuse(leg: Leg, subscriber: string, over: QuotaExceeded): void {
    const { metrics, log } = this.#deps
    metrics.rejections.inc({ code: over.code })
    log.warn({ ...over, leg: leg.id, subscriber }, 'the subscriber is not rung')
    leg.ended({ code: over.code })
  }

  /**
   * A page that has not acknowledged an event for long is to connect again, and gets what it missed. One that
   * has missed more than is kept for it is given up with its calls; it may come back as one that is new.
   */
  #slow(browser: BrowserSession, { kind, waiting, limit }: SlowSession): void {
    const { metrics, log } = this.#deps
    const code = 'slow_client'
    metrics.rejections.inc({ code })
    const facts = { subscriber: browser.identity.id, protocol: browser.protocol, calls: browser.calls.size }
    log.warn({ code, kind, waiting, limit, ...facts, network: browser.network }, catalogue[code].text)
    // Whoever tells it something is in the middle of a call's work.
    queueMicrotask(() => {
      const { session } = browser
      if (kind === 'full') this.#presence.remove(browser)
      session?.close(closeCodes.tryAgain, 'events are not acknowledged')
    })
  }

  /** Calls that ring already ring on a page that comes online too. */
  #ringLate(browser: BrowserSession, anew: boolean): void {
    for (const outboundLeg of this.#outboundLegs.values())
      if (outboundLeg.subscriberId === browser.identity.id) outboundLeg.invite(browser, anew)
  }
}

/** Whether the caller shows itself, or could be shown somebody, or whoever calls asks for video. */
const wantsVideo = ({ destination, caller }: OutboundRequest): boolean =>
  caller?.video?.isSending === true ||
  caller?.video?.isReceiving === true ||
  /^[^?]*\?(?:.*&)?channel=video(?:&|$)/.test(destination.to)
