import type { StatusTarget } from '../../model.ts'
import type { CallRow, CallRowStore } from '../log/call-rows.ts'

/**
 * Rows of calls for tests, in the order of their start. Throws for a call that has not started or has ended.
 */
export class StrictCallRows implements CallRowStore {
  readonly rows: CallRow[] = []
  /** Status URLs that were set after the start of a call. */
  readonly watched = new Map<string, StatusTarget>()
  readonly #open = new Set<string>()

  /** Number of calls in progress. */
  get open(): number {
    return this.#open.size
  }

  inProgress(id: string): CallRow | undefined {
    return this.#open.has(id) ? this.rows.find((row) => row.id === id) : undefined
  }

  began(call: Omit<CallRow, 'status'>): CallRow {
    if (this.rows.some(({ id }) => id === call.id)) throw new Error(`${call.id} began twice`)
    const row = { ...call, status: 'queued' } as const
    this.rows.push(row)
    this.#open.add(call.id)
    return row
  }

  changed(id: string, change: Partial<CallRow>): CallRow {
    if (!this.#open.has(id)) throw new Error(`${id} is not in progress`)
    if (change.statusTarget) this.watched.set(id, change.statusTarget)
    const at = this.rows.findIndex((row) => row.id === id)
    const row = { ...this.rows[at]!, ...change }
    this.rows[at] = row
    return row
  }

  ended(id: string, end: Pick<CallRow, 'status' | 'endedAt'>): CallRow {
    const row = this.changed(id, end)
    this.#open.delete(id)
    return row
  }
}
