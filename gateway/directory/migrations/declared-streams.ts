import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Column for streams of the configuration file. `schema-rooms.ts` describes it. */
export const declaredStreams: Migration = {
  name: 'streams of the configuration file',
  up: async (db) => {
    await sql.raw('alter table room_stream add column managed_by_file integer not null default 0').execute(db)
  },
}
