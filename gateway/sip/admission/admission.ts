import { senderOf } from '@trunkline/sip-agent/networks'
import type { Clock } from '../../core/clock.ts'
import type { Code } from '../../core/errors/catalogue.ts'
import type { SipUri } from '../../core/sip-uri.ts'
import type { SipEndpoint } from '../../directory/types.ts'
import type { Credentials } from '../digest/digest-session.ts'
import { printable } from '../headers.ts'
import { sourceOf } from '../signalling-source.ts'
import type { SipRequest } from '../srf.ts'
import {
  type AdmissionRefusal,
  type AdmissionRules,
  type AdmittedCaller,
  decideAdmission,
  endpointRate,
} from './admission-decision.ts'
import type { AdmissionLimits } from './admission-types.ts'
import { CallRates } from './call-rates.ts'
import type { Challenger } from './challenger.ts'
import { Concurrency } from './concurrency.ts'
import type { GatewayLoad } from './gateway-load.ts'
import { telTarget } from './tel-target.ts'
import type { Trust } from './trust.ts'

/** Collaborators of {@link Admission}. */
export interface AdmissionDeps {
  readonly directory: AdmissionRules['directory']
  readonly trust: Trust
  readonly challenger: Pick<Challenger, 'check'>
  readonly carriers: { byName(name: string): InboundTrunk | undefined }
  readonly load: GatewayLoad
  readonly clock: Pick<Clock, 'now'>
}

/** Carrier of an admitted call, in its present state. */
export interface InboundTrunk {
  readonly load: InboundLoad
  /** Credentials for the carrier's challenges. */
  readonly credentials: Credentials | undefined
  readonly targets: readonly { readonly uri: SipUri }[]
}

/** Calls of one carrier that are in progress, and its limits. */
export interface InboundLoad {
  readonly calls: number
  /**
   * Counts one more inbound call. Returns the function that takes it back, or a text that names the limit
   * reached.
   */
  take(direction: 'inbound'): (() => void) | string
}

/** An admitted call; it counts until it is released. Each function is idempotent. */
export interface AdmittedCall extends AdmittedCaller {
  readonly trunk?: InboundTrunk | undefined
  /** The caller has proved that it is at its address. */
  readonly onConfirmed: () => void
  /**
   * Ends the count of the carrier's line when the caller's leg is gone. After a transfer the call may go on
   * without the leg.
   */
  readonly releaseLeg: () => void
  /** Ends the count of the call for the domain, the source and the endpoint. */
  readonly releaseCall: () => void
  /** Ends both counts, for a call without a leg. */
  readonly release: () => void
}

/** Limits of an endpoint's transfers. */
export type ReferringEndpoint = Pick<SipEndpoint, 'id' | 'maxCalls' | 'callsPerSecond'>

/** Decides on INVITEs outside calls, and keeps count of those that were let in. */
export class Admission {
  readonly #deps: AdmissionDeps
  readonly #rules: AdmissionRules
  readonly #domainCalls = new Concurrency()
  /** By domain application and address. */
  readonly #sourceCalls = new Concurrency()
  readonly #endpointCalls = new Concurrency()
  /** By address, or /64 of IPv6. */
  readonly #strangerCalls = new Concurrency()
  readonly #unconfirmedCalls = new Concurrency()
  readonly #rates: CallRates

