import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RoomSettings } from '../../../rooms/room-types.ts'
import type { SampleRoom } from '../../../rooms/testing/sample-room.ts'
import { ApiTestSite, attributes, ours, theirs } from '../../testing/api-test-site.ts'

const url = '/api/video/room_sessions'
let rig: ApiTestSite

beforeAll(async () => {
  rig = await ApiTestSite.open()
})
afterAll(() => rig.close())

const open = (settings: Partial<RoomSettings> = {}) => rig.openRoom({ projectId: ours.id, ...settings })
const join = (room: SampleRoom, name: string, options = {}) => room.join(randomUUID(), { name, ...options })
const read = async (path: string) => (await rig.send('GET', `${url}${path}`)).body
const codeOf = (answer: { readonly status: number; readonly body: { errors: { code: string }[] } }) => [
  answer.status,
  answer.body.errors[0]?.code,
]

describe('a session of a room', () => {
  it('has its settings, times and counts, in progress and afterwards', async () => {
    const startedAt = rig.clock.now()
    const room = open({
      id: 'room-1',
      name: 'lounge',
      displayName: 'The lounge',
      removeAfterMs: 60_000,
      joinFrom: startedAt,
    })
    const { session } = room
    join(room, 'Ann')
    const began = new Date(startedAt).toISOString()
    const facts = {
      id: session.id,
      project_id: ours.id,
      room_id: 'room-1',
      name: 'lounge',
      display_name: 'The lounge',
      max_members: 20,
      join_from: began,
      join_until: null,
      remove_after_seconds_elapsed: 60,
      layout: 'grid-responsive',
      layout_name: 'full-screen',
      locked: false,
      start_time: began,
      created_at: began,
      cost_in_dollars: 0,
      preview_url: null,
      fps: null,
    }
    expect(await read(`/${session.id}`)).toMatchObject({
      ...facts,
      status: 'in-progress',
      end_time: null,
      duration: null,
      end_reason: null,
      members_present: 1,
    })
    rig.clock.advance(1_500)
    session.end()
    expect(await read(`/${session.id}`)).toMatchObject({
      ...facts,
      status: 'completed',
      end_time: new Date(startedAt + 1_500).toISOString(),
      duration: 2,
      end_reason: 'ended',
      members_present: 0,
      members_total: 1,
    })
  })

  it('is listed by its filters, and as a log', async () => {
    const first = open({ id: 'r1', name: 'Alpha-one' })
    join(first, 'Ann')
    rig.clock.advance(1_000)
    const second = open({ id: 'r2', name: 'alpha-two' })
    join(second, 'Ann')
    second.session.end()
    const ids = async (query: string) =>
      (await read(`?${query}`)).data.map(({ id }: { readonly id: string }) => id)
    expect(await ids('room_name_matches=ALPHA')).toEqual([second.session.id, first.session.id])
    expect(await ids('room_name_matches=ALPHA&status=in-progress')).toEqual([first.session.id])
    expect(await ids('room_id=r2')).toEqual([second.session.id])
    expect(await ids('room_name=alpha-two')).toEqual([second.session.id])
    expect(await ids('room_name=alpha')).toEqual([])
    expect(await ids('status=completed&page_size=1')).toEqual([second.session.id])
    const { links } = await read('?room_name_matches=alpha&page_size=1')
    expect((await rig.send('GET', links.next)).body.data[0].id).toBe(first.session.id)
    for (const [query, field] of [
      ['status=ended', 'status'],
      ['page_size=0', 'page_size'],
      ['room_name_matches=', 'room_name_matches'],
      [`room_name=${'x'.repeat(101)}`, 'room_name'],
      ['page_number=101&page_size=1000', 'page_number'],
      ['colour=red', 'colour'],
    ] as const) {
      const answer = await rig.send('GET', `${url}?${query}`)
      expect([answer.status, attributes(answer)]).toEqual([422, [field]])
    }
    const log = (await rig.send('GET', `/api/video/logs/${second.session.id}`)).body
    expect(log).toMatchObject({
      id: second.session.id,
      type: 'video_room_session',
      source: 'realtime_api',
      url: `${url}/${second.session.id}`,
      room_name: 'alpha-two',
      status: 'completed',
      charge: 0,
      charge_details: [],
    })
    const since = encodeURIComponent(new Date(second.session.startedAt).toISOString())
    const logs = (await rig.send('GET', `/api/video/logs?created_after=${since}`)).body
    expect(logs.data).toEqual([log])
    expect((await rig.send('GET', '/api/video/logs?created_on=today')).status).toBe(422)
  })

  it('has its members with their state while they are present', async () => {
    const room = open()
    const ann = join(room, 'Ann', { subscriberId: 's1', meta: { seat: 7 } })
    const phone = join(room, 'Bob', { isPhone: true })
    const screen = room.share(randomUUID(), ann.id)
    rig.clock.advance(2_000)
    room.session.leave(phone.id, 'left')
    room.session.change(ann.id, { audio_muted: true })
    const path = `/${room.session.id}/members`
    const { data } = await read(path)
    const byId = new Map(data.map((member: { readonly id: string }) => [member.id, member]))
    expect(byId.get(ann.id)).toMatchObject({
      room_session_id: room.session.id,
      name: 'Ann',
      type: 'member',
      device: 'browser',
      join_as: 'member',
      subscriber_id: 's1',
      leave_time: null,
      duration: null,
      state: { audio_muted: true, video_muted: false, visible: true, meta: { seat: 7 }, talking: false },
    })
    expect(byId.get(phone.id)).toMatchObject({
      device: 'phone',
      duration: 2,
      leave_reason: 'left',
      state: null,
    })
    expect(byId.get(screen.id)).toMatchObject({ type: 'screen', parent_id: ann.id })
    expect(await read(`${path}/${ann.id}`)).toEqual(byId.get(ann.id))
    expect((await read(`${path}?page_size=2`)).links.next).toContain('page_number=1')
    expect(codeOf(await rig.send('GET', `${url}${path}/${randomUUID()}`))).toEqual([
      404,
      'room_member_unknown',
    ])
  })

  it('has the figures of its members once they are measured', async () => {
    const room = open()
    const ann = join(room, 'Ann')
    const bob = join(room, 'Bob', { isPhone: true })
    const figuresOf = async (id: string) => (await read(`/${room.session.id}/members/${id}`)).figures
    expect(await figuresOf(ann.id)).toBeNull()
    const at = rig.clock.now()
    const audio = { sentBitRate: 40_000, receivedBitRate: 48_000, sentLoss: 0.25, jitterMs: 2.5 }
    rig.figures.set(ann.id, {
      at,
      audio,
      sent: { bitRate: 600_000, loss: 0 },
      received: {
        bitRate: 250_000,
        loss: 0.5,
        roundTripMs: 80,
        streams: 1,
        layer: 'low',
        isPaused: false,
        framesPerSecond: 15,
      },
    })
    rig.figures.set(bob.id, { at, audio: { ...audio, receivedLoss: 0.01, roundTripMs: 120 } })
    expect(await figuresOf(ann.id)).toEqual({
      measured_at: new Date(at).toISOString(),
      audio: {
        sent_bit_rate: 40_000,
        received_bit_rate: 48_000,
        sent_loss: 0.25,
        received_loss: null,
        jitter_ms: 2.5,
        round_trip_ms: null,
      },
      video_sent: { bit_rate: 600_000, loss: 0, round_trip_ms: null },
      video_received: {
        bit_rate: 250_000,
        loss: 0.5,
        round_trip_ms: 80,
        streams: 1,
        layer: 'low',
        paused: false,
        frames_per_second: 15,
      },
    })
    expect(await figuresOf(bob.id)).toMatchObject({
      audio: { received_loss: 0.01, round_trip_ms: 120 },
      video_sent: null,
      video_received: null,
    })
  })

  it('has its events in order, with their members', async () => {
    const room = open({ id: 'room-1' })
    const ann = join(room, 'Ann')
    room.session.setLocked(true)
    room.session.end()
    const { data } = await read(`/${room.session.id}/events`)
    expect(data.map(({ name }: { readonly name: string }) => name)).toEqual([
      'room.started',
      'member.joined',
      'room.updated',
      'member.left',
      'room.ended',
    ])
    expect(data[1]).toMatchObject({
      sequence: 2,
      project_id: ours.id,
      room_id: 'room-1',
      room_session_id: room.session.id,
      room_participant_id: ann.id,
      room_recording_id: null,
      level: 'info',
      payload: { member: { name: 'Ann' }, room_session: { members_present: 1 } },
    })
    expect(data[2].payload).toMatchObject({ updated: ['locked'], locked: true })
  })

  it('is locked, arranged and ended', async () => {
    const room = open()
    join(room, 'Ann')
    const at = `${url}/${room.session.id}`
    expect((await rig.send('PATCH', at, { locked: true, layout: '1x1' })).body).toMatchObject({
      locked: true,
      layout_name: '1x1',
      status: 'in-progress',
    })
    const unavailable = await rig.send('PATCH', at, { layout: '5up' })
    expect([codeOf(unavailable), attributes(unavailable)]).toEqual([[422, 'room_layout_unknown'], ['layout']])
    for (const [body, field] of [
      [{ status: 'in-progress' }, 'status'],
      [{ layout: 'round' }, 'layout'],
      [{ locked: 'yes' }, 'locked'],
      [{ name: 'x' }, 'name'],
    ] as const) {
      const answer = await rig.send('PATCH', at, body)
      expect([answer.status, attributes(answer)]).toEqual([422, [field]])
    }
    expect((await rig.send('PATCH', at, {})).status).toBe(422)
    const ended = await rig.send('PATCH', at, { status: 'completed' })
    expect(ended.body).toMatchObject({ status: 'completed', end_reason: 'ended' })
    expect(room.session.isEnded).toBe(true)
    expect(codeOf(await rig.send('PATCH', at, { locked: false }))).toEqual([409, 'room_ended'])
  })

  it('lets the application mute, unmute and remove a member', async () => {
    const room = open()
    const ann = join(room, 'Ann')
    const bob = join(room, 'Bob')
    const at = `${url}/${room.session.id}/members`
    const muted = await rig.send('PATCH', `${at}/${bob.id}`, { audio_muted: true, deaf: true })
    expect(muted.body).toMatchObject({ name: 'Bob', state: { audio_muted: true, deaf: true } })
    expect(ann.state).toMatchObject({ audio_muted: false, deaf: false })
    await rig.send('PATCH', `${at}/${bob.id}`, { audio_muted: false })
    expect(bob.state).toMatchObject({ audio_muted: false, deaf: true })
    expect(attributes(await rig.send('PATCH', `${at}/${bob.id}`, { name: 'x' }))).toEqual(['name'])
    expect((await rig.send('DELETE', `${at}/${bob.id}`)).status).toBe(204)
    expect(room.removals).toEqual([`${bob.id} removed`])
    expect(codeOf(await rig.send('DELETE', `${at}/${bob.id}`))).toEqual([404, 'room_member_unknown'])
    expect(codeOf(await rig.send('PATCH', `${at}/unknown`, { deaf: true }))).toEqual([
      404,
      'room_member_unknown',
    ])
    room.session.end()
    expect(codeOf(await rig.send('DELETE', `${at}/${ann.id}`))).toEqual([409, 'room_ended'])
  })

  it('cannot be controlled from another gateway', async () => {
    const room = open()
    join(room, 'Ann')
    const at = `${url}/${room.session.id}`
    await rig.send('GET', at)
    await rig.directory.store
      .updateTable('room_session')
      .set({ node_id: 'another' })
      .where('id', '=', room.session.id)
      .execute()
    rig.rooms.splice(rig.rooms.indexOf(room), 1)
    expect(codeOf(await rig.send('PATCH', at, { locked: true }))).toEqual([409, 'room_elsewhere'])
    expect((await rig.send('GET', `${at}/members`)).body.data).toMatchObject([{ name: 'Ann', state: null }])
  })

  it('belongs to one project', async () => {
    const room = open({ name: 'secret' })
    const ann = join(room, 'Ann')
    const at = `${url}/${room.session.id}`
    for (const [method, path, body] of [
      ['GET', at],
      ['GET', `${at}/members`],
      ['GET', `${at}/members/${ann.id}`],
      ['GET', `${at}/events`],
      ['GET', `/api/video/logs/${room.session.id}`],
      ['PATCH', at, { status: 'completed' }],
      ['PATCH', `${at}/members/${ann.id}`, { deaf: true }],
      ['DELETE', `${at}/members/${ann.id}`],
    ] as const)
      expect([path, (await rig.send(method, path, body, theirs)).status]).toEqual([path, 404])
    expect(room.session.isEnded || ann.state.deaf).toBe(false)
    for (const path of [`${url}?room_name=secret`, '/api/video/logs'])
      expect(JSON.stringify((await rig.send('GET', path, undefined, theirs)).body)).not.toContain(
        room.session.id,
      )
  })

  it('needs the permission for calls to be controlled', async () => {
    const room = open()
    join(room, 'Ann')
    const limited = { name: 'reader', scopes: ['records'] } as const
    const { secret } = await rig.directory.projects.addToken(ours.id, limited)
    const reader = { ...ours, apiToken: secret }
    const at = `${url}/${room.session.id}`
    expect((await rig.send('GET', at, undefined, reader)).status).toBe(200)
    expect((await rig.send('PATCH', at, { locked: true }, reader)).status).toBe(403)
  })
})
