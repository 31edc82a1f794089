import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { ResourceType } from '../model/resource-types.ts'
import type { Write } from '../store/sqlite.ts'

/** Resource to change. `now`: time of the change, in ms since the Unix epoch. */
export interface ChangedResource {
  readonly projectId: string
  readonly id: string
  readonly type: ResourceType
  readonly now: number
}

/**
 * Locks a resource until the end of the transaction, and returns its row. Must be the first statement: a
 * write, so that the resource does not change after it is read. Throws `unknown_resource`, or
 * `managed_by_file` for a resource of the configuration file.
 */
export const lockResource = async (
  write: Write,
  { projectId, id, type, now }: ChangedResource,
): Promise<{ readonly display_name: string; readonly details_json: string }> => {
  const row = await write
    .updateTable('resource')
    .set({ updated_at: now })
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .where('type', '=', type)
    .returning(['display_name', 'details_json', 'managed_by_file'])
    .executeTakeFirst()
  if (!row) throw new TrunklineError('unknown_resource')
  if (row.managed_by_file === 1) throw new TrunklineError('managed_by_file')
  return row
}
