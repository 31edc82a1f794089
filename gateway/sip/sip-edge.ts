import { canonicalHost } from '../../config/networks.ts'
import type { SipConfig } from '../../config/sip-types.ts'
import type { OverloadConfig } from '../../config/types.ts'
import type { Edge, WebRtc } from '../../media/types.ts'
import type { Arrivals, OutboundRequest, OutboundSip } from '../calls/call-ports.ts'
import type { Leg } from '../calls/leg/leg.ts'
import type { Clock } from '../core/clock.ts'
import type { Cause } from '../core/errors/catalogue.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import type { SipUri } from '../core/sip-uri.ts'
import type { Directory } from '../directory/types.ts'
import type { Target } from '../model.ts'
import type { StrangerLimits } from './admission/admission-strangers.ts'
import type { AdmissionLimits } from './admission/admission-types.ts'
import { Challenger, type DigestAlgorithm } from './admission/challenge.ts'
import { answerOutsideCalls } from './admission/options.ts'
import { Refusals } from './admission/refusals.ts'
import { Trust } from './admission/trust.ts'
import type { SessionTimerSettings } from './dialog/session-timer.ts'
import { Transfers } from './dialog/transfers.ts'
import { Door, type DoorParts } from './inbound/door.ts'
import { Inbound, type LegRegistry, type RegisteredLeg } from './inbound/inbound.ts'
import { type AgentAddress, AgentLink, type Connection } from './link.ts'
import type { DialGuard } from './outbound/dial-guard.ts'
import { Outbound } from './outbound/outbound.ts'
import type { TargetFamilies } from './outbound/target-families.ts'
import {
  type OpenRegistrar,
  openRegistrar,
  type RegistrarOptions,
  type RegistrarSurroundings,
} from './registrar/open-registrar.ts'
import type { SrfLike } from './srf.ts'
import { Carriers } from './trunks/carriers.ts'
import { LikelyCodecs } from './trunks/likely-codecs.ts'
import type { CarrierQuotas } from './trunks/quotas.ts'
import { Routing } from './trunks/routing.ts'
import { Trunks } from './trunks/trunks.ts'

export type { AgentAddress } from './link.ts'

/** What the SIP edge works with. */
export interface SipEdgeParts {
  /** The embedded agent, or a drachtio-server. */
  readonly agent: AgentAddress
  readonly directory: DoorParts['directory'] & Partial<Pick<Directory, 'endpoint'>>
  readonly edge: Pick<Edge, 'open' | 'usage'>
  /** For SIP clients that speak WebRTC; without it they cannot call, nor be called. */
  readonly webrtc?: Pick<WebRtc, 'answer' | 'offer'>
  readonly arrivals: Arrivals
  /** Default: there is none. */
  readonly carriers?: Carriers
  /** Which hosts may be dialled that are no carrier's. Default: every one. */
  readonly guard?: Pick<DialGuard, 'objection'>
  /** Returns the SIP URIs that may be called: `any` (default), or those of the project's carriers alone. */
  readonly dial?: () => SipConfig['dial']
  /** Quotas of calls to carriers, of projects and of subscribers; default none. */
  readonly quotas?: Pick<CarrierQuotas, 'take'>
  /** IP families of the audio of targets with names; default IPv4. */
  readonly families?: Pick<TargetFamilies, 'complete'>
  /** Where SIP endpoints register; default: nowhere. */
  readonly registrar?: RegistrarOptions
  /** Calls in progress, of every kind. */
  readonly counts: { calls(): number }
  /** Calls at once, over everything. */
  readonly maxCalls: number
  /** Limits of callers who are neither known nor authenticated; default: none of their own. */
  readonly strangers?: StrangerLimits
  /** Who is known by the address; default: nobody, and each domain's own list decides. */
  readonly trust?: Trust
  /** Default: 500 calls a second, whatever the load, and 10 s of Retry-After. */
  readonly overload?: OverloadConfig
  /** Per cent of the last second that the gateway was busy; default 0. */
  readonly busyPercent?: () => number
  /** Algorithms of the digest challenges, in order; default MD5. A drachtio-server can carry one alone: of several, MD5. */
  readonly challenges?: readonly DigestAlgorithm[]
  /** Told of an address from which somebody certainly tried a wrong password. */
  readonly offence?: (address: string) => void
  readonly metrics: Pick<Metrics, 'rejections' | 'gauge' | 'gauges' | 'registrations'>
  readonly clock: Clock
  /** For what goes on with carriers outside calls; default {@link clock}. */
  readonly trunkClock?: Clock
  readonly log: Log
  /** Session timers (RFC 4028); default: none are asked for or kept. */
  readonly sessionTimer?: SessionTimerSettings
  /** Value of the Server and User-Agent headers; empty: none. */
  readonly userAgent: string
  /** From the loss of the agent to the end of its calls; default 3 s. */
  readonly graceMs?: number
  /** Default drachtio-srf. */
  readonly srf?: SrfLike
}

