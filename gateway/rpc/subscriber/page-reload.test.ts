import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dialled, settled, talking } from './testing/call-setup.ts'
import { SubscriberTestGateway } from './testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway

beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
})
afterEach(() => gateway.close())

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
