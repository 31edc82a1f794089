import { CallRows } from './directory/calls.ts'
import { CdrRows } from './directory/cdrs.ts'
import type { Metrics } from './metrics.ts'
import type { Base, Store } from './open.ts'
import { Records } from './records/records.ts'

/** Opens what keeps calls and their records; rejects where the store cannot be used. */
export const openRecords = async (
  { config, clock, log, closing }: Base,
  { directory: { store }, nodeId }: Pick<Store, 'directory' | 'nodeId'>,
  metrics: Metrics,
): Promise<Records> => {
  const rows = { calls: new CallRows(store), cdrs: new CdrRows(store) }
  const parts = { ...rows, nodeId, keepMs: config.limits.recordsKeptMs, clock, metrics }
  const records = await Records.open({ ...parts, log: log.child({ part: 'records' }) })
  metrics.gauge('records_waiting', () => records.waiting)
  metrics.gauge('records_kept', () => records.kept)
  return closing.add('records', records, (open) => open.close())
}