const nobody = { domains: [], carriers: [], sip: { registrar: { domains: [] } } }
const defaultOverload: OverloadConfig = { busyPercent: 100, callsPerSecond: 500, retryAfterMs: 10_000 }

/** Settings of the SIP edge that can change while it runs. */
export type SipEdgeChange = Required<
  Pick<SipEdgeParts, 'maxCalls' | 'strangers' | 'overload' | 'challenges' | 'sessionTimer'>
>

/** Longest wait at the end for the far sides' last responses. */
const longestGoodbyeMs = 1_000

/** Every SIP call of the gateway: lets carriers' calls in, and makes legs to carriers. It speaks through drachtio-srf alone. */
export class SipEdge implements OutboundSip {
  readonly #parts: SipEdgeParts
  readonly #link: AgentLink
  readonly #legs = new Legs()
  readonly #door: Door
  readonly #refusals: Refusals
  readonly #outbound: Outbound
  readonly #routing: Routing
  readonly #trunks: Trunks
  readonly #registrar: OpenRegistrar | undefined
  readonly #challenger: Challenger
  /** Read at each call; {@link change} alone writes them. */
  readonly #limits: OverloadConfig & AdmissionLimits
  readonly #timers: SessionTimerSettings | undefined
  #draining = false
  #closing: Promise<void> | undefined

