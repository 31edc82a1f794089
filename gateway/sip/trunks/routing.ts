import type { OutboundRequest } from '../../calls/leg/outbound-request.ts'
import { type Cause, catalogue } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import { parseSipUri, type SipUri, shownUri } from '../../core/sip-uri.ts'
import type { Target } from '../../model.ts'
import type { Credentials } from '../digest/digest-session.ts'
import { allowedMethods, type GatewayHeaders } from '../gateway-headers.ts'
import { applicationHeaders, printable } from '../headers.ts'
import type { Headers, Refusal } from '../srf.ts'
import type { Carrier, CarrierCall } from './carrier.ts'
import type { CarrierDirectory } from './carrier-directory.ts'
import type { CarrierQuotas } from './carrier-quotas.ts'
import type { DialPolicy } from './dial-policy.ts'
import { numberOf } from './dialled-number.ts'
import { carrierIdentityHeaders, directIdentityHeaders, type PresentedCaller } from './identity-headers.ts'
import type { NumberVerdict } from './number-lists.ts'
import { isLocal, type Route } from './route.ts'

/** Collaborators of {@link Routing}. */
export interface RoutingDeps {
  readonly carriers: CarrierDirectory
  readonly policy: DialPolicy
  /** Quotas of calls to carriers; default none. */
  readonly quotas?: Pick<CarrierQuotas, 'take'> | undefined
  readonly headers: GatewayHeaders
  readonly metrics: Pick<Metrics, 'rejections'>
}

/** Options of {@link Routing}. */
export interface RoutingOptions {
  /** Whether the agent reports a 100, by which the gateway can tell a slow target from a silent target. */
  readonly reportsTrying: boolean
  /**
   * Called if the connection over which an endpoint has registered is lost. `hop`: the next hop that stands
   * for this connection.
   */
  readonly onDisconnected?: (endpointId: string, hop: string) => void
}

/** Route, and the function that ends the call's count in quotas and in the carrier's limits. */
export type TakenRoute = Route & { readonly release: () => void }

type SipTarget = Extract<Target, { kind: 'sip' }>

/** Default value of Max-Forwards (RFC 3261 section 8.1.1.6). */
const defaultMaxForwards = 70

/** Routes outbound INVITEs: to a carrier by the carrier's rules, to other targets by their URI. */
export class Routing {
  readonly #deps: RoutingDeps
  readonly #options: RoutingOptions

  constructor(deps: RoutingDeps, options: RoutingOptions) {
    this.#deps = deps
    this.#options = options
  }

  /**
   * Returns the route to a target, or the cause why the call is rejected. {@link TakenRoute.release} must be
   * called when the leg ends.
   */
  async find(target: SipTarget, request: OutboundRequest, log: Log): Promise<TakenRoute | Cause> {
    const route = await this.#find(target, request, log)
    if (!('code' in route)) return route
    const { code, detail } = route
    this.#deps.metrics.rejections.inc({ code })
    const facts = { carrier: target.carrier, maxForwards: request.maxForwards }
    log.warn(
      { event: 'route.rejected', code, to: printable(shownUri(target.uri)), detail, ...facts },
      catalogue[code].text,
    )
    return route
  }

