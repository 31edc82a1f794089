/** Pages with room tokens that join again without the id of their call: none is in its room twice. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { gone, settled } from '../subscriber/testing/call-setup.ts'
import type { AnyFrame } from '../testing/test-browser.ts'
import { TokenPages } from './testing/token-pages.ts'

/** Close code of browsers whose page is left or loaded again. */
const goingAway = 1001

let pages: TokenPages
let gateway: TokenPages['gateway']
let rooms: TokenPages['rooms']
let joins: TokenPages['joins']

beforeEach(async () => {
  pages = await TokenPages.start()
  ;({ gateway, rooms, joins } = pages)
})
afterEach(() => pages.close())

/** Opens a page with a token, and sends an invite. */
const comesBack = async (token: string, callId: string, more: AnyFrame = {}) => {
  const page = await gateway.page()
  await page.connect(token, more)
  await page.videoMessage('verto.invite', callId, { sdp: 'again' })
  return page
}

/** Lets a page and another one join, and closes the first. */
const leftBehind = async (code?: number) => {
  const first = await joins('c1')
  const { page: other } = await joins('c2', { userName: 'Ann' })
  await gone(gateway, first.page, code)
  await settled(other)
  return { ...first, other, before: other.story.length, resumed: { protocol: first.protocol } }
}

describe('a page with a room token that joins again under another call id', () => {
  it('after its connection was lost goes on as the same member, and its former call ends', async () => {
    const { token, memberId, media, other, before, resumed } = await leftBehind()
    const page = await comesBack(token, 'another', resumed)
    await vi.waitFor(() => expect(gateway.webrtc.made).toHaveLength(3))
    gateway.webrtc.last.report('connected')
    expect(await page.event('video.room.subscribed')).toMatchObject({
      call_id: 'another',
      member_id: memberId,
    })
    await vi.waitFor(() => expect(media.closed).toBe(true))
    await settled(page, other)
    expect(other.story.slice(before)).toEqual([])
    expect([rooms.members, gateway.arrivals.arrived.length]).toEqual([2, 2])
    // The next reload must know the new id.
    await gone(gateway, page, goingAway)
    const wrong = await comesBack(token, 'c1', resumed)
    expect(await wrong.message('verto.bye')).toMatchObject({ callID: 'c1', causeCode: 81 })
  })

  it('after its connection was half open goes on as the same member', async () => {
    const first = await joins('c1')
    first.page.browser.socket.pause()
    const page = await gateway.page()
    await settled(page)
    const { running } = gateway.clock
    const connected = page.connect(first.token, { protocol: first.protocol })
    await vi.waitFor(() => expect(gateway.clock.running).toBe(running + 1))
    gateway.clock.advance(1_500)
    expect(await connected).toMatchObject({ protocol: first.protocol })
    await page.videoMessage('verto.invite', 'another', { sdp: 'again' })
    await vi.waitFor(() => expect(gateway.webrtc.made).toHaveLength(2))
    gateway.webrtc.last.report('connected')
    expect(await page.event('video.room.subscribed')).toMatchObject({ member_id: first.memberId })
    expect(rooms.members).toBe(1)
    first.page.browser.socket.resume()
  })

  it('after a reload is rejected, and then joins as its only member', async () => {
    const { token, memberId, resumed } = await leftBehind(goingAway)
    const rejected = await comesBack(token, 'another', resumed)
    expect(await rejected.message('verto.bye')).toMatchObject({ callID: 'another', causeCode: 81 })
    await gone(gateway, rejected)
    expect(rooms.members).toBe(2)
    // The SDK has cleared its storage.
    const page = await comesBack(token, 'third')
    await vi.waitFor(() => expect(gateway.arrivals.arrived).toHaveLength(3))
    gateway.webrtc.last.report('connected')
    void pages.enters(gateway.arrivals.arrived[2]!.arrival.leg)
    const { member_id: id, room_session: session } = await page.event('video.room.subscribed')
    expect(id).not.toBe(memberId)
    expect(session).toMatchObject({ members: [{ name: 'Ann' }, { id }] })
    expect(rooms.members).toBe(2)
  })

  it('after a reload is rejected, and comes back under its id', async () => {
    const { token, memberId, resumed } = await leftBehind(goingAway)
    const rejected = await comesBack(token, 'another', resumed)
    await rejected.message('verto.bye')
    await gone(gateway, rejected, goingAway)
    const page = await comesBack(token, 'c1', resumed)
    expect(await page.event('video.room.subscribed')).toMatchObject({ call_id: 'c1', member_id: memberId })
    // A page of the same token that joins now is another one.
    await gone(gateway, page, goingAway)
    await comesBack(token, 'other')
    expect(rooms.members).toBe(2)
  })
})
