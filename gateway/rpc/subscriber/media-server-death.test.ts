import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { mediaGrace } from '../../calls/leg/browser-media-watch.ts'
import { dialled, gone, settled, talking } from './testing/call-setup.ts'
import { SubscriberTestGateway, type TestPage } from './testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway

beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
})
afterEach(() => gateway.close())

const published = '@signalwire/js/browser/3.30.0'
const session = (version: number, id = 1) => `v=0\r\no=- ${id} ${version} IN IP4 127.0.0.1\r\n`

/** A page with the published SDK that talks. */
const publishedTalking = async (offer: string) => {
  const page = await gateway.page()
  const token = await gateway.token()
  const { protocol } = await page.connect(token, { agent: published })
  await page.dial('c1', '/public/bob', offer)
  const { arrival, owner } = await vi.waitFor(() => gateway.arrivals.arrived[0]!)
  gateway.webrtc.last.report('connected')
  await arrival.leg.answer()
  await page.event('call.joined')
  return { page, token, protocol, leg: arrival.leg, owner, media: gateway.webrtc.last }
}

/** Reports the death, and waits until the gateway has closed the connection. */
const dies = async (page: TestPage): Promise<void> => {
  gateway.webrtc.last.report('crashed')
  await vi.waitFor(() => expect(gateway.rpc.sockets).toBe(0))
  await page.browser.close()
}

describe('the death of the mediasoup process', () => {
  it('lets a page with the SDK of Trunkline make a new offer at once, and keeps its call', async () => {
    const { page, media, leg, owner } = await talking(gateway)
    media.report('crashed')
    expect(await page.message('verto.renew')).toEqual({ callID: 'c1' })
    gateway.clock.advance(mediaGrace.crashed - 1)
    expect(await page.verto('verto.modify', 'c1', { action: 'updateMedia', sdp: 'anew' })).toMatchObject({
      sdp: 'answer to anew',
    })
    media.report('connected')
    gateway.clock.advance(mediaGrace.connecting)
    expect([leg.isEnded, owner.reports]).toEqual([false, ['answered']])
  })

  it('ends the call of a page that makes no offer', async () => {
    const { page, media, leg, owner } = await talking(gateway)
    media.report('crashed')
    gateway.clock.advance(mediaGrace.crashed)
    expect(owner.reports.at(-1)).toBe('ended internal by us')
    expect(leg.state).toMatchObject({ kind: 'ended', cause: { code: 'internal' } })
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'c1', causeCode: 41 })
  })

  it('ends a call that is not answered yet at once', async () => {
    const { page, media, owner } = await dialled(gateway)
    media.report('crashed')
    gateway.clock.advance(0)
    expect(owner.reports).toEqual(['ended internal by us'])
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'c1' })
  })

  it('reconnects a page with the published SDK, once its browser knows that the media is lost', async () => {
    const { page, token, protocol, leg, owner } = await publishedTalking(session(1))
    await dies(page)
    gateway.clock.advance(3_000)
    const again = await gateway.page()
    let isConnected = false
    const connecting = again.connect(token, { agent: published, protocol }).then(() => {
      isConnected = true
    })
    await vi.waitFor(() => expect(gateway.rpc.sockets).toBe(1))
    await settled(again)
    gateway.clock.advance(4_999)
    await settled(again)
    expect(isConnected).toBe(false)
    gateway.clock.advance(1)
    await connecting
    await again.verto('verto.modify', 'c1', { action: 'updateMedia', sdp: session(2) })
    expect([leg.isEnded, owner.reports]).toEqual([false, ['answered']])
  })
})

describe('the wait of a connection after the death', () => {
  it('ends without events if the connection is lost meanwhile', async () => {
    const { page, token, protocol } = await publishedTalking(session(1))
    await dies(page)
    const lost = await gateway.page()
    void lost.connect(token, { agent: published, protocol }).catch(() => {})
    await settled(lost)
    await gone(gateway, lost)
    const again = await gateway.page()
    const connecting = again.connect(token, { agent: published, protocol })
    await settled(again)
    expect(again.story).toEqual([])
    gateway.clock.advance(8_000)
    expect(await connecting).toMatchObject({ protocol })
    expect(again.browser.requests.map(({ method }) => method)).not.toContain('verto.answer')
  })
})

describe('an invite of a page that has reconnected', () => {
  it('is answered once, without a new report of the call', async () => {
    const { page, token, protocol, leg } = await publishedTalking(session(1))
    await gone(gateway, page)
    const again = await gateway.page()
    await again.connect(token, { agent: published, protocol })
    const offer = session(2)
    // Some versions send each offer twice.
    for (let i = 0; i < 2; i++) await again.dial('c1', '/public/bob', offer)
    await again.dial('c1', '/public/bob', session(2))
    await settled(again)
    expect(await again.message('verto.answer')).toEqual({ callID: 'c1', sdp: `answer to ${offer}` })
    expect(again.story.filter((word) => word === 'verto.answer')).toHaveLength(1)
    expect(again.story).not.toContain('call.joined')
    expect(leg.isEnded).toBe(false)
  })

  it('does not repeat the answer to the first offer', async () => {
    const { page, leg } = await publishedTalking(session(1))
    await page.dial('c1', '/public/bob', session(1))
    await settled(page)
    expect(page.story.filter((word) => word === 'verto.answer')).toHaveLength(1)
    expect(leg.isEnded).toBe(false)
  })
})
