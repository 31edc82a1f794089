/** Rooms as applications see them, with real sessions and fake media. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FakeCall } from '../../../handlers/testing/fake-call.ts'
import type { AnyFrame } from '../testing/test-browser.ts'
import { othersToken, RealtimeTestGateway, type TestApplication } from './testing/realtime-test-gateway.ts'

let gateway: RealtimeTestGateway

beforeEach(async () => {
  gateway = await RealtimeTestGateway.start()
})
afterEach(() => gateway.close())

/** Opens an application that has signed in. */
const signedIn = async (more: AnyFrame = {}) => {
  const application = await gateway.application()
  await application.connect(undefined, more)
  return application
}

const subscribe = (application: TestApplication, event_channel: string, ...names: string[]) =>
  application.ask('signalwire.subscribe', {
    get_initial_state: true,
    event_channel,
    events: names.map((name) => `video.${name}`),
  })

/** Names of all events so far, without their prefix. */
const names = async ({ socket }: TestApplication): Promise<string[]> => {
  await socket.settled()
  return socket.requests.map(({ params }) => String((params as AnyFrame).event_type).replace('video.', ''))
}

const bodyOf = async (application: TestApplication, name: string, body = 'room_session') =>
  (await application.event(`video.${name}`))[body] as AnyFrame

const theirs = { authentication: { project: 'other', token: othersToken } }

describe('an application that listens for rooms', () => {
  it('learns of sessions in progress, and of the start and the end of later ones', async () => {
    gateway.rooms.start('s1').join('A')
    const application = await signedIn()
    expect(await subscribe(application, 'video.rooms', 'room.started', 'room.ended')).toMatchObject({
      code: '200',
    })
    const started = await application.event('video.room.started')
    expect(started).toMatchObject({ room_id: 'room-of-s1', room_session_id: 's1', room: { name: 'lounge' } })
    expect(started.room_session).toMatchObject({
      id: 's1',
      event_channel: 'room.s1',
      layout_name: 'grid-responsive',
      members: [{ id: 'A' }],
    })
    const later = gateway.rooms.start('s2')
    later.join('B')
    expect(await bodyOf(application, 'room.started')).toMatchObject({ id: 's2', members: [{ id: 'B' }] })
    later.session.leave('B', 'left')
    expect(await bodyOf(application, 'room.ended')).toMatchObject({ id: 's2', members: [] })
    expect(await names(application)).toEqual(['room.started', 'room.started', 'room.ended'])
  })

  it('receives no state without the wish for it, and none twice', async () => {
    gateway.rooms.start('s1').join('A')
    const application = await signedIn()
    const events = ['video.room.started']
    await application.ask('signalwire.subscribe', { event_channel: 'video.rooms', events })
    expect(await names(application)).toEqual([])
    await subscribe(application, 'video.rooms', 'room.started', 'room.ended')
    expect(await names(application)).toEqual([])
  })

  it('learns nothing of a room that has rejected its first caller', async () => {
    const application = await signedIn()
    await subscribe(application, 'video.rooms', 'room.started', 'room.ended')
    const { session } = gateway.rooms.start('s1')
    expect(await application.ask('video.rooms.get')).toMatchObject({ rooms: [] })
    session.end()
    expect(await names(application)).toEqual([])
  })

  it('learns nothing of other projects, and cannot act on their sessions', async () => {
    const room = gateway.rooms.start('s1', 'other')
    room.join('A')
    const application = await signedIn()
    await subscribe(application, 'video.rooms', 'room.started', 'room.ended')
    expect(await subscribe(application, 'room.s1', 'member.joined')).toMatchObject({ code: '404' })
    expect(await application.ask('video.rooms.get')).toMatchObject({ code: '200', rooms: [] })
    for (const method of ['room.get', 'lock', 'members.get', 'member.remove'])
      expect(
        await application.ask(`video.${method}`, { room_session_id: 's1', member_id: 'all' }),
      ).toMatchObject({ code: '404' })
    const owner = await signedIn(theirs)
    expect(await owner.ask('video.rooms.get')).toMatchObject({ rooms: [{ id: 's1' }] })
    room.session.end()
    expect(await names(application)).toEqual([])
    expect(room.session.isLocked).toBe(false)
  })
})

