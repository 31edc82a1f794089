import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/types.ts'
import { type RouteQuery, routeText, testRoute } from './route-test.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-route-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const load = (text: string): Config => {
  const file = join(folder, 'trunkline.yaml')
  writeFileSync(file, text)
  return loadConfig(file, {})
}

const handler = 'handler: { kind: xml, url: "https://app.example/call" }'
const text = (sip = '') => `sip: { ${sip} }
domains:
  - { domain: demo.example, allow: [192.0.2.0/24], ${handler} }
  - { domain: bare.example, allow: [192.0.2.0/24] }
  - { domain: "2001:db8::1", allow: [192.0.2.0/24], ${handler}, challenge: { username: trunk, password: p } }
carriers:
  - { name: acme, targets: ["sip:gw.acme.example"], default: true, allow: [198.51.100.0/24] }
endpoints:
  - { username: desk, password: secret-one }
  - { username: boss, password: secret-two, mayDialOut: true }
subscribers:
  - { email: ann@x.example, password: secret-three }
`
const registrar = 'registrar: { domains: [pbx.example] }'
const base: RouteQuery = {
  source: '192.0.2.1',
  transport: 'udp',
  method: 'INVITE',
  uri: 'sip:1@demo.example',
}
const test = (changes: Partial<RouteQuery> = {}, sip = '') =>
  testRoute(load(text(sip)), { ...base, ...changes })

it('shows a URL of a document without its secrets', () => {
  const hidden = text().replaceAll('https://app.example/call', 'https://me:hush@app.example/call?token=hush')
  const report = testRoute(load(hidden), base)
  expect(JSON.stringify(report.steps) + report.text).not.toContain('hush')
  expect(report.text).toContain('runs the xml document https://app.example/call;')
})

describe('what a SIP endpoint dials', () => {
  const numbers = text(registrar).replace(
    'default: true,',
    'default: true, numbers: { allow: ["+49"], refuse: ["+49900"] },',
  )
  const dialled = (user: string) =>
    testRoute(load(numbers), { ...base, user: 'boss', uri: `sip:${user}@pbx.example` })

  it('is looked up in the lists of the carrier that the number goes to', () => {
    const report = dialled('+4930123456')
    expect(report).toMatchObject({ admitted: true })
    expect(report.steps.at(-1)).toEqual({
      check: 'number',
      passed: true,
      facts: { carrier: 'acme', number: '+4930123456', prefix: '+49' },
    })
  })

  it('is refused by those, and the report says by which prefix', () => {
    const report = dialled('0049900123456')
    expect(report).toMatchObject({ admitted: false, status: 403, code: 'number_not_allowed' })
    expect(report.text).toContain('carrier acme: numbers.refuse has +49900')
    expect(dialled('+882131234567').text).toContain('numbers.allow has no prefix of the number')
  })
})

it('tells each check that a call passes, and what then runs', () => {
  const report = test()
  expect(report).toMatchObject({
    admitted: true,
    text: 'admitted: runs the xml document https://app.example/call; speaks PCMU, PCMA',
  })
  expect(report.steps.map(({ check, passed }) => [check, passed])).toEqual(
    [
      'shield',
      'method',
      'load',
      'carrier',
      'domain',
      'allow',
      'challenge',
      'handler',
      'strangers',
      'calls',
      'rate',
      'ports',
    ].map((check) => [check, true]),
  )
  expect(report.steps.find(({ check }) => check === 'allow')?.facts).toEqual({ allow: ['192.0.2.0/24'] })
})

it('says by which limits a caller is bounded who is in no list', () => {
  const config = load(text().replace('carriers:', `  - { domain: open.example, ${handler} }\ncarriers:`))
  const factsOf = (source: string) =>
    testRoute(config, { ...base, source, uri: 'sip:1@open.example' }).steps.find(
      ({ check }) => check === 'strangers',
    )?.facts
  expect(factsOf('192.0.2.1')).toEqual({ caller: 'known' })
  expect(factsOf('203.0.113.1')).toEqual({
    caller: 'stranger',
    maxCallsOfSource: 10,
    callsPerSecondOfSource: 2,
    maxUnconfirmedCalls: 100,
    reservedPercent: 30,
  })
})

