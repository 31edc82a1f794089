import type { CallTable } from '../store/schema.ts'
import type { Write } from '../store/sqlite.ts'
import { type CallbackRow, insertCallbacks } from './callbacks.ts'
import { type CdrRow, insertCdrs } from './cdrs.ts'
import type { RecordingRow } from './recordings.ts'
import type { EndRooms } from './room-sessions.ts'
import { endSubscriberCallsOf } from './subscriber-calls.ts'

type Call = Readonly<CallTable>

/** Rows that are stored when calls end with their gateway. */
export interface EndedCalls {
  /** The calls in their final state. */
  readonly calls: readonly Call[]
  readonly cdrs: readonly CdrRow[]
  /** Callbacks that report the end. */
  readonly callbacks: readonly CallbackRow[]
}

/**
 * Returns the final state of the calls that were in progress (`open`) when their gateway stopped. `over`:
 * ended calls that those calls had created. `seenAt`: last heartbeat of the gateway, in ms since 1970.
 */
export type EndCalls = (open: readonly Call[], over: readonly Call[], seenAt: number) => EndedCalls

/** Rows that are stored when recordings end with their gateway. */
export interface EndedRecordings {
  /** The recordings in their final state. */
  readonly recordings: readonly RecordingRow[]
  /** Callbacks that report the end. */
  readonly callbacks: readonly CallbackRow[]
}

/** Returns the final state of recordings that were in progress or unreported when their gateway stopped. */
export type EndRecordings = (rows: readonly RecordingRow[], seenAt: number) => EndedRecordings

/** Functions that compute how the calls, recordings and room sessions of a stopped gateway end. */
export interface Ends {
  readonly calls: EndCalls
  readonly recordings: EndRecordings
  readonly rooms: EndRooms
}

/** Result of ending the calls and recordings of a stopped gateway. */
export interface Interrupted {
  /** Number of calls that were in progress. */
  readonly calls: number
  /** Number of callbacks that report their end, by server. */
  readonly callbacks: ReadonlyMap<string, number>
}

/** Maximum number of values in one statement. */
const maxValues = 200

/**
 * Ends the calls of a stopped gateway, in one transaction, so that each call is reported and gets its CDR
 * exactly once. The history of subscribers shows their end. `heir`: gateway that sends the callbacks.
 */
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
  for (let from = 0; from < calls.length; from += maxValues)
    await upsertCalls(write, calls.slice(from, from + maxValues))
  await insertCdrs(write, cdrs)
  await endSubscriberCallsOf(write, { nodeId, seenAt })
  return { calls: open.length, callbacks: await insertCallbacks(write, heir, callbacks) }
}

/**
 * Ends a stopped gateway's recordings that were in progress, and reports those that had ended unreported.
 * Returns the number of callbacks by server.
 */
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
    for (let from = 0; from < calls.length; from += maxValues) {
      const ids = calls.slice(from, from + maxValues).map(({ id }) => id)
      const called = write.selectFrom('call').selectAll().where('project_id', '=', projectId)
      found.push(...(await called.where('parent_id', 'in', ids).where('ended_at', 'is not', null).execute()))
    }
  return found
}

/** Stores calls, replacing earlier rows. */
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
