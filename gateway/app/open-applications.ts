import type { ProjectAccess } from '../auth/project-access.ts'
import type { RunAgent } from '../calling/operations/agent-operation.ts'
import type { Originator } from '../calls/connect/origination.ts'
import type { Metrics } from '../core/metrics.ts'
import type { RoomSessions } from '../rpc/realtime/application-rooms.ts'
import { RealtimeDialect } from '../rpc/realtime/realtime-dialect.ts'
import type { AppContext } from './open.ts'

/** Opened components that applications use. */
export interface OpenApplicationsDeps {
  readonly access: ProjectAccess
  /** Places the calls of applications. */
  readonly originator: Originator
  readonly rooms: RoomSessions
  /** Runs voice agents on their calls. */
  readonly runAgent: RunAgent
}

/** Opens the JSON-RPC dialect of realtime applications. */
export const openApplications = (
  { clock, log, closing }: AppContext,
  deps: OpenApplicationsDeps,
  metrics: Metrics,
): RealtimeDialect => {
  const dialect = new RealtimeDialect({ ...deps, metrics, clock, log })
  metrics.gauge('applications', () => dialect.applications)
  metrics.gauge('application_calls', () => dialect.calls)
  metrics.gauge('application_room_subscriptions', () => dialect.roomSubscriptions)
  metrics.gauges('applications_online', ['topic'], () => dialect.online)
  return closing.add('applications', dialect, (open) => open.close())
}
