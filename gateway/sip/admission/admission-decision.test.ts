import { describe, expect, it } from 'vitest'
import type { CarrierConfig, DomainConfig } from '../../../config/types.ts'
import type { DomainApp, SipEndpoint } from '../../directory/model/callers.ts'
import { digestSecret } from '../../directory/model/digest-secret.ts'
import { testApp } from '../testing/bench.ts'
import { noCounts } from '../testing/no-counts.ts'
import { type AdmissionFacts, type AdmissionRules, decideAdmission } from './admission-decision.ts'
import type { DigestCheck } from './challenger.ts'
import { Trust } from './trust.ts'

const facts: AdmissionFacts = {
  method: 'INVITE',
  source: '192.0.2.9',
  transport: 'udp',
  target: { host: 'demo.example', user: '1' },
  isDraining: false,
  busyPercent: 0,
  calls: 0,
  portsFree: 1,
  portsTotal: 1,
  checkDigest: () => challenged,
}
const challenged: DigestCheck = {
  kind: 'challenge',
  why: 'missing',
  headers: { 'WWW-Authenticate': 'Digest realm' },
}
/** Accepts the secret of `username`. */
const signedInAs =
  (username: string): AdmissionFacts['checkDigest'] =>
  (_realm, secretOf) =>
    secretOf(username) ? { kind: 'accepted', username } : { ...challenged, why: 'wrong' }

const desk: SipEndpoint = {
  id: 'endpoint-1',
  projectId: 'project-1',
  username: 'desk',
  address: '/public/desk',
  displayName: 'Desk',
  callerId: '100',
  mayDialOut: false,
  handler: undefined,
  secrets: new Map([['pbx.example', digestSecret('desk', 'pbx.example', 'secret')]]),
}
const carrier = { name: 'acme', allow: ['198.51.100.0/24'] } as unknown as CarrierConfig

interface Setting {
  readonly apps?: readonly DomainApp[]
  readonly carriers?: readonly CarrierConfig[]
  readonly registrar?: readonly string[]
  readonly strangers?: 'answer' | 'refuse'
  readonly facts?: Partial<AdmissionFacts>
  readonly directory?: AdmissionRules['directory']
  readonly counts?: Partial<AdmissionRules['counts']>
}

const decide = (setting: Setting = {}) => {
  const { apps = [testApp()], carriers = [], registrar = [], strangers = 'answer' } = setting
  const trust = new Trust({
    domains: apps as unknown as readonly DomainConfig[],
    carriers,
    sip: { registrar: { domains: registrar }, shield: { strangers } },
  })
  return decideAdmission(
    { ...facts, ...setting.facts },
    {
      directory: setting.directory ?? {
        domainApp: (host) => apps.find(({ domain }) => domain === host),
        endpointByName: (name) => (name === 'desk' ? desk : undefined),
        resolve: (to) =>
          to === '/public/ann'
            ? { kind: 'subscriber', subscriberId: 's', address: to }
            : to === '+4930123'
              ? { kind: 'sip', uri: 'sip:+4930123@carrier.example' }
              : undefined,
      },
      trust,
      limits: { maxCalls: 10, callsPerSecond: 5, busyPercent: 85 },
      counts: { ...noCounts, ...setting.counts },
    },
  )
}
const codeOf = (setting: Setting = {}) => {
  const decision = decide(setting)
  return 'refuse' in decision ? decision.refuse : 'admit'
}
const at = (host: string, source = facts.source, more: Partial<AdmissionFacts> = {}) => ({
  facts: { ...more, source, target: { host, user: '1' } },
})

describe('a caller in a list of the API does not learn which hosts other projects have', () => {
  const own = { allow: ['192.0.2.0/24'], guarded: true, projectId: 'p1', project: 'p1' }
  const apps = [
    testApp({ id: 'theirs', domain: 'theirs.example', projectId: 'p2', allow: ['203.0.113.0/24'] }),
    testApp({ id: 'closed', domain: 'closed.example', projectId: 'p1', allow: ['203.0.113.0/24'] }),
    { ...testApp({ id: 'own', domain: 'own.example' }), ...own },
  ]

  it('does not find out which hosts other projects have', () => {
    const answered = (host: string) => codeOf({ apps, registrar: ['pbx.example'], ...at(host) })
    expect([answered('theirs.example'), answered('nothing.example')]).toEqual([
      'unauthorized',
      'unauthorized',
    ])
    expect([answered('own.example'), answered('closed.example')]).toEqual(['admit', 'source_not_allowed'])
  })
})

