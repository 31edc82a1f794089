import { expect, it } from 'vitest'
import { Networks, plainAddress, senderOf } from './addresses.ts'

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['2001:db8::1', '2001:db8::1'],
])('%s is plainly %s', (address, expected) => {
  expect(plainAddress(address)).toBe(expected)
})

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:2::', '2001:db8:1:2::/64'],
  ['2001:db8::6', '2001:db8:0:0::/64'],
  ['2001:db8:1::2:3:4:5', '2001:db8:1:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['1:2:3:4:5::', '1:2:3:4::/64'],
])('%s is sent by %s', (address, expected) => {
  expect(senderOf(address)).toBe(expected)
})

it('holds networks of both families, with the IPv4-mapped spelling', () => {
  const networks = new Networks(['192.0.2.0/28', '203.0.113.7', '2001:db8::/32', '::ffff:198.51.100.0/120'])
  const inside = ['192.0.2.15', '203.0.113.7', '2001:db8:ffff::1', '198.51.100.9']
  const outside = ['192.0.2.16', '203.0.113.8', '2001:db9::1', '198.51.101.9', 'no address', '']
  expect(inside.filter((each) => !networks.has(each))).toEqual([])
  expect(outside.filter((each) => networks.has(each))).toEqual([])
})

it.each(['192.0.2.0/33', '192.0.2.0/x', 'carrier.example', '::ffff:1.2.3.4/90'])('refuses %s', (network) => {
  expect(() => new Networks([network])).toThrow(network)
})
