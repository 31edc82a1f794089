/** Setup of call tests: a browser that has dialed, one in a call, and waiting for both sides. */
import { expect, vi } from 'vitest'
import type { AnyFrame } from '../../testing/test-browser.ts'
import type { SubscriberTestGateway, TestPage } from './subscriber-test-gateway.ts'

/** Lets everything that is on its way arrive. */
export const settled = async (...pages: TestPage[]): Promise<void> => {
  for (const page of pages) {
    await page.browser.settled()
    await page.browser.settled()
  }
}

/** The page goes, and the gateway has seen it. */
export const gone = async (gateway: SubscriberTestGateway, page: TestPage): Promise<void> => {
  const before = gateway.rpc.sockets
  await page.browser.close()
  await vi.waitFor(() => expect(gateway.rpc.sockets).toBe(before - 1))
}

/** A page that dials, as far as the gateway's calls have the leg. */
export const dialled = async (
  gateway: SubscriberTestGateway,
  to = '/public/bob?channel=audio',
  more: AnyFrame = {},
) => {
  const page = await gateway.signedIn('alice', more)
  const result = await page.dial('c1', to)
  const media = await vi.waitFor(() => gateway.webrtc.last)
  const arrived = await vi.waitFor(() => {
    expect(gateway.arrivals.arrived).toHaveLength(1)
    return gateway.arrivals.arrived[0]!
  })
  return { page, result, media, ...arrived, leg: arrived.arrival.leg }
}

/** The same, answered and talking. */
export const talking = async (gateway: SubscriberTestGateway) => {
  const call = await dialled(gateway)
  call.media.report('connected')
  await call.leg.answer()
  const joined = await call.page.event('call.joined')
  const self = { member_id: joined.member_id, call_id: 'c1', node_id: joined.node_id }
  return { ...call, joined, self }
}
