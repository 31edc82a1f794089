import { describe, expect, it } from 'vitest'
import { testApp } from '../testing/bench.ts'
import { Trust } from './trust.ts'

describe('the allowlist', () => {
  const lists = new Trust({ domains: [], carriers: [], sip: { registrar: { domains: [] } } })
  const allow = ['192.0.2.0/28', '203.0.113.7', '2001:db8::/32', '::ffff:198.51.100.0/120']
  const app = testApp({ allow })

  it.each([
    ['192.0.2.1', true],
    ['192.0.2.16', false],
    ['203.0.113.7', true],
    ['203.0.113.8', false],
    ['2001:db8:1::5', true],
    ['2001:db9::5', false],
    ['::ffff:192.0.2.1', true],
    ['::ffff:c000:0201', true],
    ['::ffff:192.0.2.200', false],
    ['198.51.100.9', true],
    ['198.51.101.9', false],
    ['fe80::1%eth0', false],
    ['no address', false],
    ['', false],
  ])('decides on %s: %s', (source, expected) => {
    expect(lists.isAllowed(app, source)).toBe(expected)
  })

  it('admits every source if absent, and none if empty', () => {
    expect(lists.isAllowed(testApp(), '192.0.2.200')).toBe(true)
    expect(lists.isAllowed(testApp({ allow: [] }), '192.0.2.200')).toBe(false)
  })

  it.each([
    '192.0.2.0/33',
    '192.0.2.0/',
    'example.org',
    '192.0.2.0/8/8',
    '2001:db8::/129',
    '::ffff:1.2.3.4/90',
  ])('rejects the entry %s', (entry) => {
    expect(() => lists.isAllowed(testApp({ allow: [entry] }), '192.0.2.1')).toThrow(entry)
  })
})
