import type { SipAgentStats } from '@trunkline/sip-agent'
import { expect, it } from 'vitest'
import { Metrics } from '../core/metrics.ts'
import { watchAgent } from './watch-agent.ts'

const stats = (scanner: number): SipAgentStats => ({
  transactions: 1,
  dialogs: 2,
  pending: 3,
  unacknowledged: 0,
  connections: 4,
  applications: 1,
  strays: 0,
  banned: 5,
  registeredFlows: 0,
  diverted: 3,
  refused: { 420: 6, 481: 1 },
  dropped: { rate: 7, banned: 0, scanner, stranger: 0, tls: 2 },
})

it('shows what the agent counts, once however often it is read, and its counters even when it is gone', async () => {
  const metrics = new Metrics()
  let now: Promise<SipAgentStats> = Promise.resolve(stats(8))
  watchAgent({ stats: () => now }, metrics)
  const lines = async () =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith('trunkline_sip_'))
  await lines()
  const read = await lines()
  expect(read).toContain('trunkline_sip_banned 5')
  expect(read).toContain('trunkline_sip_dropped_total{reason="scanner"} 8')
  expect(read).toContain('trunkline_sip_refused_total{status="420"} 6')
  expect(read).toContain('trunkline_sip_diverted_total 3')
  now = Promise.resolve(stats(9))
  expect(await lines()).toContain('trunkline_sip_dropped_total{reason="scanner"} 9')
  now = Promise.reject(new Error('it died'))
  const last = await lines()
  expect(last).toContain('trunkline_sip_dropped_total{reason="rate"} 7')
  expect(last).toContain('trunkline_sip_refused_total{status="481"} 1')
  expect(last).toContain('trunkline_sip_agent_dialogs 0')
  expect(last).toContain('trunkline_sip_diverted_total 3')
})
