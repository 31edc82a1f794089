/** Files of recordings of rooms: those of members, conversions and uploads. */
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { RecordingEnd } from '../../media/types.ts'
import type { MemberPlace, RecordingManifest, RoomRecordingOrder } from '../calls/audio/recording-store.ts'
import { FakeRoomRecording } from '../calls/testing/fake-room-recorder.ts'
import { filesOf } from './member-files.ts'
import { newRoomRecordingRow } from './recording-index.ts'
import type { Recordings, RecordingsOptions } from './recordings.ts'
import { RecordingRig, silentWav } from './testing/fake-recorder.ts'

const rig = new RecordingRig()
const order: RoomRecordingOrder = { projectId: 'p1', callId: 'c1', legId: 'l1', roomSessionId: 's1' }

const manifestWith = (...names: readonly string[]): RecordingManifest => ({
  room_session_id: 's1',
  room_name: 'lounge',
  started_at: '2026-01-01T00:00:00.000Z',
  members: [{ id: 'm', name: 'Ann', type: 'member' }],
  files: names.map((name) => ({ name, member_id: 'm', kind: 'audio', start: 1.5 })),
  timeline: [],
  is_truncated: false,
})

/** A WAV with 16 kHz, as those of members are. */
const wav = (ms: number): Buffer => {
  const bytes = silentWav(2 * ms)
  bytes.writeUInt32LE(16_000, 24)
  return bytes
}

/** Starts a recording of a room. */
const started = (recordings: Recordings, more: Partial<RoomRecordingOrder> = {}) => {
  let media: FakeRoomRecording | undefined
  let members: MemberPlace | undefined
  const stored = recordings.startRoom(
    (request, place) => {
      members = place
      media = new FakeRoomRecording(request)
      return media
    },
    { ...order, ...more },
  )
  const finish = async (end: RecordingEnd = { kind: 'stopped' }) => {
    await writeFile(media!.request.path, 'x')
    media!.finish(end)
    await stored.done
  }
  return { ...stored, media: media!, members, finish }
}

const rowOf = async (id: string) => (await rig.rows.find(id))!

