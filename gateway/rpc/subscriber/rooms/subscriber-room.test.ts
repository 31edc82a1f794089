/** Browser in a room: its events and its requests, with a real room session and fake media. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Call } from '../../../calls/call/call.ts'
import { newCallId } from '../../../calls/call/ids.ts'
import type { Leg } from '../../../calls/leg/leg.ts'
import { ProjectRooms } from '../../../calls/room/project-rooms.ts'
import { ConferenceFixture } from '../../../calls/testing/conference-fixture.ts'
import { FakeRecordingStore } from '../../../calls/testing/fake-recording-store.ts'
import { FakeRoomFile, FakeRoomFiles } from '../../../calls/testing/fake-room-files.ts'
import { FakeRoomRecorder } from '../../../calls/testing/fake-room-recorder.ts'
import { FakeRoomStreams } from '../../../calls/testing/fake-room-streams.ts'
import { FakeTracksMedia } from '../../../calls/testing/fake-room-tracks.ts'
import { FakeRoomVideo } from '../../../calls/testing/rooms-fixture.ts'
import type { AnyFrame } from '../../testing/test-browser.ts'
import { dialled, settled } from '../testing/call-setup.ts'
import { SubscriberTestGateway, type TestPage } from '../testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway
let rooms: ProjectRooms
let fixture: ConferenceFixture
let media: FakeTracksMedia
let video: FakeRoomVideo
let files: FakeRoomFiles

beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
  fixture = new ConferenceFixture()
  media = new FakeTracksMedia()
  video = new FakeRoomVideo(media)
  const { recordRoom, recordPicture, recordSound } = new FakeRoomRecorder()
  files = new FakeRoomFiles()
  const streams = new FakeRoomStreams()
  rooms = new ProjectRooms({
    directory: gateway.directory,
    openMixer: fixture.openMixer,
    webrtc: {
      openRoom: () => video,
      recordRoom,
      recordPicture,
      recordSound,
      tracks: media.tracks,
      streamRoom: streams.streamRoom,
      heard: async () => undefined,
    },
    recordings: new FakeRecordingStore(),
    files,
    rtmp: streams,
    clock: gateway.clock,
    log: fixture.log,
  })
})
afterEach(() => gateway.close())

/** Makes a leg the caller of a call in the room. Resolves when the call has left it. */
const enters = (leg: Leg) => {
  const callId = newCallId()
  const { info } = fixture.caller('p1').call
  const call = new Call({
    info: { ...info, callId },
    caller: leg,
    clock: gateway.clock,
    log: fixture.log,
    maxDurationMs: 1_000_000,
  })
  return rooms.join(call, { name: 'lounge' })
}

/** Lets Alice dial the room. */
const inRoom = async () => {
  const call = await dialled(gateway, '/public/lounge?channel=video')
  call.media.report('connected')
  call.media.video.isReceiving = true
  const left = enters(call.leg)
  const joined = await call.page.event('call.joined')
  const self = { member_id: joined.member_id, call_id: 'c1', node_id: joined.node_id }
  return { ...call, joined, self, left }
}

/** `user`: number of the telephone. */
const phoneEnters = (user = 'sip:caller@carrier.example') => {
  const { leg } = fixture.caller('p1')
  Object.assign(leg.from, { user })
  return { leg, left: enters(leg) }
}

/** Shares a screen that brings a layout. */
const sharesScreen = (page: TestPage, memberCallId: string, memberId: unknown) =>
  page.verto(
    'verto.invite',
    's1',
    { sdp: 'screen', layout: '1x1' },
    {
      destination_number: '/public/lounge',
      screenShare: true,
      userVariables: { memberCallId, memberId },
    },
  )

const memberOf = async (page: TestPage, event: string) => (await page.event(event)).member as AnyFrame
const ask = (page: TestPage, method: string, params: AnyFrame) => page.ask(`call.${method}`, params)

