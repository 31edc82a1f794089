import type { Kysely } from 'kysely'

/** Creates an index of columns. Released names must not change. */
export const createIndex = (
  db: Kysely<unknown>,
  table: string,
  columns: readonly string[],
  name = `${table}_by_${columns.join('_')}`,
): Promise<void> =>
  db.schema
    .createIndex(name)
    .on(table)
    .columns([...columns])
    .execute()
