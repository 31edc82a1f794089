import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Column for subscribers who receive no calls. `schema.ts` describes it. */
export const doNotDisturb: Migration = {
  name: 'do not disturb',
  up: async (db) => {
    await sql.raw('alter table subscriber add column do_not_disturb integer').execute(db)
  },
}
