import { randomUUID } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../store/schema.ts'
import type { Migration } from './migration.ts'

/**
 * Table of the versions of voice agents. `schema.ts` describes the columns. Present settings are version 1.
 */
export const agentVersions: Migration = {
  name: 'versions of voice agents',
  up: async (db, now) => {
    for (const statement of statements) await sql.raw(statement).execute(db)
    await keepPresent(db as Kysely<Tables>, now)
  },
}

const statements = [
  `create table agent_version (
    id text primary key,
    resource_id text not null references resource (id) on delete cascade,
    version integer not null,
    settings_json text not null,
    created_at bigint not null,
    is_current integer not null,
    constraint agent_version_of_agent unique (resource_id, version)
  )`,
]

const keepPresent = async (db: Kysely<Tables>, now: number): Promise<void> => {
  const agents = await db
    .selectFrom('resource')
    .select(['id', 'details_json'])
    .where('type', '=', 'ai_agent')
    .where('managed_by_file', '=', 0)
    .execute()
  for (const { id, details_json } of agents)
    await db
      .insertInto('agent_version')
      .values({
        id: randomUUID(),
        resource_id: id,
        version: 1,
        settings_json: JSON.stringify(JSON.parse(details_json).settings),
        created_at: now,
        is_current: 1,
      })
      .execute()
}
