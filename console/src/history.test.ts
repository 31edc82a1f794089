import type { CallRecord } from '@trunkline/client'
import { expect, it } from 'vitest'
import { History, type HistoryDeps } from './history.ts'
import { RecentCalls } from './memory.ts'
import { fakeStore } from './testing/fakes.ts'

const record = (change: Partial<CallRecord>): CallRecord =>
  ({
    direction: 'inbound',
    name: 'Bob',
    number: '/public/bob',
    result: 'answered',
    started_at: '2030-01-01T10:00:00.000Z',
    answered_at: '2030-01-01T10:00:05.000Z',
    duration_ms: 7000,
    ...change,
  }) as CallRecord

const setUp = (answer: () => Promise<{ data: CallRecord[] }>) => {
  let tell = () => {}
  const history = {
    getCalls: answer,
    subscribe: (listener: () => void) => {
      tell = listener
      return { unsubscribe: () => {} }
    },
  }
  const recents = new RecentCalls(fakeStore(), '/public/alice')
  const deps = { client: { history }, recents, changed: () => {} } as unknown as HistoryDeps
  return { history: new History(deps), recents, tell: () => tell() }
}

const at = Date.parse('2030-01-01T10:00:00.000Z')

it('calls of all devices replace the list, and later ones follow', async () => {
  let data = [record({})]
  const rig = setUp(async () => ({ data }))
  rig.recents.add({ to: '/old', name: 'Old', direction: 'inbound', at: 1, result: 'answered' })
  await rig.history.load()
  expect(rig.recents.list).toEqual([
    { to: '/public/bob', name: 'Bob', direction: 'inbound', at, result: 'answered', durationMs: 7000 },
  ])
  data = [record({ result: 'missed', answered_at: null, duration_ms: 0 }), ...data]
  rig.tell()
  await new Promise(setImmediate)
  expect(rig.recents.list[0]).toEqual({
    to: '/public/bob',
    name: 'Bob',
    direction: 'missed',
    at,
    result: 'missed',
  })
})

it('a running call, and the loss of a connection, stay in the list', async () => {
  const rig = setUp(async () => ({ data: [record({ direction: 'outbound', result: 'failed' })] }))
  rig.recents.add({ to: '/public/bob', name: 'Bob', direction: 'outbound', at: at + 100, result: 'lost' })
  rig.recents.add({ to: '/public/carol', name: 'Carol', direction: 'outbound', at: at + 900 })
  await rig.history.load()
  expect(rig.recents.list.map(({ to, result }) => [to, result])).toEqual([
    ['/public/carol', undefined],
    ['/public/bob', 'lost'],
  ])
})

it('without an answer of the gateway the list of this browser remains', async () => {
  const rig = setUp(() => Promise.reject(new Error('away')))
  rig.recents.add({ to: '/public/bob', name: 'Bob', direction: 'outbound', at })
  await rig.history.load()
  expect(rig.recents.list).toHaveLength(1)
})
