import { randomBytes, randomUUID } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { closeCodes, RemoteError, type RpcSession } from '../rpc-session.ts'
import type { AppCall } from './app-call.ts'
import type { ConnectedPeer } from './connect-operation.ts'

/** What an application is made from. */
export interface ApplicationOptions {
  readonly projectId: string
  readonly nodeId: string
  /** How the client names itself. */
  readonly agent: string
  /** It acknowledges events (4.x); what it has not acknowledged is sent again over its next connection. */
  readonly acknowledges: boolean
  readonly clock: Pick<Clock, 'now'>
}

interface Event {
  readonly type: string
  readonly params: unknown
  /** Asked before it is delivered late: an offer that is over is not. */
  readonly isStale: (() => boolean) | undefined
}

const maxKept = 500
/** Topics of one application. */
export const maxTopics = 100

/** One client process. It outlives its WebSocket: what it missed is delivered over the next one. */
export class Application {
  readonly protocol: string
  readonly signature = randomBytes(20).toString('hex')
  readonly projectId: string
  readonly nodeId: string
  readonly agent: string
  readonly topics = new Set<string>()
  /** Calls that it drives or is offered, by their id. */
  readonly calls = new Map<string, AppCall>()
  /** Who its calls are connected to, with the call that is. */
  readonly peers = new Map<string, { readonly peer: ConnectedPeer; readonly call: AppCall }>()
  /** What it is dialling. */
  readonly dials = new Set<AbortController>()
  readonly #acknowledges: boolean
  readonly #clock: Pick<Clock, 'now'>
  #session: RpcSession | undefined
  /** The connection has had its answer: events may follow. */
  #flowing = false
  #kept = new Set<Event>()

  constructor({ projectId, nodeId, agent, acknowledges, clock }: ApplicationOptions) {
    this.protocol = `signalwire_${this.signature}_${randomUUID()}_${projectId}`
    this.projectId = projectId
    this.nodeId = nodeId
    this.agent = agent
    this.#acknowledges = acknowledges
    this.#clock = clock
  }

  /** It has a connection: calls can be offered to it. */
  get isConnected(): boolean {
    return this.#session !== undefined
  }

  /** Events that are kept for it. */
  get waiting(): number {
    return this.#kept.size
  }

  /** Whether it can listen on so many topics more. */
  hasRoom(topics: readonly string[]): boolean {
    return new Set([...this.topics, ...topics]).size <= maxTopics
  }

  /**
   * It is back on this connection; another one that it had is closed. Nothing is delivered before {@link
   * flush}.
   */
  bind(session: RpcSession): void {
    const former = this.#session
    if (former === session) return
    this.#session = session
    this.#flowing = false
    former?.close(closeCodes.goingAway, 'the application has connected again')
  }

  /** The connection is gone; false when it has another one already. */
  unbind(session: RpcSession): boolean {
    if (this.#session !== session) return false
    this.#session = undefined
    this.#flowing = false
    for (const call of [...this.calls.values()]) call.unreachable()
    return true
  }

  /** Delivers what it missed, and from now on everything at once. */
  flush(): void {
    // It signed in once more on the same connection, which has had everything.
    if (this.#flowing) return
    this.#flowing = true
    for (const event of [...this.#kept]) {
      if (event.isStale?.()) this.#kept.delete(event)
      else this.#deliver(event)
    }
  }

  /** Sends an event, now or when it is back. */
  emit(type: string, params: unknown, isStale?: () => boolean): void {
    const event = { type, params, isStale }
    this.#kept.add(event)
    const [oldest] = this.#kept
    if (oldest && this.#kept.size > maxKept) this.#kept.delete(oldest)
    if (this.#flowing) this.#deliver(event)
  }

  /** It did not come back in time: what it dials is given up, its calls end. */
  lost(): void {
    for (const dial of [...this.dials]) dial.abort()
    for (const call of [...this.calls.values()]) call.abandoned()
    this.#kept.clear()
  }

  #deliver(event: Event): void {
    const session = this.#session
    if (!session) return
    const { type, params } = event
    const envelope = {
      event_type: type,
      event_channel: this.protocol,
      timestamp: this.#clock.now() / 1000,
      project_id: this.projectId,
      space_id: this.projectId,
      node_id: this.nodeId,
      ...contextOf(params),
      params,
    }
    if (this.#acknowledges) void this.#untilTaken(session, event, envelope)
    else {
      session.tell('signalwire.event', envelope)
      this.#kept.delete(event)
    }
  }

  /** What is not acknowledged stays for the next connection. */
  async #untilTaken(session: RpcSession, event: Event, envelope: unknown): Promise<void> {
    try {
      await session.request('signalwire.event', envelope)
    } catch (error) {
      if (!(error instanceof RemoteError)) return
    }
    this.#kept.delete(event)
  }
}

/** The envelope of a received call names the context too. */
const contextOf = (params: unknown): { context?: string } => {
  const context = (params as { readonly context?: unknown }).context
  return typeof context === 'string' ? { context } : {}
}