describe('an application that listens to one room', () => {
  it('first receives the state, then the events that it subscribed to, each once', async () => {
    const room = gateway.rooms.start('s1')
    room.join('A')
    const application = await signedIn()
    await subscribe(application, 'video.rooms', 'room.ended')
    const members = ['member.joined', 'member.updated', 'member.left']
    await subscribe(application, 'room.s1', ...members, 'layout.changed', 'room.updated', 'room.ended')
    expect(await bodyOf(application, 'room.subscribed')).toMatchObject({ id: 's1', members: [{ id: 'A' }] })
    room.join('B', { hasVideo: false })
    expect(await bodyOf(application, 'member.joined', 'member')).toMatchObject({ id: 'B', type: 'member' })
    room.session.change('B', { audio_muted: true })
    expect(await bodyOf(application, 'member.updated', 'member')).toMatchObject({
      id: 'B',
      audio_muted: true,
      updated: ['audio_muted'],
    })
    room.session.setTalking('A', true)
    room.session.setLayout('3x3')
    expect(await bodyOf(application, 'layout.changed', 'layout')).toMatchObject({ name: '3x3' })
    room.session.setLocked(true)
    expect(await bodyOf(application, 'room.updated')).toMatchObject({ updated: ['layout_name'] })
    expect(await bodyOf(application, 'room.updated')).toMatchObject({ locked: true, updated: ['locked'] })
    room.session.leave('B', 'left')
    expect(await bodyOf(application, 'member.left', 'member')).toMatchObject({ id: 'B' })
    room.session.end()
    await application.event('video.room.ended')
    const all = await names(application)
    expect(all[0]).toBe('room.subscribed')
    expect(all).not.toContain('member.talking')
    expect(all.filter((name) => name === 'room.ended')).toHaveLength(1)
    expect(gateway.dialect.roomSubscriptions).toBe(1)
  })

  it('receives who talks as a pair of id and state, and the number of the audience', async () => {
    const room = gateway.rooms.start('s1')
    room.join('A')
    const application = await signedIn()
    // The published SDKs send the name of this event in their own spelling.
    await subscribe(application, 'room.s1', 'member.talking', 'member.joined', 'room.audienceCount')
    room.session.setTalking('A', true)
    expect(await bodyOf(application, 'member.talking', 'member')).toEqual({ id: 'A', talking: true })
    room.join('V', { isAudience: true })
    expect(await application.event('video.room.audience_count')).toMatchObject({ total: 1 })
    expect(await names(application)).not.toContain('member.joined')
  })

  it('receives a layout only if its own view of the room changed', async () => {
    const room = gateway.rooms.start('s1')
    room.session.setPictureKind('speaker')
    for (const id of ['A', 'B', 'C']) room.join(id)
    const speaks = (id: string) => {
      room.session.setTalking(id, true)
      room.clock.advance(5_000)
      room.session.setTalking(id, false)
      return room.takeEvents().filter((line) => line === 'layout.changed').length
    }
    speaks('A')
    const application = await signedIn()
    await subscribe(application, 'room.s1', 'layout.changed')
    expect(speaks('B')).toBe(1)
    expect((await bodyOf(application, 'layout.changed', 'layout')).layers).toMatchObject([{ member_id: 'B' }])
    // The speaker alone sees the member who leaves: it has spoken before.
    room.session.leave('A', 'left')
    expect(room.takeEvents()).toContain('layout.changed')
    expect(await names(application)).toEqual(['room.subscribed', 'layout.changed'])
  })

  it('receives the state again if it asks for that by name, as version 3 does', async () => {
    gateway.rooms.start('s1').join('A')
    const application = await signedIn()
    await subscribe(application, 'room.s1', 'member.joined', 'room.subscribed')
    await subscribe(application, 'room.s1', 'member.left')
    await subscribe(application, 'room.s1', 'member.left', 'room.subscribed')
    expect(await names(application)).toEqual(['room.subscribed', 'room.subscribed'])
  })

  it('receives the state with its first subscription that asks for it', async () => {
    gateway.rooms.start('s1').join('A')
    const application = await signedIn()
    // The sender of the request follows the events of its recording.
    await application.ask('video.recording.start', { room_session_id: 's1' })
    expect(await names(application)).toEqual(['recording.started'])
    expect(gateway.dialect.roomSubscriptions).toBe(1)
    await application.ask('signalwire.subscribe', { event_channel: 'room.s1', events: ['video.member.left'] })
    expect(await names(application)).toEqual(['recording.started'])
    await subscribe(application, 'room.s1', 'member.joined')
    expect(await names(application)).toEqual(['recording.started', 'room.subscribed'])
  })

  it('records members in files of their own, also without the setting of the room', async () => {
    const room = gateway.rooms.start('s1')
    room.join('A')
    const application = await signedIn()
    await application.ask('video.recording.start', { room_session_id: 's1', members: true })
    expect(room.terms).toEqual([{ hasMembers: true }])
  })

  it('can end its subscription to some or all events', async () => {
    const room = gateway.rooms.start('s1')
    room.join('A')
    const application = await signedIn()
    await subscribe(application, 'room.s1', 'member.joined', 'member.left')
    const unsubscribe = (more: AnyFrame = {}) =>
      application.ask('signalwire.unsubscribe', { event_channel: 'room.s1', ...more })
    expect(await unsubscribe({ events: ['video.member.joined'] })).toMatchObject({ code: '200' })
    room.join('B')
    room.session.leave('B', 'left')
    await application.event('video.member.left')
    await unsubscribe()
    expect(await unsubscribe({ event_channel: 'room.unknown' })).toMatchObject({ code: '200' })
    room.join('C')
    room.session.leave('C', 'left')
    expect(await names(application)).toEqual(['room.subscribed', 'member.left'])
    expect(gateway.dialect.roomSubscriptions).toBe(0)
  })

  it.each([
    [{}, 'event_channel'],
    [{ event_channel: 7, events: ['video.room.started'] }, 'event_channel'],
    [{ event_channel: 'video.rooms' }, 'events'],
    [{ event_channel: 'video.rooms', events: [] }, 'events'],
    [{ event_channel: 'video.rooms', events: [''] }, 'events[0]'],
    [{ event_channel: 'video.rooms', events: ['x'.repeat(65)] }, 'events[0]'],
    [{ event_channel: 'video.rooms', events: ['a'], get_initial_state: 1 }, 'get_initial_state'],
    [{ event_channel: 'video.rooms', events: Array.from({ length: 101 }, (_, i) => `e${i}`) }, 'events'],
  ])('is refused the subscription %o', async (params, field) => {
    const application = await signedIn()
    const refused = await application.ask('signalwire.subscribe', params)
    expect(refused).toMatchObject({ code: '400' })
    expect(refused.message).toContain(`${field}: `)
    expect(gateway.dialect.roomSubscriptions).toBe(0)
  })

  it('may subscribe to at most 100 events of a channel, and to 1,000 channels', async () => {
    for (let i = 0; i < 1_001; i++) gateway.rooms.start(`s${i}`).join('A')
    const application = await signedIn()
    const events = Array.from({ length: 100 }, (_, i) => `e${i}`)
    await application.ask('signalwire.subscribe', { event_channel: 'room.s0', events })
    expect(
      await application.ask('signalwire.subscribe', { event_channel: 'room.s0', events: ['more'] }),
    ).toMatchObject({ code: '400' })
    const answers: AnyFrame[] = []
    for (let i = 1; i < 1_001; i++) {
      if (i % 50 === 0) gateway.clock.advance(1_000)
      answers.push(
        await application.ask('signalwire.subscribe', { event_channel: `room.s${i}`, events: ['e'] }),
      )
    }
    expect(answers.filter(({ code }) => code === '200')).toHaveLength(999)
    expect(answers.at(-1)).toMatchObject({ code: '400' })
  })
})

