import { isIPv6 } from 'node:net'
import type { SipAgent } from '@trunkline/sip-agent'
import { AddressGuard } from '@trunkline/sip-agent/address-guard'
import type { Arrivals } from '../calls/call/arrival.ts'
import type { Clock, SteadyClock } from '../core/clock.ts'
import type { Metrics } from '../core/metrics.ts'
import type { Directory } from '../directory/directory.ts'
import type { RecentRefusals } from '../sip/admission/recent-refusals.ts'
import { Trust } from '../sip/admission/trust.ts'
import { AgentLink } from '../sip/agent-link.ts'
import { TargetFamilies } from '../sip/outbound/target-families.ts'
import { EndpointContacts } from '../sip/registrar/endpoint-contacts.ts'
import { Registrations } from '../sip/registrar/registrations.ts'
import { SipEdge } from '../sip/sip-edge.ts'
import type { CarrierDirectory } from '../sip/trunks/carrier-directory.ts'
import type { CarrierQuotas } from '../sip/trunks/carrier-quotas.ts'
import { DialGuard } from '../sip/trunks/dial-guard.ts'
import { DialPolicy } from '../sip/trunks/dial-policy.ts'
import { followSenders } from './follow-senders.ts'
import type { AppContext, OpenedMedia } from './open.ts'

/** Opened components that the SIP edge uses. */
export interface OpenSipDeps {
  readonly directory: Directory
  readonly media: OpenedMedia
  /** Takes inbound calls, and counts calls in progress. */
  readonly calls: Arrivals & { readonly count: number }
  readonly carriers: CarrierDirectory
  readonly dialPolicy: DialPolicy
  readonly quotas: CarrierQuotas
  /** Receives the requests that are rejected. */
  readonly refusals: RecentRefusals
}

/** Options of {@link openSip}. */
export interface OpenSipOptions {
  /** Clock of calls alone. */
  readonly clock: Clock
  /** Clock of registrations, pings and look-ups. */
  readonly steadyClock: SteadyClock
  /** Returns the percentage of the last second for which the gateway was busy. */
  readonly busyPercent: () => number
}

/** The SIP edge, and the contacts of SIP endpoints. */
export interface OpenedSip {
  readonly sip: SipEdge
  /** Contacts of registered phones. */
  readonly registrations: Registrations
  readonly endpoints: EndpointContacts
}

/** Creates the rules for the hosts that a project may call. A reload changes them. */
export const openDialPolicy = (
  { config: { sip }, followers }: AppContext,
  carriers: CarrierDirectory,
): DialPolicy => {
  let { dial } = sip
  const networks = new AddressGuard(sip.dialNetworks)
  followers.change('sip.dial', (next) => {
    dial = next.sip.dial
    networks.change(next.sip.dialNetworks)
  })
  // The embedded agent checks each address again when it sends to it.
  const guard = new DialGuard({ addresses: networks, isRecheckedByAgent: !sip.drachtio })
  return new DialPolicy(carriers, guard, () => dial)
}

/**
 * Opens the SIP edge. `agent`: the embedded agent; undefined if the configuration names a drachtio-server.
 */
export const openSip = (
  base: AppContext,
  agent: SipAgent | undefined,
  { directory, media, calls, carriers, dialPolicy, quotas, refusals }: OpenSipDeps,
  { clock, steadyClock, busyPercent }: OpenSipOptions,
  metrics: Metrics,
): OpenedSip => {
  const { config, log, closing, followers } = base
  const { sip, limits } = config
  const address = agent
    ? { host: agent.host, port: agent.port, secret: agent.secret, isEmbedded: true }
    : { ...sip.drachtio!, isEmbedded: false }
  const trust = new Trust(config)
  const followChange = followSenders(config, directory, { carriers, trust, agent })
  const registrar = openRegistrar(base, steadyClock, directory, metrics)
  const families = new TargetFamilies({
    clock: steadyClock,
    ...(agent && { reachable: sip.listen.map((listener) => (isIPv6(listener.address) ? 6 : 4)) }),
  })
  const edge = new SipEdge(
    {
      link: new AgentLink({ agent: address, clock, log: log.child({ part: 'sip' }) }),
      calls,
      directory,
      media,
      inbound: {
        trust,
        busyPercent,
        recordOffense: (source) => agent?.failedSignIn(source),
        recent: refusals,
      },
      outbound: { carriers, policy: dialPolicy, quotas, families, clock: steadyClock },
      registrar,
      clock,
      log,
      metrics,
    },
    {
      maxCalls: limits.calls,
      untrusted: limits.strangers,
      overload: sip.overload,
      challenges: sip.challenges,
      sessionTimer: sip.sessionTimer,
      userAgent: sip.userAgent,
    },
  )
  followers.change('sip', (next) => {
    const { overload, challenges, sessionTimer } = next.sip
    const { calls: maxCalls, strangers } = next.limits
    edge.change({ maxCalls, untrusted: strangers, overload, challenges, sessionTimer })
    followChange(next)
  })
  closing.add('SIP edge', edge, (open) => open.close())
  const { registrations } = registrar
  return {
    sip: edge,
    registrations,
    endpoints: new EndpointContacts(registrations, agent !== undefined),
  }
}

/** Creates the registrar of SIP endpoints. A reload changes the limits; the domains stay. */
const openRegistrar = (
  { config, closing, followers }: AppContext,
  clock: SteadyClock,
  directory: Directory,
  metrics: Metrics,
) => {
  // A mutable copy, because the registrar reads the limits at each use and a reload changes them.
  const settings = { ...config.sip.registrar }
  followers.change('sip.registrar', (next) => {
    const { domains: _domains, ...limits } = next.sip.registrar
    Object.assign(settings, limits)
  })
  const registrations = new Registrations({ limits: settings, clock })
  closing.add('registrations', registrations, (open) => open.close())
  directory.onResources((ids) => {
    for (const id of ids) registrations.changed(id, directory.endpoint(id))
  })
  metrics.gauge('sip_bindings', () => registrations.size)
  return { config: settings, registrations, clock }
}
