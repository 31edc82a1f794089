import { type CallbackRow, insertCallbacks } from './callbacks.ts'
import { type CdrRow, insertCdrs } from './cdrs.ts'
import type { RecordingRow } from './recordings.ts'
import type { CallTable } from './schema.ts'
import type { Write } from './sqlite.ts'

type Call = Readonly<CallTable>

/** What is written when calls end with their gateway. */
export interface EndedCalls {
  /** The calls, as they are from now on. */
  readonly calls: readonly Call[]
  readonly cdrs: readonly CdrRow[]
  /** Of whoever is to be told of their end. */
  readonly callbacks: readonly CallbackRow[]
}

/**
 * Says how calls ended that were in progress when their gateway was gone, which was there last at `seenAt` (ms since 1970). `over`: calls that
 * they had called, and that were over by then.
 */
export type EndCalls = (open: readonly Call[], over: readonly Call[], seenAt: number) => EndedCalls

/** What is written when recordings end with their gateway. */
export interface EndedRecordings {
  /** As they are from now on. */
  readonly recordings: readonly RecordingRow[]
  /** Of whoever is to be told of their end. */
  readonly callbacks: readonly CallbackRow[]
}

/** Says how recordings ended that were under way, or not told of, when their gateway was gone. */
export type EndRecordings = (rows: readonly RecordingRow[], seenAt: number) => EndedRecordings

/** How everything ends that a gateway had. */
export interface Ends {
  readonly calls: EndCalls
  readonly recordings: EndRecordings
}

/** What became of them. */
export interface Interrupted {
  /** How many were in progress. */
  readonly calls: number
  /** Callbacks of their ends, by the server that they are for. */
  readonly callbacks: ReadonlyMap<string, number>
}

/** Values of one statement. */
const most = 200

/** Ends the calls of a gateway that is gone, all in one transaction: each is told, and has its record, once. `heir` tells. */
export const endCallsOf = async (
  write: Write,
  { nodeId, seenAt, heir }: { readonly nodeId: string; readonly seenAt: number; readonly heir: string },
  end: EndCalls,
): Promise<Interrupted> => {
  const open = await write
    .selectFrom('call')
    .selectAll()
    .where('node_id', '=', nodeId)
    .where('ended_at', 'is', null)
    .execute()
  const { calls, cdrs, callbacks } = end(open, await calledAndOver(write, open), seenAt)
  for (let from = 0; from < calls.length; from += most)
    await upsertCalls(write, calls.slice(from, from + most))
  await insertCdrs(write, cdrs)
  return { calls: open.length, callbacks: await insertCallbacks(write, heir, callbacks) }
}

/** Ends the recordings of a gateway that is gone, or tells of those that were over. Callbacks by server. */
export const endRecordingsOf = async (
  write: Write,
  { nodeId, seenAt, heir }: { readonly nodeId: string; readonly seenAt: number; readonly heir: string },
  end: EndRecordings,
): Promise<ReadonlyMap<string, number>> => {
  const left = await write
    .selectFrom('recording')
    .selectAll()
    .where('node_id', '=', nodeId)
    .where((q) => q.or([q('ended_at', 'is', null), q('status_json', 'is not', null)]))
    .execute()
  const { recordings, callbacks } = end(left, seenAt)
  for (const { id, status, end_reason, ended_at, status_json } of recordings)
    await write
      .updateTable('recording')
      .set({ status, end_reason, ended_at, status_json })
      .where('id', '=', id)
      .execute()
  return insertCallbacks(write, heir, callbacks)
}

const calledAndOver = async (write: Write, open: readonly Call[]): Promise<readonly Call[]> => {
  const found: Call[] = []
  for (const [projectId, calls] of Map.groupBy(open, ({ project_id: id }) => id))
    for (let from = 0; from < calls.length; from += most) {
      const ids = calls.slice(from, from + most).map(({ id }) => id)
      const called = write.selectFrom('call').selectAll().where('project_id', '=', projectId)
      found.push(...(await called.where('parent_id', 'in', ids).where('ended_at', 'is not', null).execute()))
    }
  return found
}

/** Writes calls down, in place of what was written of them before. */
export const upsertCalls = async (write: Write, calls: readonly Call[]): Promise<void> => {
  if (calls.length === 0) return
  await write
    .insertInto('call')
    .values([...calls])
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((row) => ({
        status: row.ref('excluded.status'),
        ringing_at: row.ref('excluded.ringing_at'),
        answered_at: row.ref('excluded.answered_at'),
        ended_at: row.ref('excluded.ended_at'),
        code: row.ref('excluded.code'),
        sip_status: row.ref('excluded.sip_status'),
        answered_by: row.ref('excluded.answered_by'),
        document: row.ref('excluded.document'),
        status_json: row.ref('excluded.status_json'),
      })),
    )
    .execute()
}