describe('files of members', () => {
  it('are stored with the recording, counted with it, and removed with it', async () => {
    const recordings = await rig.open()
    const recording = started(recordings, { hasMembers: true })
    const members = recording.members!
    members.save(manifestWith('001-audio.wav'))
    await writeFile(members.pathOf('001-audio.wav'), wav(500))
    members.save(manifestWith('001-audio.wav', '002-audio.webm'))
    await recording.finish()
    const row = await rowOf(recording.id)
    const file = { name: '001-audio.wav', member_id: 'm', kind: 'audio', start: 1.5 }
    // The second file had no content, so it does not exist.
    const measured = [{ ...file, duration: 0.5, size_in_bytes: 16_044 }]
    expect([filesOf(row), row.files_bytes]).toEqual([measured, 16_044])
    const folder = recordings.folder.membersOf(row)
    const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'))
    expect(manifest).toMatchObject({ room_name: 'lounge', files: measured })
    expect(recordings.bytes).toBe(row.bytes + 16_044)
    expect(await rig.rows.totalBytes('node-1')).toBe(recordings.bytes)
    await recordings.remove(row)
    expect([existsSync(folder), recordings.bytes]).toEqual([false, 0])
  })

  it('have no place without a request, and the manifest is written at most once in a second', async () => {
    const recordings = await rig.open()
    expect(started(recordings).members).toBeUndefined()
    const { id, members, finish } = started(recordings, { hasMembers: true })
    const path = join(recordings.folder.membersOf({ id, project_id: 'p1' }), 'manifest.json')
    const names = async () =>
      JSON.parse(await readFile(path, 'utf8').catch(() => '{"files":[]}')).files.length
    members!.save(manifestWith('1'))
    await expect.poll(names).toBe(1)
    members!.save(manifestWith('1', '2'))
    members!.save(manifestWith('1', '2', '3'))
    expect(await names()).toBe(1)
    rig.clock.advance(1000)
    await expect.poll(names).toBe(3)
    await finish()
  })

  it('have a manifest that is written less often when it is long, and at the end', async () => {
    const recordings = await rig.open()
    const { id, members, finish } = started(recordings, { hasMembers: true })
    const path = join(recordings.folder.membersOf({ id, project_id: 'p1' }), 'manifest.json')
    const moments = async () =>
      JSON.parse(await readFile(path, 'utf8').catch(() => '{"timeline":[]}')).timeline.length
    const moment = { at: 0, layout: '1x1', speaker: null, layers: [] }
    const save = (count: number) =>
      members!.save({ ...manifestWith(), timeline: Array.from({ length: count }, () => moment) })
    save(501)
    await expect.poll(moments).toBe(501)
    save(2001)
    rig.clock.advance(9_999)
    expect(await moments()).toBe(501)
    rig.clock.advance(1)
    await expect.poll(moments).toBe(2001)
    save(2002)
    rig.clock.advance(59_999)
    expect(await moments()).toBe(2001)
    await finish()
    expect(await moments()).toBe(2002)
  })

  it('have links of their own', async () => {
    const recordings = await rig.open()
    const query = new URL(recordings.linkToFile('id', '1.wav')).searchParams
    const proof = { expires: Number(query.get('expires')), signature: query.get('signature')! }
    expect(recordings.checkLink('id', proof, '1.wav')).toBe('good')
    expect(recordings.checkLink('id', proof, '2.wav')).toBe('forged')
    expect(recordings.checkLink('id', proof)).toBe('forged')
    expect(recordings.checkLink('id/1.wav', proof)).toBe('good')
  })

  it('are completed after a crash', async () => {
    const row = newRoomRecordingRow(
      { id: '7c2f2a52-6a1e-4f5c-8a51-1d7b5c1f0a11', node_id: 'node-1', started_at: rig.clock.now() - 60_000 },
      order,
    )
    await rig.rows.save(row)
    const folder = join(rig.folder, 'p1', `${row.id}.members`)
    await mkdir(folder, { recursive: true })
    const part = join(folder, '.001-audio.wav.0123abcd.part')
    await writeFile(part, wav(700))
    await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifestWith('001-audio.wav')))
    const at = new Date(rig.clock.now() - 300_000)
    await utimes(part, at, at)
    await rig.open()
    const settled = await rowOf(row.id)
    // The file of the room itself had nothing yet.
    expect(settled).toMatchObject({ status: 'failed', end_reason: 'interrupted', files_bytes: 22_444 })
    expect(filesOf(settled)).toMatchObject([{ name: '001-audio.wav', duration: 0.7 }])
  })

  it('without a row are removed an hour later', async () => {
    const folder = join(rig.folder, 'p1', '7c2f2a52-6a1e-4f5c-8a51-1d7b5c1f0a12.members')
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, '001-audio.wav'), 'x')
    const at = new Date(rig.clock.now() - 3_600_000)
    await utimes(folder, at, at)
    await rig.open()
    await rig.pass(3_600_000)
    expect(existsSync(folder)).toBe(false)
  })
})

describe('a recording of a room that fails', () => {
  it('keeps what was written, with the code of the fault', async () => {
    const recordings = await rig.open()
    const { id, finish } = started(recordings)
    await finish({ kind: 'error', code: 'ENOSPC', message: 'no space' })
    expect(await rowOf(id)).toMatchObject({ end_reason: 'error', error: 'recording_failed', bytes: 1 })
    expect(rig.lines).toContainEqual(
      expect.objectContaining({ event: 'recording.failed', conference: 's1', errno: 'ENOSPC' }),
    )
    expect(await rig.count('recordings_ended_total', { reason: 'error' })).toBe(1)
  })
})

