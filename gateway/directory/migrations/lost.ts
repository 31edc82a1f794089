import { type Kysely, sql } from 'kysely'
import type { Migration } from './run.ts'

/**
 * Status targets of calls and recordings for the case that their gateway stops; source and kind of a
 * recording.
 */
export const lost: Migration = {
  name: 'status targets of calls and recordings; origin of recordings',
  up: async (db) => {
    await db.schema.alterTable('call').addColumn('status_json', 'text').execute()
    // One after the other: SQLite cannot add two at once.
    for (const column of ['status_json', 'source', 'track', 'conference_id'])
      await db.schema.alterTable('recording').addColumn(column, 'text').execute()
    await createToldIndex(db)
  },
}

const createToldIndex = (db: Kysely<unknown>): Promise<void> =>
  db.schema
    .createIndex('recording_to_be_told')
    .on('recording')
    .column('node_id')
    .where(sql.ref('status_json'), 'is not', null)
    .execute()
