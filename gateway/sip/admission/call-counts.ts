import { senderOf } from '@trunkline/sip-agent/networks'
import type { Clock } from '../../core/clock.ts'
import type { Code } from '../../core/errors/catalogue.ts'
import type { SipUri } from '../../core/sip-uri.ts'
import type { SipEndpoint } from '../../directory/model/callers.ts'
import type { Credentials } from '../digest/digest-session.ts'
import type { AdmissionRefusal, AdmittedCaller } from './admission-types.ts'
import { CallRateBuckets } from './call-rate-buckets.ts'
import { Concurrency } from './concurrency.ts'

/** Carrier of an admitted call, with its current configuration. */
export interface InboundTrunk {
  readonly load: InboundLoad
  /** Credentials for the carrier's challenges. */
  readonly credentials: Credentials | undefined
  readonly targets: readonly { readonly uri: SipUri }[]
}

/** Counts of one carrier's calls, with its limits. */
export interface InboundLoad {
  readonly calls: number
  /**
   * Counts one more inbound call. Returns the function that ends the count, or a text that names the limit
   * reached.
   */
  take(direction: 'inbound'): (() => void) | string
}

/** An admitted call; it counts until it is released. Each function is idempotent. */
export interface AdmittedCall extends AdmittedCaller {
  readonly trunk?: InboundTrunk | undefined
  /** Reports that the caller has proved that it receives messages at its address. */
  readonly onConfirmed: () => void
  /**
   * Ends the count of the call for the carrier. Called at the end of the caller's leg: after a transfer the
   * call may go on without that leg.
   */
  readonly releaseLeg: () => void
  /** Ends the count of the call for the domain, the source and the endpoint. */
  readonly releaseCall: () => void
  /** Ends both counts, for a call without a leg. */
  readonly release: () => void
}

/** Limits of an endpoint's transfers. */
export type ReferringEndpoint = Pick<SipEndpoint, 'id' | 'maxCalls' | 'callsPerSecond'>

/** Counts of calls in progress and of new calls a second, by each scope that has limits. */
export class CallCounts {
  readonly #carriers: { byName(name: string): InboundTrunk | undefined }
  readonly #domains = new Concurrency()
  /** By domain application and address. */
  readonly #sources = new Concurrency()
  readonly #endpoints = new Concurrency()
  /** By address, or /64 of IPv6. */
  readonly #untrusted = new Concurrency()
  readonly #unconfirmed = new Concurrency()
  readonly #rates: CallRateBuckets

  constructor(carriers: { byName(name: string): InboundTrunk | undefined }, clock: Pick<Clock, 'now'>) {
    this.#carriers = carriers
    this.#rates = new CallRateBuckets(() => clock.now())
  }

  /** Domain applications with a call in progress. */
  get domains(): number {
    return this.#domains.size
  }

  /** Calls in progress of a domain application, by its id. */
  domainCalls(id: string): number {
    return this.#domains.count(id)
  }

  /** Calls in progress of a domain application that came from one address, of IPv6 from one /64. */
  sourceCalls(id: string, source: string): number {
    return this.#sources.count(sourceKey(id, source))
  }

  /**
   * Calls in progress of untrusted callers from one address, of IPv6 from one /64, at all domain
   * applications.
   */
  untrustedCalls(source: string): number {
    return this.#untrusted.count(senderOf(source))
  }

  /** Calls in progress of callers who have not yet proved that they receive messages at their address. */
  unconfirmedCalls(): number {
    return this.#unconfirmed.count(unconfirmed)
  }

  /** Calls in progress that a SIP endpoint made, by its id. */
  endpointCalls(id: string): number {
    return this.#endpoints.count(id)
  }

  /** Calls in progress of a carrier, in both directions. */
  carrierCalls(name: string): number {
    return this.#carriers.byName(name)?.load.calls ?? 0
  }

  /** Whether one more call keeps within a rate. */
  hasRate(key: string, perSecond: number): boolean {
    return this.#rates.has(key, perSecond)
  }

  /** Counts an admitted call. The carrier's calls are counted with those that go out to it. */
  take(admitted: AdmittedCaller, source: string): AdmittedCall | AdmissionRefusal {
    const { app, endpoint, carrier, domain, rates, standing } = admitted
    const trunk = carrier && this.#carriers.byName(carrier.name)
    const taken = trunk?.load.take('inbound')
    if (typeof taken === 'string') {
      const facts = { source, domain, carrier: carrier?.name, limit: taken }
      return { refuse: 'over_call_rate', check: 'rate', facts }
    }
    for (const { key, perSecond } of rates) this.#rates.take(key, perSecond)
    const held = [
      app && this.#domains.acquire(app.id),
      app && this.#sources.acquire(sourceKey(app.id, source)),
      standing === 'untrusted' && this.#untrusted.acquire(senderOf(source)),
      endpoint && this.#endpoints.acquire(endpoint.id),
    ]
    const onConfirmed = admitted.isUnconfirmed ? this.#unconfirmed.acquire(unconfirmed) : () => {}
    const releaseLeg = () => {
      onConfirmed()
      taken?.()
    }
    const releaseCall = () => {
      for (const release of held) if (release) release()
    }
    const release = () => {
      releaseLeg()
      releaseCall()
    }
    return { ...admitted, trunk, onConfirmed, releaseLeg, releaseCall, release }
  }

  /**
   * Counts a call that an endpoint starts by a REFER as one of the endpoint's calls. Returns the idempotent
   * function that ends the count, or the code of the limit reached. Otherwise a stolen password could make
   * more calls by transfers.
   */
  takeReferral({ id, maxCalls, callsPerSecond }: ReferringEndpoint): (() => void) | Code {
    if (maxCalls !== undefined && this.#endpoints.count(id) >= maxCalls) return 'over_call_limit'
    if (callsPerSecond !== undefined) {
      if (!this.#rates.has(endpointRate(id), callsPerSecond)) return 'over_call_rate'
      this.#rates.take(endpointRate(id), callsPerSecond)
    }
    return this.#endpoints.acquire(id)
  }
}

/** Key of the rate of an endpoint's calls. */
export const endpointRate = (id: string | undefined): string => `endpoint ${id}`

/** Single key for all calls of callers who have not yet proved their address. */
const unconfirmed = 'unconfirmed'

const sourceKey = (app: string, source: string): string => `${app} ${senderOf(source)}`
