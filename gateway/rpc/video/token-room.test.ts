/** Pages with room tokens: their events and requests, with real room sessions and fake media. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RoomGrant } from '../../auth/room-token-claims.ts'
import { Call } from '../../calls/call/call.ts'
import type { Leg } from '../../calls/leg/leg.ts'
import { ProjectRooms } from '../../calls/room/project-rooms.ts'
import { ConferenceFixture } from '../../calls/testing/conference-fixture.ts'
import { FakeRecordingStore } from '../../calls/testing/fake-recording-store.ts'
import { FakeRoomRecorder } from '../../calls/testing/fake-room-recorder.ts'
import { FakeTracksMedia } from '../../calls/testing/fake-room-tracks.ts'
import { defaultPermissions, roomPermissions } from '../../rooms/permissions.ts'
import { gone, settled } from '../subscriber/testing/call-setup.ts'
import { SubscriberTestGateway, type TestPage } from '../subscriber/testing/subscriber-test-gateway.ts'
import type { AnyFrame } from '../testing/test-browser.ts'

let gateway: SubscriberTestGateway
let rooms: ProjectRooms
let fixture: ConferenceFixture

beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
  fixture = new ConferenceFixture()
  const media = new FakeTracksMedia()
  const video = {
    canCompose: false,
    onComposing: () => {},
    add: () => {},
    addScreen: () => {},
    addCamera: () => {},
    remove: () => {},
    limitCamera: () => true,
    show: () => {},
    watchFrames: () => ({ requestKeyFrame: () => {}, close: () => {} }),
    watchTracks: media.watchTracks,
    close: () => {},
  }
  const { recordRoom } = new FakeRoomRecorder()
  rooms = new ProjectRooms({
    directory: gateway.directory,
    openMixer: fixture.openMixer,
    webrtc: { openRoom: () => video, recordRoom, tracks: media.tracks },
    recordings: new FakeRecordingStore(),
    clock: gateway.clock,
    log: fixture.log,
  })
})
afterEach(() => gateway.close())

/** Makes a leg the caller of a call in a room. Resolves when the call has left it. */
const enters = (leg: Leg, name = 'lounge') => {
  const { info } = fixture.caller('p1').call
  const { clock } = gateway
  const call = new Call({ info, caller: leg, clock, log: fixture.log, maxDurationMs: 1_000_000 })
  return rooms.join(call, { name })
}

/** Opens a page with a room token. */
const withToken = async (grant: Partial<RoomGrant> = {}) => {
  const page = await gateway.page()
  const token = await gateway.roomToken(grant)
  const connected = await page.connect(token)
  return { page, token, authorization: connected.authorization as AnyFrame, protocol: connected.protocol }
}

/** Lets a page join the room of its token. `callId`: id of its call. */
const joins = async (callId: string, grant: Partial<RoomGrant> = {}) => {
  const opened = await withToken(grant)
  const { page } = opened
  const count = gateway.arrivals.arrived.length
  await page.videoMessage('verto.invite', callId, { sdp: 'offer' })
  const { arrival } = await vi.waitFor(() => {
    expect(gateway.arrivals.arrived).toHaveLength(count + 1)
    return gateway.arrivals.arrived[count]!
  })
  const media = gateway.webrtc.last
  media.report('connected')
  media.video.isReceiving = true
  const left = enters(arrival.leg, grant.room)
  const subscribed = await page.event('video.room.subscribed')
  const session = subscribed.room_session as AnyFrame & { members: AnyFrame[] }
  const ask = (method: string, more: AnyFrame = {}) =>
    page.ask(`video.${method}`, { room_session_id: session.id, ...more })
  const memberId = subscribed.member_id as string
  return { ...opened, arrival, media, left, subscribed, session, memberId, ask }
}

const memberOf = async (page: TestPage, event: string) =>
  (await page.event(`video.${event}`)).member as AnyFrame

const all = { permissions: roomPermissions }

