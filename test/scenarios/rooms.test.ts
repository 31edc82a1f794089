/** @schedule alone: three pages with video need both cores. */

/**
 * Rooms: three pages, one with each version of the published SDK, and a telephone. Each page's camera has a
 * colour of its own, and the telephone a tone.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { application, script, scripted, scriptText } from '../support/applications.ts'
import { Browser } from '../support/browser.ts'
import { Carrier } from '../support/carrier.ts'
import { CutLine } from '../support/cut-line.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { heardIn, hears } from '../support/page-audio.ts'
import { type Colour, screenColour, screenTone, sees } from '../support/page-video.ts'
import { rest } from '../support/rest.ts'
import { leavesOf, memberIds, memberNamed } from '../support/room-members.ts'
import { memberIdOf } from '../support/room-picture.ts'
import { SdkPage } from '../support/sdk-page.ts'
import { peopleOf, tokenOf, withToken } from '../support/sdk-people.ts'
import { sdkVersions } from '../support/sdk-versions.ts'
import { patience, until } from '../support/until.ts'
import { roomCrash } from './groups/room-crash.ts'

const tone = 1200
const phoneTone = 440
const address = '/public/lounge?channel=video'

let gateway: Gateway
let browser: Browser
let customer: DocumentServer
/** Network of the pages. */
let line: CutLine
let pages: [SdkPage, SdkPage, SdkPage]
const colours = ['red', 'lime', 'blue'] as const satisfies readonly Colour[]

beforeAll(async () => {
  const browsing = Browser.start(tone)
  customer = await DocumentServer.open()
  gateway = await Gateway.start({
    ...withToken,
    media: { rooms: { picture: 'speaker' } },
    subscribers: sdkVersions.flatMap(peopleOf),
    domains: [application('lounge.test', scripted({ join_room: { name: 'lounge' } }))],
    resources: [
      {
        address: '/public/tour',
        handler: scripted('answer', { sleep: 1000 }, { join_room: { name: 'lounge' } }, { sleep: -1 }),
      },
      { address: '/public/moves', handler: { kind: 'script', url: customer.urlOf('/moves') } },
      { address: '/public/by-way', handler: scripted({ connect: { to: '/public/lounge' } }) },
    ],
  })
  await rest(gateway, 'POST', '/api/fabric/resources/conference_rooms', {
    name: 'lounge',
    max_members: 6,
    tone_on_entry_and_exit: false,
  })
  browser = await browsing
  line = await CutLine.open(gateway.tlsPort)
  const open = async ({ person, folder }: (typeof sdkVersions)[number], camera: Colour) =>
    SdkPage.open(browser, gateway, await tokenOf(gateway, person), { folder, camera, port: line.port })
  const opened = await Promise.all(sdkVersions.map((sdk, index) => open(sdk, colours[index]!)))
  pages = opened as typeof pages
})

afterEach(async () => {
  for (const page of pages)
    if (await page.page.evaluate('globalThis.call?.active === true')) await page.hangUp()
  await gateway.settled()
})
afterAll(async () => {
  await Promise.all(pages?.map((page) => page.close()) ?? [])
  await browser?.stop()
  line?.close()
  await gateway?.stop()
  await customer?.close()
})

/** Number of rectangles that the SDK has laid over the picture. */
const overlaysOf = ({ page }: SdkPage): Promise<number> =>
  page.evaluate(`document.querySelectorAll('.mcuLayers > *').length`)

const hasOverlays = async (page: SdkPage, wanted: number): Promise<void> => {
  await until(
    `${wanted} overlays`,
    () => overlaysOf(page),
    (found) => found === wanted,
  )
}

const phoneJoins = async (): Promise<Carrier> => {
  const phone = await Carrier.calls(gateway, { domain: 'lounge.test', scenario: 'caller-released' })
  await phone.talks('answered', phoneTone)
  return phone
}

const nameOf = (index: 0 | 1 | 2) => `The ${sdkVersions[index]!.person}`

