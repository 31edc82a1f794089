import type { Migration } from './run.ts'

/** Carriers of the API. */
export const carriers: Migration = {
  name: 'carriers of projects',
  up: async (db) => {
    await db.schema
      .createTable('carrier')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('project_id', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('entry_json', 'text', (c) => c.notNull())
      .addColumn('secrets', 'text')
      .addColumn('is_default', 'integer')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .addUniqueConstraint('carrier_of_project', ['project_id', 'name'])
      // Null for all but the default one; null equals nothing.
      .addUniqueConstraint('carrier_default', ['project_id', 'is_default'])
      .execute()
  },
}
