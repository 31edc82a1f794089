import { describe, expect, it } from 'vitest'
import { FakeClock } from '../clock.ts'
import { Shield } from './shield.ts'
import type { SipShield } from './shield-settings.ts'

const settings: SipShield = {
  packetsPerSecond: 5,
  knownPacketsPerSecond: 50,
  banAfter: 3,
  banForMs: 600_000,
  scanners: ['friendly-scanner'],
  untrusted: 'answer',
  known: ['192.0.2.0/24', '2001:db8::/32'],
}
const setUp = (changes: Partial<SipShield> = {}) => {
  const clock = new FakeClock()
  const shield = new Shield(clock, { ...settings, ...changes })
  const send = (from: string, bytes = invite, times = 1) =>
    Array.from({ length: times }, () => shield.admits('udp', from, bytes)).filter(Boolean).length
  return { clock, shield, send }
}
const invite = Buffer.from('INVITE sip:1@a.example SIP/2.0\r\nUser-Agent: Phone\r\n\r\n')
const response = Buffer.from('SIP/2.0 200 OK\r\nUser-Agent: friendly-scanner\r\n\r\n')
const scan = Buffer.from('OPTIONS sip:1@a.example SIP/2.0\r\nuser-agent: My Friendly-Scanner 1\r\n\r\n')
const carrier = '192.0.2.7'
const stranger = '198.51.100.7'