describe('a room', () => {
  it('shows one page its own camera, and two pages each other', async () => {
    const [first, second, third] = pages
    await first.dial(address, { video: true })
    await sees(first.page, 'red')
    // The own camera over the own layer. Later versions also have a rectangle for each layer.
    await hasOverlays(first, 1)
    await second.dial(address, { video: true })
    await Promise.all([sees(first.page, 'lime'), sees(second.page, 'red')])
    await hasOverlays(second, 3)
    await third.dial(address, { video: true })
    await Promise.all([hears(first.page, tone), hears(third.page, tone)])
  })

  it('shows the speaker to the others, and the other camera to the speaker', async () => {
    const [first, second, third] = pages
    for (const page of pages) await page.dial(address, { video: true })
    for (const page of pages) await page.do('audioMute')
    await third.do('audioUnmute')
    await Promise.all([sees(first.page, 'blue'), sees(second.page, 'blue')])
    await third.do('audioMute')
    await second.do('audioUnmute')
    await Promise.all([sees(first.page, 'lime'), sees(third.page, 'lime'), sees(second.page, 'blue')])
    expect(second.wire.events('member.talking').at(-1)?.member).toMatchObject({
      talking: expect.any(Boolean),
    })
  })

  it('joins a telephone, which every page hears and lists, and which hears them', async () => {
    const [first, second] = pages
    await first.dial(address, { video: true })
    await second.dial(address, { video: true })
    const phone = await phoneJoins()
    for (const page of [first, second]) await page.do('audioMute')
    await Promise.all([hears(first.page, phoneTone), hears(second.page, phoneTone)])
    const { member_id: memberId, ...carrier } = await memberNamed(second, 'Carrier')
    expect(carrier).toMatchObject({ visible: false, subscriber_id: null })
    await second.do('audioUnmute')
    await phone.hears(tone)
    await second.do('audioMute', { memberId })
    await hears(first.page, tone)
    await second.do('removeMember', { memberId })
    await phone.done()
  })

  it('shares a screen with all, and shows the cameras again afterwards', async () => {
    const [first, second, third] = pages
    await second.dial(address, { video: true })
    await third.dial(address, { video: true })
    await second.shareScreen()
    await Promise.all([sees(third.page, screenColour), sees(second.page, screenColour)])
    for (const page of [second, third]) await page.do('audioMute')
    await hears(third.page, screenTone)
    expect(await heardIn(second.page)).toBe(0)
    // A page that joins during the share sees it.
    await first.dial(address, { video: true })
    await sees(first.page, screenColour)
    await first.hangUp()
    await second.stopSharing()
    await Promise.all([sees(second.page, 'blue'), sees(third.page, 'lime')])
  })

  roomCrash(() => ({
    gateway,
    browser,
    pages,
    colours,
    phoneJoins,
    address,
    tones: { page: tone, phone: phoneTone },
  }))

  it('keeps the place of a page whose connection is lost for some seconds', async () => {
    const [first, , third] = pages
    await first.dial(address, { video: true })
    await third.dial(address, { video: true })
    const before = await memberIds(first)
    const leaves = [first, third].map(leavesOf)
    line.down()
    const attempts = line.connections
    await until(
      'the pages have tried to connect',
      () => line.connections - attempts,
      (tried) => tried >= 3,
      // The gateway keeps the places for 20 s.
      10_000 / patience,
    )
    line.up()
    const from = first.wire.received.length
    // Requests wait until the page is connected again.
    await third.do('audioMute')
    await until(
      'the other page knows of the mute',
      () => first.wire.events('member.updated', from).map(({ member }) => member),
      (changed) =>
        changed.some((member) => member.member_id === memberIdOf(third) && member.audio_muted === true),
    )
    expect(await memberIds(first)).toEqual(before)
    expect([first, third].map(leavesOf)).toEqual(leaves)
    await Promise.all([sees(first.page, 'blue'), sees(third.page, 'red')])
  })

  it('mutes the video, raises hands, locks, and removes a page', async () => {
    const [first, second, third] = pages
    await second.dial(address, { video: true })
    await third.dial(address, { video: true })
    await Promise.all([sees(second.page, 'blue'), sees(third.page, 'lime')])
    await third.do('videoMute')
    await sees(second.page, 'lime')
    const muted = { video_muted: true, visible: false, updated: ['video_muted', 'visible'] }
    expect(second.wire.events('member.updated').map(({ member }) => member)).toContainEqual(
      expect.objectContaining(muted),
    )
    await third.do('videoUnmute')
    await sees(second.page, 'blue')
    const { member_id: thirdId } = await memberNamed(second, nameOf(2))
    await second.do('setRaisedHand', { memberId: thirdId })
    await expect
      .poll(() => third.wire.events('member.updated').at(-1)?.member)
      .toMatchObject({ member_id: thirdId, handraised: true })
    await second.do('lock')
    await expect
      .poll(() => third.wire.events('call.updated').at(-1)?.room_session)
      .toMatchObject({ locked: true })
    await first.begin('dial', address, { video: true })
    expect((await first.started()).rejected).toMatchObject({ code: '21', message: 'CALL_REJECTED' })
    await third.do('removeMember', { memberId: (await memberNamed(third, nameOf(1))).member_id })
    await until(
      'the removed page’s call ends',
      () => second.events(),
      (events) => events.includes('destroy'),
    )
  })

  it.each([
    [sdkVersions[1]!.version, 1],
    [sdkVersions[2]!.version, 2],
  ] as const)('keeps a page of version %s over a reload, with its ids and mutes', async (_, at) => {
    const [first] = pages
    const second = pages[at]
    await first.dial(address, { video: true })
    await second.dial(address, { video: true })
    await second.do('audioMute')
    const [joined] = second.wire.events('call.joined').slice(-1)
    await second.reload()
    const before = second.wire.received.length
    await second.begin('reattach', address, { video: true })
    expect(await second.started()).toEqual({ resolved: undefined })
    const [again] = second.wire.events('call.joined', before)
    expect([again?.call_id, again?.member_id]).toEqual([joined?.call_id, joined?.member_id])
    const { members } = again!.room_session as { members: { member_id: string }[] }
    expect(members.find(({ member_id }) => member_id === joined?.member_id)).toMatchObject({
      audio_muted: true,
    })
    await Promise.all([sees(second.page, 'red'), sees(first.page, colours[at])])
  })

  it.each([
    ['a document that has answered', '/public/tour?channel=video'],
    ['a document that connects to its address', '/public/by-way?channel=video'],
  ])('takes a call with its picture from %s', async (_, way) => {
    const [, second, third] = pages
    await third.dial(address, { video: true })
    await second.dial(way, { video: true })
    await Promise.all([sees(second.page, 'blue'), sees(third.page, 'lime'), hears(second.page, tone)])
    const joined = second.wire.events('call.joined').at(-1)
    expect(joined?.call_id).not.toBe(joined?.origin_call_id)
    await second.do('audioMute')
    await expect
      .poll(() => third.wire.events('member.updated').at(-1)?.member)
      .toMatchObject({ member_id: joined?.member_id, audio_muted: true })
  })

  it('takes a page out of its call with a telephone by the API, and gives it back to another one', async () => {
    const [first, second] = pages
    await first.dial(address, { video: true })
    const phone = await Carrier.listens({ scenario: 'callee' })
    customer.put('/moves', scriptText({ connect: { to: phone.uri } }))
    await second.dial('/public/moves?channel=video', { video: true })
    await phone.talks('invited', phoneTone)
    await Promise.all([hears(second.page, phoneTone), phone.hears(tone)])
    const { room_session_id: id } = second.wire.events('call.joined').at(-1)!
    const goesTo = async (step: object) => {
      const params = { id, swml: script(step) }
      const { status } = await rest(gateway, 'POST', '/api/calling/calls', { command: 'update', params })
      expect(status).toBe(200)
    }
    await goesTo({ join_room: { name: 'lounge' } })
    await phone.done()
    await Promise.all([sees(second.page, 'red'), sees(first.page, 'lime'), hears(first.page, tone)])
    const next = await Carrier.listens({ scenario: 'callee' })
    await goesTo({ connect: { to: next.uri } })
    await next.talks('invited', phoneTone)
    await Promise.all([hears(second.page, phoneTone), next.hears(tone), sees(first.page, 'red')])
    await second.hangUp()
    await next.done()
  })

  it('is in the history, and reports its session and its members to the server of the customer', async () => {
    const room = '/api/video/rooms/lounge'
    await rest(gateway, 'PATCH', room, { status_callback_url: customer.put('/room', '{}') })
    const [first, second] = pages
    await first.dial(address, { video: true })
    await second.dial(address, { video: true })
    const phone = await phoneJoins()
    await second.do('audioMute')
    await until(
      'the phone and the mute are known',
      () => second.wire.events('member.updated').at(-1)?.member,
      (member) => member?.audio_muted === true,
    )
    const { body } = await rest(gateway, 'GET', room)
    const session = `/api/video/room_sessions/${body.active_session.id}`
    const present = (await rest(gateway, 'GET', `${session}/members`)).body.data
    expect(present).toMatchObject([
      { name: nameOf(0), device: 'browser', state: { audio_muted: false, visible: true } },
      { name: nameOf(1), device: 'browser', state: { audio_muted: true, visible: true } },
      { name: 'Carrier', device: 'phone', leave_time: null, state: { visible: false } },
    ])
    await rest(gateway, 'DELETE', `${session}/members/${present[2].id}`)
    await phone.done()
    await second.hangUp()
    await first.hangUp()
    await gateway.settled()
    expect((await rest(gateway, 'GET', session)).body).toMatchObject({
      status: 'completed',
      end_reason: 'left',
      members_total: 3,
      members_max: 3,
    })
    const { data } = (await rest(gateway, 'GET', `${session}/members`)).body
    expect(data.map((member: { readonly leave_reason: string }) => member.leave_reason)).toEqual([
      'left',
      'left',
      'removed',
    ])
    const events = (await rest(gateway, 'GET', `${session}/events`)).body.data
    const reported = events.filter(({ name }: { readonly name: string }) => name !== 'room.updated')
    const requests = await until(
      'the customer knows the end',
      () => customer.asked('/room'),
      ({ length }) => length >= reported.length,
    )
    const bodies = requests.map((request) => JSON.parse(request.body))
    expect(bodies.map(({ event_id }) => event_id)).toEqual(reported.map(({ id }: { id: string }) => id))
    expect(bodies.map(({ event_type, params }) => [event_type, params.member?.name])).toEqual([
      ['video.room.started', undefined],
      ['video.member.joined', nameOf(0)],
      ['video.member.joined', nameOf(1)],
      ['video.member.joined', 'Carrier'],
      ['video.member.left', 'Carrier'],
      ['video.member.left', nameOf(1)],
      ['video.member.left', nameOf(0)],
      ['video.room.ended', undefined],
    ])
    expect(requests.every(({ headers }) => headers['webhook-signature'])).toBe(true)
    await rest(gateway, 'PATCH', room, { status_callback_url: null })
  })
})
