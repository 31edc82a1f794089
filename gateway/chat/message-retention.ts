import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { PeriodicTask } from '../core/periodic-task.ts'
import type { ConversationRows } from '../directory/conversations.ts'

/** What retention works with. */
export interface MessageRetentionDeps {
  readonly rows: Pick<ConversationRows, 'removeOlder' | 'removeDeserted'>
  /** How long messages are kept. */
  readonly keepMs: number
  readonly clock: Clock
  readonly log: Pick<Log, 'error'>
}

const hourMs = 3_600_000
/** Messages that are removed at once. */
const portion = 500

/**
 * Removes messages that are as old as they may become, and conversations that nobody is part of: at the
 * start, and every hour.
 */
export class MessageRetention {
  #parts: MessageRetentionDeps
  readonly #repeat: PeriodicTask
  readonly #first: Promise<void>
  #closed = false

  constructor(parts: MessageRetentionDeps) {
    this.#parts = parts
    this.#repeat = new PeriodicTask(parts.clock, hourMs, () => this.#tidy())
    this.#first = this.#tidy().then(() => this.#repeat.start())
  }

  /** Keeps messages for so long from now on. */
  change(keepMs: number): void {
    this.#parts = { ...this.#parts, keepMs }
  }

  /** Idempotent; waits for what is being removed. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#first
    await this.#repeat.close()
  }

  async #tidy(): Promise<void> {
    const { rows, keepMs, clock, log } = this.#parts
    const before = clock.now() - keepMs
    try {
      let removed = portion
      while (removed === portion && !this.#closed) {
        removed = await rows.removeOlder(before, portion)
        // Others use the store meanwhile.
        await new Promise(setImmediate)
      }
      await rows.removeDeserted()
    } catch (error) {
      log.error({ err: error }, 'old messages could not be removed')
    }
  }
}
