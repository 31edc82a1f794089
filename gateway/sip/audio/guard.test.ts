import { expect, it } from 'vitest'
import { judgeAddress } from './guard.ts'

it.each([
  ['198.51.100.7', '203.0.113.5', 'take'],
  ['203.0.113.5', '203.0.113.5', 'take'],
  ['10.0.0.5', '203.0.113.5', 'learn'],
  ['172.16.9.9', '203.0.113.5', 'learn'],
  ['100.64.0.1', '203.0.113.5', 'learn'],
  ['fd00::5', '2001:db8::1', 'learn'],
  ['10.0.0.5', '10.0.0.9', 'take'],
  ['192.168.1.4', '10.0.0.9', 'take'],
  ['127.0.0.1', '203.0.113.5', 'refuse'],
  ['127.0.0.1', '10.0.0.9', 'refuse'],
  ['127.9.9.9', '127.0.0.1', 'take'],
  ['::1', '2001:db8::1', 'refuse'],
  ['::1', '::1', 'take'],
  ['::ffff:127.0.0.1', '203.0.113.5', 'refuse'],
  ['169.254.169.254', '203.0.113.5', 'refuse'],
  ['169.254.1.1', '10.0.0.9', 'take'],
  ['fe80::1', '2001:db8::1', 'refuse'],
  ['0.1.2.3', '127.0.0.1', 'refuse'],
  ['224.0.0.1', '224.0.0.1', 'refuse'],
  ['239.1.1.1', '203.0.113.5', 'refuse'],
  ['255.255.255.255', undefined, 'refuse'],
  ['ff02::1', '2001:db8::1', 'refuse'],
  ['media.example', '203.0.113.5', 'refuse'],
  ['198.51.100.7', undefined, 'take'],
])('pain point 1: %s in the SDP of %s: %s', (address, source, verdict) => {
  expect(judgeAddress(address, source)).toBe(verdict)
})
