import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AnyFrame } from '../testing/test-browser.ts'
import { SubscriberTestGateway, type TestPage } from './testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway

beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
})
afterEach(() => gateway.close())

/** Signs a page in with a token that permits only calls to Bob. */
const limited = async (kind: 'guest' | 'invite'): Promise<TestPage> => {
  const page = await gateway.page()
  await page.connect(await gateway.limitedToken(kind))
  return page
}

const refusedTo = async (page: TestPage, token: string): Promise<unknown> => {
  const answer = await page.browser.send('signalwire.reauthenticate', {
    authentication: { jwt_token: token },
  })
  return (answer.error as AnyFrame | undefined)?.code
}

describe.each(['guest', 'invite'] as const)('a page with a token of the kind %s', (kind) => {
  it('calls its address', async () => {
    const page = await limited(kind)
    await page.dial('c1', '/public/bob?channel=audio')
    await vi.waitFor(() => expect(gateway.arrivals.arrived).toHaveLength(1))
  })

  it.each([
    '/public/alice',
    '/public/nobody',
    'sip:bob@carrier.example',
    '+15551230001',
    '/public/bob/../alice',
    '/public//bob',
  ])('does not call %s', async (to) => {
    const page = await limited(kind)
    await page.dial('c1', to)
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'c1', cause: 'OUTGOING_CALL_BARRED' })
    expect(gateway.arrivals.arrived).toHaveLength(0)
  })

  it('cannot go online, nor take a call that rings for the subscriber', async () => {
    const bell = await gateway.online('alice')
    const { leg } = gateway.call('alice')
    await bell.message('verto.invite')
    const page = await limited(kind)
    expect(await page.ask('subscriber.online')).toMatchObject({ code: '403' })
    await page.verto('verto.subscribe', leg.id, { sessid: leg.id, eventChannel: [] })
    expect(await page.message('verto.bye')).toMatchObject({ callID: leg.id })
    expect(gateway.presence.subscribersOnline).toBe(1)
    leg.end({ code: 'canceled' })
  })

  it('cannot become the subscriber by a protocol, a state or a new token', async () => {
    const alice = await gateway.page()
    const { protocol } = await alice.connect(await gateway.token('alice'))
    await alice.ask('subscriber.online')
    const state = (await alice.event('signalwire.authorization.state')).authorization_state
    const page = await gateway.page()
    const more = { protocol, authorization_state: state }
    const answer = await page.connect(await gateway.limitedToken(kind), more)
    expect(answer.protocol).not.toBe(protocol)
    gateway.stopGateway()
    gateway.startGateway()
    const later = await gateway.page()
    expect((await later.connect(await gateway.limitedToken(kind), more)).protocol).not.toBe(protocol)
    expect(gateway.presence.subscribersOnline).toBe(0)
    expect(await refusedTo(later, await gateway.token('alice'))).toBe(-32002)
  })

  it('accepts only a new token of the same addresses', async () => {
    const page = await limited(kind)
    await page.ask('signalwire.reauthenticate', {
      authentication: { jwt_token: await gateway.limitedToken(kind) },
    })
    const other = kind === 'guest' ? 'invite' : 'guest'
    expect(await refusedTo(page, await gateway.limitedToken(other))).toBe(-32002)
  })
})

describe('the displayed caller', () => {
  it.each([
    ['guest', { uri: '/guest', name: 'Guest' }],
    ['invite', { uri: '/public/alice', name: 'Alice' }],
  ] as const)('of a token of the kind %s is that of its holder', async (kind, from) => {
    const page = await limited(kind)
    await page.dial('c1', '/public/bob')
    const { arrival } = await vi.waitFor(() => {
      expect(gateway.arrivals.arrived).toHaveLength(1)
      return gateway.arrivals.arrived[0]!
    })
    expect(arrival.leg.from).toMatchObject(from)
  })
})

