import { sql } from 'kysely'
import type { Store } from '../store/sqlite.ts'

/** Column by whose time a row expires, by table. */
const begin = {
  call: 'created_at',
  cdr: 'started_at',
  message: 'created_at',
  subscriber_call: 'ended_at',
  room_session: 'ended_at',
  room_member: 'left_at',
  room_event: 'created_at',
} as const

/**
 * Removes rows whose time is before `before` (ms since the Unix epoch), the oldest first, at most `most` at
 * once. Returns their number.
 */
export const removeOlder = async (
  store: Store,
  table: keyof typeof begin,
  before: number,
  most: number,
): Promise<number> => {
  const rows = sql.table(table)
  const began = sql.ref(begin[table])
  const { numAffectedRows } = await sql`delete from ${rows} where id in
    (select id from ${rows} where ${began} < ${before} order by ${began} limit ${most})`.execute(store)
  return Number(numAffectedRows ?? 0)
}
