import { pino } from 'pino'
import { expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { Metrics } from '../core/metrics.ts'
import type { Directory } from '../directory/directory.ts'
import { NodeRows } from '../directory/tables/nodes.ts'
import { type SubscriberCallRow, SubscriberCallRows } from '../directory/tables/subscriber-calls.ts'
import { describeEngines } from '../directory/testing/engines.ts'
import { SubscriberHistory } from './subscriber-history.ts'
import { leftAs, openTestCdrStore } from './testing/call-summaries.ts'

const startedAt = 1_700_000_000_000
const answeredAt = startedAt + 5_000
const seenAt = startedAt + 30_000

describeEngines('the history of a gateway that crashed', (engine) => {
  const openRecords = openTestCdrStore(async () => (await engine.open()).store)

  const setUp = async () => {
    const directory = await engine.open()
    const clock = new FakeClock()
    const rows = new SubscriberCallRows(directory.store)
    const deps = { rows, clock, log: pino({ level: 'silent' }), metrics: new Metrics() }
    const keepMs = 100 * 365 * 86_400_000
    const history = new SubscriberHistory({ ...deps, nodeId: 'node-1' }, keepMs)
    const other = new SubscriberHistory({ ...deps, nodeId: 'node-2' }, keepMs)
    return { directory, clock, history, other, call: callOf(directory) }
  }

  const callOf = (directory: Directory) => {
    const { id: subscriber_id } = directory.subscriberByEmail('project-1', 'alice@example.test')!
    return (id: string, more: Partial<SubscriberCallRow> = {}): SubscriberCallRow => ({
      id,
      subscriber_id,
      project_id: 'project-1',
      call_id: id,
      direction: 'outbound',
      name: 'Carol',
      number: '+15551230001',
      result: 'failed',
      code: 'interrupted',
      started_at: startedAt,
      answered_at: null,
      ended_at: startedAt,
      ...more,
    })
  }

  const endsOf = async (history: SubscriberHistory, { subscriber_id: id }: SubscriberCallRow) =>
    (await history.of(id, {}, 10)).map((row) => [row.id, row.result, row.code, row.ended_at - startedAt])

  it('shows its calls in progress as ended by the last heartbeat, and no others', async () => {
    const { directory, history, other, call } = await setUp()
    const answered = { result: 'answered', answered_at: answeredAt, ended_at: answeredAt }
    history.addInProgress(call('ringing'))
    history.addInProgress(call('talking'))
    history.addInProgress(call('talking', answered))
    history.addInProgress(call('late', { started_at: seenAt + 1, ended_at: seenAt + 1 }))
    history.addInProgress(call('ended'))
    history.add(call('ended', { result: 'busy', code: 'busy', ended_at: startedAt + 1 }))
    other.addInProgress(call('elsewhere'))
    await other.of('', {}, 1)
    expect(await endsOf(history, call('ringing'))).toEqual([['ended', 'busy', 'busy', 1]])
    await openRecords({ store: directory.store, wasThereAt: seenAt })
    const ends = [
      ['late', 'failed', 'interrupted', 30_001],
      ['talking', 'answered', 'interrupted', 30_000],
      ['ringing', 'failed', 'interrupted', 30_000],
      ['ended', 'busy', 'busy', 1],
    ]
    expect(await endsOf(history, call('ringing'))).toEqual(ends)
    // Only calls that rang at a subscriber must stop to ring.
    await history.loadInterrupted()
    expect(history.interruptedRinging(call('').subscriber_id)).toEqual([])
    // The other gateway still runs, and reports the real end.
    other.add(call('elsewhere', { ...answered, code: 'normal', ended_at: seenAt + 2 }))
    await other.of('', {}, 1)
    expect(await endsOf(history, call('ringing'))).toEqual([
      ['elsewhere', 'answered', 'normal', 30_002],
      ...ends,
    ])
    await Promise.all([history.close(), other.close()])
  })

  it('has the calls that rang at a subscriber, for ten minutes', async () => {
    const { directory, clock, history, call } = await setUp()
    const incoming = { direction: 'inbound', result: 'missed' } as const
    history.addInProgress(call('ringing', incoming))
    history.addInProgress(call('outgoing'))
    history.addInProgress(call('talking', { ...incoming, result: 'answered', answered_at: answeredAt }))
    history.add(call('missed', { ...incoming, code: 'canceled' }))
    const { subscriber_id: id } = call('')
    await history.of(id, {}, 1)
    await history.loadInterrupted()
    expect(history.interruptedRinging(id)).toEqual([])
    await openRecords({ store: directory.store, wasThereAt: seenAt })
    clock.advance(seenAt + 599_999 - clock.now())
    await history.loadInterrupted()
    expect([history.interruptedRinging(id), history.interruptedRinging('other')]).toEqual([['ringing'], []])
    clock.advance(1)
    expect(history.interruptedRinging(id)).toEqual([])
    await history.close()
  })

  it('shows them after another gateway has recovered its calls', async () => {
    const { directory, clock, history, call } = await setUp()
    const nodes = new NodeRows(directory.store)
    await nodes.seen('node-1', seenAt)
    history.addInProgress(call('ringing'))
    expect(await endsOf(history, call('ringing'))).toEqual([])
    await nodes.takeOver('node-1', seenAt + 1, { heir: 'node-2', ends: leftAs(clock) })
    expect(await endsOf(history, call('ringing'))).toEqual([['ringing', 'failed', 'interrupted', 30_000]])
    await history.close()
  })
})
