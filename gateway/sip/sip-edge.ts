import { canonicalHost } from '../../config/networks.ts'
import type { OverloadConfig, SipConfig } from '../../config/types.ts'
import type { Edge, WebRtc } from '../../media/types.ts'
import type { Arrivals } from '../calls/call/arrival.ts'
import type { Leg } from '../calls/leg/leg.ts'
import type { OutboundRequest, OutboundSip } from '../calls/leg/outbound-request.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import type { SipUri } from '../core/sip-uri.ts'
import type { Directory } from '../directory/types.ts'
import type { Target } from '../model.ts'
import { Admission, type AdmissionDeps } from './admission/admission.ts'
import type { AdmissionLimits } from './admission/admission-types.ts'
import { Challenger, type DigestAlgorithm } from './admission/challenger.ts'
import { handleOutOfCallRequests } from './admission/out-of-call-requests.ts'
import { Refusals } from './admission/refusals.ts'
import { Trust } from './admission/trust.ts'
import type { UntrustedLimits } from './admission/untrusted-limits.ts'
import { type AgentAddress, AgentLink } from './agent-link.ts'
import type { SessionTimerSettings } from './dialog/session-timer.ts'
import { Transfers } from './dialog/transfers.ts'
import { Inbound } from './inbound/inbound.ts'
import { LegSet } from './leg-registry.ts'
import { Outbound } from './outbound/outbound.ts'
import type { TargetFamilies } from './outbound/target-families.ts'
import {
  type OpenRegistrar,
  openRegistrar,
  type RegistrarEdgeDeps,
  type RegistrarOptions,
} from './registrar/open-registrar.ts'
import type { SrfLike } from './srf.ts'
import { CarrierDirectory } from './trunks/carrier-directory.ts'
import type { CarrierQuotas } from './trunks/carrier-quotas.ts'
import type { DialGuard } from './trunks/dial-guard.ts'
import { LikelyCodecs } from './trunks/likely-codecs.ts'
import { Routing } from './trunks/routing.ts'
import { Trunks } from './trunks/trunks.ts'

export type { AgentAddress } from './agent-link.ts'

/** Collaborators and settings of {@link SipEdge}. */
export interface SipEdgeDeps {
  /** The embedded agent, or a drachtio-server. */
  readonly agent: AgentAddress
  readonly directory: AdmissionDeps['directory'] & Partial<Pick<Directory, 'endpoint'>>
  readonly edge: Pick<Edge, 'open' | 'usage'>
  /** For SIP clients that speak WebRTC; without it they cannot call, nor be called. */
  readonly webrtc?: Pick<WebRtc, 'answer' | 'offer'>
  readonly arrivals: Arrivals
  /** Default: no carriers. */
  readonly carriers?: CarrierDirectory
  /** Judges hosts that belong to no carrier. Default: every host may be dialled. */
  readonly guard?: Pick<DialGuard, 'objection'>
  /**
   * Returns the SIP URIs that may be called: `any` (default), or `carriers`, those of the project's carriers
   * only.
   */
  readonly dial?: () => SipConfig['dial']
  /** Quotas of calls to carriers, of projects and of subscribers; default none. */
  readonly quotas?: Pick<CarrierQuotas, 'take'>
  /** IP families of the audio of targets with names; default IPv4. */
  readonly families?: Pick<TargetFamilies, 'complete'>
  /** Registrar of SIP endpoints; default: endpoints cannot register. */
  readonly registrar?: RegistrarOptions
  /** Calls in progress, of every kind. */
  readonly counts: { calls(): number }
  /** Calls at once, over everything. */
  readonly maxCalls: number
  /** Limits of callers who are neither known nor authenticated; default: no limits of their own. */
  readonly untrusted?: UntrustedLimits
  /** Networks that are known by their address; default: none, and each domain's own list decides. */
  readonly trust?: Trust
  /** Default: 500 calls a second, whatever the load, and 10 s of Retry-After. */
  readonly overload?: OverloadConfig
  /** Per cent of the last second that the gateway was busy; default 0. */
  readonly busyPercent?: () => number
  /**
   * Algorithms of the digest challenges, in order; default MD5. A drachtio-server can send one challenge
   * only: of several, MD5.
   */
  readonly challenges?: readonly DigestAlgorithm[]
  /** Called with an address that certainly sent a wrong password. */
  readonly recordOffense?: (address: string) => void
  readonly metrics: Pick<Metrics, 'rejections' | 'gauge' | 'gauges' | 'registrations'>
  readonly clock: Clock
  /** Clock of pings and registrations with carriers; default {@link clock}. */
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

const noNetworks = { domains: [], carriers: [], sip: { registrar: { domains: [] } } }
const defaultOverload: OverloadConfig = { busyPercent: 100, callsPerSecond: 500, retryAfterMs: 10_000 }

/** Settings of the SIP edge that can change while it runs. */
export type SipEdgeChange = Required<
  Pick<SipEdgeDeps, 'maxCalls' | 'untrusted' | 'overload' | 'challenges' | 'sessionTimer'>
>

/** Maximum wait at the end for the peers' last responses. */
const maxGoodbyeMs = 1_000

/**
 * SIP side of all calls: admits inbound calls, and makes outbound legs. It speaks SIP through drachtio-srf
 * only.
 */
export class SipEdge implements OutboundSip {
  readonly #deps: SipEdgeDeps
  readonly #link: AgentLink
  readonly #legs = new LegSet()
  readonly #admission: Admission
  readonly #refusals: Refusals
  readonly #outbound: Outbound
  readonly #routing: Routing
  readonly #trunks: Trunks
  readonly #registrar: OpenRegistrar | undefined
  readonly #challenger: Challenger
  /** Read at each call; changed by {@link change} only. */
  readonly #limits: OverloadConfig & AdmissionLimits
  readonly #timers: SessionTimerSettings | undefined
  #isDraining = false
  #closing: Promise<void> | undefined

