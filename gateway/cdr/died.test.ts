import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { endLostCalls } from '../calling/lost-calls.ts'
import { describeEngines } from '../directory/testing/engines.ts'
import { openTestCdrStore, ownProject, startedCall } from './testing/call-summaries.ts'

describeEngines('the calls of a gateway that died', (engine) => {
  const openRecords = openTestCdrStore(async () => (await engine.open()).store)

  it('are over by the next start, and no others', async () => {
    const { store } = await engine.open()
    const mine = await openRecords({ store })
    const others = await openRecords({ store, nodeId: 'node-2' })
    const call = startedCall()
    const foreign = startedCall()
    mine.records.began(call)
    others.records.began(foreign)
    await Promise.all([mine.records.settled(), others.records.settled()])
    const { records, clock, lines } = await openRecords({ store })
    expect(await records.find(ownProject, call.id)).toMatchObject({
      status: 'failed',
      code: 'interrupted',
      endedAt: clock.now(),
    })
    expect(await records.find(ownProject, foreign.id)).toMatchObject({ status: 'queued' })
    expect(lines[0]).toMatchObject({ calls: 1, code: 'interrupted' })
  })

  it('are reported once by the next run, and have their CDRs', async () => {
    const { store } = await engine.open()
    const first = await openRecords({ store })
    const statusTarget = {
      url: 'https://x.example/cb',
      method: 'POST',
      states: ['completed'],
      dialect: 'form',
    } as const
    const call = startedCall({ statusTarget })
    const dialled = { parentId: call.id, direction: 'outbound-dial' } as const
    const called = startedCall({ ...dialled, statusTarget })
    const busy = startedCall(dialled)
    for (const each of [call, busy, called]) first.records.began(each)
    first.records.ended(busy.id, { status: 'busy', endedAt: 1_700_000_004_000, code: 'busy' })
    for (const { id } of [call, called])
      first.records.changed(id, { status: 'in-progress', answeredAt: 1_700_000_005_000 })
    await first.records.settled()

    const waiting: ReadonlyMap<string, number>[] = []
    const onCallbacks = (counts: ReadonlyMap<string, number>) => waiting.push(counts)
    const wasThereAt = 1_700_000_030_000
    const end = endLostCalls({ clock: { now: () => 1_700_000_900_000 } })
    const { records } = await openRecords({ store, wasThereAt, end, onCallbacks })
    expect(await records.find(ownProject, call.id)).toMatchObject({ status: 'failed', endedAt: wasThereAt })
    const callbacks = await store.selectFrom('callback').selectAll().orderBy('created_at').execute()
    expect(callbacks.map(({ call_id: id, node_id: node }) => [id, node]).sort()).toEqual(
      [call.id, called.id].map((id) => [id, 'node-1']).sort(),
    )
    const rows = await records.part(ownProject, { kind: 'leg', callId: call.id }, 10)
    expect(rows.rows.map(({ role, code, answered_ms: ms }) => [role, code, ms])).toEqual([
      ['caller', 'interrupted', 25_000],
      ['callee', 'busy', 0],
      ['callee', 'interrupted', 25_000],
    ])
    expect(await records.record(ownProject, 'call', call.id)).toMatchObject({
      duration_ms: 30_000,
      code: 'interrupted',
    })
    // A further start finds nothing to tell.
    await openRecords({ store, wasThereAt, end, onCallbacks })
    expect(waiting).toEqual([new Map([['https://x.example', 2]]), new Map()])
    expect(
      (await store.selectFrom('call').select('status_json').execute()).map((row) => row.status_json),
    ).toEqual([null, null, null])
  })

  it('has everything in the store that it said was there when it was killed in the middle of a burst', async () => {
    await (await engine.open()).close()
    const burst = join(import.meta.dirname, 'testing', 'cdr-burst.ts')
    const child = execFile(process.execPath, [burst, JSON.stringify(engine.place)])
    const ended = new Promise((resolve) => child.on('close', resolve))
    let said = ''
    let errors = ''
    child.stderr?.on('data', (text) => (errors += text))
    child.stdout?.on('data', (text) => {
      said += text
      if (said.split('\n').length > 300) child.kill('SIGKILL')
    })
    await ended
    expect([child.signalCode, errors]).toEqual(['SIGKILL', ''])
    const lines = said.split('\n').slice(0, -1)
    const { store } = await openRecords({ nodeId: 'burst' })
    const calls = await store.selectFrom('call').selectAll().execute()
    const known = new Map(calls.map((call) => [call.id, call]))
    const kept = new Set((await store.selectFrom('cdr').select('id').execute()).map(({ id }) => id))
    for (const line of lines) {
      const [what, id = ''] = line.split(' ')
      expect([line, known.has(id)]).toEqual([line, true])
      if (what === 'ended')
        expect([line, known.get(id)?.status, kept.has(id)]).toEqual([line, 'completed', true])
    }
    expect(lines.filter((line) => line.startsWith('ended')).length).toBeGreaterThan(50)
    // What went with the process is over.
    expect(calls.filter(({ ended_at: end }) => end === null)).toEqual([])
  })
})
