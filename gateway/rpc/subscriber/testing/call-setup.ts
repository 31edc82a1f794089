/** Setup of call tests: a browser that has dialed or is in a call. */
import { expect, vi } from 'vitest'
import type { AnyFrame } from '../../testing/test-browser.ts'
import type { SubscriberTestGateway, TestPage } from './subscriber-test-gateway.ts'

/** Resolves when everything on its way has arrived. */
export const settled = async (...pages: TestPage[]): Promise<void> => {
  for (const page of pages) {
    await page.browser.settled()
    await page.browser.settled()
  }
}

/** Closes a page, and waits until the gateway has noticed. `code`: see {@link TestBrowser.close}. */
export const gone = async (gateway: SubscriberTestGateway, page: TestPage, code?: number): Promise<void> => {
  const before = gateway.rpc.sockets
  await page.browser.close(code)
  await vi.waitFor(() => expect(gateway.rpc.sockets).toBe(before - 1))
}

/** Lets a page dial until the calls have its leg. */
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

/** Lets a page dial and talk. */
export const talking = async (gateway: SubscriberTestGateway) => {
  const call = await dialled(gateway)
  call.media.report('connected')
  await call.leg.answer()
  const joined = await call.page.event('call.joined')
  const self = { member_id: joined.member_id, call_id: 'c1', node_id: joined.node_id }
  return { ...call, joined, self }
}
