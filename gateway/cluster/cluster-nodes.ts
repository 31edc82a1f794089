import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { PeriodicTask } from '../core/periodic-task.ts'
import type { Ends } from '../directory/tables/interrupted.ts'
import type { NodeRows, TakenOver } from '../directory/tables/nodes.ts'

/** Interval of the heartbeats that a gateway writes to the store, in ms. */
const heartbeatMs = 30_000
/** Time in ms after the last heartbeat of a gateway for which it may still change its rows. */
const leaseMs = 180_000
/** Time without a heartbeat after which a gateway counts as stopped, in ms. */
const takeoverAfterMs = 900_000

/** Collaborators of {@link ClusterNodes}. */
export interface ClusterNodesDeps {
  readonly rows: NodeRows
  /** Id of this gateway. */
  readonly nodeId: string
  /** Ends of the calls, recordings and room sessions of a stopped gateway. */
  readonly ends: Ends
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'error'>
}

/**
 * Gateways that share the store: writes this gateway's heartbeats, and recovers the calls, recordings and
 * callbacks of gateways that have stopped.
 */
export class ClusterNodes {
  readonly #deps: ClusterNodesDeps
  readonly #repeat: PeriodicTask
  readonly #listeners: ((taken: TakenOver) => void)[] = []
  #seenAt: number
  #failed = false
  /**
   * Last heartbeat of this gateway before this start, in ms since 1970; the present time at the first start.
   */
  readonly lastSeenAt: number

  private constructor(deps: ClusterNodesDeps, seenAt: number, wasThereAt: number) {
    this.#deps = deps
    this.#seenAt = seenAt
    this.lastSeenAt = wasThereAt
    this.#repeat = new PeriodicTask(deps.clock, heartbeatMs, () => this.#look())
  }

  /** Opens the registry and starts the heartbeats. Rejects if the store cannot be used. */
  static async open(deps: ClusterNodesDeps): Promise<ClusterNodes> {
    const now = deps.clock.now()
    const before = (await deps.rows.lastSeen(deps.nodeId)) ?? now
    await deps.rows.seen(deps.nodeId, now)
    const nodes = new ClusterNodes(deps, now, before)
    nodes.#repeat.start()
    return nodes
  }

  /** Whether no other gateway can have recovered this gateway's rows. */
  get holdsLease(): boolean {
    return this.#deps.clock.now() - this.#seenAt < leaseMs
  }

  /** Calls `listener` after each recovery; the recovered rows then belong to this gateway. */
  onTakeover(listener: (taken: TakenOver) => void): void {
    this.#listeners.push(listener)
  }

  /** Stops the heartbeats, and waits for a heartbeat that is being written. Idempotent. */
  close(): Promise<void> {
    return this.#repeat.close()
  }

  async #look(): Promise<void> {
    const { rows, nodeId, clock, log } = this.#deps
    try {
      const now = clock.now()
      await rows.seen(nodeId, now)
      this.#seenAt = now
      this.#failed = false
      for (const gone of await rows.silent(now - takeoverAfterMs)) await this.#takeOver(gone)
    } catch (error) {
      if (!this.#failed) log.error({ event: 'cluster.heartbeat-failed', err: error }, 'heartbeat not written')
      this.#failed = true
    }
  }

  async #takeOver(gone: string): Promise<void> {
    const { rows, nodeId: heir, ends, clock, log } = this.#deps
    const taken = await rows.takeOver(gone, clock.now() - takeoverAfterMs, { heir, ends })
    if (!taken) return
    const callbacks = [...taken.callbacks.values()].reduce((sum, count) => sum + count, 0)
    log.info(
      { event: 'cluster.node-recovered', node: gone, callbacks, calls: taken.calls },
      'calls and callbacks of a stopped gateway recovered',
    )
    for (const listener of this.#listeners) listener(taken)
  }
}