  constructor(deps: SipEdgeDeps) {
    this.#deps = deps
    const { agent, clock, graceMs, srf, userAgent, edge } = deps
    const log = deps.log.child({ part: 'sip' })
    const link = new AgentLink({ agent, clock, log, graceMs, srf })
    this.#link = link
    const carriers = deps.carriers ?? new CarrierDirectory([], clock)
    const { metrics, trunkClock = clock, webrtc } = deps
    const routing = this.#openRouting(link, carriers)
    this.#routing = routing
    const ownTimers = link.capabilities.sessionTimers === 'agent' ? deps.sessionTimer : undefined
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
      ...(deps.families && { families: deps.families }),
      endpoint: (id) => deps.directory.endpoint?.(id),
    })
    this.#trunks = new Trunks({
      carriers,
      srf: link.srf,
      clock: trunkClock,
      log,
      metrics,
      userAgent,
      hasPrivateHeaders: link.capabilities.hasPrivateHeaders,
      ...(deps.guard && { guard: deps.guard }),
    })
    const { untrusted } = deps
    const limits = {
      ...(deps.overload ?? defaultOverload),
      maxCalls: deps.maxCalls,
      ...(untrusted && { untrusted }),
    }
    this.#limits = limits
    const retryAfterMs = () => limits.retryAfterMs
    const now = () => clock.now()
    const refusals = new Refusals({
      log,
      metrics,
      userAgent,
      retryAfterMs,
      now,
      hasPrivateHeaders: agent.isEmbedded,
    })
    this.#refusals = refusals
    const draining = () => this.#isDraining
    const challenger = new Challenger(now, this.#usable(deps.challenges))
    this.#challenger = challenger
    const trust = deps.trust ?? new Trust(noNetworks)
    this.#admission = this.#openDoor(challenger, carriers, trust)
    this.#registrar = this.#openRegistrar({ challenger, refusals, log, srf: link.srf }, trust)
    handleOutOfCallRequests({
      srf: link.srf,
      refusals,
      isDraining: draining,
      userAgent,
      registrar: this.#registrar,
    })
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
      likely: new LikelyCodecs({ directory: deps.directory, carriers }),
      arrivals: deps.arrivals,
      admission: this.#admission,
      legs: this.#legs,
    })
    link.srf.use('invite', (request, response) => inbound.handle(request, response))
    link.onLost((connection) => this.#legs.lost(connection))
    metrics.gauge('sip_dialogs', () => this.#legs.size)
    metrics.gauge('sip_unconfirmed', () => this.#admission.unconfirmed)
    metrics.gauge('sip_established', () => transfers.dialogs.size)
  }

  /** SIP dialogs and pending INVITEs, until the last response of each. */
  get legs(): number {
    return this.#legs.size
  }

  /** Domain applications with a call in progress. */
  get busyDomains(): number {
    return this.#admission.busyDomains
  }

  /** Sockets that the agent listens on, each `transport/address:port`. */
  get hostports(): readonly string[] {
    return this.#link.hostports
  }

  /** Whether SIP can be spoken at the moment; for readiness. */
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

  /** Works by other limits, challenges and session timers from now on; timers that run keep their terms. */
  change({ maxCalls, untrusted, overload, challenges, sessionTimer }: SipEdgeChange): void {
    Object.assign(this.#limits, overload, { maxCalls, untrusted })
    if (this.#timers) Object.assign(this.#timers, sessionTimer)
    this.#challenger.change(this.#usable(challenges))
  }

  dial(target: Extract<Target, { kind: 'sip' }>, request: OutboundRequest): Leg {
    return this.#outbound.dial(target, request)
  }

  /**
   * Refuses new calls and OPTIONS with 503 from now on, and unregisters from carriers. Calls in progress
   * continue, and may still dial out.
   */
  drain(): void {
    this.#isDraining = true
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

  /** Algorithms that this agent can offer: a drachtio-server carries one challenge in a response. */
  #usable<T extends readonly DigestAlgorithm[] | undefined>(challenges: T): T | ['MD5'] {
    return this.#deps.agent.isEmbedded || challenges?.length === 1 ? challenges : ['MD5']
  }

  async #close(): Promise<void> {
    this.#isDraining = true
    this.#refusals.close()
    this.#outbound.close()
    this.#registrar?.close()
    if (this.isConnected) {
      this.#legs.hangUp({ code: 'draining' })
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const timer = this.#deps.clock.after(maxGoodbyeMs, resolve)
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

  #openRouting(link: AgentLink, carriers: CarrierDirectory): Routing {
    const { guard, dial, metrics, userAgent, registrar } = this.#deps
    return new Routing({
      carriers,
      guard,
      dial,
      metrics,
      userAgent,
      ...(this.#deps.quotas && { quotas: this.#deps.quotas }),
      reportsTrying: () => link.capabilities.reportsTrying,
      hasPrivateHeaders: link.capabilities.hasPrivateHeaders,
      onDisconnected: (id, hop) => registrar?.registrations.disconnected(id, hop),
    })
  }

  #openRegistrar(
    deps: Pick<RegistrarEdgeDeps, 'challenger' | 'refusals' | 'log' | 'srf'>,
    trust: Trust,
  ): OpenRegistrar | undefined {
    const { registrar, metrics, userAgent } = this.#deps
    const isKnown = (source: string) => trust.isListed(source)
    const asks = (source: string) => trust.mayChallenge(source)
    const draining = () => this.#isDraining
    const connected = () => this.isConnected
    return (
      registrar &&
      openRegistrar(registrar, {
        ...deps,
        metrics,
        userAgent,
        isKnown,
        mayChallenge: asks,
        isDraining: draining,
        isConnected: connected,
      })
    )
  }

  #openTransfers(link: AgentLink): Transfers {
    const { directory, edge, clock, trust, metrics } = this.#deps
    const listens = (host: string) =>
      link.hostports.some((entry) => canonicalHost(/^[^/]*\/(.*):\d+$/.exec(entry)?.[1] ?? '') === host)
    return new Transfers({
      addresses: directory,
      edge,
      clock,
      metrics,
      count: (endpoint) => this.#admission.countReferral(endpoint),
      isOurs: (host, projectId) =>
        directory.domainApp(host)?.projectId === projectId ||
        trust?.isRegistrar(host) === true ||
        listens(host),
    })
  }

  #openDoor(challenger: Challenger, carriers: CarrierDirectory, trust: Trust): Admission {
    const { directory, edge, clock, counts } = this.#deps
    return new Admission({
      directory,
      edge,
      challenger,
      carriers,
      trust,
      calls: () => counts.calls(),
      limits: this.#limits,
      isDraining: () => this.#isDraining,
      busyPercent: this.#deps.busyPercent ?? (() => 0),
      recordOffense: this.#deps.recordOffense ?? (() => {}),
      now: () => clock.now(),
    })
  }
}
