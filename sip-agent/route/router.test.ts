import { describe, expect, it } from 'vitest'
import { carrierZone, everything, hopText, naptr, routerOn, srv, type Zone } from '../testing/dns.ts'
import type { Hop } from '../transport/types.ts'
import type { DnsAddress } from './dns.ts'

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
  ])('%s is resolved to %s at once', (uri, expected) => {
    const { router, dns } = routerOn({})
    const received: string[][] = []
    expect(router.find(uri, (hops) => received.push(hops.map(hopText)))).toBe(true)
    expect([received, dns.asked]).toEqual([[[expected]], []])
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
  ])('%s is unreachable with the transports %j', (uri, bound) => {
    expect(routerOn({}, bound).router.find(uri, () => {})).toBe(false)
  })

  it('is reached by TCP or TLS if no other transport is bound', async () => {
    expect(await routerOn({}, ['tcp4', 'tls4']).found('sip:192.0.2.1')).toEqual(['tcp 192.0.2.1 5060'])
    expect(await routerOn({}, ['tls4']).found('sip:192.0.2.1')).toEqual(['tls 192.0.2.1 5061'])
  })

  it('is rejected if it is not a URI', () => {
    expect(() => routerOn({}).router.find('sip:a b', () => {})).toThrow('next hop')
  })
})

const four = ['udp4', 'tcp4', 'tls4']

it('is resolved to at most sixteen addresses, however many DNS records exist', async () => {
  const names = Array.from({ length: 16 }, (_, i) => `s${i}.example`)
  const zone: Zone = {
    srv: { '_sip._udp.many.example': names.map((name) => srv(name, 5060)) },
    a: Object.fromEntries(names.map((name, i) => [name, [1, 2, 3].map((at) => `192.0.${i}.${at}`)])),
  }
  expect(await routerOn(zone, ['udp4']).found('sip:many.example')).toHaveLength(16)
})

describe('a name', () => {
  it.each([
    [
      'NAPTR orders the transports, SRV the servers',
      'sip:carrier.example',
      carrierZone,
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
      carrierZone,
      everything,
      ['tcp 192.0.2.1 5060', 'tcp 2001:db8::1 5060'],
    ],
    [
      'what is not bound is left out',
      'sip:carrier.example',
      carrierZone,
      ['udp6', 'tcp4'],
      ['udp 2001:db8::1 5060', 'tcp 192.0.2.1 5060'],
    ],
    ['sips takes TLS alone', 'sips:carrier.example', carrierZone, four, ['tls 192.0.2.1 5061']],
    [
      'NAPTR without a transport of ours is an answer',
      'sip:carrier.example',
      { ...carrierZone, naptr: { 'carrier.example': [naptr('SIPS+D2T', '_sips._tcp.carrier.example')] } },
      ['udp4'],
      [],
    ],
    [
      'transport= needs no NAPTR',
      'sip:carrier.example;transport=udp',
      carrierZone,
      four,
      ['udp 192.0.2.1 5060', 'udp 192.0.2.2 5062', 'udp 192.0.2.3 5062'],
    ],
    [
      'without NAPTR, SRV says which transports there are',
      'sip:carrier.example',
      { ...carrierZone, naptr: {} },
      ['tcp4', 'tls4'],
      ['tcp 192.0.2.1 5060', 'tls 192.0.2.1 5061'],
    ],
    [
      'a port means the addresses of the name',
      'sip:carrier.example:5070',
      carrierZone,
      four,
      ['udp 192.0.2.9 5070'],
    ],
    [
      'case and a last dot do not matter',
      'sip:Carrier.EXAMPLE.:5070',
      carrierZone,
      four,
      ['udp 192.0.2.9 5070'],
    ],
    [
      'neither NAPTR nor SRV: the address',
      'sip:b.carrier.example',
      carrierZone,
      four,
      ['udp 192.0.2.2 5060', 'udp 192.0.2.3 5060'],
    ],
    [
      'the same with a transport, on its port',
      'sip:b.carrier.example;transport=tls',
      carrierZone,
      four,
      ['tls 192.0.2.2 5061', 'tls 192.0.2.3 5061'],
    ],
    [
      'an SRV record of "." means no service',
      'sip:carrier.example;transport=tcp',
      { ...carrierZone, srv: { '_sip._tcp.carrier.example': [srv('', 0)] } },
      four,
      [],
    ],
    ['no such name', 'sip:nobody.example', carrierZone, four, []],
  ] as [string, string, Zone, string[], string[]][])('%s', async (_what, uri, zone, bound, expected) => {
    expect(await routerOn(zone, bound).found(uri)).toEqual(expected)
  })

  it('keeps the host of the URI for the check of the TLS certificate', async () => {
    const { hops } = routerOn(carrierZone, four)
    const hosts = [...(await hops('sips:carrier.example')), ...(await hops('sips:x.example;maddr=192.0.2.4'))]
    expect(hosts.map((hop) => hop.host)).toEqual(['carrier.example', 'x.example'])
  })

  it('is given up after 5 s, and a late answer is ignored', async () => {
    const { router, clock, dns } = routerOn({})
    let late = (_: DnsAddress[]) => {}
    dns.addresses = () =>
      new Promise((resolve) => {
        late = resolve
      })
    const received: (readonly Hop[])[] = []
    router.find('sip:slow.example:5060', (hops) => received.push(hops))
    clock.advance(5_000)
    expect(received).toEqual([[]])
    late([{ address: '192.0.2.1', ttl: 60 }])
    await Promise.resolve()
    expect([received.length, router.searching, clock.running]).toEqual([1, 0, 0])
  })

  it('an exception of the callback is reported, and has no other effect', async () => {
    const { router, faults, found } = routerOn(carrierZone, four)
    const error = new Error('broken')
    router.find('sip:carrier.example:5070', () => {
      throw error
    })
    expect(await found('sip:carrier.example:5070')).toHaveLength(1)
    expect(faults).toEqual([error])
  })

  it('no callback is called after closing', async () => {
    const { router, clock } = routerOn(carrierZone, four)
    const received: unknown[] = []
    router.find('sip:carrier.example:5070', (hops) => received.push(hops))
    router.close()
    await new Promise(setImmediate)
    expect([received, clock.running]).toEqual([[], 0])
  })
})
