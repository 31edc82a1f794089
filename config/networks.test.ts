import { describe, expect, it } from 'vitest'
import { canonicalHost, parseNetwork } from './networks.ts'

describe('a network', () => {
  it.each([
    ['192.0.2.0/24', { address: '192.0.2.0', prefix: 24, family: 'ipv4' }],
    ['192.0.2.1', { address: '192.0.2.1', prefix: 32, family: 'ipv4' }],
    ['2001:db8::/32', { address: '2001:db8::', prefix: 32, family: 'ipv6' }],
    ['::1', { address: '::1', prefix: 128, family: 'ipv6' }],
    ['0.0.0.0/0', { address: '0.0.0.0', prefix: 0, family: 'ipv4' }],
  ])('is read from %s', (text, network) => {
    expect(parseNetwork(text)).toEqual(network)
  })

  it.each([
    '',
    '10.0.0/8',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    '::1/129',
    '::ffff:192.0.2.0/24',
    '::FFFF:c000:200/95',
    '0:0:0:0:0:ffff:192.0.2.1/90',
    'fe80::1%eth0',
    'host',
  ])('is not %j', (text) => {
    expect(parseNetwork(text)).toBeUndefined()
  })
})

it.each([
  ['Demo.EXAMPLE.', 'demo.example'],
  ['[2001:DB8::0:1]', '2001:db8::1'],
  ['2001:db8:0:0:0:0:0:1', '2001:db8::1'],
  ['::ffff:192.0.2.1', '::ffff:c000:201'],
  ['192.0.2.1', '192.0.2.1'],
  ['fe80::1%eth0', 'fe80::1%eth0'],
])('compares the host %s as %s', (host, expected) => {
  expect(canonicalHost(host)).toBe(expected)
})