describe('a browser that dials a room', () => {
  it('receives the room as its first segment, and then the layout', async () => {
    const { page, joined, self } = await inRoom()
    expect(joined).toMatchObject({
      call_id: 'c1',
      origin_call_id: 'c1',
      room_session: {
        name: 'lounge',
        display_name: 'Lounge',
        layout_name: 'full-screen',
        locked: false,
        members: [
          { member_id: self.member_id, call_id: 'c1', name: 'Alice', type: 'member', is_phone: false },
        ],
      },
    })
    expect(joined.room_id).not.toBe(joined.room_session_id)
    const { layout } = await page.event('layout.changed')
    expect(layout).toMatchObject({ id: 'full-screen', name: 'full-screen' })
    await settled(page)
    expect(page.story.filter((word) => word === 'call.joined')).toHaveLength(1)
  })

  it('receives who joins, talks, changes and leaves, and lists all members', async () => {
    const { page, self } = await inRoom()
    const phone = phoneEnters()
    const { member_id, is_phone } = await memberOf(page, 'member.joined')
    expect(is_phone).toBe(true)
    const target = { member_id, call_id: phone.leg.id, node_id: 'node-1' }
    fixture.mixers[0]!.talks(phone.leg.port!, 'speaking')
    expect(await memberOf(page, 'member.talking')).toEqual({ ...target, talking: true })
    await ask(page, 'mute', { self, target, channels: ['audio'] })
    expect(await memberOf(page, 'member.updated')).toMatchObject({
      member_id,
      audio_muted: true,
      updated: ['audio_muted'],
    })
    const { members } = await ask(page, 'member.list', { self, target: self })
    expect((members as AnyFrame[]).map(({ name }) => name)).toEqual(['Alice', 'sip:caller@carrier.example'])
    phone.leg.ended({ code: 'normal' })
    expect(await memberOf(page, 'member.left')).toMatchObject({ member_id })
  })

  it('shows its camera by an event that names the visibility, and closes it in the same way', async () => {
    const { page, media, self } = await inRoom()
    await page.event('layout.changed')
    media.video.change(true)
    expect(await memberOf(page, 'member.updated')).toMatchObject({ visible: true, updated: ['visible'] })
    expect((await page.event('layout.changed')).layout).toMatchObject({
      layers: [{ member_id: self.member_id }, {}],
    })
    await ask(page, 'mute', { self, target: self, channels: ['video'] })
    expect(await memberOf(page, 'member.updated')).toMatchObject({
      video_muted: true,
      visible: false,
      updated: ['video_muted', 'visible'],
    })
  })

  it('has no picture in the audio channel until it sends video', async () => {
    const { page, media, leg } = await dialled(gateway, '/public/lounge?channel=audio')
    media.report('connected')
    media.video.isReceiving = true
    void enters(leg)
    await page.event('call.joined')
    expect(video.added).toEqual([])
    media.video.change(true)
    expect(video.added).toHaveLength(1)
    media.video.change(false)
    media.video.change(true)
    expect(video.added).toHaveLength(1)
  })

  it('sets its microphone when its flags change', async () => {
    const { page, self } = await inRoom()
    await ask(page, 'audioflags.set', { self, target: self, auto_gain: false })
    expect((await page.message('verto.mediaParams')).mediaParams).toEqual({
      audio: { echoCancellation: true, autoGainControl: false, noiseSuppression: true },
    })
  })

  it('makes its camera smaller with its place in the picture, and restores it when it leaves', async () => {
    video.canCompose = true
    const { page, self, media, left } = await inRoom()
    media.video.change(true)
    await ask(page, 'layout.set', { self, layout: '3x3' })
    gateway.clock.advance(10_000)
    const ideal = (value: number) => ({ ideal: value, max: value })
    expect((await page.message('verto.mediaParams')).mediaParams).toEqual({
      video: { width: ideal(480), height: ideal(270), frameRate: ideal(30) },
    })
    await ask(page, 'member.remove', { self, target: self })
    await left
    expect((await page.message('verto.mediaParams')).mediaParams).toMatchObject({
      video: { width: ideal(1280), height: ideal(720) },
    })
  })

  it('locks the room, and changes its layout among those that there are', async () => {
    const { page, self } = await inRoom()
    await ask(page, 'lock', { self, target: self })
    expect((await page.event('call.updated')).room_session).toMatchObject({
      locked: true,
      updated: ['locked'],
    })
    await expect(phoneEnters().left).rejects.toMatchObject({ code: 'room_locked' })
    expect(await ask(page, 'layout.list', { self })).toMatchObject({ layouts: ['full-screen', '1x1'] })
    expect(await ask(page, 'layout.set', { self, layout: '1x1' })).toMatchObject({ code: '200' })
    expect(await ask(page, 'layout.set', { self, layout: 'spiral' })).toMatchObject({ code: '422' })
    const target = { member_id: 'no such member' }
    expect(await ask(page, 'member.remove', { self, target })).toMatchObject({ code: '404' })
    const wrong = { self, targets: [{ target: self, position: 'upstairs' }] }
    expect(await ask(page, 'member.position.set', wrong)).toMatchObject({ code: '422' })
  })

  it('answers the requests of early SDKs, which name the session of the room', async () => {
    const { page, joined, self } = await inRoom()
    const request = { room_session_id: joined.room_session_id }
    const positions = { self: 'standard-2' }
    expect(await page.ask('video.set_position', { ...request, positions })).toMatchObject({ code: '200' })
    const { members } = await ask(page, 'member.list', { self })
    expect(members).toMatchObject([{ requested_position: 'standard-2' }])
    expect(await page.ask('video.set_meta', { ...request, meta: { a: 1 } })).toMatchObject({ code: '200' })
    expect((await page.event('call.updated')).room_session).toMatchObject({ meta: { a: 1 } })
    expect(await page.ask('video.lock', { room_session_id: 'another' })).toMatchObject({ code: '404' })
    // Recordings and roles are those of room tokens.
    for (const method of ['video.recording.start', 'video.recording.list'])
      expect(await page.ask(method, request)).toMatchObject({ code: '403' })
  })

  it('mutes all members, and removes one', async () => {
    const { page, self } = await inRoom()
    const phone = phoneEnters()
    const { member_id } = await memberOf(page, 'member.joined')
    const all = { member_id: 'all', call_id: 'c1', node_id: 'node-1' }
    await ask(page, 'mute', { self, target: all, channels: ['audio'] })
    const muted = [await memberOf(page, 'member.updated'), await memberOf(page, 'member.updated')]
    expect(muted.map((member) => member.member_id)).toEqual([self.member_id, member_id])
    await ask(page, 'member.remove', { self, target: { member_id } })
    await expect(phone.left).resolves.toMatchObject({ kind: 'removed' })
  })

  it('learns that another member has removed it, at once and with the end of its call', async () => {
    const { page, self, leg, left } = await inRoom()
    const other = phoneEnters()
    await memberOf(page, 'member.joined')
    await ask(page, 'member.remove', { self, target: self })
    expect(await page.event('call.left')).toMatchObject({ call_id: 'c1', reason: 'removed' })
    await left
    leg.end({ code: 'normal', removal: 'removed' })
    expect(await page.message('verto.bye')).toMatchObject({ causeCode: 16, reason: 'room_removed' })
    other.leg.ended({ code: 'normal' })
    await other.left
  })

  it('does not take a later end of its call for the removal', async () => {
    const { page, self, leg, left } = await inRoom()
    await ask(page, 'end', { self, target: self })
    expect(await page.event('call.left')).toMatchObject({ reason: 'ended' })
    await left
    leg.end({ code: 'normal' })
    expect(await page.message('verto.bye')).not.toHaveProperty('reason')
  })

  it('sees whether the room is streamed', async () => {
    const { page, joined } = await inRoom()
    expect(joined.room_session).toMatchObject({ streaming: false })
    const { id } = rooms.sessions('p1')[0]!.streams.start('rtmp://c.example/live/secret')
    expect((await page.event('call.updated')).room_session).toMatchObject({ streaming: true })
    rooms.sessions('p1')[0]!.streams.stop(id)
    expect((await page.event('call.updated')).room_session).toMatchObject({ streaming: false })
  })

  it('ends the room for all', async () => {
    const { page, self, left } = await inRoom()
    const phone = phoneEnters()
    await memberOf(page, 'member.joined')
    await ask(page, 'end', { self, target: self })
    await expect(Promise.all([left, phone.left])).resolves.toMatchObject([
      { kind: 'ended' },
      { kind: 'ended' },
    ])
    expect(await page.event('call.left')).toMatchObject({ call_id: 'c1', origin_call_id: 'c1' })
  })

  it('shares a screen as a member, which another member may remove', async () => {
    const { page, self } = await inRoom()
    await page.event('layout.changed')
    await sharesScreen(page, 'c1', self.member_id)
    expect((await page.event('layout.changed')).layout).toMatchObject({ name: '1x1' })
    const screen = await memberOf(page, 'member.joined')
    expect(screen).toMatchObject({ type: 'screen', parent_id: self.member_id, call_id: 's1', visible: false })
    await ask(page, 'member.remove', { self, target: { member_id: screen.member_id } })
    expect(await page.message('verto.bye')).toMatchObject({ callID: 's1' })
    expect(await memberOf(page, 'member.left')).toMatchObject({ member_id: screen.member_id })
  })

  it('adds a second microphone as a device of its own', async () => {
    const { page, joined, self } = await inRoom()
    expect(joined.capabilities).toContain('device')
    const userVariables = { memberCallId: 'c1', memberId: self.member_id }
    await page.dial('d1', '/public/lounge', 'microphone', { additionalDevice: true, userVariables })
    const device = await memberOf(page, 'member.joined')
    expect(device).toMatchObject({ type: 'device', parent_id: self.member_id, call_id: 'd1' })
    const { port } = gateway.webrtc.sources[0]!
    fixture.mixers[0]!.talks(port!, 'speaking')
    expect(await memberOf(page, 'member.talking')).toMatchObject({ member_id: device.member_id })
    await page.verto('verto.bye', 'd1')
    expect(await memberOf(page, 'member.left')).toMatchObject({ member_id: device.member_id })
  })

  it('receives the room again under the same ids after a reload', async () => {
    const { page, joined } = await inRoom()
    await page.dial('c1', '/public/lounge', 'again', { attach: true, reattaching: true })
    const { call_id, member_id, room_session_id } = await page.event('call.joined')
    expect([call_id, member_id, room_session_id]).toEqual(['c1', joined.member_id, joined.room_session_id])
  })
})