  async #find(target: SipTarget, request: OutboundRequest, log: Log): Promise<TakenRoute | Cause> {
    const uri = parseSipUri(target.uri)
    if (!uri) return unreachable(`${printable(shownUri(target.uri))}: this is no SIP URI`)
    // A call that arrived with Max-Forwards 1 is sent with 0 (RFC 3261 section 16.6, RFC 7332). A call that
    // arrived with 0 is rejected.
    if ((request.maxForwards ?? defaultMaxForwards) < 0) return { code: 'too_many_hops' }
    const { carriers, policy } = this.#deps
    const name = target.carrier
    const isRegistered = target.endpointId !== undefined || target.nextHop !== undefined
    const carrier =
      name !== undefined
        ? carriers.byName(name)
        : isRegistered
          ? undefined
          : carriers.of(uri, request.projectId)
    if (carrier) {
      const objection = await policy.objectionToCarrier(carrier, request.projectId)
      return objection
        ? { code: 'not_permitted', detail: objection }
        : this.#byCarrier(carrier, uri, request, log)
    }
    if (name !== undefined) return unreachable(`there is no carrier ${printable(name)}`)
    const objection = isRegistered ? undefined : await policy.objectionToDirect(uri, request.projectId)
    if (objection) return { code: 'not_permitted', detail: objection }
    return this.#direct(uri, target, request, log)
  }

  #direct(uri: SipUri, { nextHop, endpointId }: SipTarget, request: OutboundRequest, log: Log): TakenRoute {
    // The address of a registered endpoint is the source of its REGISTER, and was not chosen by a customer.
    const isDialled = endpointId === undefined && nextHop === undefined
    const farEnd = isDialled ? ({ kind: 'project', id: request.projectId } as const) : undefined
    const headers = {
      ...merged(this.#common(uri, request, log), directIdentityHeaders(callerOf(request))),
      ...this.#deps.headers.farEnd(farEnd),
    }
    const credentials = credentialsOf(request)
    const hop = { uri: uri.bare, headers, ...(nextHop !== undefined && { nextHop }) }
    const onFailure = (refusal: Refusal | 'silent') => {
      if (refusal === 'silent' || refusal.status !== 503 || !isLocal(refusal)) return
      // The agent never opens a connection to a phone. A 503 of the agent therefore means that the connection
      // of the registration is lost.
      if (endpointId !== undefined && nextHop !== undefined)
        this.#options.onDisconnected?.(endpointId, nextHop)
    }
    return {
      hops: [{ ...hop, ...(credentials && { credentials }), onFailure }],
      statuses: new Set(),
      redirected: () => [],
      release: () => {},
    }
  }

  #byCarrier(carrier: Carrier, uri: SipUri, request: OutboundRequest, log: Log): TakenRoute | Cause {
    const { failover } = carrier.config
    if (carrier.isRejected()) return unreachable(`carrier ${carrier.name}: registration rejected`)
    const verdict = carrier.numberVerdict(uri)
    if (!verdict.isPermitted)
      return { code: 'number_not_allowed', detail: numberRefusalText(carrier, verdict) }
    const call = this.#carrierCall(carrier, uri, request, log)
    const hops = carrier.hops(call)
    // The quotas are taken last. No later step may throw, or their count would never end.
    const quota = this.#deps.quotas?.take(request) ?? (() => {})
    if (typeof quota !== 'function') return quota
    const load = carrier.load.take('outbound')
    if (typeof load === 'string') {
      quota()
      return { code: 'over_call_limit', detail: `carrier ${carrier.name}: ${load}` }
    }
    const release = () => {
      load()
      quota()
    }
    return {
      hops,
      carrier: carrier.config,
      statuses: new Set(failover.statuses),
      ...(this.#options.reportsTrying && { noProgressMs: failover.noProgressMs }),
      redirected: (contact) => carrier.redirected(contact, call),
      release,
    }
  }

  #carrierCall(carrier: Carrier, uri: SipUri, request: OutboundRequest, log: Log): CarrierCall {
    const { identity, auth } = carrier.config
    const common = {
      ...merged(forwarded(request), this.#common(uri, request, log)),
      ...this.#deps.headers.farEnd({ kind: 'carrier', name: carrier.name }),
    }
    const { sendAs } = request.from
    const caller = { ...callerOf(request), ...(sendAs !== undefined && { user: sendAs }) }
    const credentials = credentialsOf(request)
    return {
      uri,
      headers: ({ uri: { host } }) =>
        merged(common, carrierIdentityHeaders(caller, { identity, username: auth?.username, host })),
      isNumber: numberOf(request.destination.to) !== undefined,
      ...(credentials && { credentials }),
    }
  }

  /** Returns the general headers of an INVITE, and the headers that the document and the URI set. */
  #common(uri: SipUri, { destination, maxForwards }: OutboundRequest, log: Log): Headers {
    const { headers, refused } = applicationHeaders([...uri.headers, ...(destination.headers ?? [])])
    for (const { name, why } of refused)
      log.warn({ event: 'route.header-dropped', header: name, why }, 'header not sent')
    return {
      ...headers,
      'Content-Type': 'application/sdp',
      'Max-Forwards': String(maxForwards ?? defaultMaxForwards),
      Allow: allowedMethods,
      ...this.#deps.headers.request,
    }
  }
}

/** Returns the reason why a number may not be called through a carrier, for logs, CDRs and error texts. */
export const numberRefusalText = ({ name }: Carrier, { number, prefix }: NumberVerdict): string => {
  if (number === undefined) return `carrier ${name}: only telephone numbers may be called`
  return prefix === undefined
    ? `carrier ${name}: numbers.allow has no prefix of the number`
    : `carrier ${name}: numbers.refuse has ${prefix}`
}

const unreachable = (detail: string): Cause => ({ code: 'unreachable', detail })

const callerOf = ({ destination, from }: OutboundRequest): PresentedCaller => {
  // A caller identity that the document sets is never hidden.
  const named = destination.from !== undefined
  return {
    user: destination.from ?? from.user,
    name: destination.fromName ?? (named && from.private ? '' : from.name),
    ...(named && { uri: destination.from }),
    private: !named && from.private === true,
  }
}

const credentialsOf = ({ destination }: OutboundRequest): Credentials | undefined =>
  destination.username ? { username: destination.username, password: destination.password ?? '' } : undefined

/**
 * Returns the diversion headers of the inbound call (RFC 5806, RFC 7044). Carriers use them for billing and
 * screening.
 */
const forwarded = ({ forwarded: headers = [] }: OutboundRequest): Headers =>
  headers
    .filter(({ name }) => /^(diversion|history-info)$/i.test(name))
    .reduce<Headers>((all, { name, value }) => merged(all, { [name]: joined(all, name, value) }), {})

const joined = (headers: Headers, name: string, value: string): string => {
  const before = Object.entries(headers).find(([other]) => other.toLowerCase() === name.toLowerCase())
  return before ? `${before[1]}, ${value}` : value
}

/** Merges headers. Headers in `over` replace headers with the same name, regardless of letter case. */
const merged = (headers: Headers, over: Headers): Headers => {
  const replaced = new Set(Object.keys(over).map((name) => name.toLowerCase()))
  const kept = Object.entries(headers).filter(([name]) => !replaced.has(name.toLowerCase()))
  return { ...Object.fromEntries(kept), ...over }
}
