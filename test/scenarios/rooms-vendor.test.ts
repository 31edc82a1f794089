/** @schedule alone: three pages with video need both cores. */

/**
 * Checks of the vendor's own tests for rooms, with each version of the published SDK. Pages dial as
 * subscribers, or have a room token.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Browser } from '../support/browser.ts'
import { Gateway } from '../support/gateway.ts'
import { sees as seesColour } from '../support/page-video.ts'
import { rest } from '../support/rest.ts'
import { memberIdOf } from '../support/room-picture.ts'
import { SdkPage } from '../support/sdk-page.ts'
import { peopleOf, tokenOf, withToken } from '../support/sdk-people.ts'
import { sdkVersions } from '../support/sdk-versions.ts'
import { until } from '../support/until.ts'
import { roomToken, VideoPage } from '../support/video-page.ts'
import { pageTones, roomOfSix, sixOptions } from './groups/room-of-six.ts'
import { wrongReattach } from './groups/wrong-reattach.ts'

const tone = 1200
const address = '/public/hall?channel=video'
const newest = sdkVersions.at(-1)!
const colours = ['red', 'lime', 'blue'] as const

let gateway: Gateway
let browser: Browser
/** One page for each version, which dials as a subscriber. */
let pages: SdkPage[]

beforeAll(async () => {
  const browsing = Browser.start(tone)
  gateway = await Gateway.start({
    ...withToken,
    ...sixOptions,
    subscribers: [...sixOptions.subscribers, ...sdkVersions.flatMap(peopleOf)],
  })
  const room = (name: string, more: object) =>
    rest(gateway, 'POST', '/api/fabric/resources/conference_rooms', {
      name,
      tone_on_entry_and_exit: false,
      ...more,
    })
  await room('hall', {})
  await room('booth', { max_members: 1, layout: '3x3' })
  browser = await browsing
  pages = await Promise.all(
    sdkVersions.map(async ({ person, folder }, index) =>
      SdkPage.open(browser, gateway, await tokenOf(gateway, person), {
        folder,
        camera: colours[index]!,
        microphone: pageTones[index]!,
      }),
    ),
  )
})

afterEach(async () => {
  for (const page of pages)
    if (await page.page.evaluate('globalThis.call?.active === true')) await page.hangUp()
  await gateway.settled()
})
afterAll(async () => {
  await Promise.all(pages?.map((page) => page.close()) ?? [])
  await browser?.stop()
  await gateway?.stop()
})

type Fields = Record<string, unknown>

/** Waits for an event of a page that has these fields, after its first `from` frames. */
const receives = async (page: SdkPage | VideoPage, type: string, fields: object, from = 0): Promise<void> => {
  await expect.poll(() => page.wire.events(type, from)).toContainEqual(expect.objectContaining(fields))
}

/** Waits for a change of a member in the events of a page. */
const sees = (page: SdkPage, updated: Fields, memberId?: unknown): Promise<void> =>
  receives(page, 'member.updated', {
    member: expect.objectContaining({
      ...updated,
      ...(memberId !== undefined && { member_id: memberId }),
      updated: expect.arrayContaining(Object.keys(updated)),
    }),
  })

/** Packets that a page's call has received, by kind. */
const packetsOf = ({ page }: SdkPage): Promise<Readonly<Record<string, number>>> =>
  page.evaluate(`(async () => {
    const peers = testPeers.filter((peer) => peer.connectionState === 'connected')
    const reports = await Promise.all(peers.map((peer) => peer.getStats()))
    const stats = reports.flatMap((report) => [...report.values()])
    const received = stats.filter(({ type }) => type === 'inbound-rtp')
    return Object.fromEntries(received.map(({ kind, packetsReceived }) => [kind, packetsReceived]))
  })()`)

/** Waits until a page has this number of rectangles over its picture, and the SDK lists as many. */
const hasOverlays = async ({ page }: SdkPage, wanted: number): Promise<void> => {
  await until(
    `${wanted} overlays`,
    () => page.evaluate(`[document.querySelectorAll('.mcuLayers > *').length, call.overlayMap?.size]`),
    (found) => `${found}` === `${[wanted, wanted]}`,
  )
}

