import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiTestSite, attributes, ours, theirs } from '../../testing/api-test-site.ts'

const rooms = '/api/video/rooms'
const sessions = '/api/video/room_sessions'
const url = 'rtmps://live.example.com/app/secret?sign=1'
const shown = 'rtmps://live.example.com/app/***'
let rig: ApiTestSite

beforeAll(async () => {
  rig = await ApiTestSite.open()
})
afterAll(() => rig.close())

const codeOf = (answer: { readonly status: number; readonly body: { errors: { code: string }[] } }) => [
  answer.status,
  answer.body.errors[0]?.code,
]

describe('streams of a room', () => {
  it('are added, read, changed and removed, and never shown with their keys', async () => {
    const room = await rig.make(rooms, { name: 'live' })
    const made = await rig.make(`${rooms}/live/streams`, { url })
    const now = new Date(rig.clock.now()).toISOString()
    expect(made).toEqual({
      id: made.id,
      room_id: room.id,
      url: shown,
      stream_type: 'rtmp',
      width: 1280,
      height: 720,
      fps: 30,
      managed_by: 'api',
      created_at: now,
      updated_at: now,
    })
    const own = `/api/video/streams/${made.id}`
    expect((await rig.send('GET', own)).body).toEqual(made)
    expect((await rig.send('GET', `/api/video/conferences/${room.id}/streams`)).body.data).toEqual([made])
    rig.clock.advance(1000)
    const changed = await rig.send('PUT', own, { url: 'rtmp://c.example:1936/live/next' })
    expect(changed.body).toMatchObject({
      id: made.id,
      url: 'rtmp://c.example:1936/live/***',
      created_at: now,
    })
    expect(changed.body.updated_at).not.toBe(now)
    expect(await rig.directory.roomStreams.urlsOf(room.id)).toEqual(['rtmp://c.example:1936/live/next'])
    const rows = await rig.directory.store.selectFrom('room_stream').selectAll().execute()
    expect(JSON.stringify(rows)).not.toMatch(/next|secret/)
    expect((await rig.send('DELETE', own)).status).toBe(204)
    expect((await rig.send('GET', `${rooms}/${room.id}/streams`)).body.data).toEqual([])
    for (const method of ['GET', 'DELETE'] as const)
      expect(codeOf(await rig.send(method, own))).toEqual([404, 'unknown_resource'])
  })

  it('are three at most, and are removed with their room', async () => {
    const room = await rig.make(rooms, { name: 'full' })
    const path = `/api/video/conferences/full/streams`
    for (let i = 0; i < 3; i++) await rig.make(path, { url: `rtmp://c.example/app/${i}` })
    expect(codeOf(await rig.send('POST', path, { url }))).toEqual([409, 'too_many_room_streams'])
    expect((await rig.send('GET', `${path}?page_size=2`)).body.data).toHaveLength(2)
    await rig.send('DELETE', `${rooms}/${room.id}`)
    expect(await rig.directory.roomStreams.ofRoom(room.id)).toEqual([])
  })

  it('are read, and not changed, if the configuration file declares them', async () => {
    await rig.make(rooms, { name: 'declared' })
    const { id } = await rig.make(`${rooms}/declared/streams`, { url })
    const { store } = rig.directory
    await store.updateTable('room_stream').set({ managed_by_file: 1 }).where('id', '=', id).execute()
    const own = `/api/video/streams/${id}`
    expect((await rig.send('GET', own)).body).toMatchObject({ url: shown, managed_by: 'file' })
    for (const [method, body] of [['PUT', { url }], ['PATCH', { url }], ['DELETE']] as const)
      expect(codeOf(await rig.send(method, own, body))).toEqual([409, 'managed_by_file'])
    expect((await rig.send('DELETE', own, undefined, theirs)).status).toBe(404)
  })

  it('need a URL of RTMP, ffmpeg, and a room of the project', async () => {
    await rig.make(rooms, { name: 'own' })
    const path = `${rooms}/own/streams`
    expect(codeOf(await rig.send('POST', path, { url: 'https://c.example/app/key' }))).toEqual([
      422,
      'bad_room_stream_url',
    ])
    expect(attributes(await rig.send('POST', path, {}))).toEqual(['url'])
    const { id } = await rig.make(path, { url })
    for (const [method, at] of [
      ['GET', path],
      ['POST', path],
      ['GET', `/api/video/streams/${id}`],
      ['PATCH', `/api/video/streams/${id}`],
      ['DELETE', `/api/video/streams/${id}`],
    ] as const)
      expect((await rig.send(method, at, method.startsWith('P') ? { url } : undefined, theirs)).status).toBe(
        404,
      )
    rig.hasFfmpeg = false
    expect(codeOf(await rig.send('POST', path, { url }))).toEqual([501, 'ffmpeg_missing'])
    rig.hasFfmpeg = true
  })
})

describe('streams of a session', () => {
  it('are started, listed and ended, also after the session', async () => {
    const room = rig.openRoom({ projectId: ours.id })
    room.join(randomUUID(), { name: 'Ann' })
    const path = `${sessions}/${room.session.id}/streams`
    const startedAt = new Date(rig.clock.now()).toISOString()
    const made = await rig.make(path, { url })
    const facts = { id: made.id, room_session_id: room.session.id, started_at: startedAt }
    expect(made).toMatchObject({ ...facts, status: 'streaming', error: null, ended_at: null, duration: null })
    expect(room.streams.at(-1)!.url).toBe(url)
    expect((await rig.send('GET', `${path}/${made.id}`)).body).toEqual(made)
    rig.clock.advance(1500)
    expect((await rig.send('DELETE', `${path}/${made.id}`)).status).toBe(204)
    expect(codeOf(await rig.send('DELETE', `${path}/${made.id}`))).toEqual([404, 'unknown_room_stream'])
    const second = await rig.make(path, { url })
    room.session.end()
    const { data } = (await rig.send('GET', path)).body
    expect(data).toMatchObject([
      { ...facts, status: 'completed', duration: 2 },
      { id: second.id, status: 'completed', duration: 0 },
    ])
    expect(codeOf(await rig.send('POST', path, { url }))).toEqual([409, 'room_ended'])
    expect(codeOf(await rig.send('GET', `${path}/${randomUUID()}`))).toEqual([404, 'unknown_resource'])
    expect((await rig.send('GET', path, undefined, theirs)).status).toBe(404)
  })
})
