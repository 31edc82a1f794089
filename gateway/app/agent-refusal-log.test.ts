import pino from 'pino'
import { beforeEach, expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { RecentRefusals } from '../sip/admission/recent-refusals.ts'
import { AgentRefusalLog } from './agent-refusal-log.ts'

const lines: Record<string, unknown>[] = []
const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(JSON.parse(line)) })
let recent: RecentRefusals
beforeEach(() => {
  lines.splice(0)
  recent = new RecentRefusals()
})

const refusal = {
  status: 420,
  method: 'INVITE',
  uri: 'sip:1:secret@gw.example',
  callId: 'c\r\n1',
  source: '192.0.2.1',
  detail: 'sec-agree',
}

it('writes a refusal of the agent down, with what was wrong and without what could break the line', () => {
  new AgentRefusalLog(log, new FakeClock(), recent).take(refusal)
  expect(lines).toMatchObject([
    {
      level: 30,
      msg: 'request rejected by the SIP agent',
      status: 420,
      source: '192.0.2.1',
      method: 'INVITE',
      uri: 'sip:1@gw.example',
      sipCallId: 'c??1',
      detail: 'sec-agree',
    },
  ])
})

it('keeps what happens in every network for those who look for it', () => {
  new AgentRefusalLog(log, new FakeClock(), recent).take({ ...refusal, status: 481 })
  expect(lines).toMatchObject([{ level: 20, status: 481 }])
})

it('writes no flood, and says in the end how many there were', () => {
  const refusals = new AgentRefusalLog(log, new FakeClock(), recent)
  for (let i = 0; i < 25; i++) refusals.take(refusal)
  refusals.close()
  expect(lines).toHaveLength(11)
  expect(lines.at(-1)).toMatchObject({ source: '192.0.2.1', count: 15 })
})

it('keeps the latest ones of each source for the operator, and none of the gateway is lost by them', () => {
  const refusals = new AgentRefusalLog(log, new FakeClock(5_000), recent)
  recent.add({ at: 0, code: 'unknown_domain', status: 404, facts: { source: refusal.source } })
  for (let i = 0; i < 25; i++) refusals.take({ ...refusal, status: 481 })
  expect([recent.size, recent.latest.at(-1)?.code]).toEqual([21, 'unknown_domain'])
  expect(recent.latest[0]).toEqual({
    at: 5_000,
    code: 'sip_agent',
    status: 481,
    facts: {
      source: '192.0.2.1',
      method: 'INVITE',
      uri: 'sip:1@gw.example',
      sipCallId: 'c??1',
      detail: 'sec-agree',
    },
  })
})
