import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../clock.ts'
import type { Protocol } from '../transport/types.ts'
import type { Dns, DnsAddress, Naptr } from './dns.ts'
import { SipRouter } from './router.ts'
import type { Srv } from './srv.ts'
import type { Hop } from './types.ts'

const srv = (name: string, port: number, priority = 1): Srv => ({ name, port, priority, weight: 0 })
const naptr = (service: string, replacement: string, order = 1, preference = 1): Naptr => ({
  flags: 's',
  service,
  regexp: '',
  replacement,
  order,
  preference,
})

interface Zone {
  readonly naptr?: Record<string, readonly Naptr[]>
  readonly srv?: Record<string, readonly Srv[]>
  readonly a?: Record<string, readonly string[]>
  readonly aaaa?: Record<string, readonly string[]>
}

/** A name server in memory that counts what it is asked. */
class FakeDns implements Dns {
  readonly asked: string[] = []
  ttl = 60
  /** Of what is not in the zone. */
  code = 'ENOTFOUND'
  zone: Zone

  constructor(zone: Zone) {
    this.zone = zone
  }

  naptr(name: string) {
    return this.#answer<Naptr>('naptr', name, this.zone.naptr)
  }

  srv(name: string) {
    return this.#answer<Srv>('srv', name, this.zone.srv)
  }

  async addresses(name: string, family: 4 | 6): Promise<DnsAddress[]> {
    const list = await this.#answer<string>(`a${family}`, name, family === 4 ? this.zone.a : this.zone.aaaa)
    return list.map((address) => ({ address, ttl: this.ttl }))
  }

  #answer<T>(kind: string, name: string, records: Record<string, readonly T[]> = {}): Promise<readonly T[]> {
    this.asked.push(`${kind} ${name}`)
    const found = records[name]
    return found
      ? Promise.resolve(found)
      : Promise.reject(Object.assign(new Error(this.code), { code: this.code }))
  }
}

const everything = ['udp4', 'tcp4', 'tls4', 'udp6', 'tcp6', 'tls6', 'ws4', 'wss4']

const setUp = (zone: Zone, bound: readonly string[] = everything) => {
  const clock = new FakeClock()
  const dns = new FakeDns(zone)
  const faults: unknown[] = []
  const reach = {
    reaches: (protocol: Protocol, family?: 4 | 6) =>
      bound.some((each) => (family ? each === protocol + family : each.startsWith(protocol))),
  }
  const router = new SipRouter({ reach, dns, clock, fault: (error) => faults.push(error), random: () => 0 })
  const hops = (uri: string) => new Promise<readonly Hop[]>((resolve) => router.find(uri, resolve))
  const found = async (uri: string) => (await hops(uri)).map(text)
  return { clock, dns, faults, router, hops, found }
}

const text = ({ protocol, address, port }: Hop) => `${protocol} ${address} ${port}`

describe('a literal', () => {
  it.each([
    ['sip:192.0.2.1', 'udp 192.0.2.1 5060'],
    ['<sip:a@192.0.2.1:5070;transport=TCP;lr>', 'tcp 192.0.2.1 5070'],
    ['sip:a@[2001:db8::1]', 'udp 2001:db8::1 5060'],
    ['sip:a@carrier.example;maddr=192.0.2.2', 'udp 192.0.2.2 5060'],
    ['sip:a@carrier.example:5080;maddr=[2001:db8::2]', 'udp 2001:db8::2 5080'],
    ['sips:a@192.0.2.1', 'tls 192.0.2.1 5061'],
    ['sips:a@192.0.2.1;transport=tcp', 'tls 192.0.2.1 5061'],
    ['sip:a@192.0.2.1;transport=tls', 'tls 192.0.2.1 5061'],
    ['sip:a@192.0.2.1;transport=ws', 'ws 192.0.2.1 80'],
    ['sips:a@192.0.2.1;transport=ws', 'wss 192.0.2.1 443'],
  ])('%s leads to %s at once', (uri, expected) => {
    const { router, dns } = setUp({})
    const told: string[][] = []
    expect(router.find(uri, (hops) => told.push(hops.map(text)))).toBe(true)
    expect([told, dns.asked]).toEqual([[[expected]], []])
  })

  it.each([
    ['sip:a@192.0.2.1:0', everything],
    ['sip:a@192.0.2.1;transport=sctp', everything],
    ['sips:a@192.0.2.1;transport=udp', everything],
    ['tel:+4930', everything],
    ['sip:a@192.0.2.1', ['udp6']],
    ['sip:a@192.0.2.1', ['ws4']],
    ['sip:a@carrier.example;transport=tls', ['udp4', 'tcp4']],
    ['sips:a@carrier.example', ['udp4', 'tcp4']],
  ])('%s cannot be reached by %j', (uri, bound) => {
    expect(setUp({}, bound).router.find(uri, () => {})).toBe(false)
  })

  it('goes by TCP or TLS where there is nothing else', async () => {
    expect(await setUp({}, ['tcp4', 'tls4']).found('sip:192.0.2.1')).toEqual(['tcp 192.0.2.1 5060'])
    expect(await setUp({}, ['tls4']).found('sip:192.0.2.1')).toEqual(['tls 192.0.2.1 5061'])
  })

  it('is refused where it is no URI', () => {
    expect(() => setUp({}).router.find('sip:a b', () => {})).toThrow('next hop')
  })
})

