/** @schedule alone: two pages with video need both cores. */

/**
 * Rooms by token: a page with `Video.RoomSession` of each version of the published SDK, and a page that dials
 * the room as a subscriber. Each page's camera has a colour of its own. Applications with the published
 * server SDKs watch the room, and act on it.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { Browser } from '../support/browser.ts'
import { DocumentServer } from '../support/documents.ts'
import { filmOf, noFfmpeg, receiveStream } from '../support/film.ts'
import { Gateway } from '../support/gateway.ts'
import { heardIn, hears } from '../support/page-audio.ts'
import { seenIn, sees } from '../support/page-video.ts'
import { rest } from '../support/rest.ts'
import { openVersion3, openVersion4 } from '../support/room-applications.ts'
import { SdkPage } from '../support/sdk-page.ts'
import { peopleOf, tokenOf, withToken } from '../support/sdk-people.ts'
import { sdkVersions } from '../support/sdk-versions.ts'
import { until } from '../support/until.ts'
import {
  memberNamed,
  roomToken,
  VideoPage,
  type VideoPageOptions,
  withVideoPage,
} from '../support/video-page.ts'
import { conferenceTokens } from './groups/conference-tokens.ts'
import { severalRooms } from './groups/several-rooms.ts'

const tone = 1200
const filmTone = 500
const address = '/public/lounge?channel=video'
const newest = sdkVersions.at(-1)!
const moderator = [
  'room.self.audio_mute',
  'room.self.audio_unmute',
  'room.member.audio_mute',
  'room.member.set_meta',
  'room.list_available_layouts',
  'room.set_layout',
  'room.lock',
  'room.unlock',
]

let gateway: Gateway
let browser: Browser
let dialler: SdkPage

beforeAll(async () => {
  const browsing = Browser.start(tone)
  gateway = await Gateway.start({
    ...withToken,
    subscribers: peopleOf(newest),
    media: { rooms: { picture: 'speaker' } },
  })
  await rest(gateway, 'POST', '/api/fabric/resources/conference_rooms', {
    name: 'lounge',
    max_members: 4,
    tone_on_entry_and_exit: false,
  })
  browser = await browsing
  dialler = await SdkPage.open(browser, gateway, await tokenOf(gateway, newest.person), { camera: 'red' })
})

afterEach(() => gateway.settled())
afterAll(async () => {
  await dialler?.close()
  await browser?.stop()
  await gateway?.stop()
})

const tokenFor = (user_name: string, more: object = {}) =>
  roomToken(gateway, { room_name: 'lounge', user_name, ...more })

const withPage = (options: VideoPageOptions, work: (page: VideoPage) => Promise<void>): Promise<void> =>
  withVideoPage(browser, gateway, { options, work })

describe.each(sdkVersions)('Video.RoomSession of version $version', ({ folder, person: name }) => {
  it('joins by its token, sees and hears a subscriber, and changes what it may', async () => {
    await dialler.dial(address, { video: true })
    await withPage({ folder, camera: 'lime' }, async (page) => {
      expect(await page.join(await tokenFor(name, { permissions: moderator }))).toEqual({
        resolved: undefined,
      })
      expect(await page.property('permissions')).toEqual(moderator)
      expect(await page.property('interactivityMode')).toBe('member')
      await Promise.all([sees(page.page, 'red'), sees(dialler.page, 'lime')])
      await Promise.all([hears(page.page, tone), hears(dialler.page, tone)])
      await page.do('audioMute')
      await expect
        .poll(() => dialler.wire.events('member.updated').at(-1)?.member)
        .toMatchObject({ name, audio_muted: true })
      const { id: memberId } = await memberNamed(page, `The ${newest.person}`)
      await page.do('audioMute', { memberId })
      await expect
        .poll(() => page.wire.events('video.member.updated').at(-1)?.member)
        .toMatchObject({ id: memberId, audio_muted: true })
      expect(await page.fate('deaf')).toMatchObject({ rejected: { code: '403' } })
      expect(await page.fate('removeMember', { memberId: 'unknown' })).toMatchObject({
        rejected: { code: '403' },
      })
      expect(await page.fate('audioMute', { memberId: 'unknown' })).toMatchObject({
        rejected: { code: '404' },
      })
      expect(await page.fate('setLayout', { name: 'spiral' })).toMatchObject({ rejected: { code: '422' } })
      expect(await page.do('getLayouts')).toMatchObject({ layouts: expect.arrayContaining(['full-screen']) })
      await page.do('updateMemberMeta', { memberId, meta: { seat: 4 } })
      expect(await page.do('getMemberMeta', { memberId })).toEqual({ meta: { seat: 4 } })
      await page.do('lock')
      await expect
        .poll(() => dialler.wire.events('call.updated').at(-1)?.room_session)
        .toMatchObject({ locked: true })
      await page.do('unlock')
    })
    await expect.poll(() => dialler.wire.events('member.left').at(-1)?.member).toMatchObject({ name })
    await dialler.hangUp()
  })

  it('joins muted, is removed, and is refused at the wrong time', async () => {
    await dialler.dial(address, { video: true })
    await withPage({ folder, camera: 'lime' }, async (page) => {
      await page.join(await tokenFor(name, { join_audio_muted: true }))
      expect(await memberNamed(page, name)).toMatchObject({ audio_muted: true })
      const { id: member_id } = await memberNamed(page, name)
      await until(
        'the subscriber’s page knows the member',
        () => dialler.wire.events('member.joined').some(({ member }) => member.member_id === member_id),
        (isKnown) => isKnown,
      )
      await dialler.do('removeMember', { memberId: member_id })
      await until(
        'the removed page’s session ends',
        () => page.events(),
        (events) => events.includes('destroy'),
      )
    })
    await dialler.hangUp()
    const early = { join_from: new Date(Date.now() + 3_600_000).toISOString() }
    await withPage({ folder }, async (page) => {
      const rejected = { code: '403', message: 'Unauthorized' }
      expect(await page.join(await tokenFor(name, early))).toMatchObject({ rejected })
    })
  })

  it('comes back with the same ids after a reload', async () => {
    await withPage({ folder, camera: 'lime' }, async (page) => {
      const token = await tokenFor(name)
      await page.join(token)
      const ids = [await page.property('callId'), await page.property('memberId')]
      await page.reload()
      expect(await page.join(token)).toEqual({ resolved: undefined })
      expect([await page.property('callId'), await page.property('memberId')]).toEqual(ids)
    })
  })
})

describe('a page with a second camera and a second microphone', () => {
  it('is seen and heard over them by all others, but does not hear itself', async () => {
    await dialler.dial(address, { video: true })
    await withPage({ camera: 'lime' }, async (page) => {
      await page.join(await tokenFor('Dora'))
      for (const each of [dialler, page]) await each.do('audioMute')
      const { id: parent_id } = await memberNamed(page, 'Dora')
      const devices = () =>
        dialler.wire
          .events('member.joined')
          .flatMap(({ member }) => (member.type === 'device' ? [member] : []))
      await page.addDevice('addMicrophone')
      await hears(dialler.page, tone)
      expect(await heardIn(page.page)).toBe(0)
      expect(devices().at(-1)).toMatchObject({ name: 'Dora', parent_id })
      await page.addDevice('addCamera')
      await expect.poll(devices).toHaveLength(2)
      await until(
        'the second camera is visible',
        () => dialler.wire.events('member.updated').map(({ member }) => member),
        (members) => members.some(({ type, visible }) => type === 'device' && visible === true),
      )
      await page.leaveDevices()
      await expect
        .poll(() => dialler.wire.events('member.left').filter(({ member }) => member.type === 'device'))
        .toHaveLength(2)
    })
    await dialler.hangUp()
  })
})

describe('an audience', () => {
  it('sees and hears the members, and sends nothing', async () => {
    await dialler.dial(address, { video: true })
    await withPage({ camera: 'lime' }, async (page) => {
      await page.join(await tokenFor('Vera', { join_as: 'audience' }))
      await Promise.all([sees(page.page, 'red'), hears(page.page, tone)])
      expect(await page.property('interactivityMode')).toBe('audience')
      expect(dialler.wire.events('member.joined').some(({ member }) => member.name === 'Vera')).toBe(false)
      const [invite] = page.wire.asked('video.message')
      expect(JSON.stringify(invite)).toContain('a=recvonly')
    })
    await dialler.hangUp()
  })

  it('is promoted by another page, stays a member after a reload, and is demoted', async () => {
    const host = await VideoPage.open(browser, gateway, { camera: 'blue' })
    const permissions = ['room.member.promote', 'room.member.demote']
    await host.join(await tokenFor('Ann', { permissions }))
    await withPage({ camera: 'lime' }, async (page) => {
      const token = await tokenFor('Vera', { join_as: 'audience' })
      await page.join(token)
      await sees(page.page, 'blue')
      const memberId = await page.property('memberId')
      const callId = await page.property('callId')
      await host.do('promote', { memberId, mediaAllowed: 'all', permissions: ['room.self.audio_mute'] })
      await Promise.all([sees(host.page, 'lime'), hears(host.page, tone), sees(page.page, 'blue')])
      expect(host.wire.events('video.member.joined').at(-1)?.member).toMatchObject({ id: memberId })
      expect(await page.property('interactivityMode')).toBe('member')
      expect(await page.property('permissions')).toEqual(['room.self.audio_mute'])
      expect(await page.property('memberId')).toBe(memberId)
      expect(await page.property('callId')).not.toBe(callId)
      expect(JSON.stringify(page.wire.asked('video.message'))).toContain('a=sendrecv')
      await page.reload()
      expect(await page.join(token)).toEqual({ resolved: undefined })
      expect(await page.property('interactivityMode')).toBe('member')
      await sees(host.page, 'lime')
      await host.do('demote', { memberId: await page.property('memberId') })
      // Alone, the host sees itself.
      await sees(host.page, 'blue')
      await expect.poll(() => page.property('interactivityMode')).toBe('audience')
      await sees(page.page, 'blue')
      expect(await host.fate('demote', { memberId: await page.property('memberId') })).toMatchObject({
        rejected: { code: '404' },
      })
    })
    await host.leave()
    await host.close()
  })
})

describe.each([
  ['3.13.0', openVersion3],
  ['4.2.1', openVersion4],
])('an application with version %s of the published server SDK', (version, open) => {
  it('learns of the room and of its members, and changes them', async () => {
    const application = await open(gateway)
    onTestFinished(() => application.close())
    await dialler.dial(address, { video: true })
    const room = await until('the room starts', () => application.started[0])
    expect(room).toMatchObject({ name: 'lounge', locked: false, layoutName: 'full-screen' })
    const heard = await application.listen(room!)
    const what = (name: string) => heard.filter((event) => event.name === name).at(-1)?.what
    await withPage({ camera: 'lime' }, async (page) => {
      await page.join(await tokenFor('Vera'))
      const { id: memberId } = await memberNamed(page, 'Vera')
      await expect.poll(() => what('member.joined')?.id).toBe(memberId)
      await expect.poll(() => heard.some(({ name }) => name === 'member.talking.started')).toBe(true)

      await room!.audioMute({ memberId })
      await expect.poll(() => what('member.updated')).toMatchObject({ id: memberId, audioMuted: true })
      await expect
        .poll(() => page.wire.events('video.member.updated').at(-1)?.member)
        .toMatchObject({ id: memberId, audio_muted: true })
      await room!.audioUnmute({ memberId })
      await expect.poll(() => what('member.updated')?.audioMuted).toBe(false)
      // Version 3.13.0 has no events of single properties.
      if (version !== '3.13.0') expect(what('member.updated.audioMuted')?.id).toBe(memberId)

      expect(await room!.getLayouts()).toEqual({ layouts: ['full-screen', '1x1'] })
      await room!.setLayout({ name: '1x1' })
      await expect.poll(() => what('layout.changed')?.layout.name).toBe('1x1')
      await expect.poll(() => page.wire.events('video.layout.changed').at(-1)?.layout.name).toBe('1x1')

      await room!.lock()
      await expect.poll(() => what('room.updated')?.locked).toBe(true)
      await expect.poll(() => dialler.wire.events('call.updated').at(-1)?.room_session.locked).toBe(true)
      await room!.unlock()
      await room!.setPrioritizeHandraise(true)
      await expect.poll(() => what('room.updated')?.prioritizeHandraise).toBe(true)
      await room!.setPrioritizeHandraise(false)

      await room!.setMeta({ topic: 'cats', seat: 1 })
      await room!.updateMeta({ seat: 2 })
      await room!.deleteMeta(['topic'])
      expect(await room!.getMeta()).toEqual({ meta: { seat: 2 } })
      await room!.updateMemberMeta({ memberId, meta: { seat: 4 } })
      expect(await page.do('getMemberMeta', { memberId })).toEqual({ meta: { seat: 4 } })
      expect(await room!.getMemberMeta({ memberId })).toEqual({ meta: { seat: 4 } })

      const { members } = await room!.getMembers()
      expect(members.map(({ name }) => name)).toEqual([`The ${newest.person}`, 'Vera'])
      await expect(room!.audioMute({ memberId: 'unknown' })).rejects.toMatchObject({ code: '404' })
      await expect(room!.setLayout({ name: 'spiral' })).rejects.toMatchObject({ code: '422' })

      await room!.removeMember({ memberId })
      await expect.poll(() => page.events()).toContain('destroy')
      await expect.poll(() => what('member.left')?.id).toBe(memberId)
    })
    await dialler.hangUp()
    await expect.poll(() => application.ended).toEqual([room!.id])
    expect(heard.at(-1)).toMatchObject({ name: 'room.ended', what: { id: room!.id } })
  })

  it('finds a room in progress, and ends it for all members', async () => {
    await dialler.dial(address, { video: true })
    const application = await open(gateway)
    onTestFinished(() => application.close())
    const room = await until('the room in progress is reported', () => application.started[0])
    const [listed] = await application.sessions()
    expect(listed).toMatchObject({ id: room!.id, name: 'lounge' })
    const found = await application.session(room!.id)
    expect(found).toMatchObject({ id: room!.id, layoutName: 'full-screen' })
    await expect(application.session('unknown')).rejects.toMatchObject({ code: '404' })
    await found.lock()
    await until(
      'the lock is found again',
      () => application.session(room!.id),
      ({ locked }) => locked,
    )
    const left = dialler.wire.events('call.left').length
    await found.removeAllMembers()
    await expect.poll(() => application.ended).toEqual([room!.id])
    expect(await application.sessions()).toEqual([])
    await dialler.wire.event('call.left', left)
  })
})

severalRooms(() => ({ gateway, browser, dialler }))
conferenceTokens(() => ({ gateway, browser }))

describe.skipIf(noFfmpeg !== undefined)(`a file${noFfmpeg ? ` (${noFfmpeg})` : ''}`, () => {
  it('is played to all members, paused, moved and ended, and the cameras come back', async () => {
    const documents = await DocumentServer.open()
    onTestFinished(() => documents.close())
    documents.put('/film.mp4', filmOf('yellow', filmTone, 12))
    documents.put('/list.m3u8', '#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n')
    await dialler.dial(address, { video: true })
    await dialler.do('audioMute')
    const permissions = ['room.playback', 'room.playback_seek']
    await withPage({ camera: 'lime' }, async (page) => {
      await page.join(await tokenFor('Vera', { permissions, join_audio_muted: true }))
      expect(await page.property('permissions')).toEqual(permissions)
      await Promise.all([sees(page.page, 'red'), sees(dialler.page, 'lime')])
      const play = (path: string) =>
        page.page.evaluate(
          `call.play({ url: '${documents.urlOf(path)}' }).then((it) => { globalThis.playback = it })`,
        )
      const playback = (property: string) => page.page.evaluate(`playback.${property}`)
      await play('/film.mp4?secret=1')
      expect(await playback('url')).toBe(documents.urlOf('/film.mp4'))
      await Promise.all([sees(page.page, 'yellow'), sees(dialler.page, 'yellow')])
      await Promise.all([hears(page.page, filmTone), hears(dialler.page, filmTone)])
      const layers = () => page.wire.events('video.layout.changed').at(-1)?.layout.layers
      expect(layers()[0]).toMatchObject({ position: 'playback', playing_file: true, width: 100 })
      const listed = 'call.getPlaybacks().then(({ playbacks }) => playbacks.map(({ state }) => state))'
      expect(await page.page.evaluate(listed)).toEqual(['playing'])
      expect(await page.fate('play', { url: documents.urlOf('/film.mp4') })).toMatchObject({
        rejected: { code: '409' },
      })
      await page.page.evaluate('playback.pause()')
      await expect.poll(() => playback('state')).toBe('paused')
      await expect.poll(() => heardIn(dialler.page)).toBe(0)
      await page.page.evaluate('playback.seek(5000)')
      await expect.poll(() => playback('position')).toBe(5000)
      const { frames } = await seenIn(page.page)
      await until(
        'the picture of the pause is repeated',
        () => seenIn(page.page),
        (seen) => seen.frames > frames + 1,
      )
      await withPage({ camera: 'blue' }, async (late) => {
        await late.join(await tokenFor('Wanda', { permissions, join_audio_muted: true }))
        const paused = { url: documents.urlOf('/film.mp4'), state: 'paused', position: 5000 }
        expect(late.wire.events('video.room.subscribed')[0]?.room_session.playbacks).toMatchObject([paused])
        expect(await late.page.evaluate(listed)).toEqual(['paused'])
        await page.page.evaluate('playback.setVolume(-50)')
        await expect.poll(() => playback('volume')).toBe(-50)
        await expect
          .poll(() => late.wire.events('video.playback.updated')[0]?.playback)
          .toMatchObject({ ...paused, volume: -50 })
        await page.page.evaluate('playback.setVolume(0)')
        await page.page.evaluate('playback.resume()')
        await Promise.all([
          sees(late.page, 'yellow'),
          sees(page.page, 'yellow'),
          hears(dialler.page, filmTone),
        ])
      })
      await expect.poll(() => playback('state'), { timeout: 15_000 }).toBe('completed')
      expect(await playback('position')).toBeGreaterThan(11_000)
      await Promise.all([sees(page.page, 'red'), sees(dialler.page, 'lime')])

      await play('/film.mp4')
      await page.page.evaluate('playback.stop()')
      await expect.poll(() => playback('state')).toBe('completed')
      await play('/list.m3u8')
      const ended = () => page.wire.events('video.playback.ended')
      await expect.poll(() => ended()[2]?.playback.error).toMatch(/cannot be played/)
      await play('/missing.mp4')
      await expect.poll(() => ended()[3]?.playback.error).toMatch(/answered 404/)
    })
    await dialler.hangUp()
  })
})

describe.skipIf(noFfmpeg !== undefined)(`a stream${noFfmpeg ? ` (${noFfmpeg})` : ''}`, () => {
  it('of a room starts with its session, and brings picture and sound to a server that speaks RTMP', async () => {
    const server = await receiveStream()
    onTestFinished(() => server.stop())
    const api = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) =>
      rest(gateway, method, `/api/video${path}`, body)
    const made = await api('POST', '/rooms/lounge/streams', { url: server.url })
    const shown = server.url.replace('secret', '***')
    expect(made).toMatchObject({ status: 201, body: { url: shown, stream_type: 'rtmp' } })
    await withPage({ camera: 'lime' }, async (page) => {
      await page.join(await tokenFor('Vera', { permissions: ['room.stream'] }))
      expect(await page.property('permissions')).toEqual(['room.stream'])
      // The stream is grey until the camera comes.
      const { codecs } = await server.received(({ seconds, rgb: [r = 0, g = 0, b = 0], toneHz }) => {
        const isLime = r < 110 && g > 150 && b < 110
        return seconds > 3 && isLime && Math.abs(toneHz - tone) < tone / 20
      })
      expect(codecs).toEqual(['aac', 'h264'])
      // The server has ended the connection, and the gateway tries again.
      await expect.poll(() => gateway.log).toContainEqual(expect.objectContaining({ fault: 'lost' }))
      expect(await gateway.metric('room_stream_failures_total', { fault: 'lost' })).toBe(1)
      const listed =
        'call.getStreams().then(({ streams }) => streams.map(({ id, state, url }) => [id, state, url]))'
      const [[id, ...facts]] = (await page.page.evaluate(listed)) as [[string, ...string[]]]
      expect(facts).toEqual(['streaming', shown])
      const { room_session_id: session } = page.wire.events('video.room.subscribed')[0]!.room
      const own = `/room_sessions/${session}/streams/${id}`
      expect((await api('DELETE', own)).status).toBe(204)
      await expect
        .poll(() => page.wire.events('video.stream.ended')[0]?.stream)
        .toMatchObject({ id, state: 'completed' })
      expect((await api('GET', own)).body).toMatchObject({ status: 'completed', error: null, url: shown })
      const refused = await page.fate('startStream', { url: 'https://c.example/live/key' })
      expect(refused).toMatchObject({ rejected: { code: '422' } })
      expect(gateway.output).not.toContain('secret')
    })
    await api('DELETE', `/streams/${made.body.id}`)
  })
})
