import { afterEach, beforeEach, expect, it } from 'vitest'
import { dialled } from './testing/call-setup.ts'
import { SubscriberTestGateway } from './testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway
beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
})
afterEach(() => gateway.close())

it('a page that dials uses a codec that the callee probably supports', async () => {
  gateway.likelyCodecs = (to) => (to === '/public/bob?channel=audio' ? ['G722', 'PCMA'] : [])
  const { media } = await dialled(gateway)
  expect(media.codec).toBe('G722')
  expect(gateway.webrtc.wanted).toEqual(['G722', 'PCMA', 'PCMU', 'PCMA', 'opus', 'G722'])
})

it('a page that dials an unknown callee uses G.711, or another codec that it has', async () => {
  await dialled(gateway)
  expect(gateway.webrtc.wanted).toEqual(['PCMU', 'PCMA', 'opus', 'G722'])
})
