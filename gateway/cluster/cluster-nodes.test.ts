import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { toStoredCall } from '../cdr/stored-calls.ts'
import { leftAs, ownProject, startedCall } from '../cdr/testing/call-summaries.ts'
import { FakeClock } from '../core/clock.ts'
import type { Directory } from '../directory/directory.ts'
import { CallbackRows } from '../directory/tables/callbacks.ts'
import { CallRows } from '../directory/tables/calls.ts'
import { NodeRows, type TakenOver } from '../directory/tables/nodes.ts'
import { RecordingRows } from '../directory/tables/recordings.ts'
import { describeEngines } from '../directory/testing/engines.ts'
import { newRecordingRow as startOf } from '../recordings/recording-index.ts'
import { ClusterNodes } from './cluster-nodes.ts'

describeEngines('gateways on one store', (engine) => {
  let clock: FakeClock
  let directory: Directory
  let opened: ClusterNodes[]
  beforeEach(async () => {
    clock = new FakeClock()
    opened = []
    directory = await engine.open()
  })
  afterEach(async () => {
    for (const nodes of opened) await nodes.close()
    expect(clock.running).toBe(0)
  })

  const open = async (nodeId: string) => {
    const rows = new NodeRows(directory.store)
    const ends = leftAs(clock)
    const nodes = await ClusterNodes.open({
      rows,
      nodeId,
      ends,
      clock,
      log: { info: () => {}, error: () => {} },
    })
    opened.push(nodes)
    const taken: TakenOver[] = []
    nodes.onTakeover((each) => taken.push(each))
    return { nodes, rows, taken }
  }

  /** Lets time go by, half a minute at once, with what every gateway does then. */
  const wait = async (minutes: number, running: number) => {
    for (let i = 0; i < minutes * 2; i++) {
      clock.advance(30_000)
      await expect.poll(() => clock.running, { interval: 1 }).toBe(running)
    }
  }

  /** A call and a recording in progress, and a callback, of a gateway. */
  const leave = async (nodeId: string): Promise<string> => {
    const toldTo = {
      url: 'https://y.example/',
      method: 'POST',
      states: ['completed'],
      dialect: 'form',
    } as const
    const call = { ...startedCall({ statusTarget: toldTo }), status: 'in-progress' } as const
    await new CallRows(directory.store).save([toStoredCall(call, nodeId)], [])
    await new CallbackRows(directory.store, nodeId).add({
      id: call.id,
      project_id: ownProject,
      call_id: call.id,
      kind: 'call-status',
      method: 'POST',
      url: 'https://x.example/',
      server: 'https://x.example',
      content_type: null,
      body: null,
      tries: 1,
      created_at: 1,
      due_at: 1,
    })
    const request = { format: 'wav', tracks: 'in' } as const
    const recordings = new RecordingRows(directory.store)
    const status = { ...toldTo, dialect: 'form', events: ['completed'] } as const
    const wanted = {
      projectId: ownProject,
      callId: call.id,
      legId: 'l1',
      request,
      status,
      source: 'DialVerb',
    } as const
    await recordings.save(startOf({ id: 'r1', node_id: nodeId, started_at: clock.now() }, wanted))
    return call.id
  }

  it('take over what one has left that was not heard of for a quarter of an hour, one of them each thing', async () => {
    const gone = await open('gone')
    const id = await leave('gone')
    await gone.nodes.close()
    const heirs = [await open('n1'), await open('n2')]
    await wait(14.5, 2)
    expect(heirs.flatMap(({ taken }) => taken)).toEqual([])
    await wait(1, 2)
    const servers = new Map([
      ['https://x.example', 1],
      ['https://y.example', 2],
    ])
    expect(heirs.flatMap(({ taken }) => taken)).toEqual([{ nodeId: 'gone', callbacks: servers, calls: 1 }])
    const heir = heirs.findIndex(({ taken }) => taken.length > 0) + 1
    expect(await new CallbackRows(directory.store, `n${heir}`).counts()).toEqual(servers)
    expect(await new CallRows(directory.store).find(ownProject, id)).toMatchObject({
      status: 'failed',
      code: 'interrupted',
      node_id: 'gone',
    })
    expect(await new RecordingRows(directory.store).find('r1')).toMatchObject({
      status: 'failed',
      end_reason: 'interrupted',
      ended_at: clock.now() - 15.5 * 60_000,
      status_json: null,
    })
  })

  it('know when they were there last', async () => {
    const first = await open('n1')
    expect(first.nodes.lastSeenAt).toBe(clock.now())
    await first.nodes.close()
    const then = clock.now()
    clock.advance(3_600_000)
    expect((await open('n1')).nodes.lastSeenAt).toBe(then)
  })

  it('leave one another alone', async () => {
    const both = [await open('n1'), await open('n2')]
    await leave('n1')
    await wait(20, 2)
    expect(both.flatMap(({ taken }) => taken)).toEqual([])
    expect(both.every(({ nodes }) => nodes.holdsLease)).toBe(true)
  })

  it('are not sure of what is theirs long before another one takes it, where they cannot say that they are there', async () => {
    const { nodes, rows } = await open('n1')
    const seen = vi.spyOn(rows, 'seen').mockRejectedValue(new Error('away'))
    await wait(2.5, 1)
    expect(nodes.holdsLease).toBe(true)
    await wait(0.5, 1)
    expect(nodes.holdsLease).toBe(false)
    seen.mockRestore()
    await wait(0.5, 1)
    expect(nodes.holdsLease).toBe(true)
  })

  it('take nothing of one that has come back', async () => {
    const { rows } = await open('n1')
    await rows.seen('n2', clock.now())
    await leave('n2')
    const heir = { heir: 'n1', ends: leftAs(clock) }
    expect(await rows.takeOver('n2', clock.now(), heir)).toBeUndefined()
    expect((await rows.takeOver('n2', clock.now() + 1, heir))?.calls).toBe(1)
    expect(await rows.takeOver('n2', clock.now() + 1, heir)).toBeUndefined()
  })
})
