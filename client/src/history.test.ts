import { expect, it } from 'vitest'
import { connected } from './testing/connected.ts'

it('the history is fetched page by page, with its filters', async () => {
  const { browser, client } = await connected()
  browser.response = () =>
    Response.json({
      data: [{ id: 'c1', result: 'missed' }],
      links: { next: '/api/fabric/subscriber/calls?cursor=x' },
    })
  const page = await client.history.getCalls({ result: 'missed', since: new Date(1e12), pageSize: 10 })
  expect(page.data).toEqual([{ id: 'c1', result: 'missed' }])
  await page.nextPage()
  const base = 'http://localhost:8080/api/fabric/subscriber/calls'
  expect(browser.fetched.map(({ url }) => decodeURIComponent(url))).toEqual([
    `${base}?result=missed&ended_after=2001-09-09T01:46:40.000Z&page_size=10`,
    `${base}?cursor=x`,
  ])
})

it('missed calls are counted since a time', async () => {
  const { browser, client } = await connected()
  browser.response = () => Response.json({ data: [{}, {}], links: {} })
  expect(await client.history.countMissed({ since: new Date(0) })).toBe(2)
})

it('a listener is called after each new call until it unsubscribes', async () => {
  const { browser, client } = await connected()
  let calls = 0
  const { unsubscribe } = client.history.subscribe(() => calls++)
  browser.socket.event('subscriber.call', { id: 'c1' })
  browser.socket.event('call.state', {})
  expect(calls).toBe(1)
  // The page had too many unacknowledged events.
  browser.socket.event('events.missed', { event_type: 'conversation.message' })
  browser.socket.event('events.missed', { event_type: 'subscriber.call' })
  expect(calls).toBe(2)
  unsubscribe()
  browser.socket.event('subscriber.call', { id: 'c2' })
  expect(calls).toBe(2)
})
