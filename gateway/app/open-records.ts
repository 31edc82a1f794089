import { Records } from '../cdr/records.ts'
import type { Metrics } from '../core/metrics.ts'
import { CallRows } from '../directory/calls.ts'
import { CdrRows } from '../directory/cdrs.ts'
import type { Base, Customers, Store } from './open.ts'

/** Opens what keeps calls and their records; rejects where the store cannot be used. */
export const openRecords = async (
  { config, clock, log, closing, followers }: Base,
  { directory: { store }, nodeId, nodes: { wasThereAt }, endCalls }: Store,
  { callbacks }: Pick<Customers, 'callbacks'>,
  metrics: Metrics,
): Promise<Records> => {
  const rows = { calls: new CallRows(store), cdrs: new CdrRows(store) }
  const onCallbacks = (waiting: ReadonlyMap<string, number>) => callbacks.takeOver(waiting)
  const own = { nodeId, wasThereAt, end: endCalls, onCallbacks }
  const parts = { ...rows, ...own, keepMs: config.limits.recordsKeptMs, clock, metrics }
  const records = await Records.open({ ...parts, log: log.child({ part: 'records' }) })
  followers.change('limits.recordsKept', ({ limits }) => records.change(limits.recordsKeptMs))
  metrics.gauge('records_waiting', () => records.waiting)
  metrics.gauge('records_kept', () => records.kept)
  return closing.add('records', records, (open) => open.close())
}
