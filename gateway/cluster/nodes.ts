import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { Repeat } from '../core/periodic-task.ts'
import type { Ends } from '../directory/interrupted.ts'
import type { NodeRows, TakenOver } from '../directory/nodes.ts'

/** How often a gateway says that it is there. */
const SEEN_MS = 30_000
/**
 * A gateway that could not say so for so long leaves alone what others may take over, well before they do.
 */
const SURE_MS = 180_000
/** A gateway that was not heard of for so long is gone. */
const GONE_MS = 900_000

/** What {@link Nodes} work with. */
export interface NodesParts {
  readonly rows: NodeRows
  /** Of this gateway. */
  readonly nodeId: string
  /** How everything ends whose gateway is gone. */
  readonly ends: Ends
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'error'>
}

/**
 * The gateways that share the store: says that this one is there, and takes over what those have left that
 * are gone.
 */
export class Nodes {
  readonly #parts: NodesParts
  readonly #repeat: Repeat
  readonly #listeners: ((taken: TakenOver) => void)[] = []
  #seenAt: number
  #failed = false
  /** When this gateway was there last before it was opened, in ms since 1970; now where it never was. */
  readonly wasThereAt: number

  private constructor(parts: NodesParts, seenAt: number, wasThereAt: number) {
    this.#parts = parts
    this.#seenAt = seenAt
    this.wasThereAt = wasThereAt
    this.#repeat = new Repeat(parts.clock, SEEN_MS, () => this.#look())
  }

  /** Rejects where the store cannot be used. */
  static async open(parts: NodesParts): Promise<Nodes> {
    const now = parts.clock.now()
    const before = (await parts.rows.lastSeen(parts.nodeId)) ?? now
    await parts.rows.seen(parts.nodeId, now)
    const nodes = new Nodes(parts, now, before)
    nodes.#repeat.start()
    return nodes
  }

  /** Whether nobody else can have taken over what is this gateway's. */
  get isSure(): boolean {
    return this.#parts.clock.now() - this.#seenAt < SURE_MS
  }

  /** Tells of what was taken over, once it is this gateway's. */
  onTakenOver(listener: (taken: TakenOver) => void): void {
    this.#listeners.push(listener)
  }

  /** Waits for what is being done. Idempotent. */
  close(): Promise<void> {
    return this.#repeat.close()
  }

  async #look(): Promise<void> {
    const { rows, nodeId, clock, log } = this.#parts
    try {
      const now = clock.now()
      await rows.seen(nodeId, now)
      this.#seenAt = now
      this.#failed = false
      for (const gone of await rows.silent(now - GONE_MS)) await this.#takeOver(gone)
    } catch (error) {
      if (!this.#failed) log.error({ err: error }, 'other gateways cannot be told that this one is there')
      this.#failed = true
    }
  }

  async #takeOver(gone: string): Promise<void> {
    const { rows, nodeId: heir, ends, clock, log } = this.#parts
    const taken = await rows.takeOver(gone, clock.now() - GONE_MS, { heir, ends })
    if (!taken) return
    const callbacks = [...taken.callbacks.values()].reduce((sum, count) => sum + count, 0)
    log.info({ node: gone, callbacks, calls: taken.calls }, 'what a gateway left that is gone was taken over')
    for (const listener of this.#listeners) listener(taken)
  }
}
