import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import { PeriodicTask } from '../core/periodic-task.ts'

/** Interval of the removal, in ms. */
const cleanupMs = 3_600_000
/** Number of rows removed in one transaction. A transaction blocks the store, so it must be short. */
const removalBatch = 200

/** Table whose rows expire. */
export interface ExpiringTable {
  /** Removes at most `most` rows that are older than a time (ms since 1970). Returns their number. */
  removeOlder(before: number, most: number): Promise<number>
}

/** Collaborators of {@link ExpiredRows}. */
export interface ExpiredRowsDeps {
  /** Tables in the order of the removal. */
  readonly tables: readonly ExpiringTable[]
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly log: Pick<Log, 'error'>
  readonly metrics: Pick<Metrics, 'recordsRemoved'>
}

/** Removes the expired rows of tables in the background: at the start, and then each hour. */
export class ExpiredRows {
  readonly #deps: ExpiredRowsDeps
  readonly #afterwards: () => Promise<void>
  readonly #task: PeriodicTask
  #keepMs: number
  #first: Promise<void> = Promise.resolve()
  #isClosing = false

  /** `keepMs`: time for which rows are kept, in ms. `afterwards`: runs after each removal. */
  constructor(deps: ExpiredRowsDeps, keepMs: number, afterwards = async () => {}) {
    this.#deps = deps
    this.#keepMs = keepMs
    this.#afterwards = afterwards
    this.#task = new PeriodicTask(deps.clock, cleanupMs, () => this.#remove())
  }

  /** Changes the time for which rows are kept, in ms. */
  change(keepMs: number): void {
    this.#keepMs = keepMs
  }

  /** Begins the first removal. Called once. */
  start(): void {
    this.#first = this.#remove().then(() => this.#task.start())
  }

  /** Stops, and waits for a removal in progress to end after its present transaction. Idempotent. */
  async close(): Promise<void> {
    this.#isClosing = true
    await Promise.all([this.#first, this.#task.close()])
  }

  async #remove(): Promise<void> {
    const { tables, clock, log, metrics } = this.#deps
    const before = clock.now() - this.#keepMs
    try {
      for (const table of tables) {
        let removed = removalBatch
        while (removed === removalBatch && !this.#isClosing) {
          removed = await table.removeOlder(before, removalBatch)
          metrics.recordsRemoved.inc(removed)
          await new Promise(setImmediate)
        }
      }
      await this.#afterwards()
    } catch (error) {
      log.error({ event: 'cdr.cleanup-failed', err: error }, 'expired CDRs not removed')
    }
  }
}
