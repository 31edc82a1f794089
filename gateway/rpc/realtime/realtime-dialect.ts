import { createHash, randomUUID } from 'node:crypto'
import type { CallControl } from '../../../handlers/verbs.ts'
import type { ProjectAccess } from '../../auth/project-access.ts'
import type { Applications, Originator } from '../../calls/call-ports.ts'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import { FixedWindowLimiter } from '../../core/rates.ts'
import type { RpcHandler, RpcSession } from '../rpc-session.ts'
import { ApplicationConnection } from './application-connection.ts'
import { ApplicationRegistry } from './application-registry.ts'
import { dialedDevicesLimit } from './dial-request.ts'
import { offerCall } from './offer-call.ts'

/** Limits of the application dialect, in milliseconds. */
export interface RealtimeLimits {
  /** How long an application that lost its connection is waited for, with its calls and events. */
  readonly graceMs: number
  /** How long an application may leave a call untouched before the next one is asked. */
  readonly offerMs: number
}

/** The default limits: the published clients connect again within 4 s. */
export const defaultRealtimeLimits: RealtimeLimits = { graceMs: 30_000, offerMs: 10_000 }

/** What the application dialect works with. */
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
 * The dialect that customers' applications speak: it knows which are there, offers them calls, and dials for
 * them.
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

  /** Applications that are known, connected or waited for. */
  get applications(): number {
    return this.#registry.size
  }

  /** Calls that applications drive or are offered. */
  get calls(): number {
    return this.#registry.calls
  }

  /**
   * Connected listeners by topic, for a gauge: 50 topics by their hash, the others together as `*`. Topics
   * are names that customers chose, and whoever reads metrics need not know them.
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

  /** Gives a new WebSocket from a network address its vocabulary. */
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

  /** Forgets every application; their calls end. Sessions are closed by their server. */
  close(): void {
    this.#registry.close()
  }
}

/** The label of a topic: the first 12 hexadecimal digits of its SHA-256. */
const topicHash = (topic: string): string => createHash('sha256').update(topic).digest('hex').slice(0, 12)
