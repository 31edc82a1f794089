import { randomBytes, randomUUID } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { closeCodes, RemoteError, type RpcSession } from '../rpc-session.ts'
import type { AppCall } from './app-call.ts'
import type { ConnectedPeer } from './connect-operation.ts'

/** Facts and collaborators of an {@link Application}. */
export interface ApplicationOptions {
  readonly projectId: string
  readonly nodeId: string
  /** User agent of the client. */
  readonly agent: string
  /**
   * Whether the client acknowledges events (4.x). Unacknowledged events are sent again over its next
   * connection.
   */
  readonly isAcknowledging: boolean
  readonly clock: Clock
}

/** Treatment of an event that cannot be delivered at once. */
export interface EventDelivery {
  /**
   * Checked before a delayed delivery, and when room is needed: a stale event, such as an offer that has
   * closed, is dropped.
   */
  readonly isStale?: () => boolean
  /** Whether no promise of a client depends on the event. Such events are dropped first. */
  readonly isExpendable?: boolean
}

interface Event extends EventDelivery {
  readonly type: string
  readonly params: unknown
}

/** Maximum number of undelivered events. Stale events are dropped first, then the oldest expendable ones. */
const maxKept = 500
/** Maximum number of topics of an application. */
export const maxTopics = 100

/**
 * Client process of an application. It outlives its WebSocket; missed events are delivered over the next one.
 */
export class Application {
  readonly protocol: string
  readonly signature = randomBytes(20).toString('hex')
  readonly projectId: string
  readonly nodeId: string
  readonly agent: string
  readonly topics = new Set<string>()
  /** Calls that it controls or is offered, by id. */
  readonly calls = new Map<string, AppCall>()
  /** Legs that its calls are connected to, by id. */
  readonly peers = new Map<string, { readonly peer: ConnectedPeer; readonly call: AppCall }>()
  /** Dials in progress. */
  readonly dials = new Set<AbortController>()
  readonly clock: Clock
  readonly #isAcknowledging: boolean
  #session: RpcSession | undefined
  /** Whether the connect request was answered, so that events may follow. */
  #isFlowing = false
  #kept = new Set<Event>()

  constructor({ projectId, nodeId, agent, isAcknowledging, clock }: ApplicationOptions) {
    this.protocol = `signalwire_${this.signature}_${randomUUID()}_${projectId}`
    this.projectId = projectId
    this.nodeId = nodeId
    this.agent = agent
    this.#isAcknowledging = isAcknowledging
    this.clock = clock
  }

  /** Whether the application is connected, so that calls can be offered to it. */
  get isConnected(): boolean {
    return this.#session !== undefined
  }

  /** Number of events that wait for delivery or acknowledgement. */
  get waiting(): number {
    return this.#kept.size
  }

  /** Whether the application may subscribe to these further topics. */
  hasRoom(topics: readonly string[]): boolean {
    return new Set([...this.topics, ...topics]).size <= maxTopics
  }

  /** Sets the connection and closes a former one. No event is delivered before {@link flush}. */
  bind(session: RpcSession): void {
    const former = this.#session
    if (former === session) return
    this.#session = session
    this.#isFlowing = false
    former?.close(closeCodes.goingAway, 'the application has connected again')
  }

  /** Removes a closed connection. Returns false if the application already has another connection. */
  unbind(session: RpcSession): boolean {
    if (this.#session !== session) return false
    this.#session = undefined
    this.#isFlowing = false
    for (const call of [...this.calls.values()]) call.unreachable()
    return true
  }

  /** Delivers missed events, and later events at once. */
  flush(): void {
    // After a repeated sign-in on the same connection, no event was missed.
    if (this.#isFlowing) return
    this.#isFlowing = true
    for (const event of [...this.#kept]) {
      if (event.isStale?.()) this.#kept.delete(event)
      else this.#deliver(event)
    }
  }

  /** Sends an event, now or on reconnection. */
  emit(type: string, params: unknown, delivery: EventDelivery = {}): void {
    const event = { type, params, ...delivery }
    this.#kept.add(event)
    if (this.#kept.size > maxKept) this.#makeRoom()
    if (this.#isFlowing) this.#deliver(event)
  }

  /** Cancels dials and ends calls because the application did not reconnect in time. */
  lost(): void {
    for (const dial of [...this.dials]) dial.abort()
    for (const call of [...this.calls.values()]) call.abandoned()
    this.#kept.clear()
  }

  /**
   * Drops the event that is worth least. A stale one would not be delivered later. Rooms and agents have many
   * events; those that promises of clients depend on must not be lost.
   */
  #makeRoom(): void {
    const events = [...this.#kept]
    const victim =
      events.find((event) => event.isStale?.()) ?? events.find((event) => event.isExpendable) ?? events[0]
    if (victim) this.#kept.delete(victim)
  }

  #deliver(event: Event): void {
    const session = this.#session
    if (!session) return
    const { type, params } = event
    const envelope = {
      event_type: type,
      event_channel: this.protocol,
      timestamp: this.clock.now() / 1000,
      project_id: this.projectId,
      space_id: this.projectId,
      node_id: this.nodeId,
      ...contextOf(params),
      params,
    }
    if (this.#isAcknowledging) void this.#sendUntilAcknowledged(session, event, envelope)
    else {
      session.post('signalwire.event', envelope)
      this.#kept.delete(event)
    }
  }

  /**
   * Sends an event, and removes it once acknowledged; an unacknowledged event stays for the next connection.
   */
  async #sendUntilAcknowledged(session: RpcSession, event: Event, envelope: unknown): Promise<void> {
    try {
      await session.request('signalwire.event', envelope)
    } catch (error) {
      if (!(error instanceof RemoteError)) return
    }
    this.#kept.delete(event)
  }
}

/** Returns the context of a `calling.call.receive` event, which its envelope repeats. */
const contextOf = (params: unknown): { context?: string } => {
  const context = (params as { readonly context?: unknown }).context
  return typeof context === 'string' ? { context } : {}
}