describe.each(sdkVersions.map(({ version, isOld }, index) => ({ version, isOld, index })))(
  'a subscriber with version $version',
  ({ isOld, index }) => {
    it('has a picture with an overlay for itself, of 40 audio and 25 video packets in a second', async () => {
      const page = pages[index]!
      await page.dial(address, { video: true })
      await page.page.locator('div[id^="sw-sdk-"] > video').waitFor()
      // Version 3.27 lays its own camera over the picture, and no further rectangle.
      if (!isOld) await hasOverlays(page, 2)
      await until(
        'more packets of a second',
        async () => {
          const before = await packetsOf(page)
          await page.page.waitForTimeout(1000)
          const after = await packetsOf(page)
          return { audio: after.audio! - (before.audio ?? 0), video: after.video! - (before.video ?? 0) }
        },
        ({ audio, video }) => audio >= 40 && video >= 25,
      )
    })

    it('draws nothing without an element, and receives all, which it can draw later', async () => {
      const page = pages[index]!
      const errors: string[] = []
      const keepError = ({ message }: Error) => void errors.push(message)
      page.page.on('pageerror', keepError)
      await page.dial(address, { video: true, hasElement: false })
      await seesColour(page.page, colours[index]!)
      await page.do('deaf')
      await sees(page, { deaf: true }, memberIdOf(page))
      await page.do('undeaf')
      const drawn = `document.querySelectorAll('video, [id^="sw-sdk-"], [id^="sw-overlay-"]').length`
      expect(await page.page.evaluate(`[${drawn}, typeof call.overlayMap]`)).toEqual([0, 'undefined'])
      await page.page.evaluate(`SignalWire.buildVideoElement({
        room: call,
        rootElement: document.getElementById('root'),
      }).then(() => {})`)
      await page.page.locator('div[id^="sw-sdk-"] > video').waitFor()
      if (!isOld) await hasOverlays(page, 2)
      page.page.off('pageerror', keepError)
      expect(errors).toEqual([])
    })

    it('has no video in the audio channel', async () => {
      const page = pages[index]!
      await page.dial('/public/hall?channel=audio')
      const packets = await until(
        'audio packets',
        () => packetsOf(page),
        ({ audio = 0 }) => audio > 50,
      )
      expect(packets.video ?? 0).toBe(0)
    })

    it('changes itself and others, and all pages learn each change', async () => {
      const page = pages[index]!
      const other = pages[(index + 1) % pages.length]!
      // Version 3.27 addresses only members that were there before it.
      await other.dial(address, { video: true })
      await page.dial(address, { video: true })
      if (!isOld) await hasOverlays(page, 3)
      const own = memberIdOf(page)
      const otherId = memberIdOf(other)
      const both = (fields: Fields, memberId: unknown = own) =>
        Promise.all([sees(page, fields, memberId), sees(other, fields, memberId)])
      await page.do('deaf')
      await both({ deaf: true })
      await page.do('undeaf')
      await both({ deaf: false })
      await page.do('setInputVolume', { volume: 10 })
      await both({ input_volume: 10 })
      await page.do('setOutputVolume', { volume: -10 })
      await both({ output_volume: -10 })
      await page.do('setInputSensitivity', { value: 40 })
      await both({ input_sensitivity: 40 })
      // Version 3.27 has no such method.
      if (!isOld) {
        await page.do('setAudioFlags', { echoCancellation: false, autoGain: false, noiseSuppression: true })
        await both({ echo_cancellation: false, auto_gain: false, noise_suppression: true })
      }
      await page.do('setRaisedHand')
      await both({ handraised: true })
      await page.do('setRaisedHand', { memberId: otherId })
      await both({ handraised: true }, otherId)
      await page.do('videoMute')
      await both({ video_muted: true, visible: false })
      await page.do('videoUnmute')
      await both({ video_muted: false, visible: true })
      for (const [method, locked] of [
        ['lock', true],
        ['unlock', false],
      ] as const) {
        // The pages have events of the tests of other versions.
        const before = [page, other].map((each) => [each, each.wire.received.length] as const)
        await page.do(method)
        for (const [each, from] of before)
          await receives(each, 'call.updated', { room_session: expect.objectContaining({ locked }) }, from)
      }
      await page.do('removeMember', { memberId: otherId })
      await receives(page, 'member.left', { member: expect.objectContaining({ member_id: otherId }) })
      await until(
        'the call of the removed page ends',
        () => other.events(),
        (events) => events.includes('destroy'),
      )
    })

    it('sets layouts and its position', async () => {
      const page = pages[index]!
      await page.dial(address, { video: true })
      expect(await page.do('getLayouts')).toMatchObject({
        layouts: expect.arrayContaining(['grid-responsive', '3x3', '8x8']),
      })
      for (const name of ['3x3', '8x8']) {
        await page.do('setLayout', { name })
        await receives(page, 'layout.changed', { layout: expect.objectContaining({ name, id: name }) })
      }
      const { layout } = page.wire.events('layout.changed').at(-1)!
      const { position } = (layout.layers as { position: string }[])[1]!
      await page.do('setPositions', { positions: { self: position } })
      await receives(page, 'layout.changed', {
        layout: expect.objectContaining({
          layers: expect.arrayContaining([
            expect.objectContaining({ member_id: memberIdOf(page), position }),
          ]),
        }),
      })
      await page.do('setLayout', { name: 'grid-responsive' })
    })
  },
)