describe('an application that acts on rooms', () => {
  it('finds sessions, and changes the room and its members without a member of its own', async () => {
    const room = gateway.rooms.start('s1')
    room.join('A')
    room.join('B')
    const application = await signedIn()
    const ask = (method: string, more: AnyFrame = {}) =>
      application.ask(`video.${method}`, { room_session_id: 's1', ...more })
    expect(await ask('rooms.get')).toMatchObject({ rooms: [{ id: 's1', name: 'lounge' }] })
    expect(await ask('room.get')).toMatchObject({ room: { id: 's1', members: [{ id: 'A' }, { id: 'B' }] } })
    expect(await ask('members.get')).toMatchObject({ members: [{ id: 'A' }, { id: 'B' }] })
    expect(await ask('room.get', { room_session_id: 's9' })).toMatchObject({ code: '404' })
    expect(await ask('room.get', { room_session_id: undefined })).toMatchObject({ code: '400' })
    const requests: [string, AnyFrame][] = [
      ['member.audio_mute', { member_id: 'A' }],
      ['member.set_position', { member_id: 'A', position: 'off-canvas' }],
      ['set_layout', { name: '2x2', positions: { B: 'standard-2' } }],
      ['lock', {}],
      ['set_meta', { meta: { a: 1 } }],
      ['prioritize_handraise', { enable: true }],
    ]
    for (const [method, more] of requests) expect(await ask(method, more)).toMatchObject({ code: '200' })
    const { session } = room
    expect([session.member('A')?.state.audio_muted, session.layoutName, session.isLocked]).toEqual([
      true,
      '2x2',
      true,
    ])
    expect([session.meta, session.isHandraisePrioritized]).toEqual([{ a: 1 }, true])
    expect(await ask('member.audio_mute')).toMatchObject({ code: '422' })
    expect(await ask('member.audio_mute', { member_id: 'X' })).toMatchObject({ code: '404' })
    await ask('member.remove', { member_id: 'A' })
    expect(room.removals).toEqual(['A removed'])
    await ask('member.remove', { member_id: 'all' })
    expect(session.isEnded).toBe(true)
    expect(await ask('lock')).toMatchObject({ code: '404' })
  })

  it('removes a member of the audience, which it does not see otherwise', async () => {
    const room = gateway.rooms.start('s1')
    room.join('A')
    room.join('V', { isAudience: true })
    const application = await signedIn()
    const ask = (method: string, member_id: string) =>
      application.ask(`video.${method}`, { room_session_id: 's1', member_id })
    expect(await ask('member.audio_mute', 'V')).toMatchObject({ code: '404' })
    expect(await ask('member.remove', 'V')).toMatchObject({ code: '200' })
    await vi.waitFor(() => expect(room.removals).toEqual(['V removed']))
    expect(room.session.audienceCount).toBe(0)
    expect(await ask('member.remove', 'V')).toMatchObject({ code: '404' })
  })

  it('must have signed in', async () => {
    gateway.rooms.start('s1').join('A')
    const application = await gateway.application()
    for (const method of ['signalwire.subscribe', 'video.rooms.get', 'video.lock'])
      expect(await application.ask(method, { room_session_id: 's1' })).toMatchObject({ code: -32002 })
  })
})

