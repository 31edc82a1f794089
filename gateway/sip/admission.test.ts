import { describe, expect, it } from 'vitest'
import { type AdmissionFacts, admit, Concurrency } from './admission.ts'
import { Allowlists, buildAllowlist } from './allowlist.ts'
import { testApp } from './testing/bench.ts'

const facts: AdmissionFacts = {
  method: 'INVITE',
  source: '192.0.2.9',
  transport: 'udp',
  host: 'demo.example',
  draining: false,
  calls: 0,
  maxCalls: 10,
  portsFree: 1,
}

const decide = (changes: Partial<AdmissionFacts> = {}, app = testApp(), domainCalls = 0, allowed = true) =>
  admit(
    { ...facts, ...changes },
    {
      domainApp: (host) => (host === app.domain ? app : undefined),
      allows: () => allowed,
      callsOf: () => domainCalls,
    },
  )

describe('admission', () => {
  it('lets a call in when nothing speaks against it', () => {
    expect(decide()).toEqual({ admit: testApp() })
  })

  it('checks in a fixed order: each fault alone, and all later ones with it', () => {
    const bare = testApp({ handler: undefined, maxCalls: 0 })
    const all = { method: 'MESSAGE', draining: true, host: 'x.example', calls: 10, portsFree: 0 }
    const codes = [
      decide(all, bare, 1, false),
      decide({ ...all, method: 'INVITE' }, bare, 1, false),
      decide({ ...all, method: 'INVITE', draining: false }, bare, 1, false),
      decide({ calls: 10, portsFree: 0 }, bare, 1, false),
      decide({ calls: 10, portsFree: 0 }, bare, 1),
      decide({ calls: 10, portsFree: 0 }, testApp({ maxCalls: 1 }), 1),
      decide({ portsFree: 0 }, testApp({ maxCalls: 1 }), 1),
      decide({ portsFree: 0 }),
    ].map((decision) => ('refuse' in decision ? decision.refuse : 'admit'))
    expect(codes).toEqual([
      'method_not_allowed',
      'draining',
      'unknown_domain',
      'source_not_allowed',
      'no_handler',
      'over_call_limit',
      'over_call_limit',
      'no_ports',
    ])
  })

  it('gives the facts that were checked', () => {
    expect(decide({}, testApp({ maxCalls: 2 }), 2)).toEqual({
      refuse: 'over_call_limit',
      facts: {
        ...{ source: '192.0.2.9', transport: 'udp', domain: 'demo.example' },
        ...{ app: 'app-1', domainCalls: 2, domainLimit: 2 },
      },
    })
  })
})

describe('the allowlist', () => {
  const lists = new Allowlists()
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
    expect(lists.allows(app, source)).toBe(expected)
  })

  it('lets anyone in where there is no list, and nobody where it is empty', () => {
    expect(lists.allows(testApp(), '192.0.2.200')).toBe(true)
    expect(lists.allows(testApp({ allow: [] }), '192.0.2.200')).toBe(false)
  })

  it.each([
    '192.0.2.0/33',
    '192.0.2.0/',
    'example.org',
    '192.0.2.0/8/8',
    '2001:db8::/129',
    '::ffff:1.2.3.4/90',
  ])('refuses the entry %s', (entry) => {
    expect(() => buildAllowlist([entry])).toThrow(entry)
  })
})

describe('counting', () => {
  it('takes a call back once, however often it is told', () => {
    const counts = new Concurrency()
    const [first, second] = [counts.acquire('a'), counts.acquire('a')]
    counts.acquire('b')
    first()
    first()
    expect([counts.count('a'), counts.total, counts.size]).toEqual([1, 2, 2])
    second()
    expect([counts.count('a'), counts.total, counts.size]).toEqual([0, 1, 1])
  })
})
