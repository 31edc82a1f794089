import type { Kysely } from 'kysely'
import { projectNameOf } from '../../../config/project-name.ts'
import {
  type Before,
  detailsOf,
  type OldDomain,
  type OldResource,
  readBefore,
  typeOf,
} from './before-projects.ts'
import type { Migration } from './run.ts'

/**
 * Several projects; resource types; addresses that are unique in their project; domain applications and call
 * flows of the API.
 */
export const projects: Migration = {
  name: 'projects, API tokens, kinds of resources',
  up: async (db, now) => {
    // SQLite can change constraints only by recreating the tables.
    const before = await readBefore(db)
    for (const name of ['address', 'subscriber', 'endpoint', 'resource', 'domain_app'])
      await db.schema.dropTable(name).execute()
    await createProjects(db)
    await createTokens(db)
    await createResources(db)
    await createPeople(db)
    await createFlowVersions(db)
    await createDomainApps(db)
    await writeBefore(db as Kysely<Rows>, before, now)
  },
}

const createProjects = (db: Kysely<unknown>): Promise<void> =>
  db.schema
    .createTable('project')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('name', 'text', (c) => c.notNull().unique())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute()

const createTokens = (db: Kysely<unknown>): Promise<void> =>
  db.schema
    .createTable('api_token')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('project_id', 'text', (c) => c.notNull().references('project.id'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('hash', 'text', (c) => c.notNull().unique())
    .addColumn('scopes_json', 'text', (c) => c.notNull())
    .addColumn('managed_by_file', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('expires_at', 'bigint')
    .execute()

const createResources = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema
    .createTable('resource')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('project_id', 'text', (c) => c.notNull().references('project.id'))
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('display_name', 'text', (c) => c.notNull())
    .addColumn('details_json', 'text', (c) => c.notNull())
    .addColumn('managed_by_file', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .execute()
  await db.schema
    .createTable('address')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('resource_id', 'text', (c) =>
      c.notNull().unique().references('resource.id').onDelete('cascade'),
    )
    .addColumn('project_id', 'text', (c) => c.notNull())
    .addColumn('context', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addUniqueConstraint('address_of_project', ['project_id', 'context', 'name'])
    .execute()
}

const createPeople = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema
    .createTable('subscriber')
    .addColumn('resource_id', 'text', (c) => c.primaryKey().references('resource.id').onDelete('cascade'))
    .addColumn('project_id', 'text', (c) => c.notNull())
    .addColumn('email', 'text', (c) => c.notNull())
    .addColumn('password_hash', 'text')
    .addColumn('password_mark', 'text')
    .addColumn('disabled', 'integer', (c) => c.notNull())
    .addColumn('tokens_after', 'bigint', (c) => c.notNull())
    .addColumn('push_key', 'text')
    .addUniqueConstraint('subscriber_email', ['project_id', 'email'])
    .execute()
  await db.schema
    .createTable('endpoint')
    .addColumn('resource_id', 'text', (c) => c.primaryKey().references('resource.id').onDelete('cascade'))
    .addColumn('username', 'text', (c) => c.notNull().unique())
    .addColumn('secrets_json', 'text', (c) => c.notNull())
    .execute()
}

const createFlowVersions = (db: Kysely<unknown>): Promise<void> =>
  db.schema
    .createTable('flow_version')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('resource_id', 'text', (c) => c.notNull().references('resource.id').onDelete('cascade'))
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('flow', 'text')
    .addColumn('script', 'text')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('is_current', 'integer', (c) => c.notNull())
    .addUniqueConstraint('flow_version_of_flow', ['resource_id', 'version'])
    .execute()

const createDomainApps = (db: Kysely<unknown>): Promise<void> =>
  db.schema
    .createTable('domain_app')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('project_id', 'text', (c) => c.notNull().references('project.id'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('identifier', 'text')
    .addColumn('domain', 'text', (c) => c.notNull().unique())
    .addColumn('user_pattern', 'text', (c) => c.notNull())
    .addColumn('ip_auth_enabled', 'integer', (c) => c.notNull())
    .addColumn('ip_auth_json', 'text', (c) => c.notNull())
    .addColumn('encryption', 'text', (c) => c.notNull())
    .addColumn('ciphers_json', 'text')
    .addColumn('handler_json', 'text')
    .addColumn('status_json', 'text')
    .addColumn('max_calls', 'integer')
    .addColumn('calls_per_second', 'integer')
    .addColumn('calls_per_second_of_source', 'integer')
    .addColumn('max_calls_of_source', 'integer')
    .addColumn('challenge_json', 'text')
    .addColumn('codecs_json', 'text')
    .addColumn('managed_by_file', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .execute()

/** Rows of the tables after this step. */
type Row = Record<string, string | number | null>
type Rows = Record<'project' | 'resource' | 'address' | 'subscriber' | 'endpoint' | 'domain_app', Row>

const writeBefore = async (db: Kysely<Rows>, { domains, resources }: Before, now: number): Promise<void> => {
  const ids = new Set([...domains, ...resources].map(({ project_id }) => project_id))
  for (const id of ids)
    await db
      .insertInto('project')
      .values({ id, name: projectNameOf(id), created_at: now })
      .execute()
  for (const resource of resources) await writeResource(db, resource)
  for (const domain of domains) await writeDomain(db, domain)
}

const writeResource = async (db: Kysely<Rows>, old: OldResource): Promise<void> => {
  const { id, project_id, display_name, managed_by_file, created_at } = old
  const stored = {
    id,
    project_id,
    display_name,
    managed_by_file,
    created_at,
    updated_at: created_at,
    type: typeOf(old),
    details_json: JSON.stringify(detailsOf(old)),
  }
  await db.insertInto('resource').values(stored).execute()
  const { address_id, context, name, address_created_at } = old
  const address = {
    id: address_id,
    resource_id: id,
    project_id,
    context,
    name,
    created_at: address_created_at,
  }
  await db.insertInto('address').values(address).execute()
  const { email, password_hash, password_mark, username, secrets_json } = old
  if (email !== null)
    await db
      .insertInto('subscriber')
      .values({
        resource_id: id,
        project_id,
        email,
        password_hash,
        password_mark,
        disabled: 0,
        tokens_after: 0,
      })
      .execute()
  if (username !== null)
    await db.insertInto('endpoint').values({ resource_id: id, username, secrets_json }).execute()
}

const writeDomain = async (db: Kysely<Rows>, { allow_json, ...old }: OldDomain): Promise<void> => {
  const further = {
    name: old.domain,
    user_pattern: '*',
    encryption: 'optional',
    updated_at: old.created_at,
    ip_auth_enabled: allow_json === null ? 0 : 1,
    ip_auth_json: allow_json ?? '[]',
  }
  await db
    .insertInto('domain_app')
    .values({ ...old, ...further })
    .execute()
}