describe('a browser with separate cameras', () => {
  it('opens, fills, restores and closes its lines', async () => {
    const { page, self, joined } = await inRoom()
    expect(await ask(page, 'tracks.open', { self, lines: 4 })).toMatchObject({
      code: '200',
      sdp: 'offer of 4 lines',
    })
    const tracks = media.opened[0]!
    expect(await ask(page, 'tracks.accept', { self, sdp: 'answer' })).toMatchObject({ code: '200' })
    expect(tracks.answer).toBe('answer')
    tracks.report([
      { mid: '0', id: 'x', isLive: true, layer: 1 },
      { mid: '2', id: 'y', isLive: false },
    ])
    expect(await page.event('call.tracks')).toMatchObject({
      call_id: 'c1',
      member_id: self.member_id,
      room_session_id: joined.room_session_id,
      open: true,
      tracks: [
        { mid: '0', member_id: 'x', kind: 'camera', state: 'live', layer: 1 },
        { mid: '2', member_id: 'y', kind: 'camera', state: 'paused' },
      ],
    })
    const members = [{ member_id: self.member_id, width: 320, pinned: true }]
    expect(await ask(page, 'tracks.show', { self, members })).toMatchObject({ code: '200' })
    expect(await ask(page, 'tracks.refresh', { self, mid: '2', renew: true })).toMatchObject({ code: '200' })
    expect(tracks.refreshed).toEqual([['2', true]])
    expect(await ask(page, 'tracks.close', { self })).toMatchObject({ code: '200' })
    expect(tracks.isClosed).toBe(true)
    expect(await ask(page, 'tracks.show', { self })).toMatchObject({ code: '409' })
  })

  it('receives a film that is played into the room like a screen', async () => {
    const { page, self } = await inRoom()
    const [session] = rooms.sessions('p1')
    const { id } = session!.play({ url: 'https://c.example/film.mp4', volume: 0, fromMs: 0 })
    files.open(new FakeRoomFile())
    await ask(page, 'tracks.open', { self, lines: 1 })
    await vi.waitFor(() => expect(media.opened[0]!.wishes).toMatchObject([{ id }]))
    media.opened[0]!.report([{ mid: '0', id, isLive: true }])
    expect(await page.event('call.tracks')).toMatchObject({ tracks: [{ member_id: id, kind: 'screen' }] })
  })

  it('reports the end of their media', async () => {
    const { page, self } = await inRoom()
    await ask(page, 'tracks.open', { self, lines: 1 })
    media.opened[0]!.end()
    expect(await page.event('call.tracks')).toMatchObject({ open: false, tracks: [] })
    expect(await ask(page, 'tracks.refresh', { self, mid: '0' })).toMatchObject({ code: '409' })
  })

  it('is refused wrong input', async () => {
    const { page, self } = await inRoom()
    const codeOf = async (method: string, params: AnyFrame) =>
      (await ask(page, `tracks.${method}`, { self, ...params })).code
    for (const lines of [0, 26, 1.5, '4', undefined]) expect(await codeOf('open', { lines })).toBe('422')
    expect(media.opened).toEqual([])
    media.failure = new Error('no worker')
    expect(await codeOf('open', { lines: 1 })).toBe('500')
    media.failure = undefined
    await codeOf('open', { lines: 1 })
    expect(await codeOf('accept', { sdp: 'wrong' })).toBe('400')
    // The page has the picture of the room again.
    expect(media.opened.at(-1)?.isClosed).toBe(true)
    await codeOf('open', { lines: 1 })
    expect(await codeOf('accept', {})).toBe('422')
    const show = (...members: unknown[]) => codeOf('show', { members })
    const { member_id } = self
    expect(await show({ member_id: 'gone', width: 1 })).toBe('404')
    for (const width of [-1, 16_385, 1e9, Number.NaN, '320', undefined])
      expect(await show({ member_id, width })).toBe('422')
    expect(await show({ width: 1 })).toBe('422')
    expect(await codeOf('show', { members: 'all' })).toBe('422')
    expect(await show(...Array.from({ length: 301 }, () => ({ member_id, width: 1 })))).toBe('422')
    expect(await codeOf('refresh', { mid: 7 })).toBe('422')
    const outside = { member_id, call_id: 'other', node_id: 'node-1' }
    expect(await ask(page, 'tracks.open', { self: outside, lines: 1 })).toMatchObject({ code: '404' })
  })
})

