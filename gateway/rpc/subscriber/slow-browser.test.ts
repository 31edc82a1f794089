import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AnyFrame } from '../testing/test-browser.ts'
import { gone, settled, talking } from './testing/call-setup.ts'
import { SubscriberTestGateway, type TestPage } from './testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway

beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
})
afterEach(() => gateway.close())

const rejected = async (): Promise<number | undefined> => {
  const { values } = await gateway.metrics.rejections.get()
  return values.find(({ labels }) => labels.code === 'slow_client')?.value
}

/** Tells the page so many things of its call. */
const events = (leg: { userEvent(event: object): boolean }, count: number): void => {
  for (let i = 0; i < count; i++) leg.userEvent({ i })
}

/** The page's connection answers pings while it is waited for. */
const wait = async (page: TestPage, ms: number): Promise<void> => {
  for (let left = ms; left > 0; left -= 1000) {
    gateway.clock.advance(Math.min(left, 1000))
    await settled(page)
  }
}

describe('a page that reads, and acknowledges nothing', () => {
  it('is closed after a minute, and gets over its next connection what it missed', async () => {
    const page = await gateway.page()
    const { protocol } = await page.connect(await gateway.token())
    await page.ask('subscriber.online')
    await settled(page)
    page.browser.acknowledges = false
    const { leg, owner } = gateway.call()
    await page.message('verto.invite')
    await wait(page, 59_000)
    await page.ask('signalwire.ping')
    gateway.clock.advance(1000)
    expect(await page.browser.closed).toBe(1013)
    expect(await rejected()).toBe(1)
    const line = gateway.lines.map((text) => JSON.parse(text)).find(({ code }) => code === 'slow_client')
    expect(line).toMatchObject({ kind: 'late', limit: 60_000, calls: 1, network: '127.0.0.1' })
    const again = await gateway.page()
    await again.connect(await gateway.token(), { protocol })
    expect(await again.message('verto.invite')).toMatchObject({ callID: leg.id })
    await again.verto('verto.answer', leg.id, { sdp: 'mine' })
    expect(owner.told).toEqual(['early', 'answered'])
  })

  it('is given up with its calls when more waits than is kept, and may come back', async () => {
    gateway.stopGateway()
    gateway.limits = { unacknowledged: 100 }
    gateway.startGateway()
    const { page, leg, owner, media } = await talking(gateway)
    await settled(page)
    page.browser.acknowledges = false
    events(leg, 100)
    await settled(page)
    expect(leg.isEnded).toBe(false)
    events(leg, 1)
    expect(await page.browser.closed).toBe(1013)
    expect(owner.told.at(-1)).toBe('ended client_lost by far')
    expect(media.closed).toBe(true)
    expect(await rejected()).toBe(1)
    await vi.waitFor(() => expect(gateway.presence.browsers).toBe(0))
    await vi.waitFor(() => expect(gateway.clock.running).toBe(0))
    await gateway.online()
    expect(gateway.presence.subscribersOnline).toBe(1)
  })
})

describe('a page that was given up while its former connection was looked at', () => {
  it('is a new one, online by the state that it keeps, and hears of calls', async () => {
    gateway.stopGateway()
    gateway.limits = { unacknowledged: 100 }
    gateway.startGateway()
    const page = await gateway.page()
    const { protocol } = await page.connect(await gateway.token())
    await page.ask('subscriber.online')
    await page.event('signalwire.authorization.state')
    const { authorization_state } = await page.event('signalwire.authorization.state')
    await page.dial('c1', '/public/bob')
    await page.event('call.state')
    await settled(page)
    page.browser.socket.pause()
    const again = await gateway.page()
    await settled(again)
    const running = gateway.clock.running
    const answer = again.connect(await gateway.token(), { protocol, authorization_state })
    await vi.waitFor(() => expect(gateway.clock.running).toBe(running + 1))
    // Its connection is closed by it, so it does not answer.
    events(gateway.arrivals.arrived[0]!.arrival.leg, 101)
    expect((await answer).protocol).toBe(protocol)
    expect(gateway.presence.subscribersOnline).toBe(1)
    page.browser.socket.resume()
    const { leg } = gateway.call()
    expect(await again.message('verto.invite')).toMatchObject({ callID: leg.id })
  })
})

describe('a page that is waited for', () => {
  it('is told all that it missed, in order, though it is more than may wait for one that does not read', async () => {
    const page = await gateway.page()
    const { protocol } = await page.connect(await gateway.token())
    await page.dial('c1', '/public/bob')
    await page.event('call.state')
    await settled(page)
    await gone(gateway, page)
    const { leg } = gateway.arrivals.arrived[0]!.arrival
    const text = 'x'.repeat(15_000)
    for (let i = 0; i < 500; i++) leg.userEvent({ i, text })
    const again = await gateway.page()
    const closed = again.browser.closed.then((code) => `closed with ${code}`)
    const next = async () => ((await again.event('user_event')).event as AnyFrame).i
    await again.connect(await gateway.token(), { protocol })
    for (let i = 0; i < 500; i++) expect(await Promise.race([next(), closed])).toBe(i)
  })

  it('is given up too when more waits than is kept: none of it may be left out', async () => {
    gateway.stopGateway()
    gateway.limits = { unacknowledged: 100 }
    gateway.startGateway()
    const { page, leg } = await talking(gateway)
    await settled(page)
    await gone(gateway, page)
    events(leg, 100)
    expect(gateway.presence.browsers).toBe(1)
    events(leg, 1)
    await vi.waitFor(() => expect(gateway.presence.browsers).toBe(0))
    expect(leg.isEnded).toBe(true)
    expect(gateway.clock.running).toBe(0)
  })

  it('comes back online after it was given up, by the state that it keeps', async () => {
    gateway.stopGateway()
    gateway.limits = { unacknowledged: 100 }
    gateway.startGateway()
    const page = await gateway.page()
    const { protocol } = await page.connect(await gateway.token())
    await page.ask('subscriber.online')
    await page.event('signalwire.authorization.state')
    const { authorization_state } = await page.event('signalwire.authorization.state')
    await page.dial('c1', '/public/bob')
    await page.event('call.state')
    await settled(page)
    await gone(gateway, page)
    events(gateway.arrivals.arrived[0]!.arrival.leg, 101)
    await vi.waitFor(() => expect(gateway.presence.browsers).toBe(0))
    const again = await gateway.page()
    const back = await again.connect(await gateway.token(), { protocol, authorization_state })
    expect(back.protocol).toBe(protocol)
    expect(gateway.presence.subscribersOnline).toBe(1)
    // It is told that its call is over when it asks for anything of it.
    await again.verto('verto.modify', 'c1', { action: 'hold' })
    expect(await again.message('verto.bye')).toMatchObject({ callID: 'c1' })
  })
})
