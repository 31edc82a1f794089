import { expect, it } from 'vitest'
import { settle, setUp } from './calls-rig.ts'

const recordsTo = 'https://billing.example/calls'

it('posts the record of each call where it is wanted, as it is in the log', async () => {
  const t = setUp({ recordsTo })
  t.arrive((call) => call.answer())
  await settle()
  expect(t.customers.told).toEqual([
    {
      ...{ projectId: 'p', callId: t.records[0]?.call },
      callback: {
        ...{ kind: 'call-record', url: recordsTo, method: 'POST' },
        body: { contentType: 'application/json', text: expect.any(String) },
      },
    },
  ])
  const { level: _, time: __, msg: ___, ...logged } = t.records[0] as unknown as Record<string, unknown>
  expect(JSON.parse(t.customers.told[0]?.callback.body?.text ?? '')).toEqual(logged)
})

it('posts none where nobody wants it', async () => {
  const t = setUp()
  t.arrive((call) => call.answer())
  await settle()
  expect([t.records.length, t.customers.told]).toEqual([1, []])
})
