import { expect, it } from 'vitest'
import type { CallControl } from '../../../handlers/verbs.ts'
import { settle, setUp } from '../testing/calls-fixture.ts'
import { StrictCallRows } from '../testing/strict-call-rows.ts'

it('a leg that a confirmation connects is in the CDR of the call, as a leg that the callee dials', async () => {
  const rows = new StrictCallRows()
  const t = setUp({ rows })
  const confirm = async (callee: CallControl) =>
    void (await callee.connect({ steps: [[{ to: 'sip:boss@x' }]] }))
  const a = t.arrive(async (call) => void (await call.connect({ steps: [[{ to: 'sip:b@x', confirm }]] })))
  await settle()
  t.outbound.dialled[0]!.leg.answered()
  await settle()
  const [b, boss] = t.outbound.dialled
  boss!.leg.answered()
  await settle()
  boss!.leg.ended({ code: 'normal' })
  await settle()
  a.leg.ended({ code: 'normal' })
  await settle()
  await settle()
  const legs = [a, b!, boss!].map(({ leg }) => leg.id)
  expect(t.records).toMatchObject([{ legs: legs.map((leg) => ({ leg })) }])
  expect(rows.rows.map(({ to, parentId }) => [to, parentId])).toEqual([
    ['sip:callee@demo.example', undefined],
    ['sip:b@x', rows.rows[0]!.id],
    ['sip:boss@x', rows.rows[1]!.id],
  ])
  expect([rows.open, t.calls.count, t.clock.running]).toEqual([0, 0, 0])
})

it('a leg of a confirmation ends with the call', async () => {
  const t = setUp()
  const confirm = async (callee: CallControl) =>
    void (await callee.connect({ steps: [[{ to: 'sip:boss@x' }]] }))
  const a = t.arrive(async (call) => void (await call.connect({ steps: [[{ to: 'sip:b@x', confirm }]] })))
  await settle()
  t.outbound.dialled[0]!.leg.answered()
  await settle()
  a.leg.ended({ code: 'normal' })
  await settle()
  await settle()
  expect(t.outbound.dialled.map(({ leg }) => leg.isEnded)).toEqual([true, true])
  expect([t.records.length, t.records[0]?.legs.length, t.calls.count]).toEqual([1, 3, 0])
})