describe('a page with a room token', () => {
  it('signs in without the mark of a subscriber, and learns its rights', async () => {
    const { authorization, protocol, page } = await withToken({ meta: { a: 1 }, roomMeta: { b: 2 } })
    expect(authorization).toMatchObject({
      type: 'video',
      project: 'p1',
      project_id: 'p1',
      join_as: 'member',
      user_name: 'Vera',
      room: { name: 'lounge', scopes: defaultPermissions, meta: { b: 2 } },
      audio_allowed: 'both',
      video_allowed: 'both',
      meta: { a: 1 },
    })
    expect(authorization).not.toHaveProperty('jti')
    expect(String(protocol).split('_')[1]).toBe(authorization.signature)
    await expect(page.ask('subscriber.online')).rejects.toThrow('Method not found')
    await expect(page.ask('webrtc.verto', {})).rejects.toThrow('Method not found')
  })

  it.each([
    [{ media: 'audio-only' }, 'both', 'none'],
    [{ media: 'video-only' }, 'receive', 'both'],
    [{ role: 'audience' }, 'receive', 'receive'],
  ] as const)('with %o may send and receive accordingly', async (grant, audio, video) => {
    const { authorization } = await withToken(grant)
    expect(authorization).toMatchObject({ audio_allowed: audio, video_allowed: video })
  })

  it('cannot sign in with a wrong or a revoked token', async () => {
    const page = await gateway.page()
    const token = await gateway.roomToken()
    await expect(page.connect(`${token}x`)).rejects.toThrow('not valid')
    await gateway.revocations.revoke(await gateway.roomTokens.verify(token))
    await expect(page.connect(token)).rejects.toThrow('revoked')
  })

  it('joins the room of its token, whatever it dials', async () => {
    const { page, arrival, media, subscribed, session, memberId } = await joins('c1')
    expect(arrival.plan).toEqual({ kind: 'room', name: 'lounge' })
    expect([gateway.webrtc.takesVideo, gateway.webrtc.wanted[0]]).toEqual([true, 'opus'])
    expect(subscribed).toMatchObject({
      call_id: 'c1',
      member_id: memberId,
      room_id: session.room_id,
      room_session_id: session.id,
      room: { room_session_id: session.id, members: [{ id: memberId }] },
    })
    expect(session).toMatchObject({
      name: 'lounge',
      display_name: 'Lounge',
      locked: false,
      audience_count: 0,
    })
    expect(session.members).toMatchObject([
      { id: memberId, name: 'Vera', type: 'member', audio_muted: false },
    ])
    expect(session.members[0]).not.toHaveProperty('member_id')
    expect((await page.event('video.layout.changed')).layout).toMatchObject({ name: 'full-screen' })
    media.video.change(true)
    expect(await memberOf(page, 'member.updated')).toMatchObject({ id: memberId, updated: ['visible'] })
    await settled(page)
    const strange = page.story.filter((word) => !/^(verto|video|call\.state)/.test(word))
    expect(strange).toEqual([])
  })

  it('receives who joins, talks and leaves, in the shapes of its dialect', async () => {
    const { page, ask } = await joins('c1')
    const { leg } = fixture.caller('p1')
    Object.assign(leg.from, { user: '+4930123456' })
    const left = enters(leg)
    const joined = await memberOf(page, 'member.joined')
    const { id } = joined
    expect(joined).toMatchObject({ name: '+4930***56' })
    expect((await ask('members.get')).members).toMatchObject([{}, { id, name: '+4930***56' }])
    fixture.mixers[0]!.talks(leg.port!, 'talking')
    const talking = await page.event('video.member.talking')
    expect(Object.keys(talking).sort()).toEqual(['member', 'room_id', 'room_session_id'])
    expect(talking.member).toEqual({ id, talking: true })
    leg.ended({ code: 'normal' })
    await left
    expect(await memberOf(page, 'member.left')).toMatchObject({ id, name: '+4930***56' })
  })

  it('joins muted if its token says so, and the camera of an audio-only token is never taken', async () => {
    const first = await joins('c1', { isAudioMuted: true, isVideoMuted: true })
    expect(first.session.members[0]).toMatchObject({ audio_muted: true, video_muted: true })
    const second = await joins('c2', { userName: 'Ann', media: 'audio-only' })
    expect(gateway.webrtc.takesVideo).toBe(false)
    second.media.video.change(true)
    await second.ask('member.video_unmute', { member_id: second.memberId })
    expect(await memberOf(second.page, 'member.updated')).toMatchObject({ video_muted: true, visible: false })
  })

  it('comes back as the same member after a reload', async () => {
    const first = await joins('c1')
    await first.ask('member.audio_mute', { member_id: first.memberId })
    await gone(gateway, first.page)
    const page = await gateway.page()
    expect(await page.connect(first.token, { protocol: first.protocol })).toMatchObject({
      protocol: first.protocol,
    })
    await page.videoMessage('verto.invite', 'c1', { sdp: 'again' })
    const again = await page.event('video.room.subscribed')
    expect([again.call_id, again.member_id]).toEqual(['c1', first.memberId])
    expect(again.room_session).toMatchObject({ members: [{ id: first.memberId, audio_muted: true }] })
    expect(rooms.members).toBe(1)
  })

  it('does not come back with the token of another user', async () => {
    const first = await withToken()
    await gone(gateway, first.page)
    const page = await gateway.page()
    const other = await page.connect(await gateway.roomToken({ userName: 'Eve' }), {
      protocol: first.protocol,
    })
    expect(other.protocol).not.toBe(first.protocol)
  })

  it('needs a permission of its own to place members with a layout', async () => {
    const { ask, memberId } = await joins('c1', { permissions: ['room.set_layout'] })
    expect(await ask('set_layout', { name: '1x1', positions: { [memberId]: 'off-canvas' } })).toMatchObject({
      code: '403',
    })
    expect(await ask('set_layout', { name: '1x1' })).toMatchObject({ code: '200' })
  })

  it('gets other permissions by a new token of the same user', async () => {
    const { page, ask } = await joins('c1')
    expect(await ask('lock')).toMatchObject({ code: '403' })
    const renew = async (grant: Partial<RoomGrant>) =>
      page.ask('signalwire.reauthenticate', { authentication: { jwt_token: await gateway.roomToken(grant) } })
    const permissions = ['room.lock']
    expect((await renew({ permissions })).authorization).toMatchObject({ room: { scopes: permissions } })
    expect(await ask('lock')).toMatchObject({ code: '200' })
    await expect(renew({ userName: 'Eve' })).rejects.toThrow('another subscriber')
    await expect(
      page.ask('signalwire.reauthenticate', { authentication: { jwt_token: await gateway.token() } }),
    ).rejects.toThrow('another subscriber')
  })

  it('hangs up, and sends no transfers', async () => {
    const { page, arrival } = await joins('c1')
    const refused = await page.videoMessage('verto.modify', 'c1', {
      action: 'transfer',
      destination: '+1555',
    })
    expect(refused).toMatchObject({ code: '403' })
    await page.videoMessage('verto.bye', 'c1')
    await vi.waitFor(() => expect([arrival.leg.isEnded, rooms.count]).toEqual([true, 0]))
  })
})