const carrier: Zone = {
  naptr: {
    'carrier.example': [
      naptr('SIP+D2U', '_sip._udp.carrier.example', 2),
      naptr('SIPS+D2T', '_sips._tcp.carrier.example', 1),
      naptr('SIP+D2T', '_sip._tcp.carrier.example', 2, 2),
      naptr('E2U+sip', 'other.example', 0),
    ],
  },
  srv: {
    '_sip._udp.carrier.example': [srv('b.carrier.example', 5062, 2), srv('a.carrier.example', 5060)],
    '_sips._tcp.carrier.example': [srv('a.carrier.example', 5061)],
    '_sip._tcp.carrier.example': [srv('a.carrier.example', 5060)],
  },
  a: {
    'a.carrier.example': ['192.0.2.1'],
    'b.carrier.example': ['192.0.2.2', '192.0.2.3'],
    'carrier.example': ['192.0.2.9'],
  },
  aaaa: { 'a.carrier.example': ['2001:db8::1'] },
}

const four = ['udp4', 'tcp4', 'tls4']

describe('a name', () => {
  it.each([
    [
      'NAPTR orders the transports, SRV the servers',
      'sip:carrier.example',
      carrier,
      four,
      [
        'tls 192.0.2.1 5061',
        'udp 192.0.2.1 5060',
        'udp 192.0.2.2 5062',
        'udp 192.0.2.3 5062',
        'tcp 192.0.2.1 5060',
      ],
    ],
    [
      'both families, IPv4 first',
      'sip:carrier.example;transport=tcp',
      carrier,
      everything,
      ['tcp 192.0.2.1 5060', 'tcp 2001:db8::1 5060'],
    ],
    [
      'what is not bound is left out',
      'sip:carrier.example',
      carrier,
      ['udp6', 'tcp4'],
      ['udp 2001:db8::1 5060', 'tcp 192.0.2.1 5060'],
    ],
    ['sips takes TLS alone', 'sips:carrier.example', carrier, four, ['tls 192.0.2.1 5061']],
    [
      'NAPTR without a transport of ours is an answer',
      'sip:carrier.example',
      { ...carrier, naptr: { 'carrier.example': [naptr('SIPS+D2T', '_sips._tcp.carrier.example')] } },
      ['udp4'],
      [],
    ],
    [
      'transport= needs no NAPTR',
      'sip:carrier.example;transport=udp',
      carrier,
      four,
      ['udp 192.0.2.1 5060', 'udp 192.0.2.2 5062', 'udp 192.0.2.3 5062'],
    ],
    [
      'without NAPTR, SRV says which transports there are',
      'sip:carrier.example',
      { ...carrier, naptr: {} },
      ['tcp4', 'tls4'],
      ['tcp 192.0.2.1 5060', 'tls 192.0.2.1 5061'],
    ],
    [
      'a port means the addresses of the name',
      'sip:carrier.example:5070',
      carrier,
      four,
      ['udp 192.0.2.9 5070'],
    ],
    ['case and a last dot do not matter', 'sip:Carrier.EXAMPLE.:5070', carrier, four, ['udp 192.0.2.9 5070']],
    [
      'neither NAPTR nor SRV: the address',
      'sip:b.carrier.example',
      carrier,
      four,
      ['udp 192.0.2.2 5060', 'udp 192.0.2.3 5060'],
    ],
    [
      'the same with a transport, on its port',
      'sip:b.carrier.example;transport=tls',
      carrier,
      four,
      ['tls 192.0.2.2 5061', 'tls 192.0.2.3 5061'],
    ],
    [
      'an SRV record of "." means that there is none',
      'sip:carrier.example;transport=tcp',
      { ...carrier, srv: { '_sip._tcp.carrier.example': [srv('', 0)] } },
      four,
      [],
    ],
    ['no such name', 'sip:nobody.example', carrier, four, []],
  ] as [string, string, Zone, string[], string[]][])('%s', async (_what, uri, zone, bound, expected) => {
    expect(await setUp(zone, bound).found(uri)).toEqual(expected)
  })

  it('keeps the host of the URI for TLS to check', async () => {
    const { hops } = setUp(carrier, four)
    const hosts = [...(await hops('sips:carrier.example')), ...(await hops('sips:x.example;maddr=192.0.2.4'))]
    expect(hosts.map((hop) => hop.host)).toEqual(['carrier.example', 'x.example'])
  })

  it('is given up after 5 s, and a late answer is not told', async () => {
    const { router, clock, dns } = setUp({})
    let late = (_: DnsAddress[]) => {}
    dns.addresses = () =>
      new Promise((resolve) => {
        late = resolve
      })
    const told: (readonly Hop[])[] = []
    router.find('sip:slow.example:5060', (hops) => told.push(hops))
    clock.advance(5_000)
    expect(told).toEqual([[]])
    late([{ address: '192.0.2.1', ttl: 60 }])
    await Promise.resolve()
    expect([told.length, router.searching, clock.running]).toEqual([1, 0, 0])
  })

  it('an error of whoever asked is reported, and costs nothing else', async () => {
    const { router, faults, found } = setUp(carrier, four)
    const error = new Error('broken')
    router.find('sip:carrier.example:5070', () => {
      throw error
    })
    expect(await found('sip:carrier.example:5070')).toHaveLength(1)
    expect(faults).toEqual([error])
  })

  it('nothing is told after the end', async () => {
    const { router, clock } = setUp(carrier, four)
    const told: unknown[] = []
    router.find('sip:carrier.example:5070', (hops) => told.push(hops))
    router.close()
    await new Promise(setImmediate)
    expect([told, clock.running]).toEqual([[], 0])
  })
})

