import { describe, expect, it } from 'vitest'
import { testCarrier } from '../carriers/testing.ts'
import { knownNetworks, Trust } from './trust.ts'

const open = (config: Partial<ConstructorParameters<typeof Trust>[0]> = {}) =>
  new Trust({ domains: [], carriers: [], sip: { registrar: { domains: [] } }, ...config })

describe('trust', () => {
  it('knows a carrier by its networks, for its project alone', () => {
    const trust = open({
      carriers: [
        testCarrier({ name: 'theirs', project: 'p2', allow: ['192.0.2.0/24'] }),
        testCarrier({ name: 'everybody', allow: ['192.0.2.0/24', '198.51.100.1'] }),
      ],
    })
    expect(trust.carrierOf('192.0.2.1', 'p1')?.name).toBe('everybody')
    expect(trust.carrierOf('192.0.2.1', 'p2')?.name).toBe('theirs')
    expect(trust.carrierOf('203.0.113.1', 'p2')).toBeUndefined()
    expect([trust.knows('198.51.100.1'), trust.knows('203.0.113.1')]).toEqual([true, false])
  })

  it('follows what changes, and stays as it was where a list cannot be read', () => {
    const trust = open()
    expect(trust.strangersGet).toBe('unknown')
    trust.change({ domains: [{ allow: ['192.0.2.1'] }], carriers: [] })
    expect([trust.strangersGet, trust.knows('192.0.2.1')]).toEqual(['refuse', true])
    expect(() => trust.change({ domains: [{ allow: ['nothing'] }], carriers: [] })).toThrow('nothing')
    expect([trust.strangersGet, trust.knows('192.0.2.1')]).toEqual(['refuse', true])
  })
})

it('a customer’s list makes a narrow network known, and no wide one', () => {
  const allow = ['10.0.0.0/8', '172.16.0.0/16', '192.0.2.1', '2001::/16', '2001:db8::/32', '::/0']
  expect(knownNetworks({ domains: [{ allow }], carriers: [] })).toEqual(allow)
  const narrow = ['172.16.0.0/16', '192.0.2.1', '2001:db8::/32']
  expect(knownNetworks({ domains: [{ allow, guarded: true }], carriers: [] })).toEqual(narrow)
  const carrier = testCarrier({ allow, guarded: true })
  expect(knownNetworks({ domains: [], carriers: [carrier] })).toEqual(narrow)
})

it.each(['::ffff:0:0/96', '::ffff:10.0.0.0/104', '::/32', '::/64', '0.0.0.0/0'])(
  'a customer’s list does not make half of IPv4 known as %s',
  (network) => {
    expect(knownNetworks({ domains: [{ allow: [network], guarded: true }], carriers: [] })).toEqual([])
  },
)
