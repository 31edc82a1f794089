import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Column for calls in progress in the history of subscribers. `schema-records.ts` describes it. */
export const subscriberCallsInProgress: Migration = {
  name: 'calls of subscribers in progress',
  up: async (db) => {
    await sql.raw('alter table subscriber_call add column node_id text').execute(db)
    await sql
      .raw('create index subscriber_call_by_node_id on subscriber_call (node_id) where node_id is not null')
      .execute(db)
  },
}