describe('the times of a room token', () => {
  const refusedWith = async (grant: Partial<RoomGrant>) => {
    const { page } = await withToken(grant)
    return page.videoMessage('verto.invite', 'c1', { sdp: 'offer' })
  }

  it('refuse a page that is early or late, before any call', async () => {
    const now = gateway.clock.now()
    for (const grant of [{ joinFrom: now + 1 }, { joinUntil: now - 1 }, { removeAt: now }])
      expect(await refusedWith(grant)).toMatchObject({ code: '403', message: 'Unauthorized' })
    expect(gateway.arrivals.arrived).toEqual([])
  })

  it('refuse a room that does not exist, unless the token may create it', async () => {
    expect(await refusedWith({ room: 'attic', mayCreateRoom: false })).toMatchObject({ code: '404' })
    const grant = { room: 'attic', roomDisplayName: 'Under the roof', roomMeta: { floor: 5 } }
    const { session } = await joins('c2', grant)
    expect(session).toMatchObject({ name: 'attic', display_name: 'Under the roof', meta: { floor: 5 } })
  })

  it('remove a member after its time, and all members if the token says so', async () => {
    const first = await joins('c1', { removeAfterMs: 5_000, removeAt: gateway.clock.now() + 3_000 })
    const second = await joins('c2', { userName: 'Ann', endsSessionOnLeave: true })
    gateway.clock.advance(3_000)
    expect(await first.left).toMatchObject({ kind: 'expired' })
    const third = await joins('c3', { userName: 'Eve' })
    await second.page.videoMessage('verto.bye', 'c2')
    expect(await third.left).toMatchObject({ kind: 'ended' })
  })
})

