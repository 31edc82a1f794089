import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AnyFrame } from '../testing/test-browser.ts'
import { dialled, settled, talking } from './testing/call-setup.ts'
import { SubscriberTestGateway, type TestPage } from './testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway

beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
})
afterEach(() => gateway.close())

const session = (version: number, id = 1) => `v=0\r\no=- ${id} ${version} IN IP4 127.0.0.1\r\n`

const recover = (page: TestPage, offer: string, callId = 'c1') =>
  page.dial(callId, '/public/bob', offer, { attach: true, reattaching: true })

/** Returns how often a page received an event. */
const countOf = (page: TestPage, what: string): number => page.story.filter((word) => word === what).length

/** Lets a page dial by an offer with a session. */
const dialledInSession = async () => {
  const page = await gateway.signedIn()
  await page.dial('c1', '/public/bob', session(1))
  await settled(page)
  const { leg } = gateway.arrivals.arrived[0]!.arrival
  const media = gateway.webrtc.last
  media.report('connected')
  return { page, leg, media }
}

const talkingInSession = async () => {
  const call = await dialledInSession()
  await call.leg.answer()
  await call.page.message('verto.answer')
  await call.page.event('call.joined')
  return call
}

/** Delays the answers to offers until the returned function is called. */
const delayed = (media: { gate: Promise<void> }): (() => void) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  media.gate = promise
  return resolve
}

describe('a reloaded page', () => {
  it('recovers its call', async () => {
    const { page, leg } = await talking(gateway)
    await page.dial('c1', '/public/bob', 'second offer', { attach: true, reattaching: true })
    await page.message('verto.answer')
    expect(await page.message('verto.answer')).toEqual({ callID: 'c1', sdp: 'answer to second offer' })
    expect(await page.event('call.joined')).toMatchObject({ call_id: 'c1' })
    await page.dial('c1', '/public/bob', 'bad', { attach: true, reattaching: true })
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'c1' })
    expect(leg.isEnded).toBe(true)
  })

  it('recovers its ringing call', async () => {
    const { page, leg } = await dialled(gateway)
    leg.ring()
    await page.message('verto.media')
    await page.dial('c1', '/public/bob', 'anew', { attach: true, reattaching: true })
    expect(await page.message('verto.media')).toEqual({ callID: 'c1', sdp: 'answer to anew' })
    expect(page.story).not.toContain('call.joined')
    expect(leg.isEnded).toBe(false)
  })

  it.each(['rings', 'is answered'])(
    'receives no description of the former page when its call %s meanwhile',
    async (what) => {
      const { page, leg, media } = await dialled(gateway)
      const { promise, resolve } = Promise.withResolvers<void>()
      media.gate = promise
      for (const offer of ['once', 'again'])
        await page.dial('c1', '/public/bob', offer, { attach: true, reattaching: true })
      leg.ring()
      media.report('connected')
      if (what === 'is answered') await leg.answer()
      await settled(page)
      expect(page.story).toEqual(['call.state created', 'call.state ringing'])
      resolve()
      const expected =
        what === 'rings' ? ['verto.media'] : ['verto.answer', 'call.state answered', 'call.joined']
      expect(await page.message(expected[0]!)).toEqual({ callID: 'c1', sdp: 'answer to again' })
      gateway.clock.advance(2_000)
      await settled(page)
      expect(page.story.slice(2, 5)).toEqual(expected)
      expect(page.story.filter((word) => word.startsWith('verto'))).toHaveLength(1)
    },
  )

  it('receives the answer time, not the time of its reload', async () => {
    const { page } = await talking(gateway)
    const answeredAt = gateway.clock.now()
    await page.event('call.state')
    await page.event('call.state')
    gateway.clock.advance(5_000)
    await page.dial('c1', '/public/bob', 'anew', { attach: true, reattaching: true })
    expect(await page.event('call.state')).toMatchObject({ call_state: 'answered', answer_time: answeredAt })
  })
})

