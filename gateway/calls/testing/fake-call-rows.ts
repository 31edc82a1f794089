import type { CallHistory, CallRow, CallRowStore, CallsInProgress } from '../log/call-rows.ts'

/** Rows of calls for tests: in memory, in the order of their start. */
export class FakeCallRows implements CallRowStore, CallsInProgress, Pick<CallHistory, 'find' | 'settled'> {
  readonly rows = new Map<string, CallRow>()
  /** Ends of calls, in their order. */
  readonly ends = new Map<string, Partial<CallRow>>()

  /** Number of calls in progress. */
  get live(): number {
    return [...this.rows.values()].filter(({ endedAt }) => endedAt === undefined).length
  }

  get rowsInProgress(): readonly CallRow[] {
    return [...this.rows.values()].filter(({ endedAt }) => endedAt === undefined)
  }

  inProgress(id: string): CallRow | undefined {
    const row = this.rows.get(id)
    return row?.endedAt === undefined ? row : undefined
  }

  calledBy(id: string): readonly CallRow[] {
    return [...this.rows.values()].filter((row) => row.parentId === id && row.endedAt === undefined)
  }

  async find(projectId: string, id: string): Promise<CallRow | undefined> {
    const row = this.rows.get(id)
    return row?.projectId === projectId ? row : undefined
  }

  async settled(): Promise<void> {}

  began(call: Omit<CallRow, 'status'>): CallRow {
    const row = { ...call, status: 'queued' } as const
    this.rows.set(call.id, row)
    return row
  }

  changed(id: string, change: Partial<CallRow>): CallRow | undefined {
    const before = this.inProgress(id)
    if (!before) return undefined
    const row = { ...before, ...change }
    this.rows.set(id, row)
    return row
  }

  ended(id: string, end: Partial<CallRow>): CallRow | undefined {
    this.ends.set(id, end)
    return this.changed(id, end)
  }
}