it('all pages mute and unmute all members', async () => {
  for (const page of pages) await page.dial(address, { video: true })
  const newestPage = pages.at(-1)!
  const ids = pages.map(memberIdOf)
  for (const [method, audio_muted] of [
    ['audioMute', true],
    ['audioUnmute', false],
  ] as const) {
    await newestPage.do(method, { memberId: 'all' })
    // A member that another one has muted is unmuted by it as well.
    for (const page of pages) for (const id of ids) await sees(page, { audio_muted }, id)
  }
})

wrongReattach(() => ({ gateway, browser, pages }))
roomOfSix(() => ({ gateway, pages }), colours)

describe('a page with a token', () => {
  const opened: VideoPage[] = []
  const joins = async (body: object, folder = newest.folder): Promise<VideoPage> => {
    const page = await VideoPage.open(browser, gateway, { folder, camera: 'lime' })
    opened.push(page)
    const token = await roomToken(gateway, { room_name: 'hall', ...body })
    expect(await page.join(token)).toEqual({ resolved: undefined })
    return page
  }
  const ends = (page: VideoPage) =>
    until(
      'the session of the page ends',
      () => page.events(),
      (events) => events.includes('destroy'),
    )
  afterEach(async () => {
    for (const page of opened.splice(0)) {
      await page.leave()
      await page.close()
    }
  })

  it('is refused by a full room, and learns the layout of the room that it joins', async () => {
    const first = await joins({ room_name: 'booth', user_name: 'Ann' })
    const [subscribed] = first.wire.events('video.room.subscribed')
    expect(subscribed?.room_session).toMatchObject({ layout_name: '3x3' })
    const second = await VideoPage.open(browser, gateway, { folder: newest.folder })
    opened.push(second)
    const token = await roomToken(gateway, { room_name: 'booth', user_name: 'Bob' })
    expect((await second.join(token)).rejected).toBeDefined()
  })

  it('is removed after its time, and at a time', async () => {
    const at = Date.now() + 8_000
    const seconds = await joins({ user_name: 'Ann', remove_after_seconds_elapsed: 3 })
    const timed = await joins({ user_name: 'Bob', remove_at: new Date(at).toISOString() })
    await Promise.all([ends(seconds), ends(timed)])
    expect(Date.now()).toBeGreaterThanOrEqual(at - 1_000)
  })

  it('takes all others with it if its token says so', async () => {
    const [other] = pages
    await other!.dial(address, { video: true })
    const page = await joins({ user_name: 'Ann', end_room_session_on_leave: true })
    await page.leave()
    await until(
      'the call of the other page ends',
      () => other!.events(),
      (events) => events.includes('destroy'),
    )
  })

  it('changes data of the room and of members', async () => {
    const permissions = ['room.set_meta', 'room.self.set_meta', 'room.prioritize_handraise']
    const page = await joins({ user_name: 'Ann', permissions, join_video_muted: true })
    const { members } = (await page.do('getMembers')) as { members: Fields[] }
    expect(members).toMatchObject([{ name: 'Ann', video_muted: true }])
    const roomHas = (meta: object) =>
      receives(page, 'video.room.updated', {
        room_session: expect.objectContaining({ meta, updated: ['meta'] }),
      })
    await page.do('setMeta', { a: 1, b: 2 })
    await roomHas({ a: 1, b: 2 })
    await page.do('updateMeta', { b: 3 })
    await roomHas({ a: 1, b: 3 })
    await page.do('deleteMeta', ['a'])
    await roomHas({ b: 3 })
    expect(await page.do('getMeta')).toEqual({ meta: { b: 3 } })
    await page.do('setMemberMeta', { meta: { seat: 1 } })
    await page.do('updateMemberMeta', { meta: { row: 2 } })
    await page.do('deleteMemberMeta', { keys: ['seat'] })
    await receives(page, 'video.member.updated', {
      member: expect.objectContaining({ meta: { row: 2 }, updated: ['meta'] }),
    })
    await page.do('setPrioritizeHandraise', true)
    await receives(page, 'video.room.updated', {
      room_session: expect.objectContaining({ prioritize_handraise: true }),
    })
  })

  it('learns by the exact event that a member talks, and leaves nothing in its page', async () => {
    const page = await joins({ user_name: 'Ann' })
    await until(
      'an event of talking',
      () => page.wire.events('video.member.talking').at(-1),
      (event) => event !== undefined,
    )
    const event = page.wire.events('video.member.talking').at(-1)!
    expect(Object.keys(event).sort()).toEqual(['member', 'room_id', 'room_session_id'])
    expect(Object.keys(event.member).sort()).toEqual(['id', 'talking'])
    await page.leave()
    await expect.poll(() => page.page.evaluate(`document.getElementById('root').children.length`)).toBe(0)
  })
})