describe('the standing of a caller', () => {
  const standing = (setting: Setting) => {
    const decision = decide(setting)
    return 'admit' in decision ? decision.admit.standing : decision.refuse
  }
  const ofApi = (allow: readonly string[]) =>
    [{ ...testApp({ allow }), guarded: true, project: 'project-1' }] as const

  it('is that of an untrusted source without a matching list or password', () => {
    expect(standing({})).toBe('untrusted')
  })

  it('is known by a list of the configuration file, of any domain or carrier', () => {
    expect(standing({ apps: [testApp({ allow: ['192.0.2.0/24'] })] })).toBe('known')
    const other = testApp({ id: 'other', domain: 'other.example', projectId: 'p2', allow: ['0.0.0.0/0'] })
    expect(standing({ apps: [testApp(), other] })).toBe('known')
    expect(standing({ carriers: [carrier], ...at('demo.example', '198.51.100.1') })).toBe('known')
  })

  it('is known by a narrow list of the API; a wide list admits callers without making them known', () => {
    expect(standing({ apps: ofApi(['192.0.2.0/24']) })).toBe('known')
    expect(standing({ apps: ofApi(['0.0.0.0/0']) })).toBe('untrusted')
    expect(standing({ apps: ofApi(['203.0.113.0/24']) })).toBe('source_not_allowed')
  })

  it('is authenticated by a password, of a domain or of an endpoint', () => {
    const challenge = digestSecret('trunk', 'demo.example', 'secret')
    const shown = { ...at('demo.example', facts.source, { checkDigest: signedInAs('trunk') }) }
    expect(standing({ apps: [testApp({ challenge })], ...shown })).toBe('authenticated')
    const target = { host: 'pbx.example', user: 'ann' }
    const endpoint = { facts: { target, checkDigest: signedInAs('desk') } }
    expect(standing({ registrar: ['pbx.example'], ...endpoint })).toBe('authenticated')
  })
})

describe('admission', () => {
  it('accepts a call without any fault, and returns the limits that it counts in', () => {
    const app = testApp({ callsPerSecond: 3, callsPerSecondOfSource: 1 })
    expect(decide({ apps: [app] })).toEqual({
      admit: {
        standing: 'untrusted',
        isUnconfirmed: true,
        domain: 'demo.example',
        projectId: 'project-1',
        plan: { kind: 'handler', handler: app.handler },
        app,
        rates: [
          { key: 'gateway', perSecond: 5 },
          { key: 'app app-1', perSecond: 3 },
          { key: 'source 192.0.2.9 of app-1', perSecond: 1 },
        ],
      },
    })
  })

  it('checks in a fixed order: each fault is reported before all later ones', () => {
    const allow = ['192.0.2.0/24']
    const secret = digestSecret('u', 'demo.example', 'p')
    const closed = testApp({ allow, handler: undefined, maxCalls: 0, challenge: secret })
    const open = (changes: Partial<DomainApp>) => [testApp({ allow, ...changes })]
    const late = { calls: 10, portsFree: 0 }
    const slow = { hasRate: () => false }
    const full = { carrierCalls: () => 1, domainCalls: () => 0 }
    const acme = { ...carrier, allow, maxCalls: 1 }
    const all = { method: 'MESSAGE', isDraining: true, busyPercent: 100, ...late }
    const steps: Setting[] = [
      { ...at('x.example', '203.0.113.1', all), apps: [closed] },
      { ...at('x.example', '203.0.113.1', { ...all, method: 'INVITE' }), apps: [closed] },
      { ...at('x.example', '203.0.113.1', { ...late, busyPercent: 85 }), apps: [closed] },
      { ...at('x.example', '203.0.113.1', late), apps: [closed] },
      { ...at('x.example', facts.source, late), apps: [closed] },
      { ...at('demo.example', '203.0.113.1', late), apps: [closed] },
      { facts: late, apps: [closed] },
      { facts: late, apps: open({ handler: undefined }), counts: slow },
      { facts: late, apps: open({ maxCalls: 0 }), counts: slow },
      { facts: { portsFree: 0 }, apps: open({ maxCalls: 0 }), counts: slow },
      { facts: { portsFree: 0 }, apps: open({}), carriers: [acme], counts: { ...slow, ...full } },
      { facts: { portsFree: 0 }, apps: open({}), counts: slow },
      { facts: { portsFree: 0 }, apps: open({}) },
    ]
    expect(steps.map(codeOf)).toEqual([
      'method_not_allowed',
      'draining',
      'overloaded',
      'source_not_allowed',
      'unknown_domain',
      'source_not_allowed',
      'unauthorized',
      'no_handler',
      'over_call_limit',
      'over_call_limit',
      'over_call_limit',
      'over_call_rate',
      'no_ports',
    ])
  })

  it('finds a domain with a user only by that user of the request-URI', () => {
    const apps = [testApp({ user: 'sales' })]
    const dialled = (user: string) => codeOf({ apps, facts: { target: { host: 'demo.example', user } } })
    expect([dialled('sales'), dialled('Sales'), dialled('')]).toEqual([
      'admit',
      'unknown_domain',
      'unknown_domain',
    ])
    expect(codeOf({ apps: [testApp({ user: '*' })] })).toBe('admit')
  })

  it('returns the facts that were checked', () => {
    expect(decide({ apps: [testApp({ maxCalls: 2 })], counts: { domainCalls: () => 2 } })).toEqual({
      refuse: 'over_call_limit',
      check: 'calls',
      hasRoomForOthers: true,
      facts: {
        source: '192.0.2.9',
        transport: 'udp',
        domain: 'demo.example',
        app: 'app-1',
        domainCalls: 2,
        domainLimit: 2,
      },
    })
  })

  it('counts the calls of one source at a domain', () => {
    const sourceCalls = (id: string, source: string) => (id === 'app-1' && source === '192.0.2.9' ? 2 : 0)
    const apps = [testApp({ maxCallsOfSource: 2 })]
    const full = { refuse: 'over_call_limit', facts: { sourceCalls: 2, sourceLimit: 2 } }
    expect(decide({ apps, counts: { sourceCalls } })).toMatchObject(full)
    expect(codeOf({ ...at('demo.example', '192.0.2.8'), apps, counts: { sourceCalls } })).toBe('admit')
  })

  it.each(['DEMO.example', 'demo.example', 'demo.example.'])('finds the domain as %s', (host) => {
    expect(codeOf(at(host))).toBe('admit')
  })

  it.each(['2001:db8::1', '2001:DB8:0:0::1', '2001:db8:0:0:0:0:0:1'])(
    'finds an IPv6 domain as %s',
    (host) => {
      expect(codeOf({ ...at(host), apps: [testApp({ domain: '2001:db8::1' })] })).toBe('admit')
    },
  )
})

