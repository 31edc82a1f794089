import { expect, it } from 'vitest'
import { agentCode, RecentRefusals } from './recent-refusals.ts'

it('rejections by the SIP agent are the first to be replaced', () => {
  const recent = new RecentRefusals()
  const add = (code: 'unknown_domain' | typeof agentCode, source: string) =>
    recent.add({ at: 1, code, status: 404, facts: { source } })
  add('unknown_domain', 'first')
  for (let at = 0; at < 499; at++) add(agentCode, `192.0.2.${Math.floor(at / 20)}`)
  for (let at = 0; at < 100; at++) add('unknown_domain', `198.51.100.${at}`)
  const ofAgent = recent.latest.filter(({ code }) => code === agentCode)
  expect([recent.size, ofAgent.length, recent.latest.at(-1)?.facts.source]).toEqual([500, 399, 'first'])
  for (let at = 100; at < 600; at++) add('unknown_domain', `203.0.113.${at}`)
  expect([recent.size, recent.latest.at(-1)?.facts.source]).toEqual([500, '203.0.113.100'])
})
