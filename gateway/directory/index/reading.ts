import type { Project } from '../model/ports.ts'
import type { Store } from '../store/sqlite.ts'
import type { StoredToken } from './api-tokens.ts'
import { type Entry, entryOf } from './entry.ts'

/** Maximum number of ids in one query. */
const maxIdsPerQuery = 500

const entryRows = (store: Store) =>
  store
    .selectFrom('resource as r')
    .innerJoin('address as a', 'a.resource_id', 'r.id')
    .leftJoin('subscriber as s', 's.resource_id', 'r.id')
    .leftJoin('endpoint as e', 'e.resource_id', 'r.id')
    .leftJoin('flow_version as f', (join) =>
      join.onRef('f.resource_id', '=', 'r.id').on('f.is_current', '=', 1),
    )
    .select(['r.id', 'r.project_id', 'r.type', 'r.display_name', 'r.details_json', 'r.managed_by_file'])
    .select(['r.created_at', 'r.updated_at', 'a.id as address_id', 'a.context', 'a.name'])
    .select(['s.email', 's.password_hash', 's.disabled', 's.tokens_after', 's.push_key', 's.do_not_disturb'])
    .select(['e.username', 'e.secrets_json'])
    .select(['f.version as deployed_version', 'f.flow as deployed_flow', 'f.script as deployed_script'])

/** Maximum number of rows in one query; calls are handled between queries. */
const portion = 2_000

/**
 * Reads every resource, in the order of creation. The rows are sorted in memory, because databases sort wide
 * rows slowly.
 */
export const readAllEntries = async (store: Store): Promise<Entry[]> => {
  const all: Entry[] = []
  for (let after = ''; ; ) {
    const rows = await entryRows(store).where('r.id', '>', after).orderBy('r.id').limit(portion).execute()
    for (const row of rows) all.push(entryOf(row))
    const last = rows.at(-1)
    if (!last || rows.length < portion) return all.sort(asMade)
    after = last.id
    await new Promise(setImmediate)
  }
}

const asMade = ({ resource: a }: Entry, { resource: b }: Entry): number =>
  a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)

/** Reads the resources with the given ids. Unknown resources are missing in the result. */
export const readEntries = async (store: Store, ids: readonly string[]): Promise<Entry[]> => {
  const found: Entry[] = []
  for (let from = 0; from < ids.length; from += maxIdsPerQuery) {
    const rows = await entryRows(store)
      .where('r.id', 'in', ids.slice(from, from + maxIdsPerQuery))
      .execute()
    found.push(...rows.map(entryOf))
  }
  return found
}

/** Reads the domain applications, in the order of creation; `ids`: only these. */
export const readDomains = (store: Store, ids?: readonly string[]) => {
  const all = store.selectFrom('domain_app').selectAll().orderBy('created_at').orderBy('id')
  return (ids ? all.where('id', 'in', ids) : all).execute()
}

/** Reads projects and tokens of the API. */
export const readTokens = async (
  store: Store,
): Promise<{ readonly projects: readonly Project[]; readonly tokens: readonly StoredToken[] }> => {
  const projects = await store.selectFrom('project').select(['id', 'name']).execute()
  const rows = await store.selectFrom('api_token').selectAll().orderBy('created_at').orderBy('id').execute()
  const tokens = rows.map((row): StoredToken => {
    const { id, project_id: projectId, name, created_at: createdAt, expires_at: expiresAt } = row
    const scopes = JSON.parse(row.scopes_json)
    const managedByFile = row.managed_by_file === 1
    return {
      hash: row.hash,
      token: {
        id,
        projectId,
        name,
        scopes,
        managedByFile,
        createdAt,
        ...(expiresAt !== null && { expiresAt }),
      },
    }
  })
  return { projects, tokens }
}
