import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { PeriodicTask } from '../core/periodic-task.ts'
import type { ConversationRows } from '../directory/tables/conversations.ts'

/** Collaborators of {@link MessageRetention}. */
export interface MessageRetentionDeps {
  readonly rows: Pick<ConversationRows, 'removeOlder' | 'removeDeserted'>
  /** Time for which messages are kept, in ms. */
  readonly keepMs: number
  readonly clock: Clock
  readonly log: Pick<Log, 'error'>
}

const hourMs = 3_600_000
/** Number of messages removed in one transaction. */
const portion = 500

/**
 * Removes expired messages and conversations without members, at the start and every hour.
 */
export class MessageRetention {
  #deps: MessageRetentionDeps
  readonly #repeat: PeriodicTask
  readonly #first: Promise<void>
  #isClosed = false

  constructor(deps: MessageRetentionDeps) {
    this.#deps = deps
    this.#repeat = new PeriodicTask(deps.clock, hourMs, () => this.#tidy())
    this.#first = this.#tidy().then(() => this.#repeat.start())
  }

  /** Changes the time for which messages are kept. */
  change(keepMs: number): void {
    this.#deps = { ...this.#deps, keepMs }
  }

  /** Waits for a removal in progress. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#first
    await this.#repeat.close()
  }

  async #tidy(): Promise<void> {
    const { rows, keepMs, clock, log } = this.#deps
    const before = clock.now() - keepMs
    try {
      let removed = portion
      while (removed === portion && !this.#isClosed) {
        removed = await rows.removeOlder(before, portion)
        // Lets other work on the store run between two transactions.
        await new Promise(setImmediate)
      }
      await rows.removeDeserted()
    } catch (error) {
      log.error({ event: 'chat.removal-failed', err: error }, 'expired messages not removed')
    }
  }
}
