import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AnyFrame } from '../testing/test-browser.ts'
import type { defaultBrowserQuotas } from './browser-quotas.ts'
import { gone } from './testing/call-setup.ts'
import { SubscriberTestGateway, type TestPage } from './testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway

beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
})
afterEach(() => gateway.close())

const none = { connections: 1000, connectionsPerMinute: 1000, calls: 1000, dialsPerMinute: 1000 }

/** Restarts the gateway with one low limit. */
const limit = (of: keyof typeof defaultBrowserQuotas, what: Partial<typeof none>): void => {
  gateway.stopGateway()
  const open = { perSubscriber: none, perToken: none, perGuestToken: none, perAddress: none }
  gateway.browserQuotas = { ...open, [of]: { ...none, ...what } }
  gateway.startGateway()
}

const rejected = async (code: string): Promise<number | undefined> => {
  const { values } = await gateway.metrics.rejections.get()
  return values.find(({ labels }) => labels.code === code)?.value
}

/** Log lines of rejections. */
const rejections = (): AnyFrame[] => gateway.lines.map((line) => JSON.parse(line)).filter(({ code }) => code)

const tokenOf = (of: keyof typeof defaultBrowserQuotas) =>
  of === 'perGuestToken' ? gateway.limitedToken('guest') : gateway.token()

const refusal = async (token: string): Promise<AnyFrame> => {
  const page = await gateway.page()
  const answer = await page.browser.send('signalwire.connect', { authentication: { jwt_token: token } })
  return answer.error as AnyFrame
}

describe.each(['perSubscriber', 'perToken', 'perGuestToken'] as const)(
  'the quota of connections %s',
  (of) => {
    it('rejects a further page, but no reconnection', async () => {
      limit(of, { connections: 2 })
      const token = await tokenOf(of)
      const first = await gateway.page()
      const { protocol } = await first.connect(token)
      if (of !== 'perGuestToken') await first.ask('subscriber.online')
      const second = await gateway.page()
      await second.connect(token)
      expect(await refusal(token)).toMatchObject({
        code: -32001,
        message: expect.stringContaining('limit of simultaneous connections'),
      })
      expect(await rejected('over_connection_limit')).toBe(1)
      expect(rejections()).toMatchObject([
        { code: 'over_connection_limit', of, limit: 2, network: '127.0.0.1' },
      ])
      await gone(gateway, first)
      const again = await gateway.page()
      await again.connect(token, { protocol })
      await second.browser.close()
    })

    it('closes connections over the rate, until the minute is over', async () => {
      limit(of, { connectionsPerMinute: 2 })
      const token = await tokenOf(of)
      for (let i = 0; i < 2; i++) await (await gateway.page()).connect(token)
      const page = await gateway.page()
      void page.browser.send('signalwire.connect', { authentication: { jwt_token: token } })
      expect(await page.browser.closed).toBe(1013)
      expect(await rejected('too_many_requests')).toBe(1)
      gateway.clock.advance(60_000)
      await (await gateway.page()).connect(token)
    })
  },
)

describe('quotas of connections', () => {
  it('do not count pages of other subscribers or tokens', async () => {
    limit('perToken', { connections: 1 })
    for (let i = 0; i < 2; i++) await gateway.signedIn()
    limit('perSubscriber', { connections: 1 })
    await gateway.signedIn()
    await gateway.signedIn('bob')
    // Users that Alice invited do not count as Alice.
    await (await gateway.page()).connect(await gateway.limitedToken('invite'))
    expect(await refusal(await gateway.token())).toMatchObject({ code: -32001 })
  })
})

const pageFor = async (of: keyof typeof defaultBrowserQuotas): Promise<TestPage> => {
  const page = await gateway.page()
  await page.connect(await tokenOf(of))
  return page
}

describe.each(['perSubscriber', 'perToken', 'perGuestToken', 'perAddress'] as const)(
  'the quota of calls %s',
  (of) => {
    it('rejects a further call until one has ended', async () => {
      limit(of, { calls: 2 })
      const page = await pageFor(of)
      for (const id of ['c1', 'c2']) {
        await page.dial(id, '/public/bob')
        await page.event('call.state')
      }
      await page.dial('c3', '/public/bob')
      expect(await page.message('verto.bye')).toMatchObject({ callID: 'c3', cause: 'SWITCH_CONGESTION' })
      expect(await rejected('over_call_limit')).toBe(1)
      expect(rejections()).toMatchObject([{ code: 'over_call_limit', of, limit: 2 }])
      await page.verto('verto.bye', 'c1')
      await page.dial('c4', '/public/bob')
      await vi.waitFor(() => expect(gateway.arrivals.arrived).toHaveLength(3))
    })

    it('counts calls of several pages separately, even under one id', async () => {
      limit(of, { calls: 2 })
      const token = await tokenOf(of)
      for (let i = 1; i <= 2; i++) {
        const page = await gateway.page()
        await page.connect(token)
        await page.dial('c', '/public/bob')
        await page.event('call.state')
      }
      const third = await gateway.page()
      await third.connect(token)
      await third.dial('c', '/public/bob')
      expect(await third.message('verto.bye')).toMatchObject({ callID: 'c', cause: 'SWITCH_CONGESTION' })
    })

    it('rejects dials over the rate per minute', async () => {
      limit(of, { dialsPerMinute: 1 })
      const token = await tokenOf(of)
      const page = await gateway.page()
      await page.connect(token)
      await page.dial('c1', '/public/bob')
      await page.dial('c2', '/public/bob')
      expect(await page.message('verto.bye')).toMatchObject({ callID: 'c2', cause: 'SWITCH_CONGESTION' })
      expect(await rejected('too_many_requests')).toBe(1)
      gateway.clock.advance(60_000)
      const later = await gateway.page()
      await later.connect(token)
      await later.dial('c3', '/public/bob')
      await vi.waitFor(() => expect(gateway.arrivals.arrived).toHaveLength(2))
    })
  },
)

describe('a call to a subscriber', () => {
  it('is rejected at the quota of calls, until one has ended', async () => {
    limit('perSubscriber', { calls: 2 })
    const pages = [await gateway.online(), await gateway.online()]
    // A call that rings on two pages counts once.
    const first = gateway.call()
    gateway.call()
    for (const page of pages) for (let i = 0; i < 2; i++) await page.message('verto.invite')
    const third = gateway.call()
    await vi.waitFor(() => expect(third.owner.reports).toEqual(['ended over_call_limit by far']))
    expect(await rejected('over_call_limit')).toBe(1)
    first.leg.end({ code: 'canceled' })
    const fourth = gateway.call()
    await vi.waitFor(() => expect(fourth.owner.reports).toEqual(['early']))
    const other = gateway.call('bob')
    await vi.waitFor(() => expect(other.owner.reports).toEqual(['ended not_online by far']))
  })
})
