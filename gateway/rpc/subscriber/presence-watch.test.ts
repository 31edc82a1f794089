import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { gone, settled } from './testing/call-setup.ts'
import { SubscriberTestGateway, type TestPage } from './testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway

beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
})
afterEach(async () => {
  // The directory is shared with other tests.
  await gateway.directory.changeSubscriber('p1', gateway.subscriber('bob').id, { doNotDisturb: false })
  await gateway.close()
})

const address = (name: 'alice' | 'bob' = 'bob') => gateway.subscriber(name).addressId

const watch = (page: TestPage, ...address_ids: string[]) => page.ask('presence.watch', { address_ids })

/** States that events have reported to a page. */
const states = (page: TestPage): unknown[] =>
  page.browser.requests.flatMap(({ params }) => {
    const { event_type: type, params: event } = params as { event_type: string; params: { state: string } }
    return type === 'presence.changed' ? [event.state] : []
  })

/** Leaves 50 events of Alice's page unacknowledged, so that presence waits. Returns her session. */
const busy = async (page: TestPage) => {
  page.browser.acknowledges = false
  const [session] = gateway.presence.of(gateway.subscriber('alice').id)
  for (let at = 0; at < 50; at++) session?.emit('call.test', {})
  await vi.waitFor(() => expect(page.browser.requests.length).toBeGreaterThanOrEqual(50))
  return session
}

/** Acknowledges all events of a page. */
const acknowledge = ({ browser }: TestPage): void => {
  for (const { id } of browser.requests) browser.raw(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
}

describe('presence of a subscriber', () => {
  it('is reported with the watch, and then at each change', async () => {
    const page = await gateway.signedIn()
    expect(await watch(page, address())).toMatchObject({
      code: '200',
      presence: [{ address_id: address(), state: 'offline' }],
    })
    const bob = await gateway.online('bob')
    await vi.waitFor(() => expect(states(page)).toEqual(['online']))
    await bob.dial('c1', '/public/alice')
    await vi.waitFor(() => expect(states(page)).toEqual(['online', 'in_call']))
    await bob.verto('verto.bye', 'c1')
    await vi.waitFor(() => expect(states(page)).toEqual(['online', 'in_call', 'online']))
    await bob.ask('subscriber.offline')
    await vi.waitFor(() => expect(states(page).at(-1)).toBe('offline'))
    await bob.ask('subscriber.online')
    await gone(gateway, bob)
    gateway.clock.advance(20_000)
    await vi.waitFor(() => expect(states(page).slice(-2)).toEqual(['online', 'offline']))
  })

  it('of a second page is no change', async () => {
    const page = await gateway.signedIn()
    await watch(page, address())
    const pages = [await gateway.online('bob'), await gateway.online('bob')]
    await pages[0]!.ask('subscriber.offline')
    await settled(page)
    expect(states(page)).toEqual(['online'])
  })

  it('is reported to the latest list only, and not after the end of the session', async () => {
    const page = await gateway.signedIn()
    await watch(page, address())
    expect(await watch(page, address('alice'))).toMatchObject({ presence: [{ state: 'offline' }] })
    const bob = await gateway.online('bob')
    await settled(page)
    expect([states(page), gateway.watch.watchers]).toEqual([[], 1])
    await watch(page)
    expect(gateway.watch.watchers).toBe(0)
    await watch(page, address())
    await gone(gateway, page)
    expect(gateway.watch.watchers).toBe(0)
    await bob.ask('subscriber.offline')
  })

  it('of an expired token is offline for all watchers, and online again after the renewal', async () => {
    const page = await gateway.signedIn()
    const other = await gateway.signedIn()
    await watch(page, address())
    const bob = await gateway.page()
    await bob.connect(await gateway.token('bob', 5))
    await bob.ask('subscriber.online')
    gateway.clock.advance(5_500)
    expect(await watch(other, address())).toMatchObject({ presence: [{ state: 'offline' }] })
    await settled(page)
    expect(states(page)).toEqual(['online', 'offline'])
    const { leg } = gateway.call('bob')
    await bob.ask('signalwire.reauthenticate', {
      authentication: { jwt_token: await gateway.token('bob', 5) },
    })
    await vi.waitFor(() => expect([states(page).at(-1), states(other).at(-1)]).toEqual(['online', 'online']))
    expect(leg.isEnded).toBe(true)
  })

  it('reaches a page that has acknowledged nothing for a while, as the latest state', async () => {
    const page = await gateway.signedIn()
    await watch(page, address())
    const session = await busy(page)
    const bob = await gateway.online('bob')
    await bob.ask('subscriber.offline')
    await bob.ask('subscriber.online')
    await settled(page)
    expect([states(page), session?.unacknowledged]).toEqual([[], 50])
    acknowledge(page)
    await vi.waitFor(() => expect(states(page)).toEqual(['online']))
  })

  it('is not reported later by an event that waited when a response had the state', async () => {
    const page = await gateway.signedIn()
    await watch(page, address())
    const session = await busy(page)
    await gateway.online('bob')
    expect(await watch(page, address())).toMatchObject({ presence: [{ state: 'online' }] })
    acknowledge(page)
    await vi.waitFor(() => expect(session?.unacknowledged).toBe(0))
    await settled(page)
    expect(states(page)).toEqual([])
  })

  it('is not shown for addresses that the token may not see, or that do not exist', async () => {
    const guest = await gateway.page()
    await guest.connect(await gateway.limitedToken('guest', 'bob'))
    const room = gateway.directory.resources.findByAddress('p1', 'private', 'lounge')?.address.id ?? 'none'
    expect(await watch(guest, address('alice'), address(), room, 'unknown')).toMatchObject({
      presence: [{ address_id: address(), state: 'offline' }],
    })
  })

  it('rejects a malformed or too long list', async () => {
    const page = await gateway.signedIn()
    for (const address_ids of [undefined, 'x', [1], Array.from({ length: 201 }, (_, at) => `${at}`)])
      await expect(page.ask('presence.watch', { address_ids })).rejects.toThrow('address_ids')
  })
})

describe('do not disturb', () => {
  it('makes calls busy until it ends, and is reported as presence', async () => {
    const page = await gateway.signedIn()
    await watch(page, address())
    const bob = await gateway.online('bob')
    expect(await bob.ask('subscriber.do_not_disturb')).toMatchObject({ enabled: false })
    expect(await bob.ask('subscriber.do_not_disturb', { enabled: true })).toMatchObject({ enabled: true })
    expect(await bob.ask('subscriber.do_not_disturb')).toMatchObject({ enabled: true })
    await vi.waitFor(() => expect(states(page)).toEqual(['online', 'do_not_disturb']))
    const { leg, owner } = gateway.call('bob')
    await vi.waitFor(() => expect(leg.isEnded).toBe(true))
    expect(owner.reports).toEqual(['ended busy by far'])
    expect(gateway.history).toMatchObject([{ result: 'missed', code: 'busy' }])
    await bob.ask('subscriber.do_not_disturb', { enabled: false })
    await vi.waitFor(() => expect(states(page).at(-1)).toBe('online'))
    gateway.call('bob')
    await bob.message('verto.invite')
  })

  it('is refused to guests, and with a malformed value', async () => {
    const guest = await gateway.page()
    await guest.connect(await gateway.limitedToken('guest'))
    expect(await guest.ask('subscriber.do_not_disturb', { enabled: true })).toMatchObject({ code: '403' })
    const page = await gateway.signedIn('bob')
    await expect(page.ask('subscriber.do_not_disturb', { enabled: 1 })).rejects.toThrow('enabled')
  })
})
