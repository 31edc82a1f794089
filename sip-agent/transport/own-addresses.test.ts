import { networkInterfaces } from 'node:os'
import { describe, expect, it } from 'vitest'
import { FakeClock } from '../clock.ts'
import { OwnAddresses } from './own-addresses.ts'
import type { Endpoint } from './types.ts'

const udp = (address: string): Endpoint => ({ protocol: 'udp', address, port: 5060 })
const own = (announce?: string) =>
  new OwnAddresses(new FakeClock(), announce, [
    { networks: ['10.0.0.0/8', '172.16.0.0/12'], address: '10.1.1.1' },
    { networks: ['10.2.0.0/16', '127.0.0.9'], address: 'inside.example' },
    { networks: ['fd00::/8'], address: 'fd00::1' },
  ])

describe('a peer receives', () => {
  it.each([
    ['10.2.3.4', '0.0.0.0', '10.1.1.1'],
    ['192.0.2.9', '0.0.0.0', '203.0.113.1'],
    ['192.0.2.9', '192.0.2.1', '203.0.113.1'],
    ['127.0.0.1', '0.0.0.0', '127.0.0.1'],
    ['127.0.0.9', '0.0.0.0', 'inside.example'],
    ['::ffff:172.16.1.1', '0.0.0.0', '10.1.1.1'],
    ['fd12::7', '::', 'fd00::1'],
    ['2001:db8::7', '2001:db8::1', '2001:db8::1'],
    ['::1', '::', '::1'],
    [undefined, '0.0.0.0', '203.0.113.1'],
  ])('from %s at %s: %s', (remote, bound, expected) => {
    expect(own('203.0.113.1').hostFor(udp(bound), remote)).toBe(expected)
  })

  it('the bound address if none is announced', () => {
    expect(own().hostFor(udp('192.0.2.1'), '192.0.2.9')).toBe('192.0.2.1')
  })
})

describe('an address of the agent', () => {
  const machine = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const here = machine.find((each) => each.family === 'IPv4')?.address ?? '127.0.0.1'

  it.each([
    ['203.0.113.1', '192.0.2.1', true],
    ['10.1.1.1', '192.0.2.1', true],
    ['inside.example', '192.0.2.1', true],
    ['192.0.2.1', '192.0.2.1', true],
    ['127.0.0.1', '192.0.2.1', false],
    ['127.0.0.1', '0.0.0.0', true],
    [here, '0.0.0.0', true],
    [here, '::', false],
    ['192.0.2.200', '0.0.0.0', false],
  ])('%s, bound to %s: %s', (host, bound, expected) => {
    expect(own('203.0.113.1').isOwn([udp(bound)], 'udp', host, 5060)).toBe(expected)
  })

  it('matches its port and protocol only', () => {
    const found = (protocol: 'udp' | 'tcp', port: number) =>
      own().isOwn([udp('192.0.2.1')], protocol, '192.0.2.1', port)
    expect([found('udp', 5060), found('udp', 5061), found('tcp', 5060)]).toEqual([true, false, false])
  })
})

it('a malformed network is rejected', () => {
  const wrong = [{ networks: ['10.0.0.0/33'], address: '10.1.1.1' }]
  expect(() => new OwnAddresses(new FakeClock(), undefined, wrong)).toThrow('10.0.0.0/33')
})
