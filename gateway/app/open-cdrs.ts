import { CdrStore } from '../cdr/cdr-store.ts'
import { endLostRooms } from '../cdr/lost-rooms.ts'
import { RoomHistory } from '../cdr/room-history.ts'
import { SubscriberHistory } from '../cdr/subscriber-history.ts'
import type { Metrics } from '../core/metrics.ts'
import { CallRows } from '../directory/tables/calls.ts'
import { CdrRows } from '../directory/tables/cdrs.ts'
import { RoomSessionRows } from '../directory/tables/room-sessions.ts'
import { SubscriberCallRows } from '../directory/tables/subscriber-calls.ts'
import type { AppContext, CustomerServers, OpenedStore } from './open.ts'

/** Opens the store of calls and CDRs. Rejects if the database cannot be used. */
export const openCdrs = async (
  { config, clock, log, closing, followers }: AppContext,
  { directory: { store }, nodeId, nodes: { lastSeenAt: wasThereAt }, endCalls }: OpenedStore,
  { callbacks }: Pick<CustomerServers, 'callbacks'>,
  metrics: Metrics,
): Promise<CdrStore> => {
  const rows = { calls: new CallRows(store), cdrs: new CdrRows(store) }
  const onCallbacks = (waiting: ReadonlyMap<string, number>) => callbacks.takeOver(waiting)
  const own = { nodeId, wasThereAt, end: endCalls, onCallbacks }
  const parts = { ...rows, ...own, keepMs: config.limits.recordsKeptMs, clock, metrics }
  const records = await CdrStore.open({ ...parts, log: log.child({ part: 'records' }) })
  followers.change('limits.recordsKept', ({ limits }) => records.change(limits.recordsKeptMs))
  metrics.gauge('records_waiting', () => records.waiting)
  metrics.gauge('records_kept', () => records.kept)
  return closing.add('records', records, (open) => open.close())
}

/** Opens the history of subscribers' calls. */
export const openHistory = (
  { config, clock, log, closing, followers }: AppContext,
  { directory: { store }, nodeId }: OpenedStore,
  metrics: Metrics,
): SubscriberHistory => {
  const rows = new SubscriberCallRows(store)
  const deps = { rows, nodeId, clock, log: log.child({ part: 'history' }), metrics }
  const history = new SubscriberHistory(deps, config.limits.recordsKeptMs)
  followers.change('limits.recordsKept', ({ limits }) => history.change(limits.recordsKeptMs))
  metrics.gauge('history_waiting', () => history.waiting)
  return closing.add('history', history, (open) => open.close())
}

/** Opens the history of video rooms. Rejects if the database cannot be used. */
export const openRoomHistory = async (
  { config, clock, log, closing, followers }: AppContext,
  { directory: { store }, nodeId, nodes: { lastSeenAt: wasThereAt } }: OpenedStore,
  { callbacks }: Pick<CustomerServers, 'callbacks'>,
  metrics: Metrics,
): Promise<RoomHistory> => {
  const rows = new RoomSessionRows(store)
  const deps = { rows, nodeId, callbacks, clock, log: log.child({ part: 'room history' }), metrics }
  const history = await RoomHistory.open(deps, {
    keepMs: config.limits.recordsKeptMs,
    wasThereAt,
    end: endLostRooms(clock),
    onCallbacks: (waiting) => callbacks.takeOver(waiting),
  })
  followers.change('limits.recordsKept', ({ limits }) => history.change(limits.recordsKeptMs))
  metrics.gauge('room_history_waiting', () => history.waiting)
  return closing.add('room history', history, (open) => open.close())
}