describe('what was found', () => {
  it('is remembered for its TTL, between 5 s and 5 min', async () => {
    const { dns, clock, found } = setUp(carrier, ['udp4'])
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

  it('is asked for once by all who want it at the same time', async () => {
    const { dns, found } = setUp(carrier, ['udp4'])
    await Promise.all([1, 2, 3].map(() => found('sip:carrier.example:5070')))
    expect(dns.asked).toEqual(['a4 carrier.example'])
  })

  it('holds on while the name server is out of order, and not where the name is gone', async () => {
    const { dns, clock, found } = setUp(carrier, ['udp4'])
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

  it('is remembered for 10 s where it was nothing', async () => {
    const { dns, clock, found } = setUp({}, ['udp4'])
    await found('sip:nobody.example:5060')
    dns.zone = { a: { 'nobody.example': ['192.0.2.5'] } }
    clock.advance(9_999)
    expect(await found('sip:nobody.example:5060')).toEqual([])
    clock.advance(1)
    expect(await found('sip:nobody.example:5060')).toEqual(['udp 192.0.2.5 5060'])
  })
})

describe('a hop that failed', () => {
  it('comes last for 30 s', async () => {
    const { router, clock, hops, found } = setUp(carrier, ['udp4'])
    const [first] = await hops('sip:b.carrier.example')
    router.failed(first as Hop)
    expect(await found('sip:b.carrier.example')).toEqual(['udp 192.0.2.3 5060', 'udp 192.0.2.2 5060'])
    clock.advance(30_000)
    expect(await found('sip:b.carrier.example')).toEqual(['udp 192.0.2.2 5060', 'udp 192.0.2.3 5060'])
  })
})

describe('a request of more than 1,300 bytes', () => {
  const sizes = async (uri: string, bytes: number, zone: Zone = carrier, bound = four) => {
    const { router, hops } = setUp(zone, bound)
    return router.fit(await hops(uri), bytes).map(text)
  }

  it.each([
    ['sip:192.0.2.1', 1_301, ['tcp 192.0.2.1 5060', 'udp 192.0.2.1 5060']],
    ['sip:192.0.2.1', 1_300, ['udp 192.0.2.1 5060']],
    ['sip:carrier.example:5070', 1_301, ['tcp 192.0.2.9 5070', 'udp 192.0.2.9 5070']],
    ['sip:192.0.2.1;transport=udp', 1_301, ['udp 192.0.2.1 5060']],
    ['sip:b.carrier.example;transport=udp', 1_301, ['udp 192.0.2.2 5060', 'udp 192.0.2.3 5060']],
  ])('%s of %d bytes goes to %j', async (uri, bytes, expected) => {
    expect(await sizes(uri, bytes)).toEqual(expected)
  })

  it('keeps UDP where SRV said so, and where TCP is not bound', async () => {
    const two = { ...carrier, naptr: {} }
    expect((await sizes('sip:carrier.example', 9_000, two, ['udp4']))[0]).toBe('udp 192.0.2.1 5060')
    expect(await sizes('sip:192.0.2.1', 9_000, {}, ['udp4', 'tcp6'])).toEqual(['udp 192.0.2.1 5060'])
  })

  it('does not try TCP again for 10 min where it failed', async () => {
    const { router, clock, hops } = setUp({}, four)
    const found = await hops('sip:192.0.2.1')
    router.failed(router.fit(found, 2_000)[0] as Hop)
    expect(router.fit(found, 2_000).map(text)).toEqual(['udp 192.0.2.1 5060'])
    clock.advance(600_000)
    expect(router.fit(found, 2_000)).toHaveLength(2)
  })
})
