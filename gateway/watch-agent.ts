import type { Metrics } from './metrics.ts'
import type { SipAgent } from './sip-agent/index.ts'

const gauges = {
  sip_transactions: 'transactions',
  sip_agent_dialogs: 'dialogs',
  sip_agent_pending: 'pending',
  sip_connections: 'connections',
  sip_banned: 'banned',
} as const

/** Shows in the metrics how much the embedded agent holds, and what its shield dropped. */
export const watchAgent = (agent: Pick<SipAgent, 'stats'>, metrics: Metrics): void => {
  // An agent that died holds nothing; that it died is told elsewhere.
  for (const [name, count] of Object.entries(gauges) as [
    keyof typeof gauges,
    (typeof gauges)[keyof typeof gauges],
  ][])
    metrics.gauge(name, () =>
      agent.stats().then(
        (stats) => stats[count],
        () => 0,
      ),
    )
  let dropped: Readonly<Record<string, number>> = {}
  metrics.countsBy('sip_dropped_total', async () => {
    dropped = await agent.stats().then(
      (stats) => stats.dropped,
      () => dropped,
    )
    return Object.entries(dropped)
  })
}