  constructor(parts: SipEdgeParts) {
    this.#parts = parts
    const { agent, clock, graceMs, srf, userAgent, edge } = parts
    const log = parts.log.child({ part: 'sip' })
    const link = new AgentLink({ agent, clock, log, graceMs, srf })
    this.#link = link
    const carriers = parts.carriers ?? new Carriers([], clock)
    const { metrics, trunkClock = clock, webrtc } = parts
    const routing = this.#openRouting(link, carriers)
    this.#routing = routing
    const ownTimers = link.capabilities.sessionTimers === 'agent' ? parts.sessionTimer : undefined
    const timers = ownTimers && { ...ownTimers }
    this.#timers = timers
    const transfers = this.#openTransfers(link)
    this.#outbound = new Outbound({
      link,
      edge,
      webrtc,
      routing,
      legs: this.#legs,
      clock,
      log,
      userAgent,
      timers,
      transfers,
      ...(parts.families && { families: parts.families }),
      endpoint: (id) => parts.directory.endpoint?.(id),
    })
    this.#trunks = new Trunks({
      carriers,
      srf: link.srf,
      clock: trunkClock,
      log,
      metrics,
      userAgent,
      marks: link.capabilities.marks,
      ...(parts.guard && { guard: parts.guard }),
    })
    const { strangers } = parts
    const limits = {
      ...(parts.overload ?? defaultOverload),
      calls: parts.maxCalls,
      ...(strangers && { strangers }),
    }
    this.#limits = limits
    const retryAfterMs = () => limits.retryAfterMs
    const now = () => clock.now()
    const refusals = new Refusals({ log, metrics, userAgent, retryAfterMs, now, marks: agent.embedded })
    this.#refusals = refusals
    const draining = () => this.#draining
    const challenger = new Challenger(now, this.#usable(parts.challenges))
    this.#challenger = challenger
    const trust = parts.trust ?? new Trust(nobody)
    this.#door = this.#openDoor(challenger, carriers, trust)
    this.#registrar = this.#openRegistrar({ challenger, refusals, log, srf: link.srf }, trust)
    answerOutsideCalls({ srf: link.srf, refusals, draining, userAgent, registrar: this.#registrar })
    const inbound = new Inbound({
      link,
      edge,
      webrtc,
      refusals,
      clock,
      log,
      userAgent,
      carriers,
      retryAfterMs,
      timers,
      transfers,
      likely: new LikelyCodecs({ directory: parts.directory, carriers }),
      arrivals: parts.arrivals,
      door: this.#door,
      legs: this.#legs,
    })
    link.srf.use('invite', (request, response) => inbound.handle(request, response))
    link.onLost((connection) => this.#legs.lost(connection))
    metrics.gauge('sip_dialogs', () => this.#legs.size)
    metrics.gauge('sip_unconfirmed', () => this.#door.unconfirmed)
    metrics.gauge('sip_established', () => transfers.dialogs.size)
  }

  /** SIP dialogs and pending INVITEs, until the last response of each. */
  get legs(): number {
    return this.#legs.size
  }

  /** Domain applications with a call in progress. */
  get busyDomains(): number {
    return this.#door.busyDomains
  }

  /** What the agent listens on, each `transport/address:port`. */
  get hostports(): readonly string[] {
    return this.#link.hostports
  }

  /** Whether SIP can be spoken at the moment; for readiness. */
  get isConnected(): boolean {
    return this.#link.connection !== undefined
  }

  /** Connects to the agent. Rejects with `control_lost` when it refuses us, or is not there within 10 s. */
  async start(): Promise<void> {
    await this.#link.connect()
    this.#trunks.start()
  }

  /** Works by other limits, challenges and session timers from now on; timers that run keep their terms. */
  change({ maxCalls, strangers, overload, challenges, sessionTimer }: SipEdgeChange): void {
    Object.assign(this.#limits, overload, { calls: maxCalls, strangers })
    if (this.#timers) Object.assign(this.#timers, sessionTimer)
    this.#challenger.change(this.#usable(challenges))
  }

  dial(target: Extract<Target, { kind: 'sip' }>, request: OutboundRequest): Leg {
    return this.#outbound.dial(target, request)
  }

  /**
   * Refuses new calls, and OPTIONS, with 503 from now on, and takes our registrations back. Calls in progress go on, and may still dial
   * out.
   */
  drain(): void {
    this.#draining = true
    void this.#trunks.drain()
  }

  /**
   * Hangs up what is left, waits up to a second until the far sides have heard of it, and gives up the connection to the agent.
   * Idempotent. The agent is to be closed after it.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** Algorithms that this agent can offer: a drachtio-server carries one challenge in a response. */
  #usable<T extends readonly DigestAlgorithm[] | undefined>(challenges: T): T | ['MD5'] {
    return this.#parts.agent.embedded || challenges?.length === 1 ? challenges : ['MD5']
  }

  async #close(): Promise<void> {
    this.#draining = true
    this.#refusals.close()
    this.#outbound.close()
    this.#registrar?.close()
    if (this.isConnected) {
      this.#legs.hangUp({ code: 'draining' })
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const timer = this.#parts.clock.after(longestGoodbyeMs, resolve)
      await Promise.race([Promise.all([this.#legs.empty(), this.#trunks.drain()]), late])
      timer.cancel()
    }
    this.#trunks.close()
    this.#link.close()
    this.#legs.lost()
  }

  /** See {@link Routing.objection}. */
  objection(uri: SipUri, projectId: string): Promise<string | undefined> {
    return this.#routing.objection(uri, projectId)
  }

  #openRouting(link: AgentLink, carriers: Carriers): Routing {
    const { guard, dial, metrics, userAgent, registrar } = this.#parts
    return new Routing({
      carriers,
      guard,
      dial,
      metrics,
      userAgent,
      ...(this.#parts.quotas && { quotas: this.#parts.quotas }),
      seesTryings: () => link.capabilities.tryings,
      marks: link.capabilities.marks,
      disconnected: (id, hop) => registrar?.registrations.disconnected(id, hop),
    })
  }

  #openRegistrar(
    parts: Pick<RegistrarSurroundings, 'challenger' | 'refusals' | 'log' | 'srf'>,
    trust: Trust,
  ): OpenRegistrar | undefined {
    const { registrar, metrics, userAgent } = this.#parts
    const isKnown = (source: string) => trust.knows(source)
    const asks = (source: string) => trust.asks(source)
    const [draining, connected] = [() => this.#draining, () => this.isConnected]
    return (
      registrar &&
      openRegistrar(registrar, { ...parts, metrics, userAgent, isKnown, asks, draining, connected })
    )
  }

  #openTransfers(link: AgentLink): Transfers {
    const { directory, edge, clock, trust, metrics } = this.#parts
    const listens = (host: string) =>
      link.hostports.some((entry) => canonicalHost(/^[^/]*\/(.*):\d+$/.exec(entry)?.[1] ?? '') === host)
    return new Transfers({
      addresses: directory,
      edge,
      clock,
      metrics,
      count: (endpoint) => this.#door.refer(endpoint),
      isOurs: (host, projectId) =>
        directory.domainApp(host)?.projectId === projectId ||
        trust?.isRegistrar(host) === true ||
        listens(host),
    })
  }

  #openDoor(challenger: Challenger, carriers: Carriers, trust: Trust): Door {
    const { directory, edge, clock, counts } = this.#parts
    return new Door({
      directory,
      edge,
      challenger,
      carriers,
      trust,
      calls: () => counts.calls(),
      limits: this.#limits,
      draining: () => this.#draining,
      busyPercent: this.#parts.busyPercent ?? (() => 0),
      offence: this.#parts.offence ?? (() => {}),
      now: () => clock.now(),
    })
  }
}

/** The far sides that exist. Each takes itself out when nothing is left of it. */
class Legs implements LegRegistry {
  #all = new Set<RegisteredLeg>()
  #empty: (() => void)[] = []

  get size(): number {
    return this.#all.size
  }

  add(leg: RegisteredLeg): void {
    this.#all.add(leg)
  }

  delete(leg: RegisteredLeg): void {
    this.#all.delete(leg)
    if (this.#all.size === 0) for (const resolve of this.#empty.splice(0)) resolve()
  }

  /** Resolves as soon as there is none. */
  empty(): Promise<void> {
    if (this.#all.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#empty.push(resolve))
  }

  /** Ends all of them, by a word to their far sides. */
  hangUp(cause: Cause): void {
    for (const leg of [...this.#all]) leg.hangUp(cause)
  }

  /** Ends those of one connection, or all of them. */
  lost(connection?: Connection): void {
    for (const leg of [...this.#all]) if (!connection || leg.connection === connection) leg.lost()
  }
}
