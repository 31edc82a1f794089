import { expect, it } from 'vitest'
import type { CarrierConfig } from '../../../config/types.ts'
import type { DomainApp } from '../../directory/model/callers.ts'
import { testCarrier } from '../testing/test-carrier.ts'
import { telTarget } from './tel-target.ts'
import { Trust } from './trust.ts'

const carrier = (name: string, change: Partial<CarrierConfig>): CarrierConfig => ({
  ...testCarrier(),
  name,
  ...change,
})

const rules = (...carriers: readonly CarrierConfig[]) => ({
  directory: {
    domainApp: (host: string) =>
      host === 'ims.example' ? ({ id: 'ims' } as unknown as DomainApp) : undefined,
  },
  trust: new Trust({ domains: [], carriers, sip: { registrar: { domains: [] } } }),
})

const bare = (uri: string, source: string, ...carriers: readonly CarrierConfig[]) =>
  telTarget(uri, source, rules(...carriers))?.bare

const acme = carrier('acme', { allow: ['192.0.2.0/24'], domain: 'acme.example' })

it('a tel: URI leads to the domain application of the calling carrier, without visual separators', () => {
  expect(bare('tel:+49-30-(123)4567;isub=1', '192.0.2.9', acme)).toBe(
    'sip:+49301234567@acme.example;user=phone',
  )
  expect(bare('TEL:7042', '192.0.2.9', acme)).toBe('sip:7042@acme.example;user=phone')
})

it('a tel: URI leads to the domain in its context, if any', () => {
  expect(bare('tel:7042;phone-context=IMS.example', '192.0.2.9', acme)).toBe(
    'sip:7042@ims.example;user=phone',
  )
  expect(bare('tel:7042;phone-context=other.example', '192.0.2.9', acme)).toBe(
    'sip:7042@acme.example;user=phone',
  )
  expect(bare('tel:7042;phone-context=+49', '192.0.2.9', acme)).toBe('sip:7042@acme.example;user=phone')
})

it('a tel: URI has no target for an untrusted source, or if carriers disagree', () => {
  expect(bare('tel:+4930', '198.51.100.1', acme)).toBeUndefined()
  const other = carrier('other', { allow: ['192.0.2.9/32'], domain: 'other.example', project: 'other' })
  expect(bare('tel:+4930', '192.0.2.9', acme, other)).toBeUndefined()
  expect(bare('tel:+4930', '192.0.2.9', acme, { ...other, domain: 'acme.example' })).toBe(
    'sip:+4930@acme.example;user=phone',
  )
})

it.each(['tel:', 'tel:+', 'tel:xyz', 'tel:+49<x>', `tel:+${'1'.repeat(70)}`, 'tel:+49;a=b c'])(
  'a tel: URI has no target: %s',
  (uri) => {
    expect(bare(uri, '192.0.2.9', acme)).toBeUndefined()
  },
)
