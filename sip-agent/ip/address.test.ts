import { expect, it } from 'vitest'
import { plainAddress } from './address.ts'

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['2001:db8::1', '2001:db8::1'],
])('%s is normalised to %s', (address, expected) => {
  expect(plainAddress(address)).toBe(expected)
})
