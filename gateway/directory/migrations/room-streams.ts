import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Table of the streams of rooms. `schema-rooms.ts` describes the columns. */
export const roomStreams: Migration = {
  name: 'streams of video rooms',
  up: async (db) => {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `create table room_stream (
    id text primary key,
    project_id text not null,
    room_id text not null references resource (id) on delete cascade,
    url text not null,
    shown_url text not null,
    created_at bigint not null,
    updated_at bigint not null
  )`,
  'create index room_stream_by_room_id_created_at_id on room_stream (room_id, created_at, id)',
]