describe('a page that asks for a call', () => {
  it('which its session does not have is rejected while it has another one, and else dials', async () => {
    const { page, leg } = await talking(gateway)
    await recover(page, 'again', 'another')
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'another', causeCode: 81 })
    expect([leg.isEnded, gateway.arrivals.arrived.length]).toEqual([false, 1])
    expect(gateway.lines.filter((line) => line.includes('"unknown_call"'))).toHaveLength(1)
    // Another call may be added.
    await page.dial('another', '/public/bob')
    await vi.waitFor(() => expect(gateway.arrivals.arrived).toHaveLength(2))
    leg.end({ code: 'normal' })
    gateway.arrivals.arrived[1]!.arrival.leg.end({ code: 'normal' })
    await settled(page)
    await recover(page, 'again', 'next')
    await vi.waitFor(() => expect(gateway.arrivals.arrived).toHaveLength(3))
  })

  it('which belongs to the page of another tab is rejected', async () => {
    const { page, leg } = await talking(gateway)
    const [event] = page.browser.requests
    const { event_channel: protocol } = event!.params as AnyFrame
    const copy = await gateway.signedIn('alice', { protocol })
    await recover(copy, 'again')
    expect(await copy.message('verto.bye')).toMatchObject({ callID: 'c1', causeCode: 27 })
    await copy.dial('own', '/public/bob')
    await vi.waitFor(() => expect(gateway.arrivals.arrived).toHaveLength(2))
    expect([leg.isEnded, countOf(page, 'verto.bye')]).toEqual([false, 0])
  })

  it('which the page of another tab had is a new call once that has ended', async () => {
    const { page, leg } = await talking(gateway)
    const { event_channel: protocol } = page.browser.requests[0]!.params as AnyFrame
    const copy = await gateway.signedIn('alice', { protocol })
    leg.end({ code: 'normal' })
    await settled(page)
    await recover(copy, 'again')
    await vi.waitFor(() => expect(gateway.arrivals.arrived).toHaveLength(2))
  })
})

describe('a page that recovers its call in the same session', () => {
  it('learns of an answer that comes while its offer is answered', async () => {
    const { page, leg, media } = await dialledInSession()
    const proceed = delayed(media)
    await recover(page, session(2))
    await leg.answer()
    proceed()
    expect(await page.message('verto.answer')).toMatchObject({ sdp: `answer to ${session(2)}` })
    await page.event('call.joined')
    expect(page.story).toEqual(['call.state created', 'verto.answer', 'call.state answered', 'call.joined'])
  })

  it('after its reload receives the report once, by its last offer', async () => {
    const { page, media } = await talkingInSession()
    const proceed = delayed(media)
    for (const version of [1, 2]) await recover(page, session(version, 7))
    proceed()
    expect(await page.message('verto.answer')).toMatchObject({ sdp: `answer to ${session(2, 7)}` })
    await page.event('call.joined')
    await settled(page)
    expect([countOf(page, 'verto.answer'), countOf(page, 'call.joined')]).toEqual([2, 2])
  })

  it('keeps its call if an offer fails, and may send it again', async () => {
    const { page, leg } = await talkingInSession()
    const failures = () => gateway.lines.filter((line) => line.includes('browser.reattach-failed')).length
    for (const count of [1, 2]) {
      await recover(page, `${session(2)}bad`)
      await vi.waitFor(() => expect(failures()).toBe(count))
    }
    await recover(page, session(3))
    expect(await page.message('verto.answer')).toMatchObject({ sdp: `answer to ${session(3)}` })
    await settled(page)
    expect([leg.isEnded, countOf(page, 'call.joined'), countOf(page, 'verto.bye')]).toEqual([false, 1, 0])
  })

  it('loses its call if an offer after its reload fails', async () => {
    const { page, leg, media } = await talkingInSession()
    const proceed = delayed(media)
    await recover(page, session(1, 7))
    await recover(page, `${session(2, 7)}bad`)
    proceed()
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'c1' })
    expect(leg.isEnded).toBe(true)
  })

  it('receives no new report of a call that it has answered', async () => {
    const page = await gateway.online()
    const { leg } = gateway.call()
    await page.message('verto.invite')
    await page.verto('verto.answer', leg.id, { sdp: session(1) })
    await page.message('verto.answer')
    await recover(page, session(2), leg.id)
    expect(await page.message('verto.answer')).toMatchObject({ sdp: `answer to ${session(2)}` })
    await settled(page)
    expect(countOf(page, 'call.joined')).toBe(1)
    await recover(page, session(1, 7), leg.id)
    await page.message('verto.answer')
    await settled(page)
    expect(countOf(page, 'call.joined')).toBe(2)
  })
})
