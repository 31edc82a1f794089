import { randomUUID } from 'node:crypto'
import type { BrowserLimits, TurnConfig } from '../../../config/types.ts'
import type { AudioCodec, WebRtc } from '../../../media/types.ts'
import type { SessionStates } from '../../auth/states.ts'
import type { SubscriberTokens } from '../../auth/subscriber-tokens.ts'
import type { Arrivals } from '../../calls/call/arrival.ts'
import { newLegId } from '../../calls/call/ids.ts'
import { Leg } from '../../calls/leg/leg.ts'
import type { OutboundRequest, OutboundSubscriber } from '../../calls/leg/outbound-request.ts'
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
  /** Time that a disconnected browser has to reconnect, in milliseconds. */
  readonly graceMs: number
  /** Maximum number of concurrent calls of one session. */
  readonly maxCallsPerSession: number
  /** Maximum number of unacknowledged events of a session. */
  readonly unacknowledged: number
  /** Time limit for acknowledging an event, in milliseconds. */
  readonly acknowledgeMs: number
}

/** Default limits of the browser dialect. */
export const defaultSubscriberLimits: SubscriberLimits = {
  graceMs: 20_000,
  maxCallsPerSession: 20,
  unacknowledged: 1_000,
  acknowledgeMs: 60_000,
}

/** Collaborators and settings of {@link SubscriberDialect}. */
export interface SubscriberDialectDeps {
  readonly directory: Directory
  readonly tokens: Pick<SubscriberTokens, 'verify' | 'isRevoked' | 'onRevocation'>
  readonly states: SessionStates
  readonly webrtc: Pick<WebRtc, 'answer' | 'offer' | 'screen'>
  /** Returns the codecs that a callee probably supports; default none. */
  readonly likelyCodecs?: (to: string, projectId: string) => readonly AudioCodec[]
  readonly arrivals: Arrivals
  /** Attributes carrier calls to the browser that caused them; default no attribution. */
  readonly quotas?: Pick<CarrierQuotas, 'attribute'>
  /** Sends push notifications of calls to devices; default none. */
  readonly push?: Pick<Push, 'call'>
  readonly metrics: Pick<Metrics, 'rejections'>
  readonly clock: Clock
  readonly log: Log
  readonly limits?: Partial<SubscriberLimits>
  /** Quotas of subscribers, tokens and network addresses; default {@link defaultBrowserQuotas}. */
  readonly browserQuotas?: Partial<BrowserLimits>
  /** TURN servers for browsers; default none. */
  readonly turn?: TurnConfig
  /** Name of this gateway in the dialect; default a random one. */
  readonly nodeId?: string
}

/** Settings that can change while the gateway runs. */
export interface SubscriberDialectChange {
  readonly browserQuotas: BrowserLimits
  readonly limits: Partial<SubscriberLimits>
  readonly turn: TurnConfig | undefined
}

/**
 * Maximum number of unacknowledged events at which a session still receives events that it can also fetch.
 */
const maxWaiting = 50

/** Dialect of browsers: tracks sessions, accepts their calls and rings them. */
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

  /** Changes the settings. Without `turn`, new connections get no TURN servers. */
  change({ browserQuotas, limits, turn }: SubscriberDialectChange): void {
    const { turn: _turn, ...deps } = this.#deps
    this.#deps = { ...deps, ...(turn && { turn }) }
    this.#limits = { ...this.#limits, ...limits }
    this.#browserQuotas.change(browserQuotas)
  }

  /** Number of subscribers that receive calls. */
  get subscribersOnline(): number {
    return this.#presence.subscribersOnline
  }

  /** Number of sessions, including those that may reconnect. */
  get browsers(): number {
    return this.#presence.browsers
  }

  /** Number of browsers and telephones in calls of browsers. */
  get parties(): number {
    return this.#parties.size
  }

  /** Number of outbound legs that have not ended. */
  get outboundLegs(): number {
    return this.#outboundLegs.size
  }

  /** Creates the handler of a new WebSocket. */
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
    const options = {
      leg,
      callId,
      subscriberId,
      codec,
      ...(caller && { caller }),
      ...(userVariables && { userVariables }),
    }
    const outboundLeg = new BrowserOutboundLeg(deps, { ...options, video: wantsVideo(request) })
    leg.attach(outboundLeg)
    this.#outboundLegs.set(outboundLeg.wireId, outboundLeg)
    leg.whenGone(() => this.#outboundLegs.delete(outboundLeg.wireId))
    // The new leg must not count itself.
    const others = [...this.#outboundLegs.values()].filter((each) => each.subscriberId === subscriberId)
    const over = this.#browserQuotas.checkRinging(
      subscriberId,
      others.filter((each) => each !== outboundLeg),
    )
    // The leg must have an owner before it changes state.
    queueMicrotask(() => {
      if (leg.isEnded) return
      if (over) this.#refuse(leg, subscriberId, over)
      else void outboundLeg.start(() => this.#presence.online(subscriberId))
    })
    return leg
  }

  /**
   * Sends an event to the connected browsers of a subscriber or guest. Sessions with many unacknowledged
   * events miss it, so that it does not displace events of calls.
   */
  tell(holderId: string, event: string, params: object): void {
    for (const browser of this.#presence.connected(holderId))
      if (browser.unacknowledged < maxWaiting) browser.emit(event, params)
  }

  /** Removes every session and ends its calls. The server closes the connections. */
  close(): void {
    this.#presence.close()
  }

  /** Number of subscribers, tokens and networks whose quotas are counted. */
  get counted(): number {
    return this.#browserQuotas.counted
  }

  #refuse(leg: Leg, subscriber: string, over: QuotaExceeded): void {
    const { metrics, log } = this.#deps
    metrics.rejections.inc({ code: over.code })
    log.warn(
      { event: 'browser.ringing-rejected', ...over, leg: leg.id, subscriber },
      'call to a subscriber rejected',
    )
    leg.ended({ code: over.code })
  }

  /**
   * Closes the connection of a slow session, which receives the missed events when it reconnects. A session
   * with too many waiting events is removed with its calls, and may connect again as a new one.
   */
  #slow(browser: BrowserSession, { kind, waiting, limit }: SlowSession): void {
    const { metrics, log } = this.#deps
    const code = 'slow_client'
    metrics.rejections.inc({ code })
    const facts = { subscriber: browser.identity.id, protocol: browser.protocol, calls: browser.calls.size }
    log.warn(
      { event: 'browser.slow', code, kind, waiting, limit, ...facts, network: browser.network },
      catalogue[code].text,
    )
    // The caller of `emit` is in the middle of changing a call.
    queueMicrotask(() => {
      const { session } = browser
      if (kind === 'full') this.#presence.remove(browser)
      session?.close(closeCodes.tryAgain, 'events are not acknowledged')
    })
  }

  /** Rings a browser that came online for calls that ring already. */
  #ringLate(browser: BrowserSession, anew: boolean): void {
    for (const outboundLeg of this.#outboundLegs.values())
      if (outboundLeg.subscriberId === browser.identity.id) outboundLeg.invite(browser, anew)
  }
}

/** Whether the caller has video or the address requests it. */
const wantsVideo = ({ destination, caller }: OutboundRequest): boolean =>
  caller?.video?.isSending === true ||
  caller?.video?.isReceiving === true ||
  /^[^?]*\?(?:.*&)?channel=video(?:&|$)/.test(destination.to)