describe('a subscriber who may not dial out', () => {
  it('does not call SIP URIs', async () => {
    const page = await gateway.signedIn('bob')
    await page.dial('c1', 'sip:x@carrier.example')
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'c1', cause: 'OUTGOING_CALL_BARRED' })
    expect(gateway.arrivals.arrived).toHaveLength(0)
  })

  it('does not take callers of queues', async () => {
    const page = await gateway.signedIn()
    await page.dial('c1', 'queue:support')
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'c1', cause: 'OUTGOING_CALL_BARRED' })
    expect(gateway.arrivals.arrived).toHaveLength(0)
  })

  it('calls addresses', async () => {
    const page = await gateway.signedIn('bob')
    await page.dial('c1', '/public/alice')
    await vi.waitFor(() => expect(gateway.arrivals.arrived).toHaveLength(1))
  })
})

describe('calls to carriers', () => {
  it.each([
    ['guest', undefined],
    ['invite', 'alice@example.test'],
    ['subscriber', 'alice@example.test'],
  ] as const)(
    'counts as that of the holder of a token of the kind %s, until the call is over',
    async (kind, email) => {
      const page = kind === 'subscriber' ? await gateway.signedIn() : await limited(kind)
      await page.dial('c1', '/public/bob')
      const { arrival } = await vi.waitFor(() => {
        expect(gateway.arrivals.arrived).toHaveLength(1)
        return gateway.arrivals.arrived[0]!
      })
      const payer = gateway.attributed.get(arrival.callId)
      expect(payer).toMatchObject({ projectId: 'p1', ...(email && { subscriber: { email } }) })
      expect(payer && 'subscriber' in payer).toBe(kind !== 'guest')
      arrival.onOver?.()
      expect(gateway.attributed.size).toBe(0)
    },
  )
})

describe('a revoked token', () => {
  const revoke = async (token: string) => {
    const read = await gateway.tokens.verify(token)
    await gateway.revocations.revoke(read)
  }

  it('ends the session and its calls after a while, and its ringing at once', async () => {
    const token = await gateway.token('alice')
    const page = await gateway.page()
    await page.connect(token)
    await page.ask('subscriber.online')
    await page.dial('c1', '/public/bob')
    const { arrival } = await vi.waitFor(() => {
      expect(gateway.arrivals.arrived).toHaveLength(1)
      return gateway.arrivals.arrived[0]!
    })
    await revoke(token)
    expect(gateway.presence.subscribersOnline).toBe(0)
    await page.dial('c2', '/public/bob')
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'c2' })
    gateway.clock.advance(9_999)
    await page.ask('signalwire.ping')
    gateway.clock.advance(1)
    expect(await page.browser.closed).toBe(1008)
    expect(arrival.leg.isEnded).toBe(true)
    const again = await gateway.page()
    const answer = await again.browser.send('signalwire.connect', { authentication: { jwt_token: token } })
    expect(answer.error).toMatchObject({ code: -32002, message: expect.stringContaining('revoked') })
  })

  it('can be replaced meanwhile, and is not accepted again', async () => {
    const token = await gateway.token('alice')
    const page = await gateway.page()
    await page.connect(token)
    await page.ask('subscriber.online')
    await revoke(token)
    expect(await refusedTo(page, token)).toBe(-32002)
    const fresh = await gateway.token('alice')
    await page.ask('signalwire.reauthenticate', { authentication: { jwt_token: fresh } })
    gateway.clock.advance(20_000)
    await page.ask('signalwire.ping')
    expect(gateway.presence.subscribersOnline).toBe(1)
    await revoke(fresh)
    gateway.clock.advance(10_000)
    expect(await page.browser.closed).toBe(1008)
  })

  it('can be one of all tokens of a subscriber, without those of guests', async () => {
    const page = await gateway.signedIn('alice')
    const guest = await limited('guest')
    gateway.tokensAfter = Number.POSITIVE_INFINITY
    gateway.revocations.changed([gateway.subscriber('alice').id])
    gateway.clock.advance(10_000)
    expect(await page.browser.closed).toBe(1008)
    await guest.ask('signalwire.ping')
    expect(gateway.presence.browsers).toBe(1)
  })
})
