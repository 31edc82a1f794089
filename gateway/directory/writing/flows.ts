import { randomUUID } from 'node:crypto'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { flowOf } from '../index/entry.ts'
import type { FlowVersionRecord } from '../model/ports.ts'
import type { FlowDetails } from '../model/resource-types.ts'
import type { FlowVersionTable } from '../store/schema.ts'
import type { Store, Write } from '../store/sqlite.ts'
import { lockResource } from './lock-resource.ts'

/** Returns the deployed versions of a flow, the oldest first; empty for an unknown flow. */
export const flowVersions = async (
  store: Store,
  projectId: string,
  id: string,
): Promise<readonly FlowVersionRecord[]> => {
  const rows = await store
    .selectFrom('flow_version as f')
    .innerJoin('resource as r', 'r.id', 'f.resource_id')
    .where('r.id', '=', id)
    .where('r.project_id', '=', projectId)
    .where('r.type', '=', 'call_flow')
    .selectAll('f')
    .orderBy('f.version')
    .execute()
  return rows.map(recordOf)
}

/** Flow to deploy, with its version. */
export interface Deployment {
  readonly projectId: string
  readonly id: string
  /** Version of the working copy, or one deployed before; undefined: the present working copy. */
  readonly version: number | { readonly id: string } | undefined
  readonly now: number
}

/** See `Resources.deployFlow`. */
export const deployFlow = async (write: Write, deployment: Deployment): Promise<FlowVersionRecord> => {
  const { projectId, id, version, now } = deployment
  const flow = await lockResource(write, { projectId, id, type: 'call_flow', now })
  const working: FlowDetails = JSON.parse(flow.details_json)
  const stored = await storedVersion(write, id, version ?? working.version)
  if (!stored && version !== undefined && version !== working.version)
    throw new TrunklineError('unknown_resource', 'The flow has no such version.')
  const row = stored ?? (await keep(write, id, working, now))
  await write.updateTable('flow_version').set({ is_current: 0 }).where('resource_id', '=', id).execute()
  await write.updateTable('flow_version').set({ is_current: 1 }).where('id', '=', row.id).execute()
  return recordOf({ ...row, is_current: 1 })
}

const storedVersion = (write: Write, flowId: string, version: number | { readonly id: string }) => {
  const all = write.selectFrom('flow_version').selectAll().where('resource_id', '=', flowId)
  return (
    typeof version === 'number' ? all.where('version', '=', version) : all.where('id', '=', version.id)
  ).executeTakeFirst()
}

const keep = async (
  write: Write,
  flowId: string,
  { version, flow, script }: FlowDetails,
  now: number,
): Promise<FlowVersionTable> => {
  const row = {
    id: randomUUID(),
    resource_id: flowId,
    version,
    created_at: now,
    is_current: 1,
    flow: flow ?? null,
    script: script ?? null,
  }
  await write.insertInto('flow_version').values(row).execute()
  return row
}

const recordOf = (row: FlowVersionTable): FlowVersionRecord => ({
  id: row.id,
  version: row.version,
  ...flowOf(row.flow, row.script),
  createdAt: row.created_at,
  current: row.is_current === 1,
})
