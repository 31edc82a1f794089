import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Columns of recordings: faults, conversions, further files, storage. `schema-calls.ts` describes them. */
export const recordingFiles: Migration = {
  name: 'files of recordings',
  up: async (db) => {
    for (const column of columns) await sql.raw(`alter table recording add column ${column}`).execute(db)
  },
}

const columns = [
  'error text',
  'conversion text',
  'files_json text',
  'files_bytes bigint not null default 0',
  'storage_json text',
]
