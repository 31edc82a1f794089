import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { ExpiryNotice, expiryEvent } from './expiry-notice.ts'
import { gone, settled } from './testing/call-setup.ts'
import { SubscriberTestGateway, type TestPage } from './testing/subscriber-test-gateway.ts'

describe('the expiry notice', () => {
  const day = 86_400

  const announced = (seconds: number) => {
    const clock = new FakeClock()
    const sent: unknown[] = []
    const expiresAt = Math.floor(clock.now() / 1000) + seconds
    const client = { expiresAt, emit: (type: string, params: unknown) => sent.push([type, params]) }
    const notice = new ExpiryNotice(clock)
    notice.announce(client)
    return { clock, client, notice, sent }
  }

  it.each([
    { seconds: 30 * day, noticeSeconds: 120 },
    { seconds: 600, noticeSeconds: 120 },
    { seconds: 60, noticeSeconds: 30 },
  ])('is sent once, $noticeSeconds s before the end of $seconds s', ({ seconds, noticeSeconds }) => {
    const { clock, client, sent } = announced(seconds)
    clock.advance((seconds - noticeSeconds) * 1000 - 1)
    expect(sent).toEqual([])
    clock.advance(1)
    expect(sent).toEqual([[expiryEvent, { expires_at: client.expiresAt, expires_in: noticeSeconds }]])
    clock.advance(seconds * 1000)
    expect(sent).toHaveLength(1)
    expect(clock.running).toBe(0)
  })

  it('follows a new token', () => {
    const { clock, client, notice, sent } = announced(600)
    notice.announce({ ...client, expiresAt: client.expiresAt + 600 })
    clock.advance(1_079_999)
    expect(sent).toEqual([])
    clock.advance(1)
    expect(sent).toHaveLength(1)
  })

  it('is not sent for an expired token, or after it was cancelled', () => {
    const { clock, client, notice, sent } = announced(600)
    notice.announce({ ...client, expiresAt: 0 })
    expect(clock.running).toBe(0)
    notice.announce(client)
    notice.cancel()
    clock.advance(600_000)
    expect(sent).toEqual([])
  })
})

describe('a page whose token is about to expire', () => {
  let gateway: SubscriberTestGateway
  let page: TestPage

  beforeEach(async () => {
    gateway = await SubscriberTestGateway.start()
    page = await gateway.page()
    await page.connect(await gateway.token('alice', 30))
  })
  afterEach(() => gateway.close())

  it('is notified, and again for its next token', async () => {
    gateway.clock.advance(15_000)
    expect(await page.event(expiryEvent)).toMatchObject({ expires_in: 15 })
    const jwt_token = await gateway.token('alice', 40)
    await page.ask('signalwire.reauthenticate', { authentication: { jwt_token } })
    for (let seconds = 0; seconds < 20; seconds++) {
      gateway.clock.advance(1000)
      await settled(page)
    }
    expect(page.story).toEqual([expiryEvent, expiryEvent])
  })

  it('receives nothing after it was closed', async () => {
    await gone(gateway, page)
    expect(gateway.clock.running).toBe(0)
  })
})
