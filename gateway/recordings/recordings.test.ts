import { existsSync } from 'node:fs'
import { mkdir, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import type { Upload } from '../callbacks/customer-http.ts'
import { FakeRecorder, RecordingRig, silentWav, wanted } from './testing/fake-recorder.ts'

const rig = new RecordingRig()
const day = 86_400_000

describe('a recording', () => {
  it('lies in the folder of its project under a random name, and is written down from its beginning to its end', async () => {
    const recordings = await rig.open()
    const port = new FakeRecorder()
    const kept = recordings.start(port, { ...wanted, request: { ...wanted.request, tracks: 'stereo' } })
    expect(kept.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(port.last.request.path).toBe(join(rig.folder, 'p1', `${kept.id}.wav`))
    expect(existsSync(dirname(port.last.request.path))).toBe(true)
    expect(recordings.count).toBe(1)
    expect(await rig.rows.find(kept.id)).toMatchObject({ status: 'in-progress', channels: 2, ended_at: null })
    rig.clock.advance(5000)
    port.last.finish({ end: { kind: 'silence' }, durationMs: 4000, bytes: 64_044, hasFile: true })
    await kept.done
    expect(await rig.rows.find(kept.id)).toEqual({
      id: kept.id,
      node_id: 'node-1',
      project_id: 'p1',
      call_id: 'c1',
      leg_id: 'l1',
      status: 'completed',
      end_reason: 'silence',
      format: 'wav',
      channels: 2,
      sample_rate: 8000,
      started_at: rig.clock.now() - 5000,
      ended_at: rig.clock.now(),
      duration_ms: 4000,
      bytes: 64_044,
      status_json: null,
      storage_json: null,
      error: null,
      conversion: null,
      files_json: null,
      files_bytes: 0,
      source: null,
      track: 'both',
      conference_id: null,
    })
    expect([recordings.count, recordings.bytes]).toEqual([0, 64_044])
    expect(await rig.count('recordings_ended_total', { reason: 'silence' })).toBe(1)
  })

  it('is no longer than the longest call, also while it is paused with silence and forgotten', async () => {
    const recordings = await rig.open()
    const port = new FakeRecorder()
    const longest = (maxMs?: number) => {
      recordings.start(port, { ...wanted, request: { ...wanted.request, maxMs } })
      return port.last.request.maxMs
    }
    expect([longest(), longest(60_000), longest(86_400_000)]).toEqual([14_400_000, 60_000, 14_400_000])
    for (const recording of port.recordings) recording.stop()
  })

  it('never lies outside of the folder, whatever the project is called', async () => {
    const recordings = await rig.open()
    for (const projectId of ['..', '.', 'a\\b', 'ü', 'x'.repeat(300)]) {
      const port = new FakeRecorder()
      recordings.start(port, { ...wanted, projectId })
      expect(dirname(dirname(port.last.request.path))).toBe(rig.folder)
      port.last.stop()
    }
  })

  it('that cannot be written is logged and counted as an error; what was written of it stays', async () => {
    const recordings = await rig.open()
    const port = new FakeRecorder()
    const end = { kind: 'error', code: 'ENOSPC', message: 'no space left on device' } as const
    const partly = recordings.start(port, wanted)
    port.last.finish({ end, durationMs: 20, bytes: 364, hasFile: true })
    const not = recordings.start(port, wanted)
    port.last.finish({ end, durationMs: 0, bytes: 0, hasFile: false })
    await Promise.all([partly.done, not.done])
    expect(await rig.rows.find(partly.id)).toMatchObject({
      status: 'completed',
      end_reason: 'error',
      bytes: 364,
    })
    expect(await rig.rows.find(not.id)).toMatchObject({ status: 'failed', end_reason: 'error', bytes: 0 })
    expect(rig.lines.filter(({ code }) => code === 'recording_failed')).toMatchObject([
      { level: 50, recording: partly.id, call: 'c1', errno: 'ENOSPC' },
      { level: 50, recording: not.id },
    ])
    expect(await rig.count('recordings_ended_total', { reason: 'error' })).toBe(2)
  })

  it.each([
    ['completed', 0, false],
    ['completed', 364, true],
    ['absent', 0, true],
    ['in-progress', 364, false],
  ])(
    'leaves %s of %i bytes to the next run where its maker is to tell it: %s',
    async (event, bytes, left) => {
      const recordings = await rig.open()
      const port = new FakeRecorder()
      const status = { dialect: 'json', url: 'https://x.example/', method: 'POST', events: [event] } as const
      const kept = recordings.start(port, { ...wanted, status: { ...status, params: {} } })
      port.last.finish({ end: { kind: 'silence' }, durationMs: 20, bytes, hasFile: bytes > 0 })
      await kept.done
      expect((await rig.rows.find(kept.id))?.status_json !== null).toBe(left)
    },
  )

  it('goes on when it cannot be written down at first', async () => {
    const recordings = await rig.open()
    const save = rig.rows.save.bind(rig.rows)
    rig.rows.save = async () => Promise.reject(new Error('database is locked'))
    const port = new FakeRecorder()
    const kept = recordings.start(port, wanted)
    rig.rows.save = save
    port.last.finish({ end: { kind: 'limit' }, durationMs: 20, bytes: 364, hasFile: true })
    await kept.done
    expect(await rig.rows.find(kept.id)).toMatchObject({ status: 'completed', bytes: 364 })
    expect(rig.lines).toContainEqual(expect.objectContaining({ level: 50, recording: kept.id }))
  })

  it('is sent to its storage once it is over, where there is a file', async () => {
    const sent: unknown[] = []
    const upload = async ({ url, method, contentType, open }: Upload) => {
      const { bytes, stream } = await open()
      sent.push({ url, method, contentType, bytes, length: (await buffer(stream)).length })
      return 201
    }
    const recordings = await rig.open({ http: { upload } })
    const storage = { url: 'https://me:pw@store.example/a?sig=1', method: 'PUT' } as const
    const full = new FakeRecorder()
    const empty = new FakeRecorder()
    const kept = recordings.start(full, { ...wanted, storage })
    const none = recordings.start(empty, { ...wanted, storage })
    const file = silentWav(100)
    await writeFile(full.last.request.path, file)
    full.last.finish({ end: { kind: 'silence' }, durationMs: 100, bytes: file.length, hasFile: true })
    empty.last.stop()
    expect(await kept.stored).toBe('https://store.example/a')
    expect(await none.stored).toBeUndefined()
    const { length } = file
    expect(sent).toEqual([{ ...storage, contentType: 'audio/wav', bytes: length, length }])
    expect(existsSync(full.last.request.path)).toBe(true)
    expect(await rig.count('recording_uploads_total', { outcome: 'stored' })).toBe(1)
  })

  it('ends when the gateway closes, which waits for it', async () => {
    const recordings = await rig.open()
    const kept = recordings.start(new FakeRecorder(), wanted)
    await recordings.close()
    expect(await rig.rows.find(kept.id)).toMatchObject({ status: 'completed', end_reason: 'stopped' })
    expect(rig.clock.running).toBe(0)
  })
})

describe('free space', () => {
  it('refuses new recordings while there is too little, by what was found last', async () => {
    const recordings = await rig.open()
    rig.free = 999_999
    const port = new FakeRecorder()
    recordings.start(port, wanted)
    await rig.pass(10_000)
    expect(recordings.freeBytes).toBe(999_999)
    expect(() => recordings.start(port, wanted)).toThrow(
      expect.objectContaining({ code: 'recording_no_space' }),
    )
    expect(rig.lines.at(-1)).toMatchObject({ code: 'recording_no_space', freeBytes: 999_999, call: 'c1' })
    expect(await rig.count('rejections_total', { code: 'recording_no_space' })).toBe(1)
    // The one that was under way goes on.
    expect(recordings.count).toBe(1)
    port.last.stop()
  })

  it('that cannot be read permits every recording', async () => {
    const recordings = await rig.open({ freeBytes: () => Promise.reject(new Error('EIO')) })
    expect(recordings.freeBytes).toBe(-1)
    const port = new FakeRecorder()
    recordings.start(port, wanted)
    port.last.stop()
  })

  it('is that of the file system', async () => {
    const { freeBytes } = await rig.open({ freeBytes: undefined })
    expect(freeBytes).toBeGreaterThan(0)
  })

  it('does not help where the folder cannot be made', async () => {
    const recordings = await rig.open()
    await writeFile(join(rig.folder, 'p2'), '')
    expect(() => recordings.start(new FakeRecorder(), { ...wanted, projectId: 'p2' })).toThrow(
      expect.objectContaining({ code: 'recording_failed' }),
    )
    expect(recordings.count).toBe(0)
  })
})

describe('the retention rule', () => {
  it('removes what is too old, and its file', async () => {
    const recordings = await rig.open({ keepMs: 30 * day })
    const old = await rig.recorded(recordings)
    await rig.pass(29 * day)
    const young = await rig.recorded(recordings)
    const file = join(rig.folder, 'p1', `${old}.wav`)
    expect(existsSync(file)).toBe(true)
    await rig.pass(day)
    expect(existsSync(file)).toBe(true)
    await rig.pass(60_000)
    expect(await rig.rows.find(old)).toBeUndefined()
    expect(existsSync(file)).toBe(false)
    expect(await rig.rows.find(young)).toBeDefined()
    expect(rig.lines).toContainEqual(expect.objectContaining({ recording: old, by: 'age', bytes: 1644 }))
    expect(await rig.count('recordings_removed_total', { by: 'age' })).toBe(1)
    expect(recordings.bytes).toBe(1644)
  })

  it('removes the oldest while there is too much, but nothing that is under way', async () => {
    const recordings = await rig.open({ maxBytes: 4000 })
    const port = new FakeRecorder()
    const running = recordings.start(port, wanted)
    const ids: string[] = []
    for (let i = 0; i < 4; i++) {
      await rig.pass(1000)
      ids.push(await rig.recorded(recordings))
    }
    await rig.pass(60_000)
    const left = await Promise.all(ids.map((id) => rig.rows.find(id)))
    expect(left.map((row) => row?.id)).toEqual([undefined, undefined, ids[2], ids[3]])
    expect(recordings.bytes).toBe(3288)
    expect(await rig.count('recordings_removed_total', { by: 'room' })).toBe(2)
    expect(await rig.rows.find(running.id)).toBeDefined()
    port.last.stop()
  })

  it('passes over what cannot be removed', async () => {
    const recordings = await rig.open({ keepMs: day })
    const stuck = await rig.recorded(recordings, 100, { projectId: 'p2' })
    const file = join(rig.folder, 'p2', `${stuck}.wav`)
    await unlink(file)
    // A folder of that name cannot be unlinked, even by root.
    await mkdir(file)
    const other = await rig.recorded(recordings)
    await rig.pass(2 * day)
    await rig.pass(60_000)
    expect(await rig.rows.find(other)).toBeUndefined()
    expect(await rig.rows.find(stuck)).toBeDefined()
    expect(rig.lines).toContainEqual(expect.objectContaining({ level: 50, recording: stuck, by: 'age' }))
  })
})

it('what another gateway on the same store removes takes no more room', async () => {
  const recordings = await rig.open({ maxBytes: 4000 })
  const other = await rig.open({ nodeId: 'node-2' })
  const old = await rig.recorded(recordings)
  const young = await rig.recorded(recordings)
  await other.remove((await other.find(old, 'p1'))!)
  expect(other.bytes).toBe(0)
  rig.clock.advance(60_000)
  await expect.poll(() => recordings.bytes).toBe(1644)
  expect(await rig.rows.find(young)).toBeDefined()
})

it('does not open where the folder cannot be made', async () => {
  await writeFile(join(rig.folder, 'file'), '')
  await expect(rig.open({ folder: join(rig.folder, 'file', 'below') })).rejects.toThrow('cannot be created')
})