describe('a browser that a handler takes to a room during a call', () => {
  it('receives a further segment, and its call again after the room', async () => {
    const { page, leg, media } = await dialled(gateway, '/public/bob?channel=video')
    media.report('connected')
    media.video.change(true)
    await leg.answer()
    const first = await page.event('call.joined')
    await page.event('layout.changed')
    const left = enters(leg)
    const second = await page.event('call.joined')
    expect(second).toMatchObject({ origin_call_id: 'c1', room_session: { name: 'lounge' } })
    expect(second.call_id).not.toBe('c1')
    expect(second.room_session_id).not.toBe(first.room_session_id)
    const self = { member_id: first.member_id, call_id: 'c1', node_id: 'node-1' }
    const target = { member_id: second.member_id, call_id: second.call_id, node_id: 'node-1' }
    await ask(page, 'mute', { self, target, channels: ['audio'] })
    expect(await memberOf(page, 'member.updated')).toMatchObject({ member_id: second.member_id })
    await ask(page, 'member.remove', { self, target })
    await left
    expect(await page.event('call.left')).toMatchObject({ call_id: second.call_id, origin_call_id: 'c1' })
    // The mute goes on after the room.
    const { members } = await ask(page, 'member.list', { self, target: self })
    expect(members).toMatchObject([{ member_id: first.member_id, audio_muted: true }])
  })
})