describe('a conversion to MP4', () => {
  const outcomes = (outcome: string) => rig.count('recording_conversions_total', { outcome })

  it('replaces the file, one recording after the other', async () => {
    const running: (() => void)[] = []
    const recordings = await rig.open({
      roomFormat: 'mp4',
      convert: async (_, to) => {
        await new Promise<void>((resolve) => running.push(resolve))
        await writeFile(to, 'an mp4')
      },
    })
    const first = started(recordings)
    const second = started(recordings)
    await first.finish()
    await second.finish()
    await expect.poll(() => running.length).toBe(1)
    const row = await rowOf(first.id)
    expect([row.conversion, recordings.converting]).toEqual(['pending', 2])
    expect(await rig.rows.oldest('node-1', 10)).toEqual([])
    running[0]!()
    await expect.poll(() => running.length).toBe(2)
    const done = await rowOf(first.id)
    expect(done).toMatchObject({
      status: 'completed',
      format: 'mp4',
      bytes: 6,
      conversion: null,
      error: null,
    })
    expect(await readFile(recordings.folder.fileOf(done), 'utf8')).toBe('an mp4')
    expect(existsSync(recordings.folder.fileOf(row))).toBe(false)
    running[1]!()
    await expect.poll(() => recordings.converting).toBe(0)
    expect([recordings.bytes, await outcomes('converted')]).toEqual([12, 2])
  })

  it('ends with the removal of its recording, in progress or waiting', async () => {
    const converting: string[] = []
    const recordings = await rig.open({
      roomFormat: 'mp4',
      convert: async (from, to, { signal }) => {
        converting.push(basename(from))
        await writeFile(to, 'half')
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
      http: { upload: async () => Promise.reject(new Error('no upload')) },
    })
    const storage = { url: 'https://storage.example/x', method: 'PUT' } as const
    const first = started(recordings, { storage })
    const second = started(recordings)
    const third = started(recordings)
    await first.finish()
    await second.finish()
    await third.finish()
    await expect.poll(() => converting).toEqual([`${first.id}.webm`])
    const rows = [await rowOf(first.id), await rowOf(second.id)]
    // A search for unfinished recordings comes at the same time.
    await Promise.all([...rows.map((row) => recordings.remove(row)), rig.pass(60_000)])
    await expect.poll(() => converting).toEqual([`${first.id}.webm`, `${third.id}.webm`])
    expect(await Promise.all(rows.map(({ id }) => rig.rows.find(id)))).toEqual([undefined, undefined])
    const files = await readdir(dirname(recordings.folder.fileOf(rows[0]!)))
    expect(files.filter((name) => rows.some(({ id }) => name.includes(id)))).toEqual([])
    expect([recordings.converting, recordings.uploading, await outcomes('failed')]).toEqual([1, 0, 0])
    await recordings.remove(await rowOf(third.id))
    expect([recordings.converting, recordings.bytes]).toEqual([0, 0])
  })

  it('of another gateway keeps the recording from its removal', async () => {
    const recordings = await rig.open()
    const { id, finish } = started(recordings)
    await finish()
    const row = { ...(await rowOf(id)), node_id: 'node-2', conversion: 'pending' } as const
    await expect(recordings.remove(row)).rejects.toMatchObject({ code: 'recording_in_progress' })
  })

  it('that fails leaves the WebM, and says so', async () => {
    const convert = async (_: string, to: string) => {
      await writeFile(to, 'half')
      throw new Error('no libx264')
    }
    const recordings = await rig.open({ roomFormat: 'mp4', convert })
    const { id, finish } = started(recordings)
    await finish()
    await expect.poll(() => recordings.converting).toBe(0)
    const row = await rowOf(id)
    expect(row).toMatchObject({
      status: 'completed',
      format: 'webm',
      conversion: null,
      error: 'recording_not_converted',
    })
    expect(await readFile(recordings.folder.fileOf(row), 'utf8')).toBe('x')
    expect(existsSync(`${recordings.folder.fileOf({ ...row, format: 'mp4' })}.new`)).toBe(false)
    expect(rig.lines).toContainEqual(expect.objectContaining({ event: 'recording.conversion-failed' }))
    expect(await outcomes('failed')).toBe(1)
  })

  it('stays converted if the WebM is gone, and is removed with a WebM that stays', async () => {
    const convert = async (from: string, to: string) => {
      await rm(from)
      await writeFile(to, 'an mp4')
    }
    const recordings = await rig.open({ roomFormat: 'mp4', convert })
    const { id, finish } = started(recordings)
    await finish()
    await expect.poll(() => recordings.converting).toBe(0)
    const row = await rowOf(id)
    expect(row).toMatchObject({ format: 'mp4', conversion: null, error: null })
    expect(rig.lines).toContainEqual(expect.objectContaining({ event: 'recording.source-not-removed' }))
    const source = recordings.folder.fileOf({ ...row, format: 'webm' })
    await writeFile(source, 'x')
    await recordings.remove(row)
    expect([existsSync(source), existsSync(recordings.folder.fileOf(row))]).toEqual([false, false])
  })

  it('that the end of the gateway cuts off begins anew', async () => {
    const first = await rig.open({
      roomFormat: 'mp4',
      convert: (_from, _to, { signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    })
    const { id, finish } = started(first)
    await finish()
    await first.close()
    expect((await rowOf(id)).conversion).toBe('pending')
    const next = await rig.open({ convert: (_, to) => writeFile(to, 'an mp4') })
    await expect.poll(() => next.converting).toBe(0)
    expect(await rowOf(id)).toMatchObject({ format: 'mp4', conversion: null, bytes: 6 })
  })
})

describe('a storage of the customer', () => {
  const storage = { url: 'https://storage.example/x', method: 'PUT' } as const

  it('receives the file once it is complete and converted', async () => {
    const uploads: unknown[] = []
    const recordings = await rig.open({
      roomFormat: 'mp4',
      convert: (_, to) => writeFile(to, 'an mp4'),
      http: {
        upload: async ({ open, ...upload }) => {
          const { bytes, stream } = await open()
          stream.destroy()
          uploads.push({ ...upload, bytes })
          return 200
        },
      },
    })
    const { finish } = started(recordings, { storage })
    await finish()
    await expect.poll(() => uploads).toEqual([{ ...storage, contentType: 'video/mp4', bytes: 6 }])
    await expect.poll(() => rig.count('recording_uploads_total', { outcome: 'stored' })).toBe(1)
  })

  it('receives the file from the next gateway if the first one ends before the conversion', async () => {
    const first = await rig.open({
      roomFormat: 'mp4',
      convert: (_from, _to, { signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      http: { upload: async () => Promise.reject(new Error('no upload')) },
    })
    const { id, finish } = started(first, { storage })
    await finish()
    await first.close()
    const uploads: unknown[] = []
    const convert = (_: string, to: string) => writeFile(to, 'an mp4')
    const http: RecordingsOptions['http'] = {
      upload: async ({ open, contentType }) => {
        const { bytes, stream } = await open()
        stream.destroy()
        uploads.push([contentType, bytes])
        return 200
      },
    }
    const next = await rig.open({ convert, http })
    await expect.poll(() => uploads).toEqual([['video/mp4', 6]])
    await expect.poll(async () => (await rowOf(id)).storage_json).toBeNull()
    await rig.pass(60_000)
    expect([uploads.length, next.uploading]).toEqual([1, 0])
  })

  it('receives a file once more if the end of the gateway cuts the PUT off', async () => {
    let answers = 503
    const upload = async () => answers
    const first = await rig.open({ http: { upload } })
    const { id, finish } = started(first, { storage })
    await finish()
    await first.close()
    expect((await rowOf(id)).storage_json).not.toBeNull()
    answers = 200
    await rig.open({ http: { upload } })
    await expect.poll(async () => (await rowOf(id)).storage_json).toBeNull()
    expect(await rig.count('recording_uploads_total', { outcome: 'stored' })).toBe(1)
  })

  it('receives no recording without a file', async () => {
    const recordings = await rig.open({
      http: { upload: async () => Promise.reject(new Error('no upload')) },
    })
    const stopped = started(recordings, { storage })
    stopped.media.finish({ kind: 'stopped' }, false)
    await stopped.done
    const failed = started(recordings, { storage })
    failed.media.finish({ kind: 'error', code: 'EIO', message: 'broken' }, false)
    await failed.done
    expect(recordings.uploading).toBe(0)
    await rig.pass(60_000)
    expect(rig.lines.filter(({ event }) => event === 'recording.upload-finished')).toEqual([])
  })
})
