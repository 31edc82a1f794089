import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AnyFrame } from '../testing/test-browser.ts'
import { gone, settled } from './testing/call-setup.ts'
import { SubscriberTestGateway, type TestPage } from './testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway

beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
})
afterEach(() => gateway.close())

/** State that a page stores across connections. */
const kept = async (page: TestPage, protocol: unknown): Promise<AnyFrame> => {
  const states = page.browser.requests.filter(
    (r) => (r.params as AnyFrame).event_type === 'signalwire.authorization.state',
  )
  const state = (states.at(-1)!.params as AnyFrame).params as AnyFrame
  return { protocol, authorization_state: state.authorization_state }
}

describe('connecting', () => {
  it('returns the fields that the SDK reads, and sends the state afterwards', async () => {
    const page = await gateway.page()
    const result = await page.connect(await gateway.token())
    const { jti } = result.authorization as AnyFrame
    expect(result.authorization).toMatchObject({
      project_id: 'p1',
      fabric_subscriber: { version: 1, subscriber_id: gateway.subscriber('alice').id, application_id: null },
    })
    expect(String(result.protocol)).toMatch(new RegExp(`^signalwire_${jti}_[-0-9a-f]+_p1$`))
    expect(result).not.toHaveProperty('ice_servers')
    expect(await page.event('signalwire.authorization.state')).toHaveProperty('authorization_state')
    const [event] = page.browser.requests
    expect((event!.params as AnyFrame).event_channel).toBe(result.protocol)
  })

  it('rejects a wrong, an expired and a missing token with the code that the SDK knows', async () => {
    const page = await gateway.page()
    const expired = await gateway.token('alice', 10)
    gateway.clock.advance(8000)
    expect((await page.browser.send('webrtc.verto', {})).error).toMatchObject({ code: -32002 })
    for (const authentication of [{ jwt_token: 'x' }, {}, undefined]) {
      const answer = await page.browser.send('signalwire.connect', { authentication })
      expect(answer.error).toMatchObject({ code: -32002 })
    }
    gateway.clock.advance(1999)
    const late = await gateway.page()
    gateway.clock.advance(1)
    const answer = await late.browser.send('signalwire.connect', { authentication: { jwt_token: expired } })
    expect((answer.error as AnyFrame).message).toContain('expired')
  })

  it('closes a connection without a token', async () => {
    const page = await gateway.page()
    await page.browser.settled()
    gateway.clock.advance(10_000)
    expect(await page.browser.closed).toBe(1008)
    await vi.waitFor(() => expect(gateway.clock.running).toBe(0))
  })

  it.each(['constructor', 'toString', '__proto__', 'call.nothing'])(
    'rejects the method %s',
    async (method) => {
      const page = await gateway.signedIn()
      expect((await page.browser.send(method, {})).error).toMatchObject({ code: -32601 })
    },
  )

  it('echoes pings, and answers unknown methods with an error', async () => {
    const page = await gateway.signedIn()
    expect(await page.ask('signalwire.ping', { timestamp: 5 })).toEqual({ timestamp: 5 })
    expect((await page.browser.send('nothing.known', {})).error).toMatchObject({ code: -32601 })
  })

  it('accepts a new token of the same subscriber only', async () => {
    const page = await gateway.page()
    const first = await page.connect(await gateway.token())
    gateway.clock.advance(5000)
    const answer = await page.ask('signalwire.reauthenticate', {
      authentication: { project: 'p1', jwt_token: await gateway.token() },
    })
    // The SDK sends its protocol again only while it holds the first token's id.
    expect((answer.authorization as AnyFrame).jti).toBe((first.authorization as AnyFrame).jti)
    const ends = (r: AnyFrame) => ((r.authorization as AnyFrame).fabric_subscriber as AnyFrame).expires_at
    expect(Number(ends(answer)) - Number(ends(first))).toBe(5)
    const foreign = await page.browser.send('signalwire.reauthenticate', {
      authentication: { jwt_token: await gateway.token('bob') },
    })
    expect(foreign.error).toMatchObject({ code: -32002 })
  })

  it('logs no token', async () => {
    const token = await gateway.token()
    const page = await gateway.page()
    await page.connect(token)
    expect(gateway.lines.join('')).toContain('browser connected')
    expect(gateway.lines.join('')).not.toContain(token)
  })
})

