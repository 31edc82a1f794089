import type { CallHistory, CallRow, CallRowLog, CallsInProgress } from '../../calls/log/call-rows.ts'

/** Calls as they are kept, for tests: in memory, in the order of their beginning. */
export class FakeRecords implements CallRowLog, CallsInProgress, Pick<CallHistory, 'find' | 'settled'> {
  readonly rows = new Map<string, CallRow>()

  /** Calls that are not over. */
  get live(): number {
    return [...this.rows.values()].filter(({ endedAt }) => endedAt === undefined).length
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

  began(call: Omit<CallRow, 'status'>): void {
    this.rows.set(call.id, { ...call, status: 'queued' })
  }

  changed(id: string, change: Partial<CallRow>): void {
    const row = this.inProgress(id)
    if (row) this.rows.set(id, { ...row, ...change })
  }

  ended(id: string, end: Partial<CallRow>): void {
    this.changed(id, end)
  }
}
