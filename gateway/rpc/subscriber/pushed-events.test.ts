import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { AnyFrame } from '../testing/test-browser.ts'
import { gone } from './testing/call-setup.ts'
import { SubscriberTestGateway, type TestPage } from './testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway

beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
})
afterEach(() => gateway.close())

const tell = (text: string, to = gateway.subscriber('alice').id) =>
  gateway.presence.emit(to, 'conversation.message', { text })

const textsAt = ({ browser }: TestPage): unknown[] =>
  browser.requests
    .map(({ params }) => params as AnyFrame)
    .filter(({ event_type: type }) => type === 'conversation.message')
    .map(({ params }) => (params as AnyFrame).text)

it('reaches every page of a subscriber, online or not, and no other page', async () => {
  const first = await gateway.online()
  const second = await gateway.signedIn()
  const other = await gateway.signedIn('bob')
  const invited = await gateway.page()
  await invited.connect(await gateway.limitedToken('invite'))
  tell('hello')
  for (const page of [first, second])
    expect(await page.event('conversation.message')).toEqual({ text: 'hello' })
  for (const page of [other, invited]) {
    await page.browser.settled()
    expect(textsAt(page)).toEqual([])
  }
})

it('reaches a guest', async () => {
  const page = await gateway.page()
  await page.connect(await gateway.limitedToken('guest'))
  tell('hello', 'guest-1')
  expect(await page.event('conversation.message')).toEqual({ text: 'hello' })
})

it('does not reach a page whose token has expired', async () => {
  const page = await gateway.page()
  await page.connect(await gateway.token('alice', 10))
  gateway.clock.advance(10_000)
  tell('late')
  await page.browser.settled()
  expect(textsAt(page)).toEqual([])
})

it('is not delivered late: a page fetches what it missed', async () => {
  const page = await gateway.page()
  const { protocol } = await page.connect(await gateway.token())
  await page.ask('subscriber.online')
  await gone(gateway, page)
  tell('missed')
  const again = await gateway.page()
  expect(await again.connect(await gateway.token(), { protocol })).toMatchObject({ protocol })
  tell('heard')
  await again.event('conversation.message')
  expect(textsAt(again)).toEqual(['heard'])
})

it('is replaced by one notice for a page that has acknowledged nothing for a while', async () => {
  const page = await gateway.online()
  page.browser.acknowledges = false
  for (let n = 0; n < 60; n++) tell(`${n}`)
  // The response of a watch follows all events, and has the present states, but no messages.
  await page.ask('presence.watch', { address_ids: [] })
  const delivered = textsAt(page).length
  expect(delivered).toBeLessThanOrEqual(50)
  page.browser.acknowledges = true
  for (const { id } of page.browser.requests)
    page.browser.raw(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
  expect(await page.event('events.missed')).toEqual({ event_type: 'conversation.message' })
  const [session] = gateway.presence.of(gateway.subscriber('alice').id)
  await vi.waitFor(() => expect(session?.unacknowledged).toBe(0))
  tell('later')
  await vi.waitFor(() => expect(textsAt(page).at(-1)).toBe('later'))
  const notices = page.browser.requests.filter(
    ({ params }) => (params as AnyFrame).event_type === 'events.missed',
  )
  expect([notices.length, textsAt(page).length]).toEqual([1, delivered + 1])
})

it('leaves room for the events of calls', async () => {
  const page = await gateway.online()
  page.browser.acknowledges = false
  for (let n = 0; n < 300; n++) tell(`${n}`)
  gateway.call()
  await vi.waitFor(() => expect(page.story).toContain('verto.invite'))
  expect(textsAt(page)).toContain('0')
  expect(textsAt(page).length).toBeLessThanOrEqual(50)
})