  /** `limits` are read at each call. */
  constructor(deps: AdmissionDeps, limits: AdmissionLimits) {
    this.#deps = deps
    const { directory, trust, carriers, clock } = deps
    this.#rates = new CallRates(() => clock.now())
    this.#rules = {
      directory,
      trust,
      limits,
      domainCalls: (id) => this.#domainCalls.count(id),
      sourceCalls: (id, source) => this.#sourceCalls.count(sourceKey(id, source)),
      untrustedCalls: (source) => this.#strangerCalls.count(senderOf(source)),
      unconfirmedCalls: () => this.#unconfirmedCalls.count(unconfirmed),
      endpointCalls: (id) => this.#endpointCalls.count(id),
      carrierCalls: (name) => carriers.byName(name)?.load.calls ?? 0,
      hasRate: (key, perSecond) => this.#rates.has(key, perSecond),
    }
  }

  /** Domain applications with a call in progress. */
  get busyDomains(): number {
    return this.#domainCalls.size
  }

  /** Returns the target of an INVITE to a `tel:` URI; undefined if no domain application takes it. */
  telTarget({ uri, source_address: source }: Pick<SipRequest, 'uri' | 'source_address'>): SipUri | undefined {
    return telTarget(uri, source, this.#rules)
  }

  /** Calls in progress whose callers have yet to prove that they are at their address. */
  get unconfirmed(): number {
    return this.#unconfirmedCalls.count(unconfirmed)
  }

  /** `settingUp`: calls that came in and are not in progress yet. */
  admit(request: SipRequest, target: SipUri, settingUp: number): AdmittedCall | AdmissionRefusal {
    const { isDraining, busyPercent, calls, ports } = this.#deps.load
    const { method, source_address: source } = request
    const decision = decideAdmission(
      {
        method,
        source,
        target,
        transport: printable(request.protocol, 8),
        isDraining,
        busyPercent,
        calls: calls + settingUp,
        portsFree: ports.total - ports.used,
        portsTotal: ports.total,
        checkDigest: (realm, secretOf) => this.#deps.challenger.check(signed(request), realm, secretOf),
      },
      this.#rules,
    )
    return 'admit' in decision ? this.#count(decision.admit, source) : decision
  }

  /**
   * Counts a call that an endpoint starts by a REFER as one of the endpoint's calls. Returns the idempotent
   * function that ends the count, or the limit that is reached. A stolen password must not cost more through
   * transfers.
   */
  countReferral({ id, maxCalls, callsPerSecond }: ReferringEndpoint): (() => void) | Code {
    if (maxCalls !== undefined && this.#endpointCalls.count(id) >= maxCalls) return 'over_call_limit'
    if (callsPerSecond !== undefined) {
      if (!this.#rates.has(endpointRate(id), callsPerSecond)) return 'over_call_rate'
      this.#rates.take(endpointRate(id), callsPerSecond)
    }
    return this.#endpointCalls.acquire(id)
  }

  /** The carrier's calls are counted with those that go out to it. */
  #count(admitted: AdmittedCaller, source: string): AdmittedCall | AdmissionRefusal {
    const { app, endpoint, carrier, domain, rates, standing } = admitted
    const trunk = carrier && this.#deps.carriers.byName(carrier.name)
    const taken = trunk?.load.take('inbound')
    if (typeof taken === 'string') {
      const facts = { source, domain, carrier: carrier?.name, limit: taken }
      return { refuse: 'over_call_rate', check: 'rate', facts }
    }
    for (const { key, perSecond } of rates) this.#rates.take(key, perSecond)
    const held = [
      app && this.#domainCalls.acquire(app.id),
      app && this.#sourceCalls.acquire(sourceKey(app.id, source)),
      standing === 'stranger' && this.#strangerCalls.acquire(senderOf(source)),
      endpoint && this.#endpointCalls.acquire(endpoint.id),
    ]
    const onConfirmed = admitted.isUnconfirmed ? this.#unconfirmedCalls.acquire(unconfirmed) : () => {}
    const releaseLeg = () => {
      onConfirmed()
      taken?.()
    }
    const releaseCall = () => {
      for (const leave of held) if (leave) leave()
    }
    const release = () => {
      releaseLeg()
      releaseCall()
    }
    return { ...admitted, trunk, onConfirmed, releaseLeg, releaseCall, release }
  }
}

/** The one key of all calls whose callers have yet to prove their address. */
const unconfirmed = 'unconfirmed'

const sourceKey = (app: string, source: string): string => `${app} ${senderOf(source)}`

const signed = (request: SipRequest) => {
  const { method, uri, body = '', source_address: source } = request
  const isOverConnection = sourceOf(request).transport !== 'udp'
  return { method, uri, body, source, isOverConnection, authorization: request.get('Authorization') }
}
