import { canonicalHost } from '../../config/networks.ts'
import type { OverloadConfig, RegistrarConfig } from '../../config/types.ts'
import type { Edge, WebRtc } from '../../media/types.ts'
import type { Arrivals } from '../calls/call/arrival.ts'
import type { Leg } from '../calls/leg/leg.ts'
import type { OutboundRequest, OutboundSip } from '../calls/leg/outbound-request.ts'
import type { Clock, SteadyClock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import type { Directory } from '../directory/directory.ts'
import type { Target } from '../model.ts'
import { Admission, type AdmissionDeps } from './admission/admission.ts'
import type { AdmissionLimits } from './admission/admission-types.ts'
import { CallCounts, type ReferringEndpoint } from './admission/call-counts.ts'
import { Challenger, type DigestAlgorithm } from './admission/challenger.ts'
import { GatewayLoad } from './admission/gateway-load.ts'
import { handleOutOfCallRequests } from './admission/out-of-call-requests.ts'
import type { RecentRefusals } from './admission/recent-refusals.ts'
import { Refusals } from './admission/refusals.ts'
import type { Trust } from './admission/trust.ts'
import type { UntrustedLimits } from './admission/untrusted-limits.ts'
import type { AgentLink } from './agent-link.ts'
import type { SessionTimerSettings } from './dialog/session-timer.ts'
import { Transfers } from './dialog/transfers.ts'
import { GatewayHeaders } from './gateway-headers.ts'
import { Inbound } from './inbound/inbound.ts'
import { SipAudio } from './media/sip-audio.ts'
import { Outbound } from './outbound/outbound.ts'
import type { TargetFamilies } from './outbound/target-families.ts'
import { EndpointAuthenticator } from './registrar/endpoint-authenticator.ts'
import { KeepAlive } from './registrar/keep-alive.ts'
import { Registrar } from './registrar/registrar.ts'
import type { Registrations } from './registrar/registrations.ts'
import type { SipContext } from './sip-context.ts'
import { SipLegs } from './sip-legs.ts'
import type { CarrierDirectory } from './trunks/carrier-directory.ts'
import type { CarrierQuotas } from './trunks/carrier-quotas.ts'
import { CarrierRequests } from './trunks/carrier-requests.ts'
import type { DialPolicy } from './trunks/dial-policy.ts'
import { LikelyCodecs } from './trunks/likely-codecs.ts'
import { Routing } from './trunks/routing.ts'
import { Trunks } from './trunks/trunks.ts'

/** Rules for inbound requests. */
export interface InboundRules {
  /** Networks whose callers are known by their source address, and the registrar's hosts. */
  readonly trust: Trust
  /** Returns the per cent of the last second during which the gateway was busy; default 0. */
  readonly busyPercent?: () => number
  /** Called with an address that certainly sent a wrong password. */
  readonly recordOffense?: (address: string) => void
  /** Keeps the latest rejections for the operator; default: unread. */
  readonly recent?: RecentRefusals
}

/** Rules for outbound calls. */
export interface OutboundRules {
  readonly carriers: CarrierDirectory
  readonly policy: DialPolicy
  /** Quotas of calls to carriers, of projects and of subscribers; default none. */
  readonly quotas?: Pick<CarrierQuotas, 'take'>
  /** IP families of the audio for targets with host names; default IPv4. */
  readonly families?: Pick<TargetFamilies, 'complete'>
  /** Clock of pings and registrations with carriers; default: the clock of the calls. */
  readonly clock?: Clock
}

/** Settings of the registrar of SIP endpoints. Its limits and intervals are read at each use. */
export interface RegistrarSettings {
  readonly config: RegistrarConfig
  readonly registrations: Registrations
  readonly clock: SteadyClock
}

/** Collaborators of {@link SipEdge}. */
export interface SipEdgeDeps {
  /** Connection to the embedded agent, or to a drachtio-server. */
  readonly link: AgentLink
  /** Accepts inbound calls, and counts calls in progress of every kind. */
  readonly calls: Arrivals & { readonly count: number }
  readonly directory: AdmissionDeps['directory'] & Partial<Pick<Directory, 'endpoint'>>
  /** `webrtc`: serves SIP clients with WebRTC. Without it they can neither call nor be called. */
  readonly media: {
    readonly edge: Pick<Edge, 'open' | 'usage'>
    readonly webrtc?: Pick<WebRtc, 'answer' | 'offer'>
  }
  readonly inbound: InboundRules
  readonly outbound: OutboundRules
  /** Default: endpoints cannot register. */
  readonly registrar?: RegistrarSettings
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'rejections' | 'gauge' | 'gauges' | 'registrations'>
}

/** Options of {@link SipEdge}. */
export interface SipEdgeOptions {
  /** Maximum number of calls at once, of every kind. */
  readonly maxCalls: number
  /** Limits of callers who are neither known nor authenticated; default: no separate limits. */
  readonly untrusted?: UntrustedLimits
  /** Default: 500 new calls a second, no limit of the load, and Retry-After of 10 s. */
  readonly overload?: OverloadConfig
  /**
   * Algorithms of the digest challenges, in order; default MD5. A drachtio-server can send one challenge
   * only, so several are replaced by MD5.
   */
  readonly challenges?: readonly DigestAlgorithm[]
  /** Session timers (RFC 4028); default: the gateway neither requests nor runs any. */
  readonly sessionTimer?: SessionTimerSettings
  /** Value of the Server and User-Agent headers; empty: none. */
  readonly userAgent: string
}

const defaultOverload: OverloadConfig = { busyPercent: 100, callsPerSecond: 500, retryAfterMs: 10_000 }

/** Settings of the SIP edge that can change while it runs. */
export type SipEdgeChange = Required<Omit<SipEdgeOptions, 'userAgent'>>

/** Maximum wait at the end for the peers' last responses. */
const maxGoodbyeMs = 1_000

/**
 * SIP side of all calls: admits inbound calls, and makes outbound legs. It speaks SIP through drachtio-srf
 * only.
 */
export class SipEdge implements OutboundSip {
  readonly #link: AgentLink
  readonly #context: SipContext
  readonly #legs: SipLegs
  readonly #load: GatewayLoad
  readonly #counts: CallCounts
  readonly #refusals: Refusals
  readonly #outbound: Outbound
  readonly #trunks: Trunks
  readonly #keepAlive: KeepAlive | undefined
  readonly #challenger: Challenger
  /** Read at each call; changed by {@link change} only. */
  readonly #limits: OverloadConfig & AdmissionLimits
  readonly #timers: SessionTimerSettings | undefined
  #closing: Promise<void> | undefined

  constructor(deps: SipEdgeDeps, options: SipEdgeOptions) {
    const { link, media, clock, metrics } = deps
    const { carriers, policy, clock: trunkClock = clock } = deps.outbound
    const { busyPercent, recordOffense } = deps.inbound
    const { maxCalls, untrusted, overload = defaultOverload, sessionTimer, userAgent } = options
    const { hasPrivateHeaders, sessionTimers } = link.capabilities
    const log = deps.log.child({ part: 'sip' })
    const now = () => clock.now()
    this.#link = link
    this.#limits = { ...overload, maxCalls, ...(untrusted && { untrusted }) }
    this.#timers = sessionTimers === 'agent' && sessionTimer ? { ...sessionTimer } : undefined
    this.#load = new GatewayLoad(media.edge, deps.calls, busyPercent)
    this.#counts = new CallCounts(carriers, clock)
    this.#challenger = new Challenger(now, this.#usable(options.challenges), recordOffense)
    const retryAfterMs = () => this.#limits.retryAfterMs
    const headers = new GatewayHeaders({ userAgent, hasPrivateHeaders, retryAfterMs })
    this.#refusals = new Refusals(headers, log, metrics, now, deps.inbound.recent)
    this.#context = { link, headers, clock, log }
    this.#legs = new SipLegs(clock)
    const requests = new CarrierRequests(link.srf, trunkClock, log, headers, policy.guard)
    this.#trunks = new Trunks({ carriers, requests, metrics, clock: trunkClock, log })
    const audio = new SipAudio(media.edge, clock, media.webrtc)
    const transfers = this.#makeTransfers(deps)
    this.#outbound = this.#makeOutbound(deps, audio, transfers)
    const registrar = deps.registrar && this.#openRegistrar(deps.registrar, deps)
    this.#keepAlive = registrar?.keepAlive
    this.#takeRequests(this.#makeInbound(deps, audio, transfers), registrar?.registrar)
    link.onLost((connection) => this.#legs.lost(connection))
    metrics.gauge('sip_dialogs', () => this.#legs.size)
    metrics.gauge('sip_unconfirmed', () => this.#counts.unconfirmedCalls())
    metrics.gauge('sip_established', () => transfers.dialogs.size)
  }

  /** SIP dialogs and pending INVITEs, until the last response of each. */
  get legs(): number {
    return this.#legs.size
  }

  /** Domain applications with a call in progress. */
  get busyDomains(): number {
    return this.#counts.domains
  }

  /** Sockets that the agent listens on, each `transport/address:port`. */
  get hostports(): readonly string[] {
    return this.#link.hostports
  }

  /** Whether the agent is connected; for the readiness probe. */
  get isConnected(): boolean {
    return this.#link.connection !== undefined
  }

  /**
   * Connects to the agent. Rejects with `control_lost` when the agent rejects the secret, or does not answer
   * within 10 s.
   */
  async start(): Promise<void> {
    await this.#link.connect()
    this.#trunks.start()
  }

  /** Changes limits, challenges and session timers. Running timers keep their terms. */
  change({ maxCalls, untrusted, overload, challenges, sessionTimer }: SipEdgeChange): void {
    Object.assign(this.#limits, overload, { maxCalls, untrusted })
    if (this.#timers) Object.assign(this.#timers, sessionTimer)
    this.#challenger.change(this.#usable(challenges))
  }

  dial(target: Extract<Target, { kind: 'sip' }>, request: OutboundRequest): Leg {
    return this.#outbound.dial(target, request)
  }

  /**
   * Rejects new calls and OPTIONS with 503 from now on, and unregisters from carriers. Calls in progress
   * continue, and may still dial out.
   */
  drain(): void {
    this.#load.drain()
    void this.#trunks.drain()
  }

  /**
   * Hangs up the remaining legs, waits up to a second for the peers' responses, and closes the connection to
   * the agent. Idempotent. The agent must be closed afterwards.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#load.drain()
    this.#refusals.close()
    this.#outbound.close()
    this.#keepAlive?.close()
    if (this.isConnected) {
      this.#legs.hangUp({ code: 'draining' })
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const timer = this.#context.clock.after(maxGoodbyeMs, resolve)
      await Promise.race([Promise.all([this.#legs.empty(), this.#trunks.drain()]), late])
      timer.cancel()
    }
    this.#trunks.close()
    this.#link.close()
    this.#legs.lost()
  }

  /**
   * Returns the algorithms that this agent can offer: a drachtio-server can send only one challenge in a
   * response.
   */
  #usable<T extends readonly DigestAlgorithm[] | undefined>(challenges: T): T | ['MD5'] {
    return this.#link.isEmbedded || challenges?.length === 1 ? challenges : ['MD5']
  }

  /** Whether the agent listens on an address (canonical). */
  #listensOn(host: string): boolean {
    return this.#link.hostports.some(
      (entry) => canonicalHost(/^[^/]*\/(.*):\d+$/.exec(entry)?.[1] ?? '') === host,
    )
  }

  #makeTransfers({ directory, inbound: { trust }, media, clock, metrics }: SipEdgeDeps): Transfers {
    const rules = {
      addresses: directory,
      countReferral: (endpoint: ReferringEndpoint) => this.#counts.takeReferral(endpoint),
      isOwnHost: (host: string, projectId: string) =>
        directory.domainApp(host)?.projectId === projectId ||
        trust.isRegistrar(host) ||
        this.#listensOn(host),
    }
    return new Transfers(rules, media.edge, clock, metrics)
  }

  #makeOutbound(
    { link, directory, outbound, registrar, metrics }: SipEdgeDeps,
    audio: SipAudio,
    transfers: Transfers,
  ): Outbound {
    const { carriers, policy, quotas, families } = outbound
    const { headers } = this.#context
    const { reportsTrying } = link.capabilities
    const onDisconnected = (id: string, hop: string) => registrar?.registrations.disconnected(id, hop)
    const routing = new Routing(
      { carriers, policy, quotas, headers, metrics },
      { reportsTrying, onDisconnected },
    )
    const deps = { context: this.#context, legs: this.#legs, routing, audio, directory, transfers, families }
    return new Outbound(deps, this.#timers)
  }

  #makeInbound(
    { directory, calls, inbound: { trust }, outbound: { carriers } }: SipEdgeDeps,
    audio: SipAudio,
    transfers: Transfers,
  ): Inbound {
    const admission = new Admission(
      { directory, trust, challenger: this.#challenger, counts: this.#counts, load: this.#load },
      this.#limits,
    )
    const likely = new LikelyCodecs({ directory, carriers })
    const deps = {
      context: this.#context,
      legs: this.#legs,
      admission,
      refusals: this.#refusals,
      audio,
      arrivals: calls,
      transfers,
      likely,
    }
    return new Inbound(deps, this.#timers)
  }

  /** Starts to handle INVITEs and requests outside calls. */
  #takeRequests(inbound: Inbound, registrar: Registrar | undefined): void {
    const { srf } = this.#link
    const { headers } = this.#context
    handleOutOfCallRequests({ srf, refusals: this.#refusals, load: this.#load, headers, registrar })
    srf.use('invite', (request, response) => inbound.handle(request, response))
  }

  /** Makes the registrar with its keep-alive; undefined if the configuration names no domain for it. */
  #openRegistrar(
    { config, registrations, clock }: RegistrarSettings,
    { directory, inbound: { trust }, metrics }: SipEdgeDeps,
  ): { readonly registrar: Registrar; readonly keepAlive: KeepAlive } | undefined {
    const domains = config.domains.map(canonicalHost)
    if (domains.length === 0) return undefined
    const refusals = this.#refusals
    const { headers, log } = this.#context
    const authenticator = new EndpointAuthenticator(directory, this.#challenger, refusals)
    const registrar = new Registrar(
      { authenticator, registrations, refusals, trust, load: this.#load, metrics, log },
      { domains, limits: config, headers, clock },
    )
    const intervalMs = () => config.keepAliveMs
    const keepAlive = new KeepAlive(registrations, this.#link, { clock, log, headers, intervalMs })
    keepAlive.start()
    return { registrar, keepAlive }
  }
}
