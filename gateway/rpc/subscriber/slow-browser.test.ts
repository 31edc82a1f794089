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

/** Sends a page this number of events of its call. */
const events = (leg: { userEvent(event: object): boolean }, count: number): void => {
  for (let i = 0; i < count; i++) leg.userEvent({ i })
}

/** Advances the clock while the page answers pings. */
const wait = async (page: TestPage, ms: number): Promise<void> => {
  for (let left = ms; left > 0; left -= 1000) {
    gateway.clock.advance(Math.min(left, 1000))
    await settled(page)
  }
}

describe('a page that reads but acknowledges nothing', () => {
  it('is closed after a minute, and receives the missed events over its next connection', async () => {
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
    expect(owner.reports).toEqual(['early', 'answered'])
  })

  it('is removed with its calls when too many events wait, and may connect again', async () => {
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
    expect(owner.reports.at(-1)).toBe('ended client_lost by far')
    expect(media.closed).toBe(true)
    expect(await rejected()).toBe(1)
    await vi.waitFor(() => expect(gateway.presence.browsers).toBe(0))
    await vi.waitFor(() => expect(gateway.clock.running).toBe(0))
    await gateway.online()
    expect(gateway.presence.subscribersOnline).toBe(1)
  })
})

describe('a page that was removed while its former connection was checked', () => {
  it('becomes a new session, online by its stored state, and receives calls', async () => {
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
    // The gateway closes the connection, so no answer arrives.
    events(gateway.arrivals.arrived[0]!.arrival.leg, 101)
    expect((await answer).protocol).not.toBe(protocol)
    expect(gateway.presence.subscribersOnline).toBe(1)
    page.browser.socket.resume()
    const { leg } = gateway.call()
    expect(await again.message('verto.invite')).toMatchObject({ callID: leg.id })
  })
})

describe('a disconnected page', () => {
  it('receives all missed events in order, even more than the send buffer holds', async () => {
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

  it('is removed when too many events wait, as none may be dropped', async () => {
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

  it('comes back online after its removal, by its stored state', async () => {
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
    expect(back.protocol).not.toBe(protocol)
    expect(gateway.presence.subscribersOnline).toBe(1)
    // A request about its former call is answered with the end.
    await again.verto('verto.modify', 'c1', { action: 'hold' })
    expect(await again.message('verto.bye')).toMatchObject({ callID: 'c1' })
  })
})