describe('the rate of packets', () => {
  it('is that of untrusted sources outside known networks, and refills', () => {
    const { clock, shield, send } = setUp()
    expect(send(stranger, invite, 20)).toBe(5)
    clock.advance(400)
    expect(send(stranger, invite, 20)).toBe(2)
    clock.advance(60_000)
    expect(send(stranger, invite, 20)).toBe(5)
    expect(shield.dropped).toEqual({ rate: 48, banned: 0, scanner: 0, stranger: 0, tls: 0 })
  })

  it('is that of known networks inside them, and each address has its own', () => {
    const { send } = setUp()
    expect(send(carrier, invite, 100)).toBe(50)
    expect(send('192.0.2.8', invite, 100)).toBe(50)
    expect(send('::ffff:192.0.2.9', invite, 100)).toBe(50)
    expect(send('2001:db8::1', invite, 100)).toBe(50)
  })

  it('is shared by a /64 of untrusted IPv6 sources', () => {
    const { send } = setUp()
    expect(send('2001:db9:0:1::1', invite, 3) + send('2001:db9:0:1:ffff::2', invite, 3)).toBe(5)
    expect(send('2001:db9:0:2::1', invite, 9)).toBe(5)
  })

  it('counts a connection with TLS as five packets, whatever the rate', () => {
    const { clock, shield, send } = setUp()
    expect([shield.accepts('tls', stranger), send(stranger)]).toEqual([true, 0])
    clock.advance(800)
    expect([shield.accepts('wss', stranger), shield.accepts('tcp', stranger)]).toEqual([false, true])
    const small = setUp({ packetsPerSecond: 2 })
    expect([small.shield.accepts('wss', stranger), small.send(stranger)]).toEqual([true, 0])
  })

  it('is that of known networks for an address that the agent calls', () => {
    const { shield, send } = setUp()
    expect(send(stranger, response, 20)).toBe(5)
    shield.trustPeer(stranger)
    expect(send(stranger, response, 100)).toBe(50)
  })

  it('is that of known networks for an address that a customer calls, until the last of its calls ends', () => {
    const { clock, shield, send } = setUp()
    const releases = [shield.trustTemporarily(stranger), shield.trustTemporarily(`::ffff:${stranger}`)]
    expect([send(stranger, invite, 100), shield.isTrusted(stranger)]).toEqual([50, true])
    releases[0]?.()
    releases[0]?.()
    clock.advance(1_000)
    expect([send(stranger, invite, 100), shield.isTrusted(stranger)]).toEqual([50, true])
    releases[1]?.()
    clock.advance(1_000)
    expect([send(stranger, invite, 100), shield.isTrusted(stranger)]).toEqual([5, false])
    const before = shield.sources
    shield.trustTemporarily('203.0.113.1')()
    expect(shield.sources).toBe(before)
  })

  it('counts every message of a chunk, but of known networks only the chunk', () => {
    const { shield, send } = setUp()
    const follow = (from: string) =>
      Array.from({ length: 20 }, () => shield.admitsNext(from)).filter(Boolean).length
    expect([send(stranger), follow(stranger), send(stranger)]).toEqual([1, 4, 0])
    expect([send(carrier), follow(carrier), send(carrier, invite, 100)]).toEqual([1, 20, 49])
  })

  it('bounds its memory, and adds nothing if the clock is set back', () => {
    const { clock, shield, send } = setUp()
    for (let i = 0; i < 100_000; i++) send(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
    expect(shield.sources).toBeLessThanOrEqual(20_000)
    send(carrier, invite, 50)
    clock.advance(-3_600_000)
    expect(send(carrier)).toBe(0)
  })

  it('of a carrier is not reset by a flood of untrusted packets', () => {
    const { send } = setUp()
    send(carrier, invite, 50)
    for (let i = 0; i < 100_000; i++) send(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
    expect(send(carrier)).toBe(0)
  })
})

describe('scanners', () => {
  it('are dropped by a part of their User-Agent, from any source; responses are not checked', () => {
    const { shield, send } = setUp()
    expect([send(stranger, scan), send(carrier, scan), send(stranger, response), send(stranger)]).toEqual([
      0, 0, 1, 1,
    ])
    expect(shield.dropped.scanner).toBe(2)
  })
})

describe('untrusted sources', () => {
  it('can be dropped: requests and connections from outside known networks', () => {
    const { shield, send } = setUp({ untrusted: 'drop' })
    expect([send(stranger), send(carrier), send('2001:db8::9')]).toEqual([0, 1, 1])
    expect([shield.accepts('tcp', stranger), shield.accepts('tls', carrier)]).toEqual([false, true])
    expect(shield.dropped.stranger).toBe(2)
  })

  it('can still answer requests of the agent, and send requests within its calls', () => {
    const { shield, send } = setUp({ untrusted: 'drop' })
    expect(send(stranger, response)).toBe(1)
    shield.trustPeer(stranger)
    expect([send(stranger), shield.accepts('tcp', stranger)]).toEqual([1, true])
  })
})

describe('a ban', () => {
  const offend = (shield: Shield, from: string, times: number, proven = true) => {
    for (let i = 0; i < times; i++) shield.recordOffense(from, proven, 'refused')
  }

  it('starts with the last offence within a minute, and expires', () => {
    const { clock, shield, send } = setUp()
    offend(shield, stranger, 2)
    expect([send(stranger), shield.banned]).toEqual([1, 0])
    offend(shield, stranger, 1)
    expect([
      send(stranger),
      send(stranger, response),
      shield.accepts('tcp', stranger),
      shield.banned,
    ]).toEqual([0, 0, false, 1])
    expect(shield.dropped.banned).toBe(3)
    clock.advance(599_999)
    expect(send(stranger)).toBe(0)
    clock.advance(1)
    expect([send(stranger), shield.banned]).toEqual([1, 0])
  })

  it('does not start for offences more than a minute apart', () => {
    const { clock, shield, send } = setUp()
    for (let i = 0; i < 10; i++) {
      offend(shield, stranger, 2)
      clock.advance(60_000)
    }
    expect(send(stranger)).toBe(1)
  })

  it('never starts for datagrams that could be spoofed', () => {
    const { shield, send } = setUp()
    offend(shield, stranger, 100, false)
    expect([send(stranger), shield.banned]).toEqual([1, 0])
  })

  it('never starts for known networks, or for malformed messages of peers of the agent', () => {
    const { shield, send } = setUp()
    offend(shield, carrier, 100)
    shield.trustPeer(stranger)
    for (let i = 0; i < 100; i++) shield.recordOffense(stranger, true, 'malformed')
    expect([send(carrier), send(stranger)]).toEqual([1, 1])
    offend(shield, stranger, 3)
    expect(send(stranger)).toBe(0)
  })

  it('has no effect while the network of the address is known', () => {
    const { shield, send } = setUp()
    offend(shield, stranger, 3)
    expect([send(stranger), shield.accepts('tcp', stranger)]).toEqual([0, false])
    shield.change({ ...settings, known: ['198.51.100.0/24'] })
    expect([send(stranger), shield.accepts('tcp', stranger), shield.admitsNext(stranger)]).toEqual([
      1,
      true,
      true,
    ])
    shield.change(settings)
    expect(send(stranger)).toBe(0)
  })

  it('holds for the whole /64 of an IPv6 address', () => {
    const { shield, send } = setUp()
    offend(shield, '2001:db9::1', 3)
    expect([send('2001:db9::2'), send('2001:db9:0:1::2')]).toEqual([0, 1])
  })

  it('list is bounded: the oldest ban makes room', () => {
    const { shield, send } = setUp()
    const address = (i: number) => `10.0.${i >> 8}.${i & 255}`
    for (let i = 0; i < 10_001; i++) offend(shield, address(i), 3)
    expect(shield.banned).toBe(10_000)
    expect([send(address(0)), send(address(1)), send(address(10_000))]).toEqual([1, 0, 0])
  })
})

describe('settings', () => {
  it('can change; bans stay', () => {
    const { shield, send } = setUp({ untrusted: 'drop' })
    for (let i = 0; i < 3; i++) shield.recordOffense('203.0.113.9', true, 'sign-in')
    shield.change({ ...settings, untrusted: 'drop', known: ['198.51.100.0/24'] })
    expect([send(stranger), send(carrier), shield.banned]).toEqual([1, 0, 1])
  })

  it('that change reset the rate only of sources that become known', () => {
    const rates = { packetsPerSecond: 2, knownPacketsPerSecond: 4 }
    const { shield, send } = setUp(rates)
    const sent = () => [send(stranger, invite, 6), send(carrier, invite, 6)]
    expect(sent()).toEqual([2, 4])
    shield.change({ ...settings, ...rates, known: [...settings.known, '203.0.113.0/24'] })
    expect(sent()).toEqual([0, 0])
    shield.change({ ...settings, ...rates, known: [stranger] })
    expect([shield.isTrusted(stranger), shield.isTrusted(carrier)]).toEqual([true, false])
    expect(sent()).toEqual([4, 2])
  })

  it('that are invalid change nothing', () => {
    const { shield, send } = setUp({ untrusted: 'drop' })
    expect(() => shield.change({ ...settings, known: ['nonsense'] })).toThrow('nonsense')
    expect([send(stranger), send(carrier)]).toEqual([0, 1])
  })

  it('can be absent: everything passes', () => {
    const shield = new Shield(new FakeClock())
    shield.recordOffense(stranger, true, 'refused')
    expect([shield.admits('udp', stranger, scan), shield.accepts('tcp', stranger), shield.banned]).toEqual([
      true,
      true,
      0,
    ])
  })
})
