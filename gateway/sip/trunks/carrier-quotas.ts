import type { CallQuota, CarrierCallLimits, Config } from '../../../config/types.ts'
import type { Clock } from '../../core/clock.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import { CallRateBuckets } from '../admission/call-rate-buckets.ts'
import { Concurrency } from '../admission/concurrency.ts'

/** Holder of a subscriber access token, to whose quota calls to carriers are charged. */
export interface Payer {
  readonly projectId: string
  /** Subscriber with its quota; absent for a guest, because all guests of one project share a quota. */
  readonly subscriber?: CallQuota & { readonly id: string }
}

/** Quotas of calls to carriers. */
export interface CarrierQuotaLimits extends Pick<CarrierCallLimits, 'perSubscriber' | 'guests'> {
  /** Returns the quota of a project, for all its callers, documents and applications together. */
  readonly ofProject: (projectId: string) => CallQuota
}

/** Returns the quotas of a configuration. A project may have a quota that differs from the default. */
export const quotaLimits = ({
  projects,
  limits: { carrierCalls },
}: Pick<Config, 'projects'> & {
  readonly limits: Pick<Config['limits'], 'carrierCalls'>
}): CarrierQuotaLimits => {
  const { perProject, perSubscriber, guests } = carrierCalls
  const own = new Map(projects.map(({ id, carrierCalls: quota }) => [id, { ...perProject, ...quota }]))
  return { perSubscriber, guests, ofProject: (projectId) => own.get(projectId) ?? perProject }
}

/** Leg to a carrier, and the call that dials it. */
export interface QuotaRequest {
  readonly projectId: string
  readonly callId: string
  /**
   * Id of the first call that led to this call. The payer of that call is charged. Default {@link callId}.
   */
  readonly originId?: string
}

interface Scope extends CallQuota {
  /** Name for logs; also the key of the counts. */
  readonly name: string
}

/**
 * Counts calls to carriers, in progress and new ones a second: for each project, for each subscriber, and for
 * all guests of a project. The quotas limit the cost of a stolen password or a looping document. Each gateway
 * counts only its own calls.
 */
export class CarrierQuotas {
  #limits: CarrierQuotaLimits
  readonly #calls = new Concurrency()
  readonly #rates: CallRateBuckets
  readonly #payers = new Map<string, Payer>()

  constructor(limits: CarrierQuotaLimits, clock: Pick<Clock, 'now'>) {
    this.#limits = limits
    this.#rates = new CallRateBuckets(() => clock.now())
  }

  /** Changes the quotas. Calls in progress stay counted. */
  change(limits: CarrierQuotaLimits): void {
    this.#limits = limits
  }

  /** Number of calls with a payer; see {@link attribute}. */
  get attributed(): number {
    return this.#payers.size
  }

  /** Charges all legs to carriers that a call dials to a payer, until the returned function is called. */
  attribute(callId: string, payer: Payer): () => void {
    this.#payers.set(callId, payer)
    return () => void this.#payers.delete(callId)
  }

  /**
   * Counts one leg to a carrier. Returns the idempotent function that ends the count. If a quota is
   * exhausted, returns the cause of the rejection, which names the quota.
   */
  take({ projectId, callId, originId = callId }: QuotaRequest): (() => void) | Cause {
    const scopes = this.#scopes(projectId, this.#payers.get(originId))
    for (const { name, maxCalls, callsPerSecond } of scopes) {
      if (maxCalls !== undefined && this.#calls.count(name) >= maxCalls)
        return { code: 'over_call_limit', detail: `${name}: ${maxCalls} calls to carriers at once` }
      if (callsPerSecond !== undefined && !this.#rates.has(name, callsPerSecond))
        return { code: 'over_call_rate', detail: `${name}: ${callsPerSecond} new calls to carriers a second` }
    }
    for (const { name, callsPerSecond } of scopes)
      if (callsPerSecond !== undefined) this.#rates.take(name, callsPerSecond)
    const releases = scopes.map(({ name }) => this.#calls.acquire(name))
    return () => {
      for (const release of releases) release()
    }
  }

  #scopes(projectId: string, payer: Payer | undefined): readonly Scope[] {
    const { ofProject, perSubscriber, guests } = this.#limits
    const project = { ...ofProject(projectId), name: `project ${projectId}` }
    if (!payer) return [project]
    const { subscriber } = payer
    if (!subscriber) return [project, { ...guests, name: `guests of ${payer.projectId}` }]
    return [
      project,
      {
        name: `subscriber ${subscriber.id}`,
        maxCalls: subscriber.maxCalls ?? perSubscriber.maxCalls,
        callsPerSecond: subscriber.callsPerSecond ?? perSubscriber.callsPerSecond,
      },
    ]
  }
}
