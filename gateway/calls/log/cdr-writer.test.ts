import { expect, it } from 'vitest'
import { settle, setUp } from '../testing/calls-fixture.ts'
import type { CallCdr } from './call-cdr.ts'

const cdrUrl = 'https://billing.example/calls'

it('posts the CDR of each call to the URL, as it is in the log', async () => {
  const t = setUp({ cdrUrl })
  t.arrive((call) => call.answer())
  await settle()
  expect(t.customers.received).toEqual([
    {
      projectId: 'p',
      callId: t.records[0]?.call,
      callback: {
        kind: 'call-record',
        url: cdrUrl,
        method: 'POST',
        body: { contentType: 'application/json', text: expect.any(String) },
      },
    },
  ])
  const {
    level: _,
    time: __,
    msg: ___,
    event: ____,
    ...logged
  } = t.records[0] as unknown as Record<string, unknown>
  expect(JSON.parse(t.customers.received[0]?.callback.body?.text ?? '')).toEqual(logged)
})

it('posts no CDR without a URL', async () => {
  const t = setUp()
  t.arrive((call) => call.answer())
  await settle()
  expect([t.records.length, t.customers.received]).toEqual([1, []])
})

it('stores the CDR of each call, also of a rejected one', async () => {
  const kept: CallCdr[] = []
  const t = setUp({ cdrs: { keep: (record) => kept.push(record) } })
  for (let i = 0; i < 3; i++) t.arrive((call) => call.sleep(1_000))
  await settle()
  t.clock.advance(1_000)
  await settle()
  expect(kept.map(({ call, code }) => ({ call, code }))).toEqual(
    t.records.map(({ call, code }) => ({ call, code })),
  )
  expect(kept.map(({ code }) => code).sort()).toEqual(['normal', 'normal', 'over_call_limit'])
})