describe('the verdict', () => {
  it.each<[string, Partial<RouteQuery>, number, string]>([
    ['a handler that is not there', { uri: 'sip:1@bare.example' }, 480, 'no_handler'],
    ['an unknown domain, for one who is known', { uri: 'sip:1@none.example' }, 404, 'unknown_domain'],
    [
      'an unknown domain, for a stranger',
      { uri: 'sip:1@none.example', source: '203.0.113.1' },
      403,
      'source_not_allowed',
    ],
    ['a domain of others', { source: '203.0.113.1' }, 403, 'source_not_allowed'],
    ['a domain of others, for a carrier', { source: '198.51.100.1' }, 403, 'source_not_allowed'],
    ['another method', { method: 'MESSAGE' }, 405, 'method_not_allowed'],
    ['what is no SIP URI', { uri: 'x:+49' }, 400, 'bad_request'],
    ['a number without a domain', { uri: 'tel:+49' }, 416, 'unsupported_uri'],
    ['a REGISTER where there is no registrar', { method: 'REGISTER' }, 405, 'method_not_allowed'],
    ['a wrong user', { uri: 'sip:1@[2001:DB8::1]', user: 'eve' }, 401, 'unauthorized'],
  ])('on %s', (_what, changes, status, code) => {
    expect(test(changes)).toMatchObject({ admitted: false, status, code })
  })

  it('on one who is asked for a password takes it to be right', () => {
    const report = test({ uri: 'sip:1@[2001:db8:0::1]:5080' })
    expect(report.admitted).toBe(true)
    expect(report.steps.find(({ check }) => check === 'challenge')?.facts).toEqual({ username: 'trunk' })
  })

  it('on OPTIONS is the same for every host', () => {
    expect(test({ method: 'OPTIONS', uri: 'sip:none.example' })).toMatchObject({
      admitted: true,
      status: 200,
    })
  })

  it('says what a stranger does not learn', () => {
    expect(test({ uri: 'sip:1@none.example', source: '203.0.113.1' }).text).toContain(
      'a stranger does not learn that',
    )
    expect(test({ uri: 'sip:1@none.example', source: '203.0.113.1' }, registrar)).toMatchObject({
      status: 401,
      text: expect.stringContaining('at every host'),
    })
  })
})

describe('the shield', () => {
  it('drops scanners, and strangers where that is configured', () => {
    const scanner = test({ userAgent: 'Friendly-Scanner 1' })
    expect(scanner).toMatchObject({ admitted: false, text: expect.stringContaining('a scanner') })
    expect(scanner).not.toHaveProperty('status')
    for (const transport of ['udp', 'tls'] as const) {
      const stranger = test({ source: '203.0.113.1', transport }, 'shield: { strangers: drop }')
      expect(stranger.text).toContain('a stranger')
      expect(stranger.steps).toMatchObject([{ check: 'shield', passed: false, facts: { known: false } }])
    }
    expect(test({}, 'shield: { strangers: drop }').admitted).toBe(true)
  })
})

describe('a SIP endpoint', () => {
  const from = { source: '203.0.113.1', transport: 'tls' } as const

  it.each<[string, string, string]>([
    ['sip:ann@pbx.example', 'desk', 'admitted: /public/ann is called'],
    ['sip:boss@PBX.example', 'desk', 'admitted: /public/boss is called'],
    ['sip:+4930123@pbx.example', 'boss', 'admitted: +4930123 is called'],
    ['sip:+4930123@pbx.example', 'desk', 'refused with 403 (not_permitted)'],
    ['sip:nobody@pbx.example', 'desk', 'refused with 404 (unknown_address)'],
    ['sip:ann@pbx.example', 'eve', 'refused with 401 (unauthorized)'],
  ])('that calls %s as %s: %s', (uri, user, expected) => {
    expect(test({ ...from, uri, user }, registrar).text).toContain(expected)
  })

  it('meets its own limits', () => {
    const { steps } = test({ ...from, uri: 'sip:ann@pbx.example', user: 'desk' }, registrar)
    const facts = (name: string) => steps.find(({ check }) => check === name)?.facts
    expect(facts('calls')).toMatchObject({ endpointLimit: 10 })
    expect(Object.entries(facts('rate') ?? {})).toContainEqual([expect.stringMatching(/^endpoint /), 2])
  })

  it('has to be named', () => {
    expect(test({ ...from, uri: 'sip:ann@pbx.example' }, registrar).text).toContain('--user')
    const method = 'REGISTER'
    expect(test({ ...from, uri: 'sip:pbx.example', method }, registrar)).toMatchObject({
      admitted: false,
      status: 401,
    })
    expect(test({ ...from, uri: 'sip:pbx.example', method, user: 'desk' }, registrar).text).toBe(
      'admitted: registers the SIP endpoint /public/desk',
    )
  })

  it.each([
    ['REGISTER', '203.0.113.1', 401],
    ['REGISTER', '192.0.2.1', 404],
    ['SUBSCRIBE', '203.0.113.1', 489],
  ])('with %s from %s at no host of ours gets %s, where there is a registrar', (method, source, status) => {
    const changes = { method, source, user: 'desk', uri: 'sip:none.example' }
    expect(test(changes, registrar)).toMatchObject({ admitted: false, status })
  })
})

it.each(['REGISTER', 'INVITE'])('a stranger who is refused is not asked: %s', (method) => {
  const refuse = `${registrar}, shield: { strangers: refuse }`
  for (const uri of ['sip:pbx.example', 'sip:none.example', 'sip:1@demo.example'])
    expect(test({ method, source: '203.0.113.1', user: 'desk', uri }, refuse)).toMatchObject({
      admitted: false,
      status: 403,
      code: 'source_not_allowed',
    })
})

it('is written for people in lines, and never shows a password', () => {
  const lines = routeText(base, test()).split('\n')
  expect(lines[0]).toBe('INVITE sip:1@demo.example from 192.0.2.1 over udp')
  expect(lines[1]).toBe('  shield     passed   known: true, packetsPerSecond: 5000')
  const everything = [base, { ...base, uri: 'sip:1@[2001:db8::1]' }].map((query) =>
    JSON.stringify(test(query)),
  )
  expect(everything.join()).not.toContain('secret-')
  expect(everything.join()).not.toMatch(/[0-9a-f]{32}/)
})
