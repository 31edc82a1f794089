/** Pages with room tokens: what they may join, and their events, with real room sessions and fake media. */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RoomGrant } from '../../auth/room-token-claims.ts'
import { sampleGrant } from '../../auth/testing/sample-grant.ts'
import { defaultPermissions } from '../../rooms/permissions.ts'
import { gone, settled } from '../subscriber/testing/call-setup.ts'
import { allPermissions, memberOf, TokenPages } from './testing/token-pages.ts'

let pages: TokenPages
let gateway: TokenPages['gateway']
let rooms: TokenPages['rooms']
let fixture: TokenPages['fixture']
let enters: TokenPages['enters']
let withToken: TokenPages['withToken']
let joins: TokenPages['joins']

beforeEach(async () => {
  pages = await TokenPages.start()
  ;({ gateway, rooms, fixture, enters, withToken, joins } = pages)
})
afterEach(() => pages.close())

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

  it('loses its session after a reset of the conference token that its token was made from', async () => {
    const from = async (version: string) =>
      (await gateway.roomTokens.issue('p1', sampleGrant(), 3600, version)).token
    const reset = (id: string) =>
      gateway.revocations.revoke({ id, expiresAt: gateway.clock.now() / 1000 + 3600 })
    const page = await gateway.page()
    const token = await from('first')
    await page.connect(token)
    await reset('first')
    await expect((await gateway.page()).connect(token)).rejects.toThrow('revoked')
    // A token from the present text keeps the session.
    const next = { authentication: { jwt_token: await from('second') } }
    await page.ask('signalwire.reauthenticate', next)
    gateway.clock.advance(20_000)
    await page.ask('signalwire.ping')
    await reset('second')
    gateway.clock.advance(10_000)
    expect(await page.browser.closed).toBe(1008)
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

  it.each([
    ['lounge', '/public/lounge'],
    ['/private/moved', '/private/moved'],
  ])('has dialled the address of its room %s', async (room, uri) => {
    const { arrival } = await joins('c1', { room })
    expect(arrival.leg.to).toMatchObject({ uri, user: uri.split('/').at(-1) })
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
    fixture.mixers[0]!.talks(leg.port!, 'speaking')
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

  it('has the permissions of the token with which it comes back', async () => {
    const { page: former, protocol, memberId, session, ask } = await joins('c1')
    expect(await ask('lock')).toMatchObject({ code: '403' })
    await gone(gateway, former)
    const page = await gateway.page()
    await page.connect(await gateway.roomToken({ permissions: ['room.lock'] }), { protocol })
    await page.videoMessage('verto.invite', 'c1', { sdp: 'again' })
    expect(await page.event('video.room.subscribed')).toMatchObject({ member_id: memberId })
    expect(await page.ask('video.lock', { room_session_id: session.id })).toMatchObject({ code: '200' })
  })

  it('does not come back under another id after a reload or with a forged state, and the others learn nothing', async () => {
    const first = await joins('c1')
    const { page: other } = await joins('c2', { userName: 'Ann' })
    await gone(gateway, first.page, 1001)
    await settled(other)
    const before = other.story.length
    const comesBack = async (callId: string, more: object = {}) => {
      const page = await gateway.page()
      await page.connect(first.token, { protocol: first.protocol, ...more })
      await page.videoMessage('verto.invite', callId, { sdp: 'again' })
      return page
    }
    const page = await comesBack('another')
    expect(await page.message('verto.bye')).toMatchObject({
      callID: 'another',
      cause: 'INVALID_CALL_REFERENCE',
      causeCode: 81,
    })
    await gone(gateway, page)
    const forger = await comesBack('c1', { authorization_state: 'wrong' })
    expect(await forger.message('verto.bye')).toMatchObject({
      callID: 'c1',
      cause: 'DESTINATION_OUT_OF_ORDER',
      causeCode: 27,
    })
    const owner = await comesBack('c1')
    expect(await owner.event('video.room.subscribed')).toMatchObject({
      call_id: 'c1',
      member_id: first.memberId,
    })
    await settled(other)
    expect(other.story.slice(before)).toEqual([])
    expect(rooms.members).toBe(2)
  })

  it('may be lost for ten seconds without a leave, and leaves once after the grace time', async () => {
    const first = await joins('c1')
    const { page: other } = await joins('c2', { userName: 'Ann' })
    const pass = async (seconds: number) => {
      for (let i = 0; i < seconds; i++) {
        gateway.clock.advance(1000)
        await settled(other)
      }
    }
    const leaves = () => other.story.filter((word) => word === 'video.member.left').length
    await gone(gateway, first.page)
    await pass(10)
    const page = await gateway.page()
    await page.connect(first.token, { protocol: first.protocol })
    await pass(15)
    expect([rooms.members, leaves()]).toEqual([2, 0])
    await gone(gateway, page)
    await pass(19)
    expect([rooms.members, leaves()]).toEqual([2, 0])
    await pass(1)
    expect(await memberOf(other, 'member.left')).toMatchObject({ id: first.memberId })
    await pass(30)
    expect([rooms.members, leaves()]).toEqual([1, 1])
  })

  it('keeps its screen when its connection is lost and the page is not loaded again', async () => {
    const { page, memberId } = await joins('c1')
    const offerOf = (version: number) => `v=0\r\no=- 1 ${version} IN IP4 127.0.0.1\r\n`
    // Records the session of the page's offers.
    await page.videoMessage('verto.invite', 'c1', { sdp: offerOf(1) })
    await page.event('video.room.subscribed')
    const userVariables = { memberCallId: 'c1', memberId }
    const screen = (sdp: string) =>
      page.videoMessage('verto.invite', 's1', { sdp }, { screenShare: true, userVariables })
    await screen('screen')
    expect(await memberOf(page, 'member.joined')).toMatchObject({ type: 'screen' })
    await page.videoMessage('verto.invite', 'c1', { sdp: offerOf(2) })
    await screen('screen again')
    await settled(page)
    const answers = page.browser.requests.flatMap(({ params }) => {
      const { method, params: fields } = (params as { params: { method?: string; params?: object } }).params
      return method === 'verto.answer' ? [fields] : []
    })
    expect(answers.slice(-2)).toEqual([
      { callID: 'c1', sdp: `answer to ${offerOf(2)}` },
      { callID: 's1', sdp: 'answer to screen again' },
    ])
    expect(page.story).not.toContain('video.member.left')
    expect(page.story.filter((word) => word === 'video.room.subscribed')).toHaveLength(2)
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

  it('refuse a room that was made after the removal of the room of the token', async () => {
    const roomId = gateway.directory.room('lounge', 'p1').resource!.id
    expect(await refusedWith({ roomId: randomUUID(), mayCreateRoom: false })).toMatchObject({ code: '404' })
    for (const room of ['lounge', 'attic'])
      expect(await refusedWith({ room, roomId: randomUUID() })).toMatchObject({ code: '404' })
    expect(gateway.arrivals.arrived).toEqual([])
    const { session } = await joins('c2', { roomId, mayCreateRoom: false })
    expect(session).toMatchObject({ name: 'lounge' })
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
    const member = await joins('c1', allPermissions)
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