describe('a guest in a room', () => {
  it('changes itself alone, and does not see who the subscribers are', async () => {
    const alice = await inRoom()
    phoneEnters('+4930123456')
    expect(await memberOf(alice.page, 'member.joined')).toMatchObject({ name: '+4930123456' })
    const page = await gateway.page()
    await page.connect(await gateway.limitedToken('guest'))
    await page.dial('g1', '/public/bob')
    const { arrival } = await vi.waitFor(() => {
      expect(gateway.arrivals.arrived).toHaveLength(2)
      return gateway.arrivals.arrived[1]!
    })
    gateway.webrtc.last.report('connected')
    void enters(arrival.leg)
    const joined = await page.event('call.joined')
    const { members } = joined.room_session as { members: AnyFrame[] }
    expect(members).toMatchObject([
      { name: 'Alice', subscriber_id: null, address_id: null },
      { name: '+4930***56' },
      {},
    ])
    expect(joined.capabilities).not.toContain('member')
    const inSession = { room_session_id: joined.room_session_id }
    const listed = (await page.ask('video.members.get', inSession)).members as AnyFrame[]
    expect(listed[1]).toMatchObject({ name: '+4930***56' })
    const self = { member_id: joined.member_id, call_id: 'g1', node_id: 'node-1' }
    const refused = [
      await ask(page, 'mute', { self, target: alice.self, channels: ['audio'] }),
      await ask(page, 'lock', { self }),
      await ask(page, 'layout.set', { self, layout: '1x1' }),
      await ask(page, 'end', { self }),
      await page.ask('video.lock', inSession),
    ]
    expect(refused.map(({ code }) => code)).toEqual(['403', '403', '403', '403', '403'])
    expect(await ask(page, 'raisehand', { self, target: self })).toMatchObject({ code: '200' })
    expect(await memberOf(alice.page, 'member.joined')).toMatchObject({ subscriber_id: null })
    expect(await memberOf(alice.page, 'member.updated')).toMatchObject({ handraised: true })
    await alice.page.event('layout.changed')
    await sharesScreen(page, 'g1', joined.member_id)
    expect((await alice.page.event('layout.changed')).layout).toMatchObject({ name: 'full-screen' })
  })
})
