import { expect, it } from 'vitest'
import { FakeClock } from '../clock.ts'
import type { OwnRefusal } from './own-refusals.ts'
import { OwnRefusals } from './own-refusals.ts'

const refused = { method: 'INVITE', uri: 'sip:1@x', callId: 'c' }
const source = '192.0.2.1'

it('every rejection by the agent is counted by status, and ten per second are reported', () => {
  const clock = new FakeClock()
  const received: OwnRefusal[] = []
  const refusals = new OwnRefusals(clock, (refusal) => received.push(refusal))
  for (let i = 0; i < 15; i++) refusals.add(420, refused, source, 'sec-agree')
  refusals.add(481, refused, source)
  expect(refusals.counts).toEqual({ 420: 15, 481: 1 })
  expect(received).toHaveLength(10)
  expect(received[0]).toEqual({ ...refused, source, status: 420, detail: 'sec-agree' })
  clock.advance(1_000)
  refusals.add(481, refused, source)
  expect(received.at(-1)).toEqual({ ...refused, source, status: 481 })
  expect(received).toHaveLength(11)
})

it('a report shortens text from the far side', () => {
  const received: OwnRefusal[] = []
  const refusals = new OwnRefusals(new FakeClock(), (refusal) => received.push(refusal))
  const long = 'x'.repeat(10_000)
  refusals.add(400, { method: long, uri: long, callId: long }, source, long)
  expect(JSON.stringify(received).length).toBeLessThan(1_200)
})
