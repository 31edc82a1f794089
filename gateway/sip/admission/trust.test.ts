import { describe, expect, it } from 'vitest'
import { testCarrier } from '../testing/test-carrier.ts'
import { Trust } from './trust.ts'

const open = (config: Partial<ConstructorParameters<typeof Trust>[0]> = {}) =>
  new Trust({ domains: [], carriers: [], sip: { registrar: { domains: [] } }, ...config })

describe('trust', () => {
  it('recognises a carrier by its networks, for its project only', () => {
    const trust = open({
      carriers: [
        testCarrier({ name: 'theirs', project: 'p2', allow: ['192.0.2.0/24'] }),
        testCarrier({ name: 'shared', allow: ['192.0.2.0/24', '198.51.100.1'] }),
      ],
    })
    expect(trust.carrierOf('192.0.2.1', 'p1')?.name).toBe('shared')
    expect(trust.carrierOf('192.0.2.1', 'p2')?.name).toBe('theirs')
    expect(trust.carrierOf('203.0.113.1', 'p2')).toBeUndefined()
    expect([trust.isListed('198.51.100.1'), trust.isListed('203.0.113.1')]).toEqual([true, false])
  })

  it('follows changes of the lists, and stays unchanged if a list cannot be read', () => {
    const trust = open()
    expect(trust.untrustedResponse).toBe('unknown')
    trust.change({ domains: [{ allow: ['192.0.2.1'] }], carriers: [] })
    expect([trust.untrustedResponse, trust.isListed('192.0.2.1')]).toEqual(['refuse', true])
    expect(() => trust.change({ domains: [{ allow: ['nothing'] }], carriers: [] })).toThrow('nothing')
    expect([trust.untrustedResponse, trust.isListed('192.0.2.1')]).toEqual(['refuse', true])
  })
})

it('makes a list of the API known only to its own project', () => {
  const trust = open({
    domains: [{ allow: ['192.0.2.0/24'] }, { allow: ['198.51.100.0/24'], guarded: true, project: 'p2' }],
    carriers: [testCarrier({ project: 'p3', allow: ['203.0.113.0/24'], guarded: true })],
  })
  const knownTo = (source: string) => ['p1', 'p2', 'p3'].filter((each) => trust.isKnownTo(each, source))
  expect(knownTo('192.0.2.1')).toEqual(['p1', 'p2', 'p3'])
  expect(knownTo('198.51.100.1')).toEqual(['p2'])
  expect(knownTo('203.0.113.1')).toEqual(['p3'])
  expect([trust.isListed('192.0.2.1'), trust.isListed('198.51.100.1')]).toEqual([true, false])
  // The shield sees a packet before it can see whose call it means.
  expect(trust.networks).toEqual(['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'])
})
