import type { StatusTarget } from '../../model.ts'
import type { CallBook } from '../log/call-log.ts'
import type { CallRow } from '../log/call-rows.ts'

/** A book of calls for tests: the rows in the order of their beginning. What is told of a call that has not begun, or is over, throws. */
export class FakeBook implements CallBook {
  readonly rows: CallRow[] = []
  readonly watched = new Map<string, StatusTarget>()
  readonly #open = new Set<string>()

  /** Calls that are not over. */
  get open(): number {
    return this.#open.size
  }

  began(call: Omit<CallRow, 'status'>): void {
    if (this.rows.some(({ id }) => id === call.id)) throw new Error(`${call.id} began twice`)
    this.rows.push({ ...call, status: 'queued' })
    this.#open.add(call.id)
  }

  changed(id: string, change: Partial<CallRow>): void {
    const at = this.#at(id)
    this.rows[at] = { ...this.rows[at]!, ...change }
  }

  ended(id: string, end: Pick<CallRow, 'status' | 'endedAt'>): void {
    this.changed(id, end)
    this.#open.delete(id)
  }

  watch(id: string, status: StatusTarget): void {
    this.#at(id)
    this.watched.set(id, status)
  }

  #at(id: string): number {
    if (!this.#open.has(id)) throw new Error(`${id} is not in progress`)
    return this.rows.findIndex((row) => row.id === id)
  }
}
