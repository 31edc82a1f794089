import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AnyFrame } from '../testing/test-browser.ts'
import { dialled, gone, settled, talking } from './testing/call-setup.ts'
import { SubscriberTestGateway } from './testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway

beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
})
afterEach(() => gateway.close())

describe('a lost page', () => {
  it('loses its calls after the grace period', async () => {
    const { page, owner, media } = await talking(gateway)
    await gone(gateway, page)
    gateway.clock.advance(19_999)
    expect(owner.reports.at(-1)).toBe('answered')
    gateway.clock.advance(1)
    expect(owner.reports.at(-1)).toBe('ended client_lost by far')
    expect(media.closed).toBe(true)
    expect(gateway.presence.browsers).toBe(0)
    expect(gateway.clock.running).toBe(0)
  })

  it('leaves a CDR of the call whose offer was not answered yet', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gateway.webrtc.gate = promise
    const page = await gateway.signedIn()
    await page.dial('c1', '/public/bob')
    await gone(gateway, page)
    gateway.clock.advance(20_000)
    resolve()
    await vi.waitFor(() => expect(gateway.webrtc.last.closed).toBe(true))
    expect(gateway.arrivals.arrived.map(({ arrival }) => arrival.leg.state)).toEqual([
      { kind: 'ended', cause: { code: 'client_lost' }, by: 'far' },
    ])
  })

  it('continues its call if it reconnects in time', async () => {
    const page = await gateway.page()
    const { protocol } = await page.connect(await gateway.token())
    await page.dial('c1', '/public/bob')
    await page.event('call.state')
    gateway.webrtc.last.report('connected')
    const { leg } = gateway.arrivals.arrived[0]!.arrival
    await gone(gateway, page)
    leg.ring()
    await leg.answer()
    const again = await gateway.page()
    await again.connect(await gateway.token(), { protocol })
    expect(await again.message('verto.media')).toMatchObject({ callID: 'c1' })
    expect(await again.message('verto.answer')).toEqual({ callID: 'c1' })
    await again.verto('verto.info', 'c1', { dtmf: '5' })
    expect(gateway.arrivals.arrived[0]!.owner.reports).toEqual(['answered', 'digit 5'])
  })

  it('keeps its call, however many partial words of a transcript it misses', async () => {
    const page = await gateway.page()
    const { protocol } = await page.connect(await gateway.token())
    await page.dial('c1', '/public/bob')
    await page.event('call.state')
    gateway.webrtc.last.report('connected')
    const { leg } = gateway.arrivals.arrived[0]!.arrival
    await gone(gateway, page)
    for (let i = 0; i < 2000; i++) leg.transcript({ type: 'partial_result', params: { text: `Hello ${i}` } })
    leg.transcript({ type: 'speech_detect', params: { text: 'Hello you' } })
    const again = await gateway.page()
    await again.connect(await gateway.token(), { protocol })
    expect(await again.event('ai.speech_detect')).toMatchObject({ text: 'Hello you' })
    expect(leg.isEnded).toBe(false)
  })

  it('leaves a ringing call to the other pages, and ends it if it was the last', async () => {
    const first = await gateway.online()
    const second = await gateway.online()
    const { leg, owner } = gateway.call()
    for (const page of [first, second]) await page.message('verto.invite')
    await gone(gateway, first)
    gateway.clock.advance(20_000)
    expect(leg.isEnded).toBe(false)
    await gone(gateway, second)
    gateway.clock.advance(20_000)
    expect(owner.reports).toEqual(['early', 'ended not_online by far'])
    expect(gateway.webrtc.last.closed).toBe(true)
  })

  it('keeps a caller waiting for at most ten seconds if no other page is connected', async () => {
    const page = await gateway.online()
    await gone(gateway, page)
    const { owner } = gateway.call()
    await vi.waitFor(() => expect(owner.reports).toEqual(['early']))
    gateway.clock.advance(9_999)
    expect(owner.reports).toEqual(['early'])
    gateway.clock.advance(1)
    expect(owner.reports).toEqual(['early', 'ended not_online by far'])
    expect(gateway.webrtc.last.closed).toBe(true)
    gateway.clock.advance(20_000)
    expect(gateway.clock.running).toBe(0)
  })

  it('has the full wait after each loss, and rings when it reconnects', async () => {
    const token = await gateway.token()
    const page = await gateway.page()
    const { protocol } = await page.connect(token)
    await page.ask('subscriber.online')
    const { leg, owner } = gateway.call()
    await page.message('verto.invite')
    await gone(gateway, page)
    gateway.clock.advance(9_000)
    const again = await gateway.page()
    await again.connect(token, { protocol })
    gateway.clock.advance(10_000)
    expect(leg.isEnded).toBe(false)
    await gone(gateway, again)
    gateway.clock.advance(9_999)
    expect(leg.isEnded).toBe(false)
    gateway.clock.advance(1)
    expect(owner.reports).toEqual(['early', 'ended not_online by far'])
  })

  it.each([
    ['failed', 10_000],
    ['disconnected', 15_000],
  ] as const)('loses its call when its media stay %s', async (state, ms) => {
    const { page, media, owner } = await talking(gateway)
    media.report(state)
    gateway.clock.advance(ms - 1)
    expect(owner.reports.at(-1)).toBe('answered')
    gateway.clock.advance(1)
    expect(owner.reports.at(-1)).toBe('ended client_lost by far')
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'c1', cause: 'DESTINATION_OUT_OF_ORDER' })
  })

  it('keeps its call if its media recover', async () => {
    const { media, leg } = await talking(gateway)
    media.report('disconnected')
    gateway.clock.advance(10_000)
    media.report('connected')
    gateway.clock.advance(14_000)
    expect(leg.isEnded).toBe(false)
  })

  it('loses its call if its media never connect', async () => {
    const { page, leg } = await dialled(gateway)
    // Its socket stays open: only the call ended.
    // The page has its description after two seconds, and thirty more for its media.
    for (let i = 0; i < 32; i++) {
      gateway.clock.advance(1000)
      await settled(page)
    }
    expect(leg.state).toMatchObject({ kind: 'ended', cause: { code: 'client_lost' } })
  })

  it('leaves nothing behind when the gateway closes', async () => {
    const { leg } = await talking(gateway)
    gateway.call()
    gateway.stopGateway()
    expect(leg.isEnded).toBe(true)
    expect(gateway.presence.browsers).toBe(0)
    await vi.waitFor(() => expect(gateway.ringer.size).toBe(0))
    await vi.waitFor(() => expect(gateway.clock.running).toBe(0))
  })
})

describe('frames of a whole call', () => {
  it('carry the envelope that both generations of the SDK need', async () => {
    const { page } = await talking(gateway)
    for (const request of page.browser.requests) {
      expect(request.method).toBe('signalwire.event')
      const params = request.params as AnyFrame
      expect(params).toMatchObject({ project_id: 'p1', node_id: 'node-1' })
      expect(String(params.event_channel)).toMatch(/^signalwire_/)
    }
  })
})
