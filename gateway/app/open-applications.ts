import type { ProjectAccess } from '../auth/project-access.ts'
import type { Originator } from '../calls/connect/origination.ts'
import type { Metrics } from '../core/metrics.ts'
import { RealtimeDialect } from '../rpc/realtime/realtime-dialect.ts'
import type { AppContext } from './open.ts'

/** Opens the JSON-RPC dialect of realtime applications; `originator` places their calls. */
export const openApplications = (
  { clock, log, closing }: AppContext,
  access: ProjectAccess,
  originator: Originator,
  metrics: Metrics,
): RealtimeDialect => {
  const dialect = new RealtimeDialect({ access, originator, metrics, clock, log })
  metrics.gauge('applications', () => dialect.applications)
  metrics.gauge('application_calls', () => dialect.calls)
  metrics.gauges('applications_online', ['topic'], () => dialect.online)
  return closing.add('applications', dialect, (open) => open.close())
}