describe('an untrusted source', () => {
  const closed = testApp({ allow: ['192.0.2.0/24'] })
  const bare = testApp({ id: 'app-2', domain: 'bare.example', allow: ['192.0.2.0/24'], handler: undefined })
  const stranger = '203.0.113.1'
  const hosts = ['demo.example', 'bare.example', 'nothing.example']
  const answers = (setting: Setting, source = stranger, more: Partial<AdmissionFacts> = {}) =>
    hosts.map((host) => {
      const decision = decide({ ...setting, ...at(host, source, more) })
      return 'refuse' in decision ? [decision.refuse, decision.headers] : ['admit']
    })

  it('gets the same rejection for every host', () => {
    const answered = ['source_not_allowed', undefined]
    expect(answers({ apps: [closed, bare] })).toEqual([answered, answered, answered])
  })

  it('gets the same challenge for every host if any host accepts a password', () => {
    const answered = [
      'unauthorized',
      { ...challenged.headers, Warning: '399 trunkline "203.0.113.1 is in no allow list"' },
    ]
    const secret = digestSecret('u', 'pass.example', 'p')
    const pass = testApp({ id: 'app-3', domain: 'pass.example', challenge: secret })
    for (const setting of [
      { apps: [closed, bare, pass] },
      { apps: [closed, bare], registrar: ['pbx.example'] },
    ]) {
      expect(answers(setting)).toEqual([answered, answered, answered])
      expect(answers(setting, stranger, { checkDigest: signedInAs('u') })).toEqual([
        answered,
        answered,
        answered,
      ])
    }
  })

  it('gets the same 403 for every host, and no challenge, if untrusted sources are refused', () => {
    const secret = digestSecret('u', 'pass.example', 'p')
    const pass = testApp({ id: 'app-3', domain: 'pass.example', challenge: secret })
    const setting = { apps: [closed, bare, pass], registrar: ['pbx.example'], strangers: 'refuse' } as const
    const answered = ['source_not_allowed', undefined]
    const places = [...hosts, 'pass.example', 'pbx.example']
    const signIn = signedInAs('u')
    for (const host of places) {
      const decision = decide({ ...setting, ...at(host, stranger, { checkDigest: signIn }) })
      expect('refuse' in decision && [decision.refuse, decision.headers], host).toEqual(answered)
    }
    const known = decide({ ...setting, ...at('pbx.example', '192.0.2.9') })
    expect(known).toMatchObject({ refuse: 'unauthorized', headers: challenged.headers })
    expect(known).not.toHaveProperty('headers.Warning')
    expect(answers({ ...setting, strangers: 'answer' })[0]?.[0]).toBe('unauthorized')
  })

  it('learns which hosts exist if all hosts are open', () => {
    const apps = [testApp(), testApp({ id: 'app-2', domain: 'bare.example', handler: undefined })]
    expect(answers({ apps }).map(([code]) => code)).toEqual(['admit', 'no_handler', 'unknown_domain'])
  })

  it('is not a caller in an allowlist: such a caller learns which host is unknown', () => {
    const other = testApp({ id: 'app-3', domain: 'other.example', allow: ['198.51.100.0/24'] })
    const answered = answers({ apps: [closed, bare, other] }, '198.51.100.1').map(([code]) => code)
    expect(answered).toEqual(['source_not_allowed', 'source_not_allowed', 'unknown_domain'])
  })
})

