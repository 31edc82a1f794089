import { Networks } from '@trunkline/sip-agent/networks'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { CarrierConfig } from '../../../config/types.ts'
import { testCarrier } from '../testing/test-carrier.ts'
import { CarrierNetworks } from './carrier-networks.ts'

const networks = [
  '0.0.0.0/0',
  '192.0.2.0/24',
  '192.0.2.7',
  '::ffff:192.0.2.8/125',
  '2001:db8::/32',
  '2001:db8::5/128',
]
const sources = [
  '192.0.2.7',
  '::ffff:192.0.2.9',
  '192.0.2.200',
  '203.0.113.1',
  '2001:db8::5',
  '2001:db8::6',
  'unknown',
]
const projects = ['p1', 'p2']

const carrier = fc.record({
  name: fc.constantFrom('a', 'b', 'c', 'd'),
  project: fc.constantFrom(undefined, ...projects),
  allow: fc.subarray(networks),
  prefix: fc.constantFrom('', '9'),
})
const carriers = fc
  .uniqueArray(carrier, { selector: ({ name }) => name, maxLength: 4 })
  .map((all) => all.map(({ prefix, ...rest }) => testCarrier({ ...rest, number: { prefix, plus: 'keep' } })))

/** Reference: the first carrier of the project, or without a project, whose list has the address. */
const plainly = (all: readonly CarrierConfig[], source: string, projectId: string) =>
  all.find(
    ({ project, allow }) =>
      (project === undefined || project === projectId) && new Networks(allow).has(source),
  )

it('an address belongs to the first carrier that claims it, after any sequence of changes', () => {
  fc.assert(
    fc.property(fc.array(carriers, { minLength: 1, maxLength: 4 }), (changes) => {
      const claims = new CarrierNetworks()
      for (const all of changes) {
        claims.prepare(all)()
        for (const source of sources)
          for (const project of projects)
            expect(claims.carrierOf(source, project)).toBe(plainly(all, source, project))
      }
    }),
    { numRuns: 300 },
  )
})

it('a prepared change has no effect until it is applied', () => {
  const claims = new CarrierNetworks()
  const present = testCarrier({ allow: ['192.0.2.0/24'] })
  claims.prepare([present])()
  claims.prepare([testCarrier({ allow: ['203.0.113.0/24'] })])
  expect(() => claims.prepare([testCarrier({ allow: ['nowhere'] })])).toThrow('nowhere')
  expect(claims.carrierOf('192.0.2.1', 'p1')).toBe(present)
  expect(claims.carrierOf('203.0.113.1', 'p1')).toBeUndefined()
})