describe('a member of the audience', () => {
  it('is counted and not listed, and hears and sees the members', async () => {
    const member = await joins('c1', all)
    const viewer = await joins('c2', { userName: 'Ann', role: 'audience' })
    expect(await member.page.event('video.room.audience_count')).toMatchObject({ total: 1 })
    expect(viewer.session.members).toMatchObject([{ id: member.memberId }])
    const audio = [member, viewer].map(({ media }) => fixture.mixers[0]!.members.get(media.port))
    expect(audio).toEqual([
      { canSpeak: true, canHear: true },
      { canSpeak: false, canHear: true },
    ])
    expect(await viewer.ask('member.deaf')).toMatchObject({ code: '200' })
    expect(await memberOf(viewer.page, 'member.updated')).toMatchObject({ deaf: true, updated: ['deaf'] })
    expect(await member.ask('member.deaf', { member_id: viewer.memberId })).toMatchObject({ code: '404' })
    const screen = { screenShare: true, userVariables: { memberCallId: 'c2', memberId: viewer.memberId } }
    expect(await viewer.page.videoMessage('verto.invite', 's1', { sdp: 'x' }, screen)).toMatchObject({
      code: '403',
    })
    await viewer.page.videoMessage('verto.bye', 'c2')
    expect(await member.page.event('video.room.audience_count')).toMatchObject({ total: 0 })
    await settled(member.page)
    expect(member.page.story).not.toContain('video.member.joined')
    expect(member.page.story).not.toContain('video.member.updated')
  })
})

