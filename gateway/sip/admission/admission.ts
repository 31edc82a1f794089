import { senderOf } from '@trunkline/sip-agent/networks'
import type { Edge } from '../../../media/types.ts'
import type { Code } from '../../core/errors/catalogue.ts'
import type { SipUri } from '../../core/sip-uri.ts'
import type { Directory, SipEndpoint } from '../../directory/types.ts'
import { printable } from '../headers.ts'
import { sourceOf } from '../signalling-source.ts'
import type { SipRequest } from '../srf.ts'
import {
  type AdmissionRefusal,
  type AdmissionRules,
  type AdmittedCaller,
  decideAdmission,
} from './admission-decision.ts'
import { Allowlists } from './allowlists.ts'
import { CallRates } from './call-rates.ts'
import { endpointRate } from './capacity-checks.ts'
import type { Challenger } from './challenger.ts'
import { Concurrency } from './concurrency.ts'
import { telTarget } from './tel-target.ts'
import type { Trust } from './trust.ts'

/** Collaborators and settings of {@link Admission}. */
export interface AdmissionDeps {
  readonly directory: Pick<Directory, 'domainApp' | 'endpointByName' | 'resolve'>
  readonly trust: Trust
  readonly challenger: Pick<Challenger, 'check'>
  readonly carriers: { byName(name: string): { readonly load: InboundLoad } | undefined }
  readonly edge: Pick<Edge, 'usage'>
  /** Calls in progress. */
  readonly calls: () => number
  readonly limits: AdmissionRules['limits']
  readonly isDraining: () => boolean
  /** Per cent of the last second that the gateway was busy. */
  readonly busyPercent: () => number
  /** Called with an address that certainly sent a wrong password. */
  readonly recordOffense: (address: string) => void
  readonly now: () => number
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

/** A call that came in; it counts until it is released. To call any of these more than once does no harm. */
export interface AdmittedCall extends AdmittedCaller {
  /** The caller has proved that it is at its address. */
  readonly onConfirmed: () => void
  /**
   * Ends the count of the carrier's line when the caller's leg is gone. After a transfer the call may go on
   * without the leg.
   */
  readonly releaseLeg: () => void
  /** Ends the count of the call for the domain, the source and the endpoint. */
  readonly releaseCall: () => void
  /** Nothing came of it: both. */
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

  constructor(deps: AdmissionDeps) {
    this.#deps = deps
    this.#rates = new CallRates(deps.now)
    const { directory, trust, limits, carriers } = deps
    const allowlists = new Allowlists()
    this.#rules = {
      directory,
      trust,
      limits,
      isAllowed: (app, source) => allowlists.allows(app, source),
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
    const { edge, calls, isDraining, busyPercent, recordOffense } = this.#deps
    const { used, total } = edge.usage()
    const { method, source_address: source } = request
    const decision = decideAdmission(
      {
        method,
        source,
        target,
        transport: printable(request.protocol, 8),
        isDraining: isDraining(),
        busyPercent: busyPercent(),
        calls: calls() + settingUp,
        portsFree: total - used,
        portsTotal: total,
        checkDigest: (realm, secretOf) => this.#deps.challenger.check(signed(request), realm, secretOf),
      },
      this.#rules,
    )
    if ('admit' in decision) return this.#count(decision.admit, source)
    if (decision.isWrongPassword) recordOffense(source)
    return decision
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
    const taken = carrier && this.#deps.carriers.byName(carrier.name)?.load.take('inbound')
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
    return { ...admitted, onConfirmed, releaseLeg, releaseCall, release }
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
