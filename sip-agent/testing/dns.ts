import { FakeClock } from '../clock.ts'
import type { Dns, DnsAddress, Naptr } from '../route/dns.ts'
import { SipRouter } from '../route/router.ts'
import type { Srv } from '../route/srv.ts'
import type { Hop, Protocol } from '../transport/types.ts'

/** An SRV record of weight 0. */
export const srv = (name: string, port: number, priority = 1): Srv => ({ name, port, priority, weight: 0 })
/** A NAPTR record that leads to SRV records. */
export const naptr = (service: string, replacement: string, order = 1, preference = 1): Naptr => ({
  flags: 's',
  service,
  regexp: '',
  replacement,
  order,
  preference,
})

/** Records of a name server, by lower-case name. */
export interface Zone {
  readonly naptr?: Record<string, readonly Naptr[]>
  readonly srv?: Record<string, readonly Srv[]>
  readonly a?: Record<string, readonly string[]>
  readonly aaaa?: Record<string, readonly string[]>
}

/** A name server in memory that counts its queries. */
export class FakeDns implements Dns {
  readonly asked: string[] = []
  ttl = 60
  /** Records of names outside the zone. */
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

/** Bound transports, with their family. */
export const everything = ['udp4', 'tcp4', 'tls4', 'udp6', 'tcp6', 'tls6', 'ws4', 'wss4']

/** A router that asks a name server in memory. */
export const routerOn = (zone: Zone, bound: readonly string[] = everything) => {
  const clock = new FakeClock()
  const dns = new FakeDns(zone)
  const faults: unknown[] = []
  const reach = {
    reaches: (protocol: Protocol, family?: 4 | 6) =>
      bound.some((each) => (family ? each === protocol + family : each.startsWith(protocol))),
  }
  const router = new SipRouter({ reach, dns, clock, fault: (error) => faults.push(error), random: () => 0 })
  const hops = (uri: string) => new Promise<readonly Hop[]>((resolve) => router.find(uri, resolve))
  const found = async (uri: string) => (await hops(uri)).map(hopText)
  return { clock, dns, faults, router, hops, found }
}

/** A hop in short. */
export const hopText = ({ protocol, address, port }: Hop) => `${protocol} ${address} ${port}`

/** A carrier with all kinds of records. */
export const carrierZone: Zone = {
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
