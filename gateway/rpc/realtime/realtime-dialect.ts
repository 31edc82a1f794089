import { createHash, randomUUID } from 'node:crypto'
import type { CallControl } from '../../../handlers/verbs.ts'
import type { ProjectAccess } from '../../auth/project-access.ts'
import type { Originator } from '../../calls/connect/origination.ts'
import type { Applications } from '../../calls/session/handler-runner.ts'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import { FixedWindowLimiter } from '../../core/rates.ts'
import type { RpcHandler, RpcSession } from '../rpc-session.ts'
import { ApplicationConnection } from './application-connection.ts'
import { ApplicationRegistry } from './application-registry.ts'
import { dialedDevicesLimit } from './dial-request.ts'
import { offerCall } from './offer-call.ts'

/** Limits of the application dialect. */
export interface RealtimeLimits {
  /** Time that an application has to reconnect before its calls end, in milliseconds. */
  readonly graceMs: number
  /** Time limit of an offer before the next application is asked, in milliseconds. */
  readonly offerMs: number
}

/** Default limits. The published clients reconnect within 4 s. */
export const defaultRealtimeLimits: RealtimeLimits = { graceMs: 30_000, offerMs: 10_000 }

/** Collaborators and settings of {@link RealtimeDialect}. */
export interface RealtimeDialectDeps {
  readonly access: ProjectAccess
  readonly originator: Originator
  readonly metrics: Pick<Metrics, 'rejections' | 'applicationOffers'>
  readonly clock: Clock
  readonly log: Log
  readonly limits?: Partial<RealtimeLimits>
  /** Name of this gateway in the dialect; default a random one. */
  readonly nodeId?: string
}

const maxTopicLabels = 50

/**
 * Dialect of customers' applications: tracks connected applications, offers them calls and dials for them.
 */
export class RealtimeDialect implements Applications {
  readonly #deps: RealtimeDialectDeps
  readonly #limits: RealtimeLimits
  readonly #registry: ApplicationRegistry
  readonly #nodeId: string
  readonly #dialled: FixedWindowLimiter

  constructor(deps: RealtimeDialectDeps) {
    this.#deps = deps
    this.#limits = { ...defaultRealtimeLimits, ...deps.limits }
    this.#registry = new ApplicationRegistry(deps.clock, this.#limits.graceMs)
    this.#dialled = new FixedWindowLimiter(deps.clock, dialedDevicesLimit)
    this.#nodeId = deps.nodeId ?? randomUUID()
  }

  /** Number of applications, including those that may reconnect. */
  get applications(): number {
    return this.#registry.size
  }

  /** Number of calls that applications control or are offered. */
  get calls(): number {
    return this.#registry.calls
  }

  /**
   * Connected applications by topic, for a gauge: 50 topics by their hash, all others as `*`. Customers
   * choose the topics, so metrics must not show them.
   */
  get online(): readonly { readonly labels: { readonly topic: string }; readonly value: number }[] {
    const all = this.#registry.online
    const rest = all.slice(maxTopicLabels).reduce((sum, [, count]) => sum + count, 0)
    const named = all.slice(0, maxTopicLabels).map(([topic, count]) => [topicHash(topic), count] as const)
    return [...named, ...(rest > 0 ? [['*', rest] as const] : [])].map(([topic, value]) => ({
      labels: { topic },
      value,
    }))
  }

  /** Creates the handler of a new WebSocket from a network address. */
  open(session: RpcSession, address: string): RpcHandler {
    const { access, originator, metrics, clock, log } = this.#deps
    const own = { registry: this.#registry, dialled: this.#dialled, nodeId: this.#nodeId }
    const deps = { access, originator, metrics, clock, log, ...own }
    return new ApplicationConnection(deps, session, address)
  }

  run(call: CallControl, topic: string): Promise<void> {
    const { clock, log, metrics } = this.#deps
    const { offerMs } = this.#limits
    return offerCall({ registry: this.#registry, clock, log, metrics, offerMs }, call, topic)
  }

  /** Removes every application and ends its calls. The server closes the sessions. */
  close(): void {
    this.#registry.close()
  }
}

/** Returns the label of a topic: the first 12 hexadecimal digits of its SHA-256. */
const topicHash = (topic: string): string => createHash('sha256').update(topic).digest('hex').slice(0, 12)
