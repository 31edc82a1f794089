import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { AnyFrame } from '../testing/test-browser.ts'
import { settled, talking } from './testing/call-setup.ts'
import { SubscriberTestGateway, type TestPage } from './testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway

beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
})
afterEach(() => gateway.close())

/** Connects the browsers of Alice and Bob. */
const both = async () => {
  const a = await talking(gateway)
  const page = await gateway.online('bob')
  const { leg } = gateway.call('bob', { caller: a.leg, from: a.leg.from })
  await page.message('verto.invite')
  await page.verto('verto.answer', leg.id, { sdp: 'answer' })
  const { member_id: id } = await page.event('call.joined')
  a.leg.paired(leg)
  leg.paired(a.leg)
  for (const each of [a.page, page]) await each.event('member.joined')
  return { ...a, bob: { page, leg, id: id as string } }
}

const share = (page: TestPage, id: string, main: { callId: string; memberId: unknown }, sdp = 'screen') => {
  const userVariables = { memberCallId: main.callId, memberId: main.memberId }
  return page.dial(id, '/public/bob', sdp, { screenShare: true, userVariables })
}

const memberOf = async (page: TestPage, event: string): Promise<AnyFrame> =>
  (await page.event(event)).member as AnyFrame

it('is answered, shown in place of the camera, and reported to both', async () => {
  const { page, media, self, bob } = await both()
  expect(await share(page, 's1', { callId: 'c1', memberId: self.member_id })).toMatchObject({
    message: 'CALL CREATED',
  })
  await page.message('verto.answer')
  expect(await page.message('verto.answer')).toEqual({ callID: 's1', sdp: 'answer to screen' })
  expect(media.screen).toBe(gateway.webrtc.sources[0])
  for (const each of [page, bob.page])
    expect(await memberOf(each, 'member.joined')).toMatchObject({
      type: 'screen',
      parent_id: self.member_id,
      call_id: 's1',
      name: 'Alice',
    })
  // The screen is a part of the call, not a call of its own.
  expect(gateway.arrivals.arrived).toHaveLength(1)
  expect(page.story.filter((word) => word === 'call.joined')).toHaveLength(1)
  const update = { action: 'updateMedia', sdp: 'again' }
  expect(await page.verto('verto.modify', 's1', update)).toMatchObject({ sdp: 'answer to again' })
  // The published SDK repeats the offer with all candidates, and accepts one answer.
  expect(await page.verto('verto.modify', 's1', update)).not.toHaveProperty('sdp')
  const listed = (await bob.page.ask('call.member.list', { self: { call_id: bob.leg.id } }))
    .members as AnyFrame[]
  expect(listed.map(({ type }) => type)).toEqual(['member', 'member', 'screen'])
})

it.each(['the page', 'its media', 'the call', 'a reload'])('ends by %s', async (by) => {
  const { page, media, self, leg, bob } = await both()
  await share(page, 's1', { callId: 'c1', memberId: self.member_id })
  await memberOf(bob.page, 'member.joined')
  const [screen] = gateway.webrtc.sources
  if (by === 'the page') await page.verto('verto.bye', 's1')
  if (by === 'its media') {
    screen!.report('failed')
    gateway.clock.advance(10_000)
  }
  if (by === 'the call') leg.end({ code: 'normal' })
  if (by === 'a reload') await page.dial('c1', '/public/bob', 'anew', { attach: true, reattaching: true })
  expect(await memberOf(bob.page, 'member.left')).toMatchObject({ type: 'screen', call_id: 's1' })
  await vi.waitFor(() => expect(screen!.closed).toBe(true))
  expect(media.screen).toBeUndefined()
  await settled(page)
  expect(page.story.filter((word) => word === 'verto.bye')).toHaveLength(
    { 'the page': 0, 'the call': 2 }[by] ?? 1,
  )
})

it('stays after the death of the mediasoup process, by a new offer of its page', async () => {
  const { page, media, self } = await both()
  const main = { callId: 'c1', memberId: self.member_id }
  await share(page, 's1', main)
  const [screen] = gateway.webrtc.sources
  screen!.report('crashed')
  expect(await page.message('verto.renew')).toEqual({ callID: 's1' })
  await share(page, 's1', main, 'screen again')
  await expect
    .poll(() => page.message('verto.answer'))
    .toEqual({ callID: 's1', sdp: 'answer to screen again' })
  screen!.report('connected')
  gateway.clock.advance(60_000)
  expect([media.screen === screen, screen!.closed]).toEqual([true, false])
})

