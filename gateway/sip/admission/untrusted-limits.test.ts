import { describe, expect, it } from 'vitest'
import { testApp } from '../testing/bench.ts'
import { noCounts } from '../testing/no-counts.ts'
import { checkLimits } from './admission-decision.ts'
import type { AdmissionFacts, AdmissionRules, IdentifiedCaller } from './admission-types.ts'
import { checkUntrusted } from './untrusted-limits.ts'

const strangers = {
  maxCallsOfSource: 10,
  callsPerSecondOfSource: 2,
  maxUnconfirmedCalls: 20,
  reservedPercent: 30,
}
const stranger: IdentifiedCaller = {
  domain: 'open.example',
  projectId: 'p',
  plan: { kind: 'handler', handler: { kind: 'script', document: '{}', name: 'test' } },
  standing: 'untrusted',
  app: testApp(),
}
const facts = {
  source: '203.0.113.9',
  transport: 'udp',
  calls: 0,
  portsFree: 100,
  portsTotal: 100,
} as AdmissionFacts

interface Setting {
  readonly caller?: Partial<IdentifiedCaller>
  readonly facts?: Partial<AdmissionFacts>
  readonly limits?: AdmissionRules['limits']
  readonly counts?: Partial<AdmissionRules['counts']>
}

const usual = { maxCalls: 100, callsPerSecond: 50, busyPercent: 85, untrusted: strangers }
const rulesOf = ({ limits = usual, counts }: Setting = {}) =>
  ({ limits, counts: { ...noCounts, ...counts } }) as unknown as AdmissionRules

const check = (setting: Setting = {}) =>
  checkUntrusted({ ...stranger, ...setting.caller }, { ...facts, ...setting.facts }, rulesOf(setting))

describe('an untrusted source', () => {
  it.each<[string, Setting, object]>([
    ['over_source_limit', { counts: { untrustedCalls: () => 10 } }, { sourceCalls: 10, sourceLimit: 10 }],
    [
      'over_source_rate',
      { counts: { hasRate: (key) => key !== 'stranger 203.0.113.9' } },
      { rate: 'stranger 203.0.113.9', perSecond: 2 },
    ],
    [
      'over_source_rate',
      {
        facts: { source: '2001:db8:1:2:3::4' },
        counts: { hasRate: (key) => key !== 'stranger 2001:db8:1:2::/64' },
      },
      { rate: 'stranger 2001:db8:1:2::/64' },
    ],
    [
      'over_unconfirmed_limit',
      { counts: { unconfirmedCalls: () => 20 } },
      { unconfirmedCalls: 20, unconfirmedLimit: 20 },
    ],
    ['over_stranger_share', { facts: { calls: 70 } }, { calls: 70, strangerLimit: 70, limit: 100 }],
    ['over_stranger_share', { facts: { portsFree: 30 } }, { portsFree: 30, portsReserved: 30 }],
    [
      'over_stranger_share',
      { counts: { hasRate: (key) => key !== 'strangers' } },
      { rate: 'strangers', perSecond: 35 },
    ],
  ])('is refused with %s, with what was counted', (refuse, setting, found) => {
    expect(check(setting)).toMatchObject({ refuse, check: 'strangers', facts: found })
    expect(check({ ...setting, caller: { standing: 'known' } })).toBeUndefined()
    expect(check({ ...setting, caller: { standing: 'authenticated' } })).toBeUndefined()
  })

  it('must prove its address only over UDP', () => {
    const counts = { unconfirmedCalls: () => 20 }
    expect(check({ counts, facts: { transport: 'tcp' } })).toBeUndefined()
    expect(check({ counts, facts: { transport: 'UDP' } })).toBeDefined()
  })

  it('has the limits of a domain with its own limits', () => {
    const app = testApp({ maxCallsOfSource: 50, callsPerSecondOfSource: 20 })
    const counts = { untrustedCalls: () => 49, hasRate: (key: string) => !key.startsWith('stranger ') }
    expect(check({ caller: { app }, counts })).toBeUndefined()
  })

  it('is admitted below every limit, and counts towards the rates of untrusted sources', () => {
    const admitted = checkLimits(stranger, facts, rulesOf())
    expect(admitted).toMatchObject({
      admit: {
        isUnconfirmed: true,
        rates: [
          { key: 'gateway', perSecond: 50 },
          { key: 'strangers', perSecond: 35 },
          { key: 'stranger 203.0.113.9', perSecond: 2 },
        ],
      },
    })
    const known = checkLimits({ ...stranger, standing: 'known' }, facts, rulesOf())
    expect(known).toMatchObject({ admit: { isUnconfirmed: false, rates: [{ key: 'gateway' }] } })
  })

  it('gets at least one call, even with small limits', () => {
    const limits = {
      maxCalls: 1,
      callsPerSecond: 1,
      busyPercent: 85,
      untrusted: { ...strangers, reservedPercent: 90 },
    }
    expect(check({ limits, facts: { portsTotal: 1, portsFree: 1 } })).toBeUndefined()
  })
})
