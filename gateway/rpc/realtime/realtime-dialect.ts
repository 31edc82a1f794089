import { createHash, randomUUID } from 'node:crypto'
import type { CallControl } from '../../../handlers/verbs.ts'
import type { ProjectAccess } from '../../auth/project-access.ts'
import type { RunAgent } from '../../calling/operations/agent-operation.ts'
import type { Originator } from '../../calls/connect/origination.ts'
import type { Applications } from '../../calls/session/handler-runner.ts'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { RpcHandler, RpcSession } from '../rpc-session.ts'
import type { Application } from './application.ts'
import { ApplicationConnection } from './application-connection.ts'
import { ApplicationRegistry } from './application-registry.ts'
import { ApplicationRooms, type RoomSessions } from './application-rooms.ts'
import { ApplicationDialer } from './dial-request.ts'
import { offerCall } from './offer-call.ts'

/**
 * Time that an application has to reconnect before its calls end, in milliseconds. The published clients
 * reconnect within 4 s.
 */
const graceMs = 30_000

/** Collaborators of {@link RealtimeDialect}. */
export interface RealtimeDialectDeps {
  readonly access: ProjectAccess
  readonly originator: Originator
  readonly rooms: RoomSessions
  readonly runAgent: RunAgent
  readonly metrics: Pick<Metrics, 'rejections' | 'applicationOffers'>
  readonly clock: Clock
  readonly log: Log
  /** Name of this gateway in the dialect; default a random one. */
  readonly nodeId?: string
}

/** Maximum number of topics that have a separate metric label. */
const maxTopicLabels = 50

/**
 * Dialect of customers' applications: tracks connected applications, offers them calls, dials for them, and
 * shows them the rooms of their project.
 */
export class RealtimeDialect implements Applications {
  readonly #deps: RealtimeDialectDeps
  readonly #registry: ApplicationRegistry
  readonly #dialer: ApplicationDialer
  readonly #rooms: ApplicationRooms

  constructor(deps: RealtimeDialectDeps) {
    this.#deps = deps
    const { rooms, clock, nodeId = randomUUID() } = deps
    this.#rooms = new ApplicationRooms(rooms)
    const forget = (application: Application) => this.#rooms.forget(application)
    this.#registry = new ApplicationRegistry(nodeId, clock, graceMs, forget)
    this.#dialer = new ApplicationDialer(deps)
  }

  /** Number of applications, including those that may reconnect. */
  get applications(): number {
    return this.#registry.size
  }

  /** Number of calls that applications control or are offered. */
  get calls(): number {
    return this.#registry.calls
  }

  /** Number of subscriptions to the events of rooms. */
  get roomSubscriptions(): number {
    return this.#rooms.subscriptions
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

  /** Returns the number of connected applications that listen on a topic of a project. */
  listeners(projectId: string, topic: string): number {
    return this.#registry.listeners(projectId, topic)
  }

  /** Creates the handler of a new WebSocket from a network address. */
  open(session: RpcSession, address: string): RpcHandler {
    const { access, metrics, log } = this.#deps
    const deps = {
      access,
      registry: this.#registry,
      dialer: this.#dialer,
      rooms: this.#rooms,
      metrics,
      log,
    }
    return new ApplicationConnection(deps, session, address)
  }

  run(call: CallControl, topic: string): Promise<void> {
    return offerCall({ ...this.#deps, registry: this.#registry }, call, topic)
  }

  /** Removes every application and ends its calls. The server closes the sessions. */
  close(): void {
    this.#rooms.close()
    this.#registry.close()
  }
}

/** Returns the label of a topic: the first 12 hexadecimal digits of its SHA-256. */
const topicHash = (topic: string): string => createHash('sha256').update(topic).digest('hex').slice(0, 12)
