import { expect, it } from 'vitest'
import { FakeCall } from '../../testing/fake-call.ts'
import { FakeContext } from '../../testing/fake-context.ts'
import { root, runXml } from '../../testing/run-xml.ts'
import type { ConnectOptions } from '../../verbs.ts'

const place = { queueId: 'q-1', name: 'sales', position: 1, size: 1, waitedMs: 12_300, averageWaitMs: 0 }

it('runs its document for the queued caller, with the fields of the wait', async () => {
  const waiting = new FakeCall({ callId: 'c-9' })
  waiting.isAnswered = true
  const call = new FakeCall()
  call.during.set('connect', ({ steps }: ConnectOptions) => steps[0]![0]!.confirm?.(waiting, place))
  const context = new FakeContext({ [`${root}/notice`]: '<Response><Say>Recorded</Say></Response>' })
  const noun = `<Queue url="${root}/notice" method="GET">sales</Queue>`
  await runXml(`<Dial>${noun}</Dial>`, { call, context })
  expect(call.verbs).toMatchObject([['connect', { steps: [[{ to: 'queue:sales' }]] }]])
  expect(waiting.names).toEqual(['play'])
  expect(context.requests).toMatchObject([{ method: 'GET' }])
  expect(context.fields(0)).not.toHaveProperty('ParentCallSid')
  expect(context.fields(0)).toMatchObject({
    CallSid: 'c-9',
    QueueSid: 'q-1',
    QueueTime: '12',
    DequeingCallSid: 'c-1',
  })
})

it('has no effect without a name, and warns', async () => {
  const { call, context } = await runXml('<Dial><Queue> </Queue></Dial>')
  expect(call.names).not.toContain('connect')
  expect(context.warnings).toMatchObject([{ code: '12200', path: '/Response/Dial[1]/Queue[1]' }])
})
