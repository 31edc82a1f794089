import { describe, expect, it } from 'vitest'
import { carrierZone, hopText, routerOn, type Zone } from '../testing/dns.ts'
import type { Hop } from '../transport/types.ts'

const four = ['udp4', 'tcp4', 'tls4']

describe('a cached DNS result', () => {
  it('is kept for its TTL, between 5 s and 5 min', async () => {
    const { dns, clock, found } = routerOn(carrierZone, ['udp4'])
    for (const [ttl, kept] of [
      [0, 5_000],
      [60, 60_000],
      [9_999, 300_000],
    ] as const) {
      dns.ttl = ttl
      clock.advance(400_000)
      dns.asked.length = 0
      await found('sip:carrier.example:5070')
      clock.advance(kept - 1)
      await found('sip:carrier.example:5070')
      expect([ttl, dns.asked.length]).toEqual([ttl, 1])
      clock.advance(1)
      await found('sip:carrier.example:5070')
      expect([ttl, dns.asked.length]).toEqual([ttl, 2])
    }
  })

  it('is shared by simultaneous look-ups', async () => {
    const { dns, found } = routerOn(carrierZone, ['udp4'])
    await Promise.all([1, 2, 3].map(() => found('sip:carrier.example:5070')))
    expect(dns.asked).toEqual(['a4 carrier.example'])
  })

  it('is kept while the name server fails, but not if the name no longer exists', async () => {
    const { dns, clock, found } = routerOn(carrierZone, ['udp4'])
    await found('sip:carrier.example:5070')
    dns.zone = {}
    for (const [code, expected] of [
      ['ETIMEOUT', ['udp 192.0.2.9 5070']],
      ['ESERVFAIL', ['udp 192.0.2.9 5070']],
      ['ENOTFOUND', []],
    ] as const) {
      dns.code = code
      clock.advance(60_000)
      expect(await found('sip:carrier.example:5070')).toEqual(expected)
    }
  })

  it('is kept for 10 s if it is empty', async () => {
    const { dns, clock, found } = routerOn({}, ['udp4'])
    await found('sip:nobody.example:5060')
    dns.zone = { a: { 'nobody.example': ['192.0.2.5'] } }
    clock.advance(9_999)
    expect(await found('sip:nobody.example:5060')).toEqual([])
    clock.advance(1)
    expect(await found('sip:nobody.example:5060')).toEqual(['udp 192.0.2.5 5060'])
  })
})

describe('a hop that failed', () => {
  it('is tried last for 30 s', async () => {
    const { router, clock, hops, found } = routerOn(carrierZone, ['udp4'])
    const [first] = await hops('sip:b.carrier.example')
    router.failed(first as Hop)
    expect(await found('sip:b.carrier.example')).toEqual(['udp 192.0.2.3 5060', 'udp 192.0.2.2 5060'])
    clock.advance(30_000)
    expect(await found('sip:b.carrier.example')).toEqual(['udp 192.0.2.2 5060', 'udp 192.0.2.3 5060'])
  })
})

describe('a request of more than 1,300 bytes', () => {
  const sizes = async (uri: string, bytes: number, zone: Zone = carrierZone, bound = four) => {
    const { router, hops } = routerOn(zone, bound)
    return router.fit(await hops(uri), bytes).map(hopText)
  }

  it.each([
    ['sip:192.0.2.1', 1_301, ['tcp 192.0.2.1 5060', 'udp 192.0.2.1 5060']],
    ['sip:192.0.2.1', 1_300, ['udp 192.0.2.1 5060']],
    ['sip:carrier.example:5070', 1_301, ['tcp 192.0.2.9 5070', 'udp 192.0.2.9 5070']],
    ['sip:192.0.2.1;transport=udp', 1_301, ['udp 192.0.2.1 5060']],
    ['sip:b.carrier.example;transport=udp', 1_301, ['udp 192.0.2.2 5060', 'udp 192.0.2.3 5060']],
  ])('%s of %d bytes is sent to %j', async (uri, bytes, expected) => {
    expect(await sizes(uri, bytes)).toEqual(expected)
  })

  it('is sent by UDP if SRV says so, or if TCP is not bound', async () => {
    const two = { ...carrierZone, naptr: {} }
    expect((await sizes('sip:carrier.example', 9_000, two, ['udp4']))[0]).toBe('udp 192.0.2.1 5060')
    expect(await sizes('sip:192.0.2.1', 9_000, {}, ['udp4', 'tcp6'])).toEqual(['udp 192.0.2.1 5060'])
  })

  it('is not tried by TCP again for 10 min after a failure', async () => {
    const { router, clock, hops } = routerOn({}, four)
    const found = await hops('sip:192.0.2.1')
    router.failed(router.fit(found, 2_000)[0] as Hop)
    expect(router.fit(found, 2_000).map(hopText)).toEqual(['udp 192.0.2.1 5060'])
    clock.advance(600_000)
    expect(router.fit(found, 2_000)).toHaveLength(2)
  })
})
