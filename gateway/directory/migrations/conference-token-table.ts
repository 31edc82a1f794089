import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Table of the tokens of conferences. `schema-rooms.ts` describes the columns. */
export const conferenceTokens: Migration = {
  name: 'tokens of conferences',
  up: async (db) => {
    await sql.raw(statement).execute(db)
  },
}

const statement = `create table conference_token (
  id text primary key,
  project_id text not null,
  room_id text not null references resource (id) on delete cascade,
  name text not null,
  version text not null,
  created_at bigint not null,
  updated_at bigint not null,
  unique (room_id, name)
)`
