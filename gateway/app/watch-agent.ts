import type { SipAgent } from '@trunkline/sip-agent'
import type { Metrics } from '../core/metrics.ts'

const gauges = {
  sip_transactions: 'transactions',
  sip_agent_dialogs: 'dialogs',
  sip_agent_pending: 'pending',
  sip_connections: 'connections',
  sip_banned: 'banned',
} as const

const counters = { sip_dropped_total: 'dropped', sip_refused_total: 'refused' } as const

/** Adds the embedded agent's transactions, dropped packets and rejected requests to the metrics. */
export const watchAgent = (agent: Pick<SipAgent, 'stats'>, metrics: Metrics): void => {
  // If the agent has failed, the gauges are zero; the failure itself is logged elsewhere.
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
  for (const [name, counts] of Object.entries(counters) as [
    keyof typeof counters,
    (typeof counters)[keyof typeof counters],
  ][]) {
    let last: Readonly<Record<string, number>> = {}
    metrics.countsBy(name, async () => {
      last = await agent.stats().then(
        (stats) => stats[counts],
        () => last,
      )
      return Object.entries(last)
    })
  }
  let diverted = 0
  metrics.total('sip_diverted_total', async () => {
    diverted = await agent.stats().then(
      (stats) => stats.diverted,
      () => diverted,
    )
    return diverted
  })
}
