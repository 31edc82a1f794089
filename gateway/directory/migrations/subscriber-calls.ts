import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Table of the calls that subscribers see in their history. `schema-records.ts` describes the columns. */
export const subscriberCalls: Migration = {
  name: 'calls of subscribers',
  up: async (db) => {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `create table subscriber_call (
    id text primary key,
    subscriber_id text not null references resource (id) on delete cascade,
    project_id text not null,
    call_id text not null,
    direction text not null,
    name text not null,
    number text not null,
    result text not null,
    code text not null,
    started_at bigint not null,
    answered_at bigint,
    ended_at bigint not null
  )`,
  'create index subscriber_call_by_ended_at on subscriber_call (ended_at)',
  `create index subscriber_call_by_subscriber_id_ended_at_id
    on subscriber_call (subscriber_id, ended_at, id)`,
]
