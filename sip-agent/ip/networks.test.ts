import { BlockList, isIP } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { senderOf } from './address.ts'
import { ipv4PrefixBits, Networks, PrefixMap, parsePrefix } from './networks.ts'

interface Network {
  readonly address: string
  readonly bits: number
}

const textOf = ({ address, bits }: Network) => `${address}/${bits}`

// Few values, so that networks hold one another and addresses lie in them and right beside them.
const byte = fc.constantFrom(0, 1, 127, 128, 192, 255)
const group = fc.constantFrom('0', '1', '7fff', '8000', 'FFFF', '2001', 'db8')
const four = fc.tuple(byte, byte, byte, byte).map((bytes) => bytes.join('.'))
const groups = (length: number) => fc.array(group, { minLength: length, maxLength: length })
const six = fc.oneof(
  groups(8).map((all) => all.join(':')),
  fc.tuple(groups(2), groups(3)).map(([head, tail]) => `${head.join(':')}::${tail.join(':')}`),
  groups(4).map((head) => `${head.join(':')}::`),
  groups(1).map((tail) => `::${tail.join(':')}`),
  four.map((tail) => `2001:db8::${tail}`),
)
const mapped = fc.oneof(
  four.map((address) => `::ffff:${address}`),
  groups(2).map((tail) => `::FFFF:${tail.join(':')}`),
)
const address = fc.oneof(four, six, mapped)
const network: fc.Arbitrary<Network> = fc.oneof(
  fc.record({ address: four, bits: fc.nat(32) }),
  fc.record({ address: six, bits: fc.nat(128) }),
  fc.record({ address: mapped, bits: fc.integer({ min: 96, max: 128 }) }),
)

/** Returns a set of the networks as Node implements it. */
const listed = (networks: readonly Network[]) => {
  const list = new BlockList()
  for (const { address, bits } of networks)
    list.addSubnet(address, bits, isIP(address) === 4 ? 'ipv4' : 'ipv6')
  return (text: string) => list.check(text, isIP(text) === 4 ? 'ipv4' : 'ipv6')
}

it('a set contains the addresses that Node finds in its networks, of both families', () => {
  fc.assert(
    fc.property(
      fc.array(network, { maxLength: 8 }),
      fc.array(address, { minLength: 1 }),
      (list, addresses) => {
        const set = new Networks(list.map(textOf))
        const has = listed(list)
        for (const each of addresses) expect([each, set.has(each)]).toEqual([each, has(each)])
      },
    ),
    { numRuns: 500 },
  )
})

it('a changed set has the networks of its last change', () => {
  const lists = fc.array(fc.subarray([0, 1, 2, 3, 4, 5]), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(fc.array(network, { minLength: 6, maxLength: 6 }), lists, address, (all, changes, each) => {
      const set = new Networks()
      let present: Network[] = []
      for (const chosen of changes) {
        const next = chosen.map((at) => all[at]!)
        const [before, after] = [present, next].map((list) =>
          JSON.stringify([...new Set(list.map(textOf))].sort()),
        )
        expect(set.change(next.map(textOf))).toBe(before !== after)
        present = next
      }
      expect(set.has(each)).toBe(listed(present)(each))
    }),
    { numRuns: 500 },
  )
})

it('a set stays unchanged if a text is not a network', () => {
  const set = new Networks(['192.0.2.0/24'])
  expect(() => set.change(['198.51.100.0/24', 'example.org'])).toThrow('found "example.org"')
  expect(['192.0.2.1', '198.51.100.1'].map((each) => set.has(each))).toEqual([true, false])
})

it('different spellings of a network are equal', () => {
  const spellings = ['192.0.2.7/24', '192.0.2.0/24', '::ffff:192.0.2.9/120', '::ffff:c000:2ff/120']
  expect(new Set(spellings.map((text) => JSON.stringify(parsePrefix(text)))).size).toBe(1)
  expect(parsePrefix('fe80::1%eth0/64')).toEqual(parsePrefix('fe80::/64'))
})

it('a look-up for an address returns the values of all its networks', () => {
  const map = new PrefixMap<string>()
  for (const text of ['0.0.0.0/0', '10.0.0.0/8', '10.1.2.3', '10.1.0.0/17', '2001:db8::/32'])
    map.set(parsePrefix(text)!, text)
  expect([...map.matching('10.1.2.3')].sort()).toEqual(['0.0.0.0/0', '10.0.0.0/8', '10.1.0.0/17', '10.1.2.3'])
  map.delete(parsePrefix('10.0.0.0/8')!)
  expect([...map.matching('10.200.0.1')]).toEqual(['0.0.0.0/0'])
  expect([...map.matching('2001:db8::1')]).toEqual(['2001:db8::/32'])
  expect([...map.matching('carrier.example')]).toEqual([])
})

it.each([
  '192.0.2.0/33',
  '192.0.2.0/',
  '192.0.2.0/x',
  'example.org',
  '192.0.2.0/8/8',
  '2001:db8::/129',
  '::ffff:1.2.3.4/90',
  '',
])('%j is not a network', (text) => {
  expect(parsePrefix(text)).toBeUndefined()
})

it.each([
  ['192.0.2.0/24', 24],
  ['0.0.0.0/0', 0],
  ['::ffff:192.0.2.1', 32],
  ['::ffff:0:0/96', 0],
  ['::/32', 0],
  ['::/0', 0],
  ['::/96', undefined],
  ['2001:db8::/32', undefined],
] as const)('the prefix of %s covers this number of IPv4 bits: %s', (text, bits) => {
  expect(ipv4PrefixBits(parsePrefix(text)!)).toBe(bits)
})

describe('the source network of a sender', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:0:1:aaaa::1', '2001:db8:0:1::/64'],
    ['2001:0DB8::1:0:0:0:2', '2001:db8:0:1::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1::2:3:4:5', '2001:db8:1:0::/64'],
    ['1:2:3:4:5::', '1:2:3:4::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['carrier.example', 'carrier.example'],
  ])('for %s is %s', (address, key) => {
    expect(senderOf(address)).toBe(key)
  })
})
