import { sql } from 'kysely'
import type { Store } from './sqlite.ts'

/** When a row of each table began. */
const begin = { call: 'created_at', cdr: 'started_at', message: 'created_at' } as const

/** Removes rows that began before `before` (ms since the Unix epoch), the oldest first, `most` at once. How many there were. */
export const removeOlder = async (
  store: Store,
  table: keyof typeof begin,
  before: number,
  most: number,
): Promise<number> => {
  const [rows, began] = [sql.table(table), sql.ref(begin[table])]
  const { numAffectedRows } = await sql`delete from ${rows} where id in
    (select id from ${rows} where ${began} < ${before} order by ${began} limit ${most})`.execute(store)
  return Number(numAffectedRows ?? 0)
}
