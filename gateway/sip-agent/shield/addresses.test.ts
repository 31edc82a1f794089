import { expect, it } from 'vitest'
import { plainAddress, senderOf } from './addresses.ts'

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
