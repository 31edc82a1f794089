import pino from 'pino'
import { expect, it } from 'vitest'
import type { Target } from '../../calls/ports.ts'
import { digestSecret } from '../../directory/secrets.ts'
import type { SipEndpoint } from '../../directory/types.ts'
import { Metrics } from '../../metrics.ts'
import type { Challenger } from '../challenge.ts'
import { Refusals } from '../refusals.ts'
import { FakeRequest, FakeResponse } from '../testing/srf.ts'
import { parseSipUri } from '../uri.ts'
import { EndpointCallers, planOf } from './callers.ts'

const handler = { kind: 'script', document: '{}', name: 'test' } as const
const address = (path: string): [string, Target] => [path, { kind: 'handler', handler, address: path }]
const known = new Map<string, Target>([
  ...['/sales/bob', '/public/bob', '/public/alice', '/private/safe', '/other/carol', '/public/911'].map(
    address,
  ),
  ['+4930123', { kind: 'sip', uri: 'sip:+4930123@carrier.example' }],
  ['911', { kind: 'sip', uri: 'sip:911@carrier.example' }],
])
const addresses = {
  resolve: (to: string): Target | undefined =>
    known.get(to) ?? (to.startsWith('sip:') ? { kind: 'sip', uri: to } : undefined),
}
const desk: SipEndpoint = {
  ...{ id: 'e1', projectId: 'p1', username: 'desk', address: '/sales/desk', displayName: 'Front desk' },
  ...{ callerId: '+49301', mayDialOut: false, handler: undefined },
  secrets: new Map([['phones.example', digestSecret('desk', 'phones.example', 'password-1')]]),
}
const plan = (user: string, changes: Partial<SipEndpoint> = {}) =>
  planOf({ user }, { ...desk, ...changes }, addresses)

it('finds a name in its own context first, then in public and private', () => {
  expect(plan('bob')).toEqual({ kind: 'dial', to: '/sales/bob' })
  expect(plan('bob', { address: '/other/desk' })).toEqual({ kind: 'dial', to: '/public/bob' })
  expect(plan('alice')).toEqual({ kind: 'dial', to: '/public/alice' })
  expect(plan('safe')).toEqual({ kind: 'dial', to: '/private/safe' })
  expect(plan('carol')).toEqual({ refuse: 'unknown_address' })
  expect(plan('')).toEqual({ refuse: 'unknown_address' })
})

it('takes a whole address in the user part', () => {
  expect(plan('%2Fother%2Fcarol')).toEqual({ kind: 'dial', to: '/other/carol' })
  expect(plan('%2fother%2Fnobody')).toEqual({ refuse: 'unknown_address' })
})

it('lets only those dial out who may; a name goes before a number', () => {
  const free = { mayDialOut: true }
  expect(plan('+4930123')).toEqual({ refuse: 'not_permitted' })
  expect(plan('+4930123', free)).toEqual({ kind: 'dial', to: '+4930123' })
  expect(plan('sip%3Ax%40far.example')).toEqual({ refuse: 'not_permitted' })
  expect(plan('sip%3Ax%40far.example', free)).toEqual({ kind: 'dial', to: 'sip:x@far.example' })
  expect(plan('911')).toEqual({ kind: 'dial', to: '/public/911' })
})

it('runs the own handler of an endpoint, whatever it dialled', () => {
  expect(plan('anything', { handler })).toEqual({ kind: 'handler', handler })
})

type Check = Pick<Challenger, 'check'>

const callers = (challenger: Check, lines: string[] = []) => {
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) })
  return new EndpointCallers({
    ...{ domains: ['phones.example'], challenger, offence: () => {}, userAgent: '' },
    directory: { ...addresses, endpointByName: (name) => (name === 'desk' ? desk : undefined) },
    refusals: new Refusals({ log, metrics: new Metrics(), userAgent: '' }),
  })
}
const proved: Check = { check: () => ({ kind: 'accepted', username: 'desk' }) }
const invite = (user: string) => {
  const uri = `sip:${user}@phones.example`
  const from = '"The boss" <sip:boss@phones.example>;tag=1'
  return { request: new FakeRequest('INVITE', uri, '', { from }), target: parseSipUri(uri)! }
}

it('says who calls by the sign-in, not by the From', () => {
  const { request, target } = invite('bob')
  const response = new FakeResponse()
  expect(callers(proved).admit(request, response, target)).toEqual({
    ...{ endpointId: 'e1', projectId: 'p1', plan: { kind: 'dial', to: '/sales/bob' } },
    from: { uri: '/sales/desk', user: '+49301', name: 'Front desk' },
  })
  expect(response.sent).toEqual([])
})

it('answers what it does not let in', () => {
  const lines: string[] = []
  const refused = new FakeResponse()
  const { request, target } = invite('+4930123')
  expect(callers(proved, lines).admit(request, refused, target)).toBeUndefined()
  expect(refused.statuses).toEqual([403])
  expect(lines.join('')).toContain('"dialled":"+4930123"')
  const asked = new FakeResponse()
  const headers = { 'WWW-Authenticate': 'Digest realm="phones.example"' }
  const asking: Check = { check: () => ({ kind: 'challenge', why: 'missing', proven: false, headers }) }
  expect(callers(asking).admit(request, asked, target)).toBeUndefined()
  expect(asked.sent).toEqual([{ status: 401, headers }])
})

it('serves its own domains alone', () => {
  expect(callers(proved).serves('phones.example')).toBe(true)
  expect(callers(proved).serves('demo.example')).toBe(false)
})