describe('an application that has lost its connection', () => {
  it('keeps its subscriptions, and receives the missed events of rooms', async () => {
    const application = await gateway.application()
    const { protocol } = await application.connect()
    await subscribe(application, 'video.rooms', 'room.started')
    await application.socket.close()
    await vi.waitFor(() => expect(gateway.dialect.applications).toBe(1))
    gateway.rooms.start('s1').join('A')
    const again = await gateway.application()
    await again.connect(undefined, { protocol })
    expect(await bodyOf(again, 'room.started')).toMatchObject({ id: 's1' })
  })

  it('loses no event of a call to the events of rooms', async () => {
    const room = gateway.rooms.start('s1')
    room.join('A')
    const application = await gateway.application()
    const { protocol } = await application.connect(['office'])
    const { call } = gateway.arrives(new FakeCall())
    const { call_id } = await application.event('calling.call.receive')
    await application.ask('calling.answer', { call_id })
    await subscribe(application, 'room.s1', 'member.talking')
    await application.event('video.room.subscribed')
    await application.socket.close()
    await vi.waitFor(() => expect(gateway.dialect.online).toEqual([]))
    call.end()
    for (let i = 0; i < 600; i++) room.session.setTalking('A', i % 2 === 0)
    const again = await gateway.application()
    await again.connect(undefined, { protocol })
    await again.event('video.member.talking')
    const all = await names(again)
    expect(all.filter((name) => name === 'calling.call.state').length).toBeGreaterThanOrEqual(2)
    expect(all.filter((name) => name === 'member.talking').length).toBeLessThan(500)
  })

  it('leaves no subscription behind if it does not return, nor when the gateway closes', async () => {
    gateway.rooms.start('s1').join('A')
    const application = await signedIn()
    await subscribe(application, 'video.rooms', 'room.started')
    await subscribe(application, 'room.s1', 'member.joined')
    expect([gateway.dialect.roomSubscriptions, gateway.rooms.listeners]).toEqual([2, 1])
    await application.socket.close()
    await vi.waitFor(() => {
      gateway.clock.advance(30_000)
      expect([gateway.dialect.applications, gateway.dialect.roomSubscriptions]).toEqual([0, 0])
    })
    gateway.dialect.close()
    expect(gateway.rooms.listeners).toBe(0)
  })
})
