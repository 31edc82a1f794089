import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { expect, it, vi } from 'vitest'
import type { StatusCallback } from '../../handlers/handler.ts'
import { FakeClock } from '../core/clock.ts'
import { Metrics } from '../core/metrics.ts'
import { NodeRows } from '../directory/tables/nodes.ts'
import { RoomSessionRows } from '../directory/tables/room-sessions.ts'
import { describeEngines } from '../directory/testing/engines.ts'
import type { RoomSettings } from '../rooms/room-types.ts'
import { SampleRoom } from '../rooms/testing/sample-room.ts'
import { endLostRooms } from './lost-rooms.ts'
import { RoomHistory } from './room-history.ts'
import { leftAs } from './testing/call-summaries.ts'

const page = { number: 0, size: 1_000 }
const statusTarget = { url: 'https://x.example/cb', method: 'POST' } as const
const keepMs = 400 * 86_400_000

describeEngines('the history of rooms', (engine) => {
  const setUp = async () => {
    const { store } = await engine.open()
    const clock = new FakeClock()
    const metrics = new Metrics()
    const sent: { callId: string; callback: StatusCallback }[] = []
    const left: ReadonlyMap<string, number>[] = []
    const callbacks = {
      notify: ({ callId }: { callId: string }, callback: StatusCallback) =>
        void sent.push({ callId, callback }),
    }
    const open = (nodeId = 'node-1', wasThereAt = clock.now()) =>
      RoomHistory.open(
        {
          rows: new RoomSessionRows(store),
          nodeId,
          callbacks,
          clock,
          log: pino({ level: 'silent' }),
          metrics,
        },
        { keepMs, wasThereAt, end: endLostRooms(clock), onCallbacks: (waiting) => left.push(waiting) },
      )
    const history = await open()
    /** Starts a session whose members have UUIDs; returns a function that joins one. */
    const start = (settings: Partial<RoomSettings> = {}, by = history) => {
      const room = new SampleRoom({ projectId: 'p1', ...settings }, 'speaker', { id: randomUUID(), clock })
      by.watch(room.session)
      const join = (options = {}) => room.join(randomUUID(), options)
      return { room, session: room.session, join }
    }
    const namesOf = async (id: string) => (await history.events('p1', id, page)).items.map(({ name }) => name)
    const bodyOf = ({ callback }: { callback: StatusCallback }) => JSON.parse(callback.body!.text)
    return { store, clock, metrics, history, open, start, sent, left, namesOf, bodyOf }
  }

  it('has a session with its members and events, in order, and their counts', async () => {
    const { clock, history, start, namesOf } = await setUp()
    const { session, join } = start({ id: 'room-1', name: 'lounge' })
    const startedAt = clock.now()
    const ann = join({ name: 'Ann', subscriberId: 's1' })
    clock.advance(1_000)
    const phone = join({ name: 'Bob', isPhone: true })
    const guest = join({ isAudience: true })
    session.setLocked(true)
    session.leave(phone.id, 'left')
    expect(await history.find('p1', session.id)).toMatchObject({
      node_id: 'node-1',
      room_id: 'room-1',
      name: 'lounge',
      locked: 1,
      members: 3,
      present_members: 2,
      max_members: 3,
      started_at: startedAt,
      ended_at: null,
    })
    clock.advance(4_000)
    session.end()
    expect(await history.find('p1', session.id)).toMatchObject({
      present_members: 0,
      ended_at: startedAt + 5_000,
      end_reason: 'ended',
    })
    const { items, total } = await history.members('p1', session.id, page)
    expect(total).toBe(3)
    expect(new Map(items.map((row) => [row.id, row]))).toMatchObject(
      new Map([
        [ann.id, { name: 'Ann', device: 'browser', subscriber_id: 's1', left_at: startedAt + 5_000 }],
        [phone.id, { device: 'phone', left_at: startedAt + 1_000, leave_reason: 'left' }],
        [guest.id, { is_audience: 1, leave_reason: 'ended' }],
      ]),
    )
    expect(await namesOf(session.id)).toEqual([
      'room.started',
      'member.joined',
      'member.joined',
      'member.joined',
      'room.updated',
      'member.left',
      'member.left',
      'member.left',
      'room.ended',
    ])
    const { items: events } = await history.events('p1', session.id, page)
    expect(events.map(({ place }) => place)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(JSON.parse(events[5]!.payload_json)).toMatchObject({
      room_session: { id: session.id, members_present: 2, members_total: 3, end_time: null },
      member: { id: phone.id, name: 'Bob', device: 'phone', duration: 0, leave_reason: 'left' },
    })
    await history.close()
  })

  it('has no session whose only caller was refused', async () => {
    const { history, start, sent } = await setUp()
    const { session } = start({ statusTarget })
    session.setLocked(true)
    session.end()
    await expect(history.find('p1', session.id)).rejects.toMatchObject({ code: 'unknown_resource' })
    expect(sent).toEqual([])
    await history.close()
  })

  it('stores few changes of the room, at most 2,000 events, and the end in any case', async () => {
    const { history, start, namesOf } = await setUp()
    const { session, join } = start()
    join()
    for (let i = 0; i < 600; i++) session.setLocked(i % 2 === 0)
    for (let i = 0; i < 800; i++) session.leave(join().id, 'left')
    session.end()
    const names = await namesOf(session.id)
    const more = (await history.events('p1', session.id, { number: 1, size: 1_000 })).items
    const last = (await history.events('p1', session.id, { number: 2, size: 1_000 })).items
    expect(names.filter((name) => name === 'room.updated')).toHaveLength(500)
    expect([names.length, more.length, last.map(({ name }) => name)]).toEqual([1_000, 1_000, ['room.ended']])
    expect(last[0]?.place).toBe(2 + 500 + 1_600 + 1 + 1)
    await history.close()
  })

  it('sends the events to the status URL in order, with recordings, and not the changes', async () => {
    const { clock, history, start, sent, bodyOf } = await setUp()
    const { session, join } = start({ id: 'room-1', statusTarget })
    const ann = join({ name: 'Ann' })
    session.setLocked(true)
    const { id } = session.recordings.start()
    const film = session.play({ url: 'https://c.example/film.mp4', volume: 0, fromMs: 1_500 })
    session.playbacks.setVolume(film.id, 10)
    const stream = session.streams.start('rtmp://c.example/live/***')
    clock.advance(2_000)
    session.leave(ann.id, 'left')
    const bodies = sent.map(bodyOf)
    expect(bodies.map(({ event_type, params }) => [event_type, params.sequence])).toEqual([
      ['video.room.started', 1],
      ['video.member.joined', 2],
      ['video.recording.started', 4],
      ['video.playback.started', 6],
      ['video.stream.started', 7],
      ['video.member.left', 9],
      ['video.playback.ended', 10],
      ['video.stream.ended', 11],
      ['video.recording.ended', 13],
      ['video.room.ended', 15],
    ])
    expect(bodies[3].params.playback).toMatchObject({ id: film.id, state: 'playing', position: 1.5 })
    expect(bodies[4].params.stream).toMatchObject({ id: stream.id, state: 'streaming', duration: null })
    expect(bodies[7].params.stream).toMatchObject({ state: 'completed', duration: 2, error: null })
    expect(await history.streams('p1', session.id)).toEqual([bodies[7].params.stream])
    expect(bodies[6].params.playback).toMatchObject({ state: 'completed', url: film.url, error: null })
    expect(bodies[2].params.recording).toMatchObject({ id, state: 'recording', end_time: null })
    expect(bodies[9]).toMatchObject({
      project_id: 'p1',
      timestamp: clock.now() / 1000,
      params: {
        room_id: 'room-1',
        room_session_id: session.id,
        node_id: 'node-1',
        room_session: { status: 'completed', duration: 2, members_present: 0, members_max: 1 },
      },
    })
    expect(sent.map(({ callId }) => callId)).toEqual(Array(10).fill(session.id))
    expect(sent.map(({ callback }) => callback.ends)).toEqual([...Array(9).fill(undefined), session.id])
    const { items } = await history.events('p1', session.id, page)
    expect(items.map(({ id }) => id)).toEqual(expect.arrayContaining(bodies.map((body) => body.event_id)))
    expect(items.map(({ recording_id: id }) => id).filter(Boolean)).toEqual([id, id])
    await history.close()
  })

  it('sends the events as query parameters to a status URL with GET', async () => {
    const { start, sent, history } = await setUp()
    start({ statusTarget: { url: 'https://x.example/cb?key=1', method: 'GET' } }).join({ name: 'Ann' })
    const { searchParams } = new URL(sent[1]!.callback.url)
    expect(sent[1]!.callback.body).toBeUndefined()
    expect([searchParams.get('key'), searchParams.get('event_type')]).toEqual(['1', 'video.member.joined'])
    expect(JSON.parse(searchParams.get('member')!)).toMatchObject({ name: 'Ann', leave_time: null })
    await history.close()
  })

  it('ends the sessions of a process that died at the next start, reports each once, and no others', async () => {
    const { store, clock, history, open, start, left, namesOf } = await setUp()
    const startedAt = clock.now()
    const mine = start({ statusTarget })
    const member = mine.join()
    const gone = mine.join()
    mine.session.leave(gone.id, 'left')
    const silent = start()
    silent.join()
    const other = await open('node-2')
    const foreign = start({}, other)
    foreign.join()
    for (const each of [history, other]) await each.list('p1', {}, page)
    clock.advance(60_000)
    const again = await open('node-1', startedAt + 30_000)
    expect(await again.find('p1', mine.session.id)).toMatchObject({
      ended_at: startedAt + 30_000,
      end_reason: 'interrupted',
      present_members: 0,
      status_json: null,
    })
    expect(await again.find('p1', silent.session.id)).toMatchObject({ end_reason: 'interrupted' })
    expect(await again.find('p1', foreign.session.id)).toMatchObject({ ended_at: null, present_members: 1 })
    expect(await again.member('p1', mine.session.id, member.id)).toMatchObject({
      left_at: startedAt + 30_000,
      leave_reason: 'interrupted',
    })
    expect(await again.member('p1', mine.session.id, gone.id)).toMatchObject({ leave_reason: 'left' })
    expect((await namesOf(mine.session.id)).at(-1)).toBe('room.ended')
    const callbacks = await store.selectFrom('callback').selectAll().execute()
    expect(callbacks).toMatchObject([{ node_id: 'node-1', kind: 'room', call_id: mine.session.id }])
    expect(JSON.parse(callbacks[0]!.body!)).toMatchObject({
      event_type: 'video.room.ended',
      params: { sequence: 5, room_session: { end_reason: 'interrupted', members_total: 2 } },
    })
    await open()
    expect(left).toEqual([new Map(), new Map(), new Map([['https://x.example', 1]]), new Map()])
    await Promise.all([history.close(), other.close(), again.close()])
  })

  it('ends the sessions of a gateway that another one has taken over', async () => {
    const { store, clock, history, start } = await setUp()
    const { session, join } = start({ statusTarget })
    join()
    await history.find('p1', session.id)
    const nodes = new NodeRows(store)
    await nodes.seen('node-1', clock.now())
    const ends = leftAs(clock)
    const taken = await nodes.takeOver('node-1', clock.now() + 1, { heir: 'node-2', ends })
    expect(taken?.callbacks).toEqual(new Map([['https://x.example', 1]]))
    expect(await history.find('p1', session.id)).toMatchObject({ end_reason: 'interrupted' })
    await history.close()
  })

  it('is listed by room, name, part of the name and status, for its project alone', async () => {
    const { clock, history, start } = await setUp()
    const add = (settings: Partial<RoomSettings>) => {
      const { session, join } = start(settings)
      join()
      clock.advance(1)
      return session
    }
    const first = add({ id: 'r1', name: 'Sales-north' })
    const second = add({ id: 'r2', name: 'sales-south' })
    const third = add({ id: 'r3', name: '50%_off' })
    const foreign = add({ projectId: 'p2', id: 'r1', name: 'Sales-north' })
    second.end()
    const list = async (search: object, more = page) => {
      const { items, total } = await history.list('p1', search, more)
      return [items.map(({ id }) => id), total]
    }
    expect(await list({})).toEqual([[third.id, second.id, first.id], 3])
    expect(await list({}, { number: 0, size: 2 })).toEqual([[third.id, second.id], 3])
    expect(await list({}, { number: 1, size: 2 })).toEqual([[first.id], 3])
    expect(await list({ roomId: 'r1' })).toEqual([[first.id], 1])
    expect(await list({ name: 'sales-south' })).toEqual([[second.id], 1])
    expect(await list({ partOfName: 'SALES' })).toEqual([[second.id, first.id], 2])
    expect(await list({ partOfName: 'SALES' }, { number: 1, size: 1 })).toEqual([[first.id], 2])
    expect(await list({ partOfName: '%' })).toEqual([[third.id], 1])
    expect(await list({ partOfName: 'sales', isInProgress: true })).toEqual([[first.id], 1])
    expect(await list({ isInProgress: false })).toEqual([[second.id], 1])
    expect(await list({ startedFrom: third.startedAt })).toEqual([[third.id], 1])
    expect([...(await history.inProgress('p1', ['r1', 'r2', 'r9'])).keys()]).toEqual(['r1'])
    for (const id of [foreign.id, 'nonsense']) {
      await expect(history.find('p1', id)).rejects.toMatchObject({ code: 'unknown_resource' })
      await expect(history.members('p1', id, page)).rejects.toMatchObject({ code: 'unknown_resource' })
      await expect(history.events('p1', id, page)).rejects.toMatchObject({ code: 'unknown_resource' })
    }
    await expect(history.list('p1', {}, { number: 1_000, size: 1_000 })).rejects.toMatchObject({
      code: 'invalid_field',
    })
    await history.close()
  })

  it('is removed as soon as it is too old, except for sessions in progress', async () => {
    const { store, clock, metrics, history, start } = await setUp()
    const old = start()
    old.join()
    old.session.end()
    const running = start()
    running.join()
    await history.list('p1', {}, page)
    clock.advance(keepMs + 1)
    const ids = async (table: 'room_session' | 'room_member' | 'room_event') =>
      (await store.selectFrom(table).select('id').execute()).map(({ id }) => id)
    await vi.waitFor(async () => {
      clock.advance(3_600_000)
      expect(await ids('room_session')).toEqual([running.session.id])
    })
    expect(await ids('room_member')).toEqual(running.session.members.map(({ id }) => id))
    expect(await ids('room_event')).toEqual([])
    const { values } = await metrics.recordsRemoved.get()
    // Of the old session: a row, a member and four events; of the other one: two events.
    expect(values[0]?.value).toBe(8)
    await history.close()
  })
})
