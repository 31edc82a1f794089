import type { RecordingRow } from '../directory/recordings.ts'

/** How many are looked at together. */
const batchSize = 100

/** Why a recording was removed; `orphan`: no row names it. */
export type RemovedBy = 'age' | 'room' | 'request' | 'orphan'

/** What the rule works with. */
export interface RetentionDeps {
  /** Older ones go; absent: none go for their age. */
  readonly keepMs?: number
  /** Of all together; absent: no limit. */
  readonly maxBytes?: number
  /** The oldest that are over, from the table. */
  oldest(limit: number, before?: number): Promise<readonly RecordingRow[]>
  /** Bytes of all together, at this moment. */
  total(): number
  /** False: it could not be removed. */
  remove(row: RecordingRow, by: RemovedBy): Promise<boolean>
}

/** Which recordings are to go: those past their age, and the oldest ones while all together have too many bytes. */
export class Retention {
  #parts: RetentionDeps

  constructor(parts: RetentionDeps) {
    this.#parts = parts
  }

  /** Keeps recordings by these rules from now on. */
  change({ keepMs, maxBytes }: Pick<RetentionDeps, 'keepMs' | 'maxBytes'>): void {
    const { keepMs: _keepMs, maxBytes: _maxBytes, ...parts } = this.#parts
    this.#parts = {
      ...parts,
      ...(keepMs !== undefined && { keepMs }),
      ...(maxBytes !== undefined && { maxBytes }),
    }
  }

  /** Removes what is due at `now` (ms since the Unix epoch). */
  async run(now: number): Promise<void> {
    const { keepMs, maxBytes } = this.#parts
    if (keepMs !== undefined) await this.#clear('age', () => true, now - keepMs)
    if (maxBytes !== undefined) await this.#clear('room', () => this.#parts.total() > maxBytes)
  }

  /** Oldest first, while `due`. What cannot be removed is passed over, and tried again the next time. */
  async #clear(by: RemovedBy, due: () => boolean, before?: number): Promise<void> {
    while (due()) {
      const rows = await this.#parts.oldest(batchSize, before)
      let removed = 0
      for (const row of rows) {
        if (!due()) return
        if (await this.#parts.remove(row, by)) removed++
      }
      if (removed === 0) return
    }
  }
}
