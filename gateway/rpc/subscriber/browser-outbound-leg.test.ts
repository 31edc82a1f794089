import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FakeVideo, fakeLeg } from '../../calls/testing/fake-legs.ts'
import { settled } from './testing/call-setup.ts'
import { SubscriberTestGateway, type TestPage } from './testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway

beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
})
afterEach(() => gateway.close())

describe('a call to a subscriber', () => {
  /** Lets a call ring on pages. */
  const ringing = async (count: number) => {
    const pages: TestPage[] = []
    for (let i = 0; i < count; i++) pages.push(await gateway.online())
    const call = gateway.call()
    for (const page of pages) await page.message('verto.invite')
    return { pages, ...call, media: gateway.webrtc.last }
  }

  it('ends if the subscriber is not online', async () => {
    await gateway.signedIn()
    const { leg, owner } = gateway.call()
    expect(leg.state.kind).toBe('new')
    await vi.waitFor(() => expect(owner.reports).toEqual(['ended not_online by far']))
    expect(gateway.webrtc.made).toHaveLength(0)
    expect(gateway.ringer.size).toBe(0)
  })

  it('is answered: the SDK receives its second answer without a description', async () => {
    const page = await gateway.online()
    const { leg, owner } = gateway.call()
    expect(await page.message('verto.invite')).toEqual({
      callID: leg.id,
      sdp: 'offer of the gateway',
      caller_id_name: 'Carrier Caller',
      caller_id_number: '+15551230001',
      callee_id_name: 'Alice',
      callee_id_number: '/public/alice',
      display_direction: 'outbound',
    })
    const answer = { destination_number: 'room' }
    expect(await page.verto('verto.answer', leg.id, { sdp: 'their answer' }, answer)).toMatchObject({
      message: 'CALL ANSWERED',
      callID: leg.id,
    })
    expect(await page.message('verto.answer')).toEqual({ callID: leg.id })
    expect(await page.event('call.joined')).toMatchObject({ call_id: leg.id, origin_call_id: leg.id })
    expect(page.story).toEqual(['verto.invite', 'call.state answered', 'call.joined', 'verto.answer'])
    expect(owner.reports).toEqual(['early', 'answered'])
    expect(gateway.webrtc.last).toMatchObject({ accepted: ['their answer'], codec: 'PCMA' })
    expect(leg.port).toBe(gateway.webrtc.last.port)
    // The SDK repeats unanswered requests.
    await page.verto('verto.answer', leg.id, { sdp: 'their answer' })
    await settled(page)
    expect(gateway.webrtc.last.accepted).toHaveLength(1)
    expect(owner.reports).toEqual(['early', 'answered'])
  })

  it('sends its variables to the pages', async () => {
    const page = await gateway.online()
    gateway.call('alice', { userVariables: { order: '42' } })
    expect(await page.message('verto.invite')).toMatchObject({ userVariables: { order: '42' } })
  })

  it('shows the variables of the answering page to the other members', async () => {
    const { pages, leg } = await ringing(1)
    const userVariables = { agent: 'Ann', queue: 3 }
    await pages[0]!.verto('verto.answer', leg.id, { sdp: 'mine' }, { userVariables })
    expect(await pages[0]!.event('call.joined')).toMatchObject({
      room_session: { members: [{ meta: userVariables }] },
    })
  })

  it('ends only for the page whose variables are invalid', async () => {
    const { pages, leg, owner, media } = await ringing(2)
    const userVariables = { text: 'x'.repeat(3000) }
    await pages[0]!.verto('verto.answer', leg.id, { sdp: 'mine' }, { userVariables })
    expect(await pages[0]!.message('verto.bye')).toEqual({
      callID: leg.id,
      cause: 'INVALID_IE_CONTENTS',
      causeCode: 100,
    })
    expect(gateway.lines.join()).toContain('expected at most 2048 characters of JSON, found 3011')
    await pages[1]!.verto('verto.answer', leg.id, { sdp: 'mine' })
    expect([owner.reports, media.accepted]).toEqual([['early', 'answered'], ['mine']])
  })

  it('rings on every page with the same offer: the first answer wins, and the others stop ringing', async () => {
    const { pages, leg, owner } = await ringing(3)
    const [first, second, third] = pages as [TestPage, TestPage, TestPage]
    expect(gateway.webrtc.made).toHaveLength(1)
    await first.verto('verto.answer', leg.id, { sdp: 'mine' })
    for (const loser of [second, third])
      expect(await loser.message('verto.bye')).toEqual({ callID: leg.id, cause: 'LOSE_RACE', causeCode: 26 })
    // One page has answered already.
    expect(await second.verto('verto.answer', leg.id, { sdp: 'mine too' })).toMatchObject({ callID: leg.id })
    expect(await second.message('verto.bye')).toMatchObject({ callID: leg.id })
    // It cannot end the call either.
    await second.verto('verto.bye', leg.id)
    expect(owner.reports).toEqual(['early', 'answered'])
    expect(gateway.webrtc.last.accepted).toEqual(['mine'])
  })

  it('is busy or declined if every page rejects so, and declined if one page declines for all', async () => {
    const { pages, leg, owner } = await ringing(2)
    const busy = { cause: 'USER_BUSY', causeCode: '17' }
    await pages[0]!.verto('verto.bye', leg.id, busy)
    expect(leg.isEnded).toBe(false)
    await pages[1]!.verto('verto.bye', leg.id, busy)
    expect(owner.reports).toEqual(['early', 'ended busy by far'])
    const second = gateway.call()
    await pages[1]!.message('verto.invite')
    await pages[0]!.verto('verto.bye', second.leg.id, { cause: 'REJECT_ALL', causeCode: '825' })
    expect(second.owner.reports).toEqual(['early', 'ended declined by far'])
    expect(await pages[1]!.message('verto.bye')).toMatchObject({ callID: second.leg.id })
    const third = gateway.call()
    await pages[1]!.message('verto.invite')
    for (const page of pages)
      await page.verto('verto.bye', third.leg.id, { cause: 'CALL_REJECTED', causeCode: '21' })
    expect(third.owner.reports).toEqual(['early', 'ended declined by far'])
  })

  it('can be cancelled; a late answer succeeds, and an event reports the end', async () => {
    const { pages, leg, media } = await ringing(1)
    leg.end({ code: 'canceled' })
    expect(await pages[0]!.message('verto.bye')).toEqual({
      callID: leg.id,
      cause: 'ORIGINATOR_CANCEL',
      causeCode: 16,
    })
    expect(media.closed).toBe(true)
    expect(await pages[0]!.verto('verto.answer', leg.id, { sdp: 'late' })).toMatchObject({ callID: leg.id })
    expect(await pages[0]!.message('verto.bye')).toMatchObject({ callID: leg.id })
  })

  it('can be cancelled before its offer exists', async () => {
    const page = await gateway.online()
    const { promise, resolve } = Promise.withResolvers<void>()
    gateway.webrtc.gate = promise
    const { leg } = gateway.call()
    await settled(page)
    leg.end({ code: 'canceled' })
    resolve()
    await vi.waitFor(() => expect(gateway.webrtc.last.closed).toBe(true))
    await settled(page)
    expect(page.story).toEqual([])
  })

  it('ends if its only answer is unusable', async () => {
    const { pages, leg, owner, media } = await ringing(1)
    await pages[0]!.verto('verto.answer', leg.id, { sdp: 'bad' })
    expect(await pages[0]!.message('verto.bye')).toMatchObject({ cause: 'MANDATORY_IE_MISSING' })
    expect(owner.reports).toEqual(['early', 'ended bad_sdp by far'])
    expect(media.closed).toBe(true)
  })

  it('rings once on a page that comes online meanwhile', async () => {
    const { leg } = await ringing(1)
    const late = await gateway.online()
    expect(await late.message('verto.invite')).toMatchObject({ callID: leg.id })
    await late.ask('subscriber.online')
    await settled(late)
    expect(late.story).toEqual(['verto.invite'])
  })

  it('is answered by a page that a push notification opened', async () => {
    const { leg, owner } = await ringing(1)
    const woken = await gateway.signedIn()
    const message = {
      jsonrpc: '2.0',
      id: 1,
      method: 'verto.subscribe',
      params: { sessid: leg.id, eventChannel: [] },
    }
    await woken.ask('webrtc.verto', { callID: leg.id, message })
    await woken.verto('verto.answer', leg.id, { sdp: 'mine' })
    await woken.message('verto.answer')
    expect(owner.reports).toEqual(['early', 'answered'])
    const stranger = await gateway.signedIn('bob')
    await stranger.ask('webrtc.verto', { callID: leg.id, message })
    expect(await stranger.message('verto.bye')).toMatchObject({ callID: leg.id })
  })
})

describe('the offer of a call', () => {
  const offered = async (options: Parameters<SubscriberTestGateway['call']>[1]) => {
    const page = await gateway.online('bob')
    gateway.call('bob', options)
    await page.message('verto.invite')
    return gateway.webrtc.withVideo
  }
  const caller = (change: boolean) => {
    const { leg, port } = fakeLeg(gateway.clock, 'group')
    const video = new FakeVideo()
    leg.setPort(port, video)
    video.change(change)
    return leg
  }

  it.each([
    ['has video if the caller sends video', () => ({ caller: caller(true) }), true],
    ['has video if the address requests it', () => ({ query: '?channel=video' }), true],
    ['has no video for a caller without video', () => ({ caller: caller(false) }), false],
    ['has no video for an audio address', () => ({ query: '?channel=audio' }), false],
  ])('%s', async (_when, options, expected) => {
    expect(await offered(options())).toBe(expected)
  })
})