it('ends by a new offer that fails', async () => {
  const { page, media, self } = await both()
  const main = { callId: 'c1', memberId: self.member_id }
  await share(page, 's1', main)
  await memberOf(page, 'member.joined')
  await share(page, 's1', main, 'bad')
  expect(await page.message('verto.bye')).toMatchObject({ callID: 's1', cause: 'MANDATORY_IE_MISSING' })
  expect([media.screen, gateway.webrtc.sources[0]!.closed]).toEqual([undefined, true])
  expect(gateway.lines.join()).not.toContain('browser.call-failed')
})

it('is replaced by another one of the same page; one of the other party is rejected', async () => {
  const { page, media, self, bob } = await both()
  for (const id of ['s1', 's2']) await share(page, id, { callId: 'c1', memberId: self.member_id })
  expect(await page.message('verto.bye')).toMatchObject({ callID: 's1' })
  const [first, second] = gateway.webrtc.sources
  expect([first!.closed, second!.closed, media.screen === second]).toEqual([true, false, true])
  await share(bob.page, 's3', { callId: bob.leg.id, memberId: bob.id })
  expect(await bob.page.message('verto.bye')).toMatchObject({ callID: 's3', cause: 'USER_BUSY' })
  expect(gateway.webrtc.sources).toHaveLength(2)
})

it('belongs to the first party if both begin at the same time', async () => {
  const { page, self, bob } = await both()
  const { promise, resolve } = Promise.withResolvers<void>()
  gateway.webrtc.gate = promise
  await share(page, 's1', { callId: 'c1', memberId: self.member_id })
  await share(bob.page, 's2', { callId: bob.leg.id, memberId: bob.id })
  resolve()
  expect(await bob.page.message('verto.bye')).toMatchObject({ callID: 's2', cause: 'USER_BUSY' })
  expect(gateway.webrtc.sources.map(({ closed }) => closed)).toEqual([false, true])
  expect(await memberOf(bob.page, 'member.joined')).toMatchObject({ type: 'screen', call_id: 's1' })
})

it('is rejected if it belongs to no call of the page, or its offer is invalid', async () => {
  const { page, self } = await both()
  await share(page, 's1', { callId: 'other', memberId: self.member_id })
  expect(await page.message('verto.bye')).toMatchObject({ callID: 's1', cause: 'WRONG_CALL_STATE' })
  await share(page, 's2', { callId: 'c1', memberId: 'unknown' })
  expect(await page.message('verto.bye')).toMatchObject({ callID: 's2', cause: 'WRONG_CALL_STATE' })
  await share(page, 's3', { callId: 'c1', memberId: self.member_id }, 'bad')
  expect(await page.message('verto.bye')).toMatchObject({ callID: 's3', cause: 'MANDATORY_IE_MISSING' })
})

it('can be cancelled while its offer is answered', async () => {
  const { page, self, media } = await both()
  const { promise, resolve } = Promise.withResolvers<void>()
  gateway.webrtc.gate = promise
  await share(page, 's1', { callId: 'c1', memberId: self.member_id })
  await page.verto('verto.bye', 's1')
  resolve()
  await vi.waitFor(() => expect(gateway.webrtc.sources[0]?.closed).toBe(true))
  expect(media.screen).toBeUndefined()
})

it('carries no sound, and no further camera or microphone, outside a room', async () => {
  const { page, self } = await both()
  await share(page, 's1', { callId: 'c1', memberId: self.member_id }, 'screen with sound')
  await memberOf(page, 'member.joined')
  expect(gateway.webrtc.sources[0]?.port).toBeUndefined()
  const userVariables = { memberCallId: 'c1', memberId: self.member_id }
  await page.dial('d1', '/public/bob', 'camera', { additionalDevice: true, userVariables })
  expect(await page.message('verto.bye')).toMatchObject({ callID: 'd1', cause: 'SERVICE_NOT_IMPLEMENTED' })
})