describe('requests of a page with a room token', () => {
  it('need a permission, before it matters whether the member exists', async () => {
    const { ask, memberId } = await joins('c1')
    const codes = async (...methods: string[]) => {
      const answers = methods.map((method) => ask(method, { member_id: 'stranger', name: '1x1', meta: {} }))
      return (await Promise.all(answers)).map(({ code }) => code)
    }
    expect(await codes('member.audio_mute', 'member.remove', 'member.set_meta')).toEqual([
      '403',
      '403',
      '403',
    ])
    expect(await codes('lock', 'set_layout', 'set_meta', 'list_available_layouts')).toEqual(
      Array(4).fill('403'),
    )
    expect(await codes('recording.start', 'recording.list', 'recording.stop')).toEqual(Array(3).fill('403'))
    expect(await codes('members.get', 'get_meta', 'member.get_meta')).toEqual(['200', '200', '404'])
    expect(await ask('member.raisehand', { member_id: memberId })).toMatchObject({ code: '200' })
    expect(await ask('member.audio_mute', { member_id: 'all' })).toMatchObject({ code: '403' })
    expect(await ask('set_position', { positions: { self: 'off-canvas' } })).toMatchObject({ code: '200' })
    expect(await ask('set_position', { positions: { stranger: 'auto' } })).toMatchObject({ code: '403' })
  })

  it('name a session of the page, and fields within their limits', async () => {
    const { ask, page, memberId } = await joins('c1', all)
    expect(await page.ask('video.lock', { room_session_id: 'other' })).toMatchObject({ code: '404' })
    expect(await ask('member.audio_mute', { member_id: 'stranger' })).toMatchObject({ code: '404' })
    expect(await ask('set_layout', { name: 'spiral' })).toMatchObject({ code: '422' })
    expect(await ask('member.set_input_volume', { volume: 51 })).toMatchObject({ code: '422' })
    expect(await ask('member.set_position', { member_id: memberId, position: 'up' })).toMatchObject({
      code: '422',
    })
    expect(await ask('set_meta', { meta: [] })).toMatchObject({ code: '422' })
    expect(await ask('delete_meta', { keys: 'a' })).toMatchObject({ code: '422' })
    for (const method of ['playback.start', 'stream.list'])
      expect(await ask(method)).toMatchObject({ code: '501' })
  })

  it('change the room', async () => {
    const { ask, page } = await joins('c1', all)
    const updated = async () => (await page.event('video.room.updated')).room_session as AnyFrame
    expect(await ask('list_available_layouts')).toMatchObject({ layouts: ['full-screen', '1x1'] })
    await ask('set_layout', { name: '1x1' })
    expect(await updated()).toMatchObject({ layout_name: '1x1', updated: ['layout_name'] })
    await ask('lock')
    expect(await updated()).toMatchObject({ locked: true, updated: ['locked'] })
    await ask('unlock')
    expect(await updated()).toMatchObject({ locked: false })
    await ask('hide_video_muted')
    expect(await updated()).toMatchObject({ hide_video_muted: true })
    await ask('prioritize_handraise', { enable: true })
    expect(await updated()).toMatchObject({ prioritize_handraise: true, updated: ['prioritize_handraise'] })
    await ask('set_meta', { meta: { a: 1, b: 2 } })
    await ask('update_meta', { meta: { b: 3 } })
    await ask('delete_meta', { keys: ['a'] })
    expect(await ask('get_meta')).toMatchObject({ meta: { b: 3 } })
    expect(await updated()).toMatchObject({ meta: { a: 1, b: 2 }, updated: ['meta'] })
  })

  it('record the room', async () => {
    const { ask, page } = await joins('c1', all)
    const recordingOf = async (name: string) => (await page.event(`video.recording.${name}`)).recording
    const updated = async () => (await page.event('video.room.updated')).room_session as AnyFrame
    const startedAt = gateway.clock.now() / 1000
    const { recording } = (await ask('recording.start')) as { recording: AnyFrame }
    expect(recording).toEqual({ id: recording.id, state: 'recording', duration: 0, started_at: startedAt })
    expect(await recordingOf('started')).toEqual(recording)
    expect(await updated()).toMatchObject({
      recording: true,
      updated: ['recording'],
      recordings: [recording],
    })
    const about = { recording_id: recording.id as string }
    gateway.clock.advance(1000)
    expect(await ask('recording.pause', about)).toMatchObject({ code: '200' })
    expect(await recordingOf('updated')).toMatchObject({ ...recording, state: 'paused', duration: 1 })
    expect(await ask('recording.resume', about)).toMatchObject({ code: '200' })
    expect(await recordingOf('updated')).toMatchObject({ state: 'recording' })
    expect(await ask('recording.stop', about)).toMatchObject({ code: '200' })
    const ended = { ...recording, state: 'completed', duration: 1.5, ended_at: startedAt + 1 }
    expect(await recordingOf('ended')).toEqual(ended)
    expect(await updated()).toMatchObject({ recording: false, updated: ['recording'] })
    expect(await ask('recording.list')).toMatchObject({ code: '200', recordings: [ended] })
    expect(await ask('recording.stop', about)).toMatchObject({ code: '404' })
    expect(await ask('recording.pause', { recording_id: 7 })).toMatchObject({ code: '422' })
  })

  it('change members, and remove one or all', async () => {
    const host = await joins('c1', all)
    const guest = await joins('c2', { userName: 'Ann' })
    const member_id = guest.memberId
    expect(await memberOf(host.page, 'member.joined')).toMatchObject({ id: member_id, name: 'Ann' })
    const changes: [string, AnyFrame, AnyFrame][] = [
      ['audio_mute', {}, { audio_muted: true }],
      ['audio_unmute', {}, { audio_muted: false }],
      ['video_mute', {}, { video_muted: true }],
      ['deaf', {}, { deaf: true }],
      ['raisehand', {}, { handraised: true }],
      ['lowerhand', {}, { handraised: false }],
      ['set_input_volume', { volume: -10 }, { input_volume: -10 }],
      ['set_output_volume', { volume: 20 }, { output_volume: 20 }],
      ['set_input_sensitivity', { value: 30 }, { input_sensitivity: 30 }],
      ['set_meta', { meta: { a: 1 } }, { meta: { a: 1 } }],
      ['update_meta', { meta: { b: 2 } }, { meta: { a: 1, b: 2 } }],
      ['delete_meta', { keys: ['a'] }, { meta: { b: 2 } }],
    ]
    for (const [method, more, changed] of changes) {
      expect(await host.ask(`member.${method}`, { member_id, ...more })).toMatchObject({ code: '200' })
      const member = await memberOf(guest.page, 'member.updated')
      expect(member).toMatchObject({ id: member_id, ...changed })
      expect(member.updated).toContain(Object.keys(changed)[0])
    }
    expect(await host.ask('member.get_meta', { member_id })).toMatchObject({ meta: { b: 2 } })
    await host.ask('member.audio_mute', { member_id: 'all' })
    const { members } = await host.ask('members.get')
    expect((members as AnyFrame[]).map(({ audio_muted }) => audio_muted)).toEqual([true, true])
    await host.ask('member.remove', { member_id })
    expect(await guest.left).toMatchObject({ kind: 'removed' })
    expect(await memberOf(host.page, 'member.left')).toMatchObject({ id: member_id })
    await host.ask('member.remove', { member_id: 'all' })
    expect(await host.left).toMatchObject({ kind: 'removed' })
    expect(await host.page.event('video.room.ended')).toMatchObject({ room: { name: 'lounge' } })
  })

  it('share a screen as a member of their own, if the token permits it', async () => {
    const { page, memberId } = await joins('c1')
    const screen = { screenShare: true, userVariables: { memberCallId: 'c1', memberId } }
    await page.videoMessage('verto.invite', 's1', { sdp: 'screen' }, screen)
    expect(await memberOf(page, 'member.joined')).toMatchObject({ type: 'screen', parent_id: memberId })
    expect(await page.message('verto.answer')).toMatchObject({ callID: 'c1' })
    await page.videoMessage('verto.bye', 's1')
    expect(await memberOf(page, 'member.left')).toMatchObject({ type: 'screen' })
    const other = await joins('c2', { userName: 'Ann', permissions: [] })
    const theirs = { screenShare: true, userVariables: { memberCallId: 'c2', memberId: other.memberId } }
    expect(await other.page.videoMessage('verto.invite', 's2', { sdp: 'x' }, theirs)).toMatchObject({
      code: '403',
    })
    const device = { ...theirs, screenShare: false, additionalDevice: true }
    expect(await other.page.videoMessage('verto.invite', 'd2', { sdp: 'x' }, device)).toMatchObject({
      code: '403',
    })
  })

  it('add a second camera and a second microphone, which they mute and remove', async () => {
    const { page, memberId, ask } = await joins('c1')
    const device = { additionalDevice: true, userVariables: { memberCallId: 'c1', memberId } }
    const add = async (id: string, sdp: string) => {
      await page.videoMessage('verto.invite', id, { sdp }, device)
      return memberOf(page, 'member.joined')
    }
    const camera = await add('d1', 'camera')
    expect(camera).toMatchObject({ type: 'device', parent_id: memberId, name: 'Vera', audio_muted: true })
    const microphone = await add('d2', 'microphone')
    expect(microphone).toMatchObject({ type: 'device', parent_id: memberId, video_muted: true })
    await ask('member.audio_mute', { member_id: microphone.id })
    await vi.waitFor(async () =>
      expect((await ask('members.get')).members).toMatchObject([
        { id: memberId, audio_muted: false },
        { id: camera.id },
        { id: microphone.id, audio_muted: true },
      ]),
    )
    await page.videoMessage('verto.bye', 'd1')
    expect(await memberOf(page, 'member.left')).toMatchObject({ id: camera.id, type: 'device' })
    expect(gateway.webrtc.sources.map(({ closed }) => closed)).toEqual([true, false])
  })

  describe('whose role changes', () => {
    /** A host with all permissions, and a page of the audience. */
    const withAudience = async () => {
      const host = await joins('h1', { ...all, userName: 'Ann' })
      const viewer = await joins('c1', { role: 'audience' })
      await host.page.event('video.room.audience_count')
      const connectAnew = async (callId: string) => {
        await viewer.page.videoMessage('verto.invite', callId, { sdp: 'anew' })
        await vi.waitFor(() => expect(gateway.webrtc.last).not.toBe(viewer.media))
        const media = gateway.webrtc.last
        media.report('connected')
        media.video.change(true)
        return { media, subscribed: await viewer.page.event('video.room.subscribed') }
      }
      const roleOf = (id: string) => ({ member_id: id })
      return { host, viewer, connectAnew, role: roleOf(viewer.memberId) }
    }

    it('are promoted: seen by all at once, and heard over a new connection, as the same member', async () => {
      const { host, viewer, connectAnew, role } = await withAudience()
      expect(gateway.arrivals.arrived).toHaveLength(2)
      await host.ask('member.promote', {
        ...role,
        permissions: ['room.self.deaf', 'room.lock'],
        join_audio_muted: true,
        meta: { seat: 1 },
      })
      expect(await memberOf(host.page, 'member.joined')).toMatchObject({
        id: viewer.memberId,
        audio_muted: true,
        video_muted: false,
        meta: { seat: 1 },
      })
      expect(await host.page.event('video.room.audience_count')).toMatchObject({ total: 0 })
      expect(await viewer.page.event('video.member.promoted')).toMatchObject({
        member_id: viewer.memberId,
        authorization: {
          join_as: 'member',
          audio_allowed: 'both',
          video_allowed: 'both',
          room: { scopes: ['room.self.deaf', 'room.lock'] },
        },
      })
      const { media, subscribed } = await connectAnew('c2')
      expect(subscribed).toMatchObject({ call_id: 'c2', member_id: viewer.memberId })
      expect(await viewer.page.message('verto.answer')).toMatchObject({ callID: 'c1' })
      expect(await viewer.page.message('verto.answer')).toMatchObject({ callID: 'c2' })
      expect(await viewer.page.message('verto.bye')).toMatchObject({ callID: 'c1' })
      expect([viewer.media.closed, media.closed]).toEqual([true, false])
      expect(await memberOf(host.page, 'member.updated')).toMatchObject({ updated: ['visible'] })
      // One call for the gateway, over another leg; the page's own rights are in force.
      expect(gateway.arrivals.arrived).toHaveLength(2)
      expect([...fixture.mixers[0]!.members.keys()]).toContain(media.port)
      expect([...fixture.mixers[0]!.members.keys()]).not.toContain(viewer.media.port)
      expect(await viewer.ask('lock')).toMatchObject({ code: '200' })
      expect(await viewer.ask('member.audio_unmute')).toMatchObject({ code: '403' })
      await viewer.page.videoMessage('verto.bye', 'c2')
      expect(await viewer.left).toMatchObject({ kind: 'left' })
    })

    it('are demoted at once, and stay so after a reload and with another call', async () => {
      const { host, viewer } = await withAudience()
      const member = await joins('m1', { userName: 'Eve' })
      await memberOf(host.page, 'member.joined')
      await host.ask('member.demote', { member_id: member.memberId })
      expect(await memberOf(host.page, 'member.left')).toMatchObject({ id: member.memberId })
      expect(await viewer.page.event('video.room.audience_count')).toMatchObject({ total: 2 })
      expect(await member.page.event('video.member.demoted')).toMatchObject({
        member_id: member.memberId,
        authorization: { join_as: 'audience', audio_allowed: 'receive', video_allowed: 'receive' },
      })
      expect(fixture.mixers[0]!.members.get(member.media.port)).toMatchObject({ canSpeak: false })
      const screen = { screenShare: true, userVariables: { memberCallId: 'm1', memberId: member.memberId } }
      expect(await member.page.videoMessage('verto.invite', 's1', { sdp: 'x' }, screen)).toMatchObject({
        code: '403',
      })
      const again = await member.page.connect(member.token, { protocol: member.protocol })
      expect(again.authorization).toMatchObject({ join_as: 'audience' })
      await member.page.videoMessage('verto.bye', 'm1')
      await member.left
      // A new session of the same token: the page learns its role after joining.
      const page = await gateway.page()
      expect((await page.connect(member.token)).authorization).toMatchObject({ join_as: 'member' })
      await page.videoMessage('verto.invite', 'm2', { sdp: 'offer' })
      const { arrival } = await vi.waitFor(() => {
        expect(gateway.arrivals.arrived).toHaveLength(4)
        return gateway.arrivals.arrived[3]!
      })
      gateway.webrtc.last.report('connected')
      void enters(arrival.leg)
      const { member_id } = await page.event('video.room.subscribed')
      expect(await page.event('video.member.demoted')).toMatchObject({
        member_id,
        authorization: { join_as: 'audience' },
      })
    })

    it('are changed with permission only, within the own rights and with valid fields', async () => {
      const { host, viewer, role } = await withAudience()
      expect(await viewer.ask('member.promote', role)).toMatchObject({ code: '403' })
      expect(await host.ask('member.demote', role)).toMatchObject({ code: '404' })
      expect(await host.ask('member.promote', { member_id: host.memberId })).toMatchObject({ code: '404' })
      expect(await host.ask('member.promote', {})).toMatchObject({ code: '422' })
      for (const wrong of [{ media_allowed: 'smell' }, { permissions: 'all' }, { meta: 1 }])
        expect(await host.ask('member.promote', { ...role, ...wrong })).toMatchObject({ code: '422' })
      const eve = await joins('m1', { userName: 'Eve', permissions: ['room.member.promote'] })
      expect(await eve.ask('member.promote', { ...role, permissions: ['room.member.remove'] })).toMatchObject(
        { code: '403' },
      )
      // A page that connects anew by itself is another member of the audience.
      await viewer.page.videoMessage('verto.invite', 'c2', { sdp: 'offer' })
      await vi.waitFor(() => expect(gateway.arrivals.arrived).toHaveLength(4))
      expect(viewer.media.closed).toBe(false)
    })
  })

  it('of the audience may add nothing', async () => {
    const { page, memberId } = await joins('c1', { role: 'audience' })
    const device = { additionalDevice: true, userVariables: { memberCallId: 'c1', memberId } }
    expect(await page.videoMessage('verto.invite', 'd1', { sdp: 'x' }, device)).toMatchObject({ code: '403' })
  })
})

describe('a subscriber in a room with pages with room tokens', () => {
  it('sees them as members without an account, and the audience as its number alone', async () => {
    const page = await gateway.signedIn('alice')
    await page.dial('f1', '/public/lounge?channel=video')
    await vi.waitFor(() => expect(gateway.arrivals.arrived).toHaveLength(1))
    gateway.webrtc.last.report('connected')
    const { leg } = gateway.arrivals.arrived[0]!.arrival
    void enters(leg)
    await page.event('call.joined')
    await joins('c2', { userName: 'Ann', role: 'audience' })
    const member = await joins('c1')
    const joined = (await page.event('member.joined')).member
    expect(joined).toMatchObject({ member_id: member.memberId, name: 'Vera', subscriber_id: null })
    await settled(page)
    expect(page.story.filter((word) => word === 'member.joined')).toHaveLength(1)
  })
})