describe('presence', () => {
  it('follows online and offline', async () => {
    const page = await gateway.online()
    expect(gateway.presence.subscribersOnline).toBe(1)
    await gateway.online()
    expect(gateway.presence.subscribersOnline).toBe(1)
    await gateway.online('bob')
    expect(gateway.presence.subscribersOnline).toBe(2)
    await page.ask('subscriber.offline')
    expect(gateway.presence.subscribersOnline).toBe(2)
  })

  it('lasts twenty seconds after a lost connection', async () => {
    const page = await gateway.online()
    await gone(gateway, page)
    gateway.clock.advance(19_999)
    expect(gateway.presence.subscribersOnline).toBe(1)
    gateway.clock.advance(1)
    expect(gateway.presence.subscribersOnline).toBe(0)
    expect(gateway.presence.browsers).toBe(0)
  })

  it('ends at once for an offline page without calls', async () => {
    const page = await gateway.signedIn()
    await gone(gateway, page)
    expect(gateway.presence.browsers).toBe(0)
    expect(gateway.clock.running).toBe(0)
  })

  it('is kept for a page that reconnects with its protocol, even with a new token', async () => {
    const page = await gateway.page()
    const { protocol } = await page.connect(await gateway.token())
    await page.ask('subscriber.online')
    await page.browser.settled()
    const state = await kept(page, protocol)
    await gone(gateway, page)
    gateway.clock.advance(4000)
    const again = await gateway.page()
    const result = await again.connect(await gateway.token(), state)
    expect(result.protocol).toBe(protocol)
    expect((result.authorization as AnyFrame).jti).toBe(String(protocol).split('_')[1])
    gateway.clock.advance(20_000)
    expect(gateway.presence.subscribersOnline).toBe(1)
  })

  it('delivers missed events once', async () => {
    const page = await gateway.page()
    const { protocol } = await page.connect(await gateway.token())
    await page.ask('subscriber.online')
    await gone(gateway, page)
    const { leg } = gateway.call()
    const cancelled = gateway.call()
    await vi.waitFor(() => expect(leg.state.kind).toBe('early'))
    await vi.waitFor(() => expect(cancelled.leg.state.kind).toBe('early'))
    // This call ends before the page reconnects, so it must not ring.
    cancelled.leg.end({ code: 'canceled' })
    const again = await gateway.page()
    await again.connect(await gateway.token(), { protocol })
    expect(await again.message('verto.invite')).toMatchObject({ callID: leg.id, sdp: 'offer of the gateway' })
    await again.browser.settled()
    expect(again.story.filter((word) => word === 'verto.invite')).toHaveLength(1)
  })

  it('delivers events again that were on their way when the connection broke', async () => {
    const page = await gateway.page()
    const { protocol } = await page.connect(await gateway.token())
    await page.ask('subscriber.online')
    await page.browser.settled()
    page.browser.acknowledges = false
    const { leg } = gateway.call()
    await page.message('verto.invite')
    await gone(gateway, page)
    const again = await gateway.page()
    await again.connect(await gateway.token(), { protocol })
    expect(await again.message('verto.invite')).toMatchObject({ callID: leg.id })
  })

  it('learns of the calls that rang when the gateway crashed, if it was one of the subscriber', async () => {
    const page = await gateway.online()
    const guest = await gateway.page()
    const token = await gateway.limitedToken('invite')
    const { protocol } = await guest.connect(token)
    const state = await kept(page, 'signalwire_of_a_former_process')
    gateway.stopGateway()
    gateway.interrupted.set(gateway.subscriber('alice').id, ['ringing-1'])
    gateway.startGateway()
    const back = await gateway.signedIn('alice', state)
    expect(await back.message('verto.bye')).toMatchObject({
      callID: 'ringing-1',
      cause: 'NORMAL_TEMPORARY_FAILURE',
    })
    const others = [await gateway.signedIn(), await gateway.signedIn('bob', state), await gateway.page()]
    await others[2]!.connect(token, { protocol })
    await settled(...others)
    expect(others.flatMap((other) => other.story)).toEqual([])
  })

  it('is replaced by a new one after a restart of the gateway, online as the stored state says', async () => {
    const page = await gateway.page()
    const { protocol } = await page.connect(await gateway.token())
    await page.ask('subscriber.online')
    await page.browser.settled()
    const state = await kept(page, protocol)
    gateway.stopGateway()
    expect(await page.browser.closed).toBe(1001)
    gateway.startGateway()
    const again = await gateway.page()
    const result = await again.connect(await gateway.token(), state)
    // The new protocol tells the page that its calls have ended.
    expect(result.protocol).not.toBe(protocol)
    expect((result.authorization as AnyFrame).jti).toBe(String(result.protocol).split('_')[1])
    expect(gateway.presence.subscribersOnline).toBe(1)
  })

  it('reports the calls that the gateway has', async () => {
    const page = await gateway.online()
    expect(await page.ask('subscriber.calls')).toMatchObject({ code: '200', calls: [] })
    const { leg } = gateway.call()
    await page.message('verto.invite')
    expect(await page.ask('subscriber.calls')).toMatchObject({ calls: [leg.id] })
    leg.end({ code: 'canceled' })
    expect(await page.ask('subscriber.calls')).toMatchObject({ calls: [] })
  })

  it('is not restored from a forged or foreign state', async () => {
    const page = await gateway.page()
    const { protocol } = await page.connect(await gateway.token())
    await page.ask('subscriber.online')
    await page.browser.settled()
    const state = await kept(page, protocol)
    await gone(gateway, page)
    const foreign = await gateway.page()
    expect((await foreign.connect(await gateway.token('bob'), state)).protocol).not.toBe(protocol)
    gateway.stopGateway()
    gateway.startGateway()
    const forged = { protocol, authorization_state: `${state.authorization_state}x` }
    expect((await (await gateway.page()).connect(await gateway.token(), forged)).protocol).not.toBe(protocol)
    expect((await (await gateway.page()).connect(await gateway.token('bob'), state)).protocol).not.toBe(
      protocol,
    )
    expect(gateway.presence.subscribersOnline).toBe(0)
  })

  it('stays with the live page when a duplicated tab sends a copy of its protocol', async () => {
    const page = await gateway.page()
    const { protocol } = await page.connect(await gateway.token())
    const copy = await gateway.page()
    expect((await copy.connect(await gateway.token(), { protocol })).protocol).not.toBe(protocol)
    expect(await page.ask('signalwire.ping', { timestamp: 1 })).toEqual({ timestamp: 1 })
  })

  it('stays with a page that signs in again over the same connection', async () => {
    const page = await gateway.page()
    const { protocol } = await page.connect(await gateway.token())
    await page.ask('subscriber.online')
    expect((await page.connect(await gateway.token(), { protocol })).protocol).toBe(protocol)
    const { leg } = gateway.call()
    expect(await page.message('verto.invite')).toMatchObject({ callID: leg.id })
  })

  it('moves to the new connection if the old one is half open', async () => {
    const page = await gateway.page()
    const { protocol } = await page.connect(await gateway.token())
    await page.ask('subscriber.online')
    page.browser.socket.pause()
    const again = await gateway.page()
    const token = await gateway.token()
    await again.browser.settled()
    const running = gateway.clock.running
    const answer = again.connect(token, { protocol })
    await vi.waitFor(() => expect(gateway.clock.running).toBe(running + 1))
    gateway.clock.advance(1500)
    expect((await answer).protocol).toBe(protocol)
    expect(gateway.presence.browsers).toBe(1)
    page.browser.socket.resume()
    await page.browser.closed
    expect(gateway.presence.subscribersOnline).toBe(1)
  })

  it('keeps events that a half-open connection did not acknowledge', async () => {
    const page = await gateway.page()
    const { protocol } = await page.connect(await gateway.token())
    await page.ask('subscriber.online')
    await page.browser.settled()
    page.browser.acknowledges = false
    const { leg } = gateway.call()
    await page.message('verto.invite')
    // The request times out while the socket is still open.
    gateway.clock.advance(10_000)
    await page.browser.settled()
    await gone(gateway, page)
    const again = await gateway.page()
    await again.connect(await gateway.token(), { protocol })
    expect(await again.message('verto.invite')).toMatchObject({ callID: leg.id })
  })

  it('ends with the token and closes the connection, so that the page does not seem reachable', async () => {
    const page = await gateway.page()
    await page.connect(await gateway.token('alice', 20))
    await page.ask('subscriber.online')
    gateway.clock.advance(19_999)
    expect(gateway.presence.subscribersOnline).toBe(1)
    gateway.clock.advance(1)
    expect(gateway.presence.subscribersOnline).toBe(0)
    gateway.clock.advance(9_999)
    await page.ask('signalwire.ping')
    gateway.clock.advance(1)
    expect(await page.browser.closed).toBe(1008)
  })

  it('continues with a new token', async () => {
    const page = await gateway.page()
    await page.connect(await gateway.token('alice', 20))
    await page.ask('subscriber.online')
    gateway.clock.advance(10_000)
    const jwt_token = await gateway.token('alice', 30)
    await page.ask('signalwire.reauthenticate', { authentication: { jwt_token } })
    gateway.clock.advance(20_000)
    await page.browser.settled()
    expect(gateway.presence.subscribersOnline).toBe(1)
  })

  it('continues without a token only until its call ends', async () => {
    const page = await gateway.page()
    await page.connect(await gateway.token('alice', 20))
    await page.dial('c1', '/public/bob')
    await page.event('call.state')
    gateway.webrtc.last.report('connected')
    gateway.clock.advance(20_000)
    await page.browser.settled()
    await page.dial('c2', '/public/bob')
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'c2', cause: 'CALL_REJECTED' })
    await page.verto('verto.bye', 'c1')
    gateway.clock.advance(10_000)
    expect(await page.browser.closed).toBe(1008)
  })
})
