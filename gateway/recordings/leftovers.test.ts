import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { RecordingOrder } from '../calls/audio/recording-store.ts'
import { newRecordingRow } from './recording-index.ts'
import { FakeRecorder, RecordingRig, silentWav, wanted } from './testing/fake-recorder.ts'

const rig = new RecordingRig()

describe('after a crash', () => {
  const left = async (
    id: string,
    format: 'wav' | 'mp3' = 'wav',
    node = 'node-1',
    more: Partial<RecordingOrder> = {},
  ) => {
    const row = { id, node_id: node, started_at: rig.clock.now() - 60_000 }
    await rig.rows.save(newRecordingRow(row, { ...wanted, request: { format, tracks: 'in' }, ...more }))
    await mkdir(join(rig.folder, 'p1'), { recursive: true })
  }
  const part = async (id: string, bytes: Buffer, agoMs: number, format = 'wav'): Promise<void> => {
    const file = join(rig.folder, 'p1', `.${id}.${format}.0123abcd.part`)
    await writeFile(file, bytes)
    const at = new Date(rig.clock.now() - agoMs)
    await utimes(file, at, at)
  }

  it('leaves alone the recordings of another gateway on the same store', async () => {
    await left('theirs', 'wav', 'node-2')
    await rig.open()
    expect(await rig.rows.find('theirs')).toMatchObject({ status: 'in-progress', node_id: 'node-2' })
  })

  it('completes the files that were cut off, and settles those that have none', async () => {
    await left('half')
    await part('half', silentWav(500), 300_000)
    await left('music', 'mp3')
    await part('music', Buffer.alloc(3000), 300_000, 'mp3')
    await left('nothing')
    const recordings = await rig.open()
    const row = { end_reason: 'interrupted', ended_at: rig.clock.now() - 59_500 }
    expect(await rig.rows.find('half')).toMatchObject({
      ...row,
      status: 'completed',
      duration_ms: 500,
      bytes: 8044,
    })
    expect(await rig.rows.find('music')).toMatchObject({
      status: 'completed',
      duration_ms: 1000,
      bytes: 3000,
    })
    expect(await rig.rows.find('nothing')).toMatchObject({ status: 'failed', duration_ms: 0, bytes: 0 })
    expect(recordings.bytes).toBe(11_044)
    expect((await readFile(join(rig.folder, 'p1', 'half.wav'))).readUInt32LE(40)).toBe(8000)
  })

  const form = (...events: string[]) =>
    ({ dialect: 'form', url: 'https://x.example/status', method: 'POST', events }) as const
  const fieldsOf = (callback: (typeof rig.callbacks)[number] | undefined) =>
    Object.fromEntries(new URLSearchParams(callback?.body?.text))

  it('reports their ends once to their status targets', async () => {
    const known = { source: 'DialVerb', status: form('completed') } as const
    await left('half', 'wav', 'node-1', known)
    await part('half', silentWav(1500), 300_000)
    await left('nothing', 'wav', 'node-1', known)
    await left('silent')
    await left('deaf', 'wav', 'node-1', { status: form('in-progress', 'absent') })
    await rig.open()
    const reported = rig.callbacks.map((callback) => [callback.ends, callback.url, fieldsOf(callback)])
    const common = { AccountSid: 'p1', CallSid: 'c1', RecordingChannels: '1', RecordingSource: 'DialVerb' }
    const url = 'https://x.example/status'
    const link = expect.stringMatching(/^https:\/\/gw\.example\/api\/recordings\/half\/audio\?/)
    expect(reported).toHaveLength(2)
    expect(reported).toContainEqual([
      'half',
      url,
      {
        ...common,
        RecordingSid: 'half',
        RecordingStatus: 'completed',
        RecordingDuration: '2',
        RecordingUrl: link,
      },
    ])
    const failed = { RecordingSid: 'nothing', RecordingStatus: 'failed', RecordingDuration: '0' }
    expect(reported).toContainEqual(['nothing', url, { ...common, ...failed }])
  })

  it('reports each end once when links have a base URL', async () => {
    const status = form('completed')
    await left('half', 'wav', 'node-1', { status })
    await part('half', silentWav(500), 300_000)
    await left('over', 'wav', 'node-1', { status })
    const over = { status: 'failed', end_reason: 'error', ended_at: rig.clock.now() } as const
    await rig.rows.save({ ...(await rig.rows.find('over'))!, ...over })
    await part('over', silentWav(500), 300_000)
    let base = ''
    const recordings = await rig.starting({ base: () => base })
    expect(rig.callbacks).toEqual([])
    base = 'https://gw.example'
    await recordings.reportEnds()
    const reported = rig.callbacks.map((callback) => [callback.ends, fieldsOf(callback).RecordingUrl])
    expect(reported.sort()).toEqual(
      ['half', 'over'].map((id) => [
        id,
        expect.stringContaining(`https://gw.example/api/recordings/${id}/audio?`),
      ]),
    )
  })

  it('reports an earlier end that was not reported, and drops a target that expects no report', async () => {
    const over = { status: 'completed', end_reason: 'stopped', ended_at: rig.clock.now() } as const
    for (const [id, bytes, status] of [
      ['reported', 1000, form('completed')],
      ['absent', 0, form('absent')],
      ['not-for-them', 0, form('completed')],
    ] as const) {
      await left(id, 'wav', 'node-1', { status, source: 'RecordVerb' })
      await rig.rows.save({ ...(await rig.rows.find(id))!, ...over, bytes })
    }
    await rig.open()
    const reported = rig.callbacks.map((callback) => [callback.ends, fieldsOf(callback).RecordingStatus])
    expect(reported.sort()).toEqual([
      ['absent', 'absent'],
      ['reported', 'completed'],
    ])
    await expect.poll(async () => (await rig.rows.find('not-for-them'))?.status_json).toBe(null)
  })

  it('reports by the event of scripts, with the given control id', async () => {
    const status = { dialect: 'json', url: 'https://x.example/status', method: 'POST' } as const
    const record = { audio: { format: 'wav', direction: 'speak', stereo: false } }
    await left('named', 'wav', 'node-1', { status: { ...status, params: { control_id: 'mine', record } } })
    await part('named', silentWav(500), 300_000)
    await left('unnamed', 'wav', 'node-1', { status: { ...status, params: { record } } })
    const events = ['in-progress', 'absent']
    await left('not-for-them', 'wav', 'node-1', { status: { ...status, events, params: {} } })
    await left('silent', 'wav', 'node-1', { status: { ...status, events, params: {} } })
    const over = { status: 'completed', end_reason: 'stopped', ended_at: rig.clock.now() } as const
    await rig.rows.save({ ...(await rig.rows.find('silent'))!, ...over })
    await rig.open()
    const reported = rig.callbacks.map(({ body }) => JSON.parse(body?.text ?? ''))
    expect(reported.map(({ event_type: type }) => type)).toEqual(Array(3).fill('calling.call.record'))
    const params = reported.map((event) => event.params)
    expect(params).toContainEqual(expect.objectContaining({ control_id: 'silent', state: 'no_input' }))
    const ids = { call_id: 'c1', node_id: 'node-1' }
    expect(params).toContainEqual(
      expect.objectContaining({
        ...ids,
        control_id: 'mine',
        state: 'finished',
        record,
        duration: 0.5,
        size: 8044,
      }),
    )
    expect(params).toContainEqual(
      expect.objectContaining({ ...ids, control_id: 'unnamed', state: 'error', url: '', size: 0 }),
    )
  })

  it('reads only folders of recordings without an end, five minutes after the start', async () => {
    const theirs = join(rig.folder, 'p9')
    const file = join(theirs, '.other.wav.0123abcd.part')
    const recordings = await rig.open()
    await rig.pass(300_000)
    await mkdir(theirs)
    await writeFile(file, silentWav(500))
    const at = new Date(rig.clock.now() - 300_000)
    await utimes(file, at, at)
    await left('without-folder', 'wav', 'node-1', { projectId: 'p7' })
    await left('half')
    await part('half', silentWav(500), 300_000)
    await rig.pass(60_000)
    expect(await rig.rows.find('without-folder')).toMatchObject({ status: 'failed' })
    expect(await rig.rows.find('half')).toMatchObject({ status: 'completed' })
    expect([existsSync(file), recordings.bytes]).toEqual([true, 8044])
    expect(rig.lines.filter(({ event }) => event === 'recording.settling-failed')).toEqual([])
    await rig.starting()
    expect(existsSync(file)).toBe(false)
  })

  it('leaves a file alone that may still be written, and completes it later', async () => {
    await left('fresh')
    await part('fresh', silentWav(500), 60_000)
    const recordings = await rig.open()
    expect(await rig.rows.find('fresh')).toMatchObject({ status: 'in-progress' })
    await rig.pass(60_000)
    expect(recordings.bytes).toBe(8044)
    expect(await rig.rows.find('fresh')).toMatchObject({ status: 'completed', end_reason: 'interrupted' })
  })

  it('of a media thread, a row that failed gets its file', async () => {
    const recordings = await rig.open()
    const port = new FakeRecorder()
    const kept = recordings.start(port, wanted)
    await part(kept.id, silentWav(500), 0)
    port.last.finish({
      durationMs: 0,
      bytes: 0,
      hasFile: false,
      end: { kind: 'error', code: 'failed', message: 'the thread died' },
    })
    await kept.done
    await rig.pass(180_000)
    await rig.pass(60_000)
    expect(recordings.bytes).toBe(8044)
    expect(await rig.rows.find(kept.id)).toMatchObject({
      status: 'completed',
      end_reason: 'error',
      bytes: 8044,
    })
  })

  it('leaves alone what came to its end while others were looked at', async () => {
    const recordings = await rig.open()
    const port = new FakeRecorder()
    const kept = recordings.start(port, wanted)
    const inProgress = rig.rows.inProgress.bind(rig.rows)
    rig.rows.inProgress = async (nodeId) => {
      const rows = await inProgress(nodeId)
      port.last.finish({ end: { kind: 'silence' }, durationMs: 100, bytes: 1644, hasFile: true })
      await kept.done
      return rows
    }
    await rig.pass(60_000)
    expect(await rig.rows.find(kept.id)).toMatchObject({ end_reason: 'silence', bytes: 1644 })
    expect(recordings.bytes).toBe(1644)
  })

  it('says which file cannot be completed', async () => {
    await left('double')
    await part('double', silentWav(500), 300_000)
    await writeFile(join(rig.folder, 'p1', 'double.wav'), silentWav(20))
    await rig.open()
    expect(rig.lines).toContainEqual(expect.objectContaining({ level: 50, code: 'EEXIST' }))
    expect(readdirSync(join(rig.folder, 'p1'))).toHaveLength(2)
  })
})

