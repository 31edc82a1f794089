import { parsePrefix } from '@trunkline/sip-agent/networks'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseNetwork } from '../../../config/networks.ts'
import { allNetworks, knownNetworks, maxEntries, maxSenders, type NetworkList } from './known-networks.ts'

const known = (...domains: NetworkList[]) => allNetworks(knownNetworks({ domains, carriers: [] }))
const ofCustomer = (allow: readonly string[], project = 'p1'): NetworkList => ({
  allow,
  project,
  guarded: true,
})

it('all networks of the file are known, and only narrow networks of a customer', () => {
  const allow = [
    '10.0.0.0/8',
    '172.16.0.0/16',
    '192.0.2.1',
    '2001::/16',
    '2001:db8::/32',
    '2001:db8::/64',
    '::/0',
  ]
  expect(known({ allow })).toEqual(allow)
  expect(known(ofCustomer(['10.0.0.0/8', '192.0.2.1', '::/0', '2001:db8::/64']))).toEqual([
    '192.0.2.1',
    '2001:db8::/64',
  ])
  const carriers = [ofCustomer(allow)]
  expect(knownNetworks({ domains: [], carriers }).ofProjects.get('p1')).toEqual([
    '192.0.2.1',
    '2001:db8::/64',
  ])
})

it.each(['::ffff:0:0/96', '::ffff:10.0.0.0/104', '::/32', '0.0.0.0/0', '2001:db8::/47'])(
  'a customer’s list does not make a large part of the internet known: %s',
  (network) => {
    expect(known(ofCustomer([network]))).toEqual([])
  },
)

it('many networks of a customer make no more senders known, except narrow ones', () => {
  const wide = Array.from({ length: 256 }, (_, i) => `10.${i}.0.0/16`)
  expect(known(ofCustomer(['203.0.113.0/24', ...wide, '192.0.2.1']))).toEqual(['192.0.2.1', '203.0.113.0/24'])
  const halves = known(ofCustomer(['10.0.0.0/17', '10.1.0.0/17', '10.2.0.0/17']))
  expect(halves.length * 2 ** 15).toBe(maxSenders)
})

it('the limit applies to each customer, over all lists', () => {
  const addresses = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => `10.${from}.${i >> 8}.${i & 255}`)
  const theirs = [ofCustomer(addresses(0, 700)), ofCustomer(addresses(1, 700))]
  expect(known(...theirs)).toHaveLength(maxEntries)
  expect(known(...theirs, ofCustomer(addresses(2, 50), 'p2'))).toHaveLength(maxEntries + 50)
})

it('every network that configuration and API accept can be read by the lists', () => {
  const address = fc.oneof(fc.ipV4(), fc.ipV6())
  fc.assert(
    fc.property(address, fc.nat(128), (host, bits) => {
      const text = `${host}/${bits}`
      fc.pre(parseNetwork(text) !== undefined)
      expect(parsePrefix(text)).toBeDefined()
    }),
    { numRuns: 500 },
  )
})