describe("a carrier's network", () => {
  const from = at('demo.example', '198.51.100.7')

  it('assigns the call to the carrier, but is not admitted by the carrier’s network alone', () => {
    const decision = decide({ ...from, carriers: [carrier] })
    expect('admit' in decision && decision.admit.carrier?.name).toBe('acme')
    expect(codeOf({ ...from, carriers: [carrier], apps: [testApp({ allow: ['192.0.2.0/24'] })] })).toBe(
      'source_not_allowed',
    )
  })

  it('replaces the password of a domain without an allowlist, but not of a domain with one', () => {
    const challenge = digestSecret('u', 'demo.example', 'p')
    expect(codeOf({ ...from, carriers: [carrier], apps: [testApp({ challenge })] })).toBe('admit')
    expect(codeOf({ ...from, apps: [testApp({ challenge })] })).toBe('unauthorized')
    const allow = ['198.51.100.0/24']
    expect(codeOf({ ...from, carriers: [carrier], apps: [testApp({ challenge, allow })] })).toBe(
      'unauthorized',
    )
  })

  it("has its own challenge, before the domain's", () => {
    const carriers = [{ ...carrier, challenge: { username: 'trunk', password: 'p' } }]
    expect(codeOf({ ...from, carriers })).toBe('unauthorized')
    const signIn = signedInAs('trunk')
    expect(codeOf({ ...at('demo.example', '198.51.100.7', { checkDigest: signIn }), carriers })).toBe('admit')
  })

  it('counts the calls of the carrier', () => {
    const carriers = [{ ...carrier, maxCalls: 3 }]
    const decision = decide({ ...from, carriers, counts: { carrierCalls: () => 3 } })
    expect(decision).toMatchObject({ refuse: 'over_call_limit', facts: { carrier: 'acme', carrierLimit: 3 } })
  })
})

describe('a SIP endpoint', () => {
  const calls = (user: string, username = 'desk', rules: Pick<Setting, 'directory' | 'counts'> = {}) =>
    decide({
      ...rules,
      registrar: ['PBX.example'],
      facts: { target: { host: 'pbx.example', user }, checkDigest: signedInAs(username) },
    })

  it('can call the dialed address after authentication', () => {
    expect(calls('ann')).toMatchObject({
      admit: { endpoint: desk, projectId: 'project-1', plan: { kind: 'dial', to: '/public/ann' } },
    })
  })

  it.each([
    ['ann', 'eve', 'unauthorized'],
    ['unknown', 'desk', 'unknown_address'],
    ['+4930123', 'desk', 'not_permitted'],
  ])('that dials %s as %s is rejected: %s', (user, username, code) => {
    expect(calls(user, username)).toMatchObject({ refuse: code })
  })

  it('has its own limits of simultaneous calls and calls per second', () => {
    const limit = { maxCalls: 2, callsPerSecond: 1 }
    const directory = {
      domainApp: () => undefined,
      endpointByName: () => ({ ...desk, ...limit }),
      resolve: (to: string) => ({ kind: 'endpoint', endpointId: 'a', address: to }) as const,
    }
    const endpointCalls = (id: string) => (id === desk.id ? 2 : 0)
    const full = calls('ann', 'desk', { directory, counts: { endpointCalls } })
    const facts = { endpoint: 'desk', endpointCalls: 2, endpointLimit: 2 }
    expect(full).toMatchObject({ refuse: 'over_call_limit', facts })
    const hasRate = (key: string) => key !== `endpoint ${desk.id}`
    const fast = { refuse: 'over_call_rate', facts: { rate: 'endpoint endpoint-1', perSecond: 1 } }
    expect(calls('ann', 'desk', { directory, counts: { hasRate } })).toMatchObject(fast)
  })

  it('causes an offence by a wrong password, not by a first request without credentials', () => {
    expect(calls('ann', 'eve')).toMatchObject({ facts: { answer: 'wrong' } })
    const first = decide({
      registrar: ['pbx.example'],
      facts: { target: { host: 'pbx.example', user: 'ann' } },
    })
    expect(first).toMatchObject({ refuse: 'unauthorized', isQuiet: true, headers: { ...challenged.headers } })
    expect(first).not.toHaveProperty('guessed')
  })
})
