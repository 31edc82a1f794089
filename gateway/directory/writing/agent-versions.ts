import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { AgentVersionRecord, AgentVersionSummary } from '../model/ports.ts'
import type { AgentDetails } from '../model/resource-types.ts'
import type { AgentVersionTable } from '../store/schema.ts'
import type { Store, Write } from '../store/sqlite.ts'
import { lockResource } from './lock-resource.ts'

/** Maximum number of versions of one agent; the oldest one makes room for a new one. */
const maxVersions = 100

const versionRows = (store: Store, projectId: string, id: string) =>
  store
    .selectFrom('agent_version as v')
    .innerJoin('resource as r', 'r.id', 'v.resource_id')
    .where('r.id', '=', id)
    .where('r.project_id', '=', projectId)
    .where('r.type', '=', 'ai_agent')

/** Returns the versions of an agent without their settings, the oldest first; empty for an unknown agent. */
export const agentVersions = async (
  store: Store,
  projectId: string,
  id: string,
): Promise<readonly AgentVersionSummary[]> => {
  const rows = await versionRows(store, projectId, id)
    .select(['v.id', 'v.version', 'v.created_at', 'v.is_current'])
    .orderBy('v.version')
    .execute()
  return rows.map(summaryOf)
}

/** Returns one version of an agent; undefined if it does not exist. */
export const agentVersion = async (
  store: Store,
  projectId: string,
  id: string,
  versionId: string,
): Promise<AgentVersionRecord | undefined> => {
  const row = await versionRows(store, projectId, id)
    .selectAll('v')
    .where('v.id', '=', versionId)
    .executeTakeFirst()
  return row && recordOf(row)
}

/** Stores the settings of an agent as its present version, unless they are those `before`. */
export const keepAgentVersion = async (
  write: Write,
  agentId: string,
  { settings, before, now }: AgentSettingsChange,
): Promise<void> => {
  if (isDeepStrictEqual(settings, before)) return
  const { latest } = await write
    .selectFrom('agent_version')
    .select(({ fn }) => fn.max('version').as('latest'))
    .where('resource_id', '=', agentId)
    .executeTakeFirstOrThrow()
  const row = {
    id: randomUUID(),
    resource_id: agentId,
    version: Number(latest ?? 0) + 1,
    settings_json: JSON.stringify(settings),
    created_at: now,
    is_current: 1,
  }
  await write.updateTable('agent_version').set({ is_current: 0 }).where('resource_id', '=', agentId).execute()
  await write.insertInto('agent_version').values(row).execute()
  await write
    .deleteFrom('agent_version')
    .where('resource_id', '=', agentId)
    .where('version', '<=', row.version - maxVersions)
    .execute()
}

/** Change of an agent's settings. */
export interface AgentSettingsChange {
  readonly settings: AgentDetails['settings']
  /** Absent for a new agent. */
  readonly before?: AgentDetails['settings']
  readonly now: number
}

/** Version to restore: its number or its id. */
export interface Restoration {
  readonly projectId: string
  readonly id: string
  readonly version: number | { readonly id: string }
  readonly now: number
}

/** See `Resources.restoreAgent`. */
export const restoreAgent = async (
  write: Write,
  { projectId, id, version, now }: Restoration,
): Promise<AgentVersionRecord> => {
  const agent = await lockResource(write, { projectId, id, type: 'ai_agent', now })
  const all = write.selectFrom('agent_version').selectAll().where('resource_id', '=', id)
  const wanted =
    typeof version === 'number' ? all.where('version', '=', version) : all.where('id', '=', version.id)
  const row = await wanted.executeTakeFirst()
  if (!row) throw new TrunklineError('unknown_resource', 'The agent has no such version.')
  const details = { ...JSON.parse(agent.details_json), settings: JSON.parse(row.settings_json) }
  await write
    .updateTable('resource')
    .set({ details_json: JSON.stringify(details) })
    .where('id', '=', id)
    .execute()
  await write.updateTable('agent_version').set({ is_current: 0 }).where('resource_id', '=', id).execute()
  await write.updateTable('agent_version').set({ is_current: 1 }).where('id', '=', row.id).execute()
  return recordOf({ ...row, is_current: 1 })
}

const summaryOf = (row: Omit<AgentVersionTable, 'settings_json' | 'resource_id'>): AgentVersionSummary => ({
  id: row.id,
  version: row.version,
  createdAt: row.created_at,
  current: row.is_current === 1,
})

const recordOf = (row: AgentVersionTable): AgentVersionRecord => ({
  ...summaryOf(row),
  settings: JSON.parse(row.settings_json),
})
