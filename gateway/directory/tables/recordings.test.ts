import { expect, it } from 'vitest'
import { describeEngines } from '../testing/engines.ts'
import { type RecordingRow, RecordingRows } from './recordings.ts'

describeEngines('rows of recordings', (engine) => {
  const row = (id: string, changes: Partial<RecordingRow> = {}): RecordingRow => ({
    id,
    node_id: 'n1',
    project_id: 'p1',
    call_id: 'c1',
    leg_id: 'l1',
    status: 'completed',
    end_reason: 'stopped',
    format: 'wav',
    channels: 1,
    sample_rate: 8000,
    duration_ms: 10,
    bytes: 5_000_000_000,
    started_at: 1_700_000_000_000,
    ended_at: 1_700_000_000_010,
    status_json: null,
    error: null,
    conversion: null,
    files_json: null,
    files_bytes: 0,
    storage_json: null,
    source: null,
    track: null,
    conference_id: null,
    ...changes,
  })
  const running = { status: 'in-progress', ended_at: null, end_reason: null, bytes: 0 } as const
  const open = async (...rows: readonly RecordingRow[]) => {
    const table = new RecordingRows((await engine.open()).store)
    for (const each of rows) await table.save(each)
    return table
  }
  const idsOf = (rows: readonly RecordingRow[]) => rows.map(({ id }) => id)

  it('come back as they were written last', async () => {
    const rows = await open(row('a', running))
    await rows.save(row('a'))
    expect(await rows.find('a')).toEqual(row('a'))
    await rows.remove('a')
    expect(await rows.find('a')).toBeUndefined()
  })

  it('are listed by project, call and time, with as many pages as there are', async () => {
    const at = (second: number) => ({ started_at: 1_700_000_000_000 + second * 1000 })
    const rows = await open(
      row('a', at(0)),
      row('b', at(1)),
      row('c', { ...at(2), call_id: 'c2' }),
      row('d', { ...at(3), project_id: 'p2' }),
    )
    const list = async (query: object) => {
      const { items, total } = await rows.list('p1', { number: 0, size: 2, ...query })
      return [idsOf(items), total]
    }
    expect(await list({})).toEqual([['c', 'b'], 3])
    expect(await list({ number: 1 })).toEqual([['a'], 3])
    expect(await list({ callId: 'c1' })).toEqual([['b', 'a'], 2])
    expect(await list({ from: at(1).started_at, until: at(2).started_at })).toEqual([['b'], 1])
  })

  it('belong to one gateway each', async () => {
    const rows = await open(
      row('a', running),
      row('b'),
      row('c', { ...running, node_id: 'n2' }),
      row('d', { node_id: 'n2' }),
      row('e', running),
      row('f', { started_at: 1_600_000_000_000 }),
    )
    expect(idsOf(await rows.inProgress('n1')).sort()).toEqual(['a', 'e'])
    expect(idsOf(await rows.oldest('n1', 5))).toEqual(['f', 'b'])
    expect(idsOf(await rows.oldest('n1', 5, 1_650_000_000_000))).toEqual(['f'])
    expect(await rows.totalBytes('n1')).toBe(10_000_000_000)
    expect(await rows.totalBytes('n3')).toBe(0)
    expect(idsOf(await rows.inProgress('n2'))).toEqual(['c'])
    expect(await rows.known(['a', 'x', 'd'])).toEqual(new Set(['a', 'd']))
  })

  it('lists those that wait for their conversion or their upload, if they have a file', async () => {
    const rows = await open()
    const storage_json = '{"url":"https://storage.example/x","method":"PUT"}'
    await rows.save(row('plain'))
    await rows.save(row('converts', { conversion: 'pending' }))
    await rows.save(row('uploads', { storage_json }))
    await rows.save(row('empty', { storage_json, bytes: 0 }))
    await rows.save(row('in progress', { storage_json, status: 'in-progress', ended_at: null }))
    await rows.save(row('of another gateway', { storage_json, node_id: 'n2' }))
    const found = async () => (await rows.unfinished('n1')).map(({ id }) => id).sort()
    expect(await found()).toEqual(['converts', 'uploads'])
    await rows.markUploaded('uploads')
    expect(await found()).toEqual(['converts'])
  })
})