describe('a file that no row names', () => {
  const file = (name: string) => join(rig.folder, name)
  const write = async (name: string, agoMs: number): Promise<string> => {
    await mkdir(dirname(file(name)), { recursive: true })
    await writeFile(file(name), silentWav(20))
    const at = new Date(rig.clock.now() - agoMs)
    await utimes(file(name), at, at)
    return file(name)
  }
  const hour = 3_600_000

  it('is removed once it is older than an hour', async () => {
    const old = [
      await write(`p1/${randomUUID()}.wav`, hour),
      await write(`p2/${randomUUID()}.mp3`, hour),
      await write(`project.${'a'.repeat(64)}/${randomUUID()}.wav`, hour),
    ]
    const young = await write(`p1/${randomUUID()}.wav`, -1)
    const recordings = await rig.open()
    const known = await rig.recorded(recordings)
    await utimes(file(`p1/${known}.wav`), 1, 1)
    await rig.pass(hour)
    expect(old.filter(existsSync)).toEqual([])
    expect([young, file(`p1/${known}.wav`)].filter(existsSync)).toHaveLength(2)
    expect(rig.lines).toContainEqual(expect.objectContaining({ level: 40, file: old[0], by: 'orphan' }))
    expect(await rig.count('recordings_removed_total', { by: 'orphan' })).toBe(3)
    await rig.pass(hour)
    expect(existsSync(young)).toBe(false)
  })

  it('stays if its name is not one of the gateway', async () => {
    const id = randomUUID()
    // Another version of UUID: the gateway uses random ones.
    const dated = `${id.slice(0, 14)}1${id.slice(15)}`
    const foreign = await Promise.all(
      [
        `${id}.wav`,
        `p1/${id}.wav.bak`,
        `p1/${id}.txt`,
        'p1/notes.wav',
        `p1/x${id}.wav`,
        `p1/sub/${id}.wav`,
        `p1/${dated}.wav`,
        `other.folder/${id}.wav`,
        `.hidden/${id}.wav`,
      ].map((name) => write(name, 48 * hour)),
    )
    await mkdir(file(`p1/${randomUUID()}.wav`))
    await symlink(foreign[0]!, file(`p1/${randomUUID()}.wav`))
    await rig.open()
    await rig.pass(hour)
    expect(foreign.filter(existsSync)).toEqual(foreign)
    expect(readdirSync(file('p1'))).toHaveLength(8)
  })

  it('stays while the rows cannot be read', async () => {
    const old = await write(`p1/${randomUUID()}.wav`, hour)
    await rig.open()
    rig.rows.known = () => Promise.reject(new Error('database is locked'))
    await rig.pass(hour)
    expect(existsSync(old)).toBe(true)
    expect(rig.lines).toContainEqual(expect.objectContaining({ level: 50 }))
  })

  it('is distinguished from files of rows, for any number of them', async () => {
    const recordings = await rig.open()
    const known = [await rig.recorded(recordings), await rig.recorded(recordings)]
    const others = Array.from({ length: 1000 }, () => randomUUID())
    expect(await rig.rows.known([known[0]!, ...others, known[1]!])).toEqual(new Set(known))
  })
})
