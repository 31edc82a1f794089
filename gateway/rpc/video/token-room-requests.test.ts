/** Requests of pages with room tokens, and changes of their roles, with real room sessions and fake media. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AnyFrame } from '../testing/test-browser.ts'
import { allPermissions, memberOf, TokenPages } from './testing/token-pages.ts'

let pages: TokenPages
let gateway: TokenPages['gateway']
let fixture: TokenPages['fixture']
let enters: TokenPages['enters']
let joins: TokenPages['joins']

beforeEach(async () => {
  pages = await TokenPages.start()
  ;({ gateway, fixture, enters, joins } = pages)
})
afterEach(() => pages.close())

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
    const { ask, page, memberId } = await joins('c1', allPermissions)
    expect(await page.ask('video.lock', { room_session_id: 'other' })).toMatchObject({ code: '404' })
    expect(await ask('member.audio_mute', { member_id: 'stranger' })).toMatchObject({ code: '404' })
    expect(await ask('set_layout', { name: 'spiral' })).toMatchObject({ code: '422' })
    expect(await ask('member.set_input_volume', { volume: 51 })).toMatchObject({ code: '422' })
    expect(await ask('member.set_position', { member_id: memberId, position: 'up' })).toMatchObject({
      code: '422',
    })
    expect(await ask('set_meta', { meta: [] })).toMatchObject({ code: '422' })
    expect(await ask('delete_meta', { keys: 'a' })).toMatchObject({ code: '422' })
  })

  it('change the room', async () => {
    const { ask, page } = await joins('c1', allPermissions)
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
    const { ask, page } = await joins('c1', allPermissions)
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

  it('record members in files of their own only if the room does', async () => {
    const { ask } = await joins('c1', allPermissions)
    expect(await ask('recording.start', { members: true })).toMatchObject({ code: '403' })
    expect(await ask('recording.start', { members: 'yes' })).toMatchObject({ code: '422' })
    expect(await ask('recording.list')).toMatchObject({ recordings: [] })
    expect(await ask('recording.start', { members: false })).toMatchObject({ code: '200' })
  })

  it('play a file into the room', async () => {
    const { ask, page } = await joins('c1', allPermissions)
    const playbackOf = async (name: string) => (await page.event(`video.playback.${name}`)).playback
    const startedAt = gateway.clock.now() / 1000
    const url = 'https://c.example/film.mp4'
    const options = { url: `${url}?key=1`, volume: -10, seek_position: 500 }
    const { playback } = (await ask('playback.start', options)) as { playback: AnyFrame }
    expect(playback).toEqual({
      id: playback.id,
      state: 'playing',
      url,
      position: 500,
      seekable: true,
      volume: -10,
      started_at: startedAt,
    })
    expect(await playbackOf('started')).toEqual(playback)
    const about = { playback_id: playback.id as string }
    const changes: [string, AnyFrame, AnyFrame][] = [
      ['pause', {}, { state: 'paused' }],
      ['resume', {}, { state: 'playing' }],
      ['set_volume', { volume: 20 }, { volume: 20 }],
      ['seek_absolute', { position: 3000 }, { position: 3000 }],
      ['seek_relative', { position: -1000 }, { position: 2000 }],
    ]
    for (const [verb, more, changed] of changes) {
      expect(await ask(`playback.${verb}`, { ...about, ...more })).toMatchObject({ code: '200' })
      expect(await playbackOf('updated')).toMatchObject(changed)
    }
    expect(await ask('playback.start', options)).toMatchObject({ code: '409' })
    for (const [verb, more] of [
      ['set_volume', { volume: 51 }],
      ['seek_absolute', { position: -1 }],
      ['seek_relative', {}],
      ['start', {}],
      ['start', { url, layout: 3 }],
    ] as const)
      expect(await ask(`playback.${verb}`, { ...about, ...more })).toMatchObject({ code: '422' })
    expect(await ask('playback.stop', about)).toMatchObject({ code: '200' })
    const ended = { ...playback, state: 'completed', position: 2000, volume: 20, ended_at: startedAt }
    expect(await playbackOf('ended')).toEqual(ended)
    expect(await ask('playback.list')).toMatchObject({ code: '200', playbacks: [ended] })
    expect(await ask('playback.start', { url: 'rtmp://c.example/live' })).toMatchObject({ code: '422' })
    expect(await ask('playback.stop', about)).toMatchObject({ code: '404' })
    expect(pages.files.urls).toEqual([options.url])
  })

  it('stream the room to a server, whose key no event has', async () => {
    const { ask, page } = await joins('c1', allPermissions)
    const url = 'rtmp://c.example/live/secret'
    const startedAt = gateway.clock.now() / 1000
    const { stream } = (await ask('stream.start', { url })) as { stream: AnyFrame }
    const shown = 'rtmp://c.example/live/***'
    expect(stream).toEqual({
      id: stream.id,
      url: shown,
      state: 'streaming',
      duration: 0,
      started_at: startedAt,
    })
    expect(pages.streams.streams[0]!.target.key).toBe('secret')
    expect((await page.event('video.stream.started')).stream).toEqual(stream)
    expect((await page.event('video.room.updated')).room_session).toMatchObject({
      streaming: true,
      updated: ['streaming'],
      streams: [stream],
    })
    gateway.clock.advance(1000)
    expect(await ask('stream.stop', { stream_id: stream.id })).toMatchObject({ code: '200' })
    const ended = { ...stream, state: 'completed', duration: 1, ended_at: startedAt + 1 }
    expect((await page.event('video.stream.ended')).stream).toEqual(ended)
    expect(await ask('stream.list')).toMatchObject({ code: '200', streams: [ended] })
    expect(await ask('stream.stop', { stream_id: stream.id })).toMatchObject({ code: '404' })
    expect(await ask('stream.start', { url: 'http://c.example/live' })).toMatchObject({ code: '422' })
    await vi.waitFor(() => expect(pages.files.streams).toBe(0))
    pages.files.hasFfmpeg = false
    expect(await ask('stream.list')).toMatchObject({ code: '501' })
  })

  it('play a file if the gateway has ffmpeg, and the page may', async () => {
    const { ask } = await joins('c1', { permissions: ['room.playback'] })
    const about = { playback_id: 'p' }
    expect(await ask('playback.seek_absolute', about)).toMatchObject({ code: '403' })
    expect(await ask('playback.start', { url: 'https://c.example/a', layout: '1x1' })).toMatchObject({
      code: '403',
    })
    pages.files.hasFfmpeg = false
    for (const verb of ['start', 'list', 'seek_absolute'])
      expect(await ask(`playback.${verb}`, about)).toMatchObject({ code: '501' })
  })

  it('change members, and remove one or all', async () => {
    const host = await joins('c1', allPermissions)
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
      const host = await joins('h1', { ...allPermissions, userName: 'Ann' })
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

    it('and changes again before the page has connected anew, keep one place over each connection', async () => {
      const { host, viewer, role } = await withAudience()
      const { made } = gateway.webrtc
      const gate = Promise.withResolvers<void>()
      gateway.webrtc.gate = gate.promise
      const connects = (callId: string, sdp = 'anew') =>
        viewer.page.videoMessage('verto.invite', callId, { sdp })
      await host.ask('member.promote', role)
      await connects('c2')
      await host.ask('member.demote', role)
      await connects('c3', 'bad')
      await host.ask('member.promote', role)
      await connects('c4')
      const count = made.length
      gate.resolve()
      for (const index of [count, count + 1]) {
        await vi.waitFor(() => expect(made).toHaveLength(index + 1))
        made[index]!.report('connected')
      }
      const answered = async () => (await viewer.page.message('verto.answer')).callID
      expect([await answered(), await answered(), await answered()]).toEqual(['c1', 'c2', 'c4'])
      await vi.waitFor(() =>
        expect(made.slice(count - 1).map(({ closed }) => closed)).toEqual([true, true, false]),
      )
      const bye = async () => (await viewer.page.message('verto.bye')).callID
      expect([await bye(), await bye(), await bye()].sort()).toEqual(['c1', 'c2', 'c3'])
      // One member, one call of the gateway; the next invite takes no place.
      expect(gateway.arrivals.arrived).toHaveLength(2)
      expect((await host.ask('members.get')).members).toHaveLength(2)
      await connects('c5')
      expect(await viewer.page.message('verto.bye')).toMatchObject({ callID: 'c5', causeCode: 81 })
    })

    it('and gives up its new connection, stay over the former one and may try again', async () => {
      const { host, viewer, role } = await withAudience()
      const gate = Promise.withResolvers<void>()
      gateway.webrtc.gate = gate.promise
      await host.ask('member.promote', role)
      await viewer.page.videoMessage('verto.invite', 'c2', { sdp: 'anew' })
      await viewer.page.videoMessage('verto.bye', 'c2')
      gate.resolve()
      await vi.waitFor(() => expect(gateway.webrtc.last).not.toBe(viewer.media))
      await vi.waitFor(() => expect(gateway.webrtc.last.closed).toBe(true))
      expect(viewer.media.closed).toBe(false)
      await viewer.page.videoMessage('verto.invite', 'c3', { sdp: 'anew' })
      await vi.waitFor(() => expect(gateway.webrtc.last.closed).toBe(false))
      gateway.webrtc.last.report('connected')
      await vi.waitFor(() => expect(viewer.media.closed).toBe(true))
      expect(gateway.arrivals.arrived).toHaveLength(2)
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
      expect(await host.ask('member.promote', { member_id: host.memberId })).toMatchObject({ code: '403' })
      expect(await host.ask('member.promote', {})).toMatchObject({ code: '422' })
      for (const wrong of [{ media_allowed: 'smell' }, { permissions: 'all' }, { meta: 1 }])
        expect(await host.ask('member.promote', { ...role, ...wrong })).toMatchObject({ code: '422' })
      const eve = await joins('m1', { userName: 'Eve', permissions: ['room.member.promote'] })
      expect(await eve.ask('member.promote', { ...role, permissions: ['room.member.remove'] })).toMatchObject(
        { code: '403' },
      )
      // A page that connects anew by itself takes no place, and keeps its own.
      await viewer.page.videoMessage('verto.invite', 'c2', { sdp: 'offer' })
      expect(await viewer.page.message('verto.bye')).toMatchObject({ callID: 'c2', causeCode: 81 })
      expect([viewer.media.closed, gateway.arrivals.arrived.length]).toEqual([false, 3])
    })
  })

  it('of the audience may add nothing', async () => {
    const { page, memberId } = await joins('c1', { role: 'audience' })
    const device = { additionalDevice: true, userVariables: { memberCallId: 'c1', memberId } }
    expect(await page.videoMessage('verto.invite', 'd1', { sdp: 'x' }, device)).toMatchObject({ code: '403' })
  })
})
