import type { Kysely } from 'kysely'

/** Makes an index of columns. Its name is as it was released, and stays. */
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
