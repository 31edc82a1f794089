import type { RecordingRow } from '../directory/tables/recordings.ts'

/** Number of rows per query. */
const batchSize = 100

/** Reason for a removal; `orphan`: a file without a row. */
export type RemovedBy = 'age' | 'room' | 'request' | 'orphan'

/** Collaborators and limits of a {@link Retention}. */
export interface RetentionDeps {
  /** Maximum age in ms; absent: no limit. */
  readonly keepMs?: number
  /** Maximum total size in bytes; absent: no limit. */
  readonly maxBytes?: number
  /** Returns the oldest ended recordings. */
  oldest(limit: number, before?: number): Promise<readonly RecordingRow[]>
  /** Returns the present total size in bytes. */
  total(): number
  /** Removes a recording. Resolves with false after a failure. */
  remove(row: RecordingRow, by: RemovedBy): Promise<boolean>
}

/**
 * Removes recordings past the maximum age, and the oldest recordings while the total size exceeds its limit.
 */
export class Retention {
  #deps: RetentionDeps

  constructor(deps: RetentionDeps) {
    this.#deps = deps
  }

  /** Changes the limits from now on. */
  change({ keepMs, maxBytes }: Pick<RetentionDeps, 'keepMs' | 'maxBytes'>): void {
    const { keepMs: _keepMs, maxBytes: _maxBytes, ...deps } = this.#deps
    this.#deps = {
      ...deps,
      ...(keepMs !== undefined && { keepMs }),
      ...(maxBytes !== undefined && { maxBytes }),
    }
  }

  /** Removes the recordings that exceed a limit at `now` (ms since the Unix epoch). */
  async run(now: number): Promise<void> {
    const { keepMs, maxBytes } = this.#deps
    if (keepMs !== undefined) await this.#clear('age', () => true, now - keepMs)
    if (maxBytes !== undefined) await this.#clear('room', () => this.#deps.total() > maxBytes)
  }

  /**
   * Removes the oldest recordings while `due` returns true. A failed removal is skipped until the next run.
   */
  async #clear(by: RemovedBy, due: () => boolean, before?: number): Promise<void> {
    while (due()) {
      const rows = await this.#deps.oldest(batchSize, before)
      let removed = 0
      for (const row of rows) {
        if (!due()) return
        if (await this.#deps.remove(row, by)) removed++
      }
      if (removed === 0) return
    }
  }
}
