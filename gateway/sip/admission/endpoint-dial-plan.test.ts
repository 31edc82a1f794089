import { expect, it } from 'vitest'
import type { SipEndpoint } from '../../directory/model/callers.ts'
import type { Target } from '../../model.ts'
import { partyOf, planEndpointCall } from './endpoint-dial-plan.ts'

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
  id: 'e1',
  projectId: 'p1',
  username: 'desk',
  address: '/sales/desk',
  displayName: 'Front desk',
  callerId: '+49301',
  mayDialOut: false,
  handler: undefined,
  secrets: new Map(),
}
const plan = (user: string, changes: Partial<SipEndpoint> = {}) =>
  planEndpointCall({ user }, { ...desk, ...changes }, addresses)

it('a dialed name is found in the endpoint’s context first, then in public and private', () => {
  expect(plan('bob')).toEqual({ kind: 'dial', to: '/sales/bob' })
  expect(plan('bob', { address: '/other/desk' })).toEqual({ kind: 'dial', to: '/public/bob' })
  expect(plan('alice')).toEqual({ kind: 'dial', to: '/public/alice' })
  expect(plan('safe')).toEqual({ kind: 'dial', to: '/private/safe' })
  expect(plan('carol')).toEqual({ refuse: 'unknown_address' })
  expect(plan('')).toEqual({ refuse: 'unknown_address' })
})

it('a whole address in the user part is found', () => {
  expect(plan('%2Fother%2Fcarol')).toEqual({ kind: 'dial', to: '/other/carol' })
  expect(plan('%2fother%2Fnobody')).toEqual({ refuse: 'unknown_address' })
})

it('only endpoints with permission can dial numbers; a name has priority over a number', () => {
  const free = { mayDialOut: true }
  expect(plan('+4930123')).toEqual({ refuse: 'not_permitted' })
  expect(plan('+4930123', free)).toEqual({ kind: 'dial', to: '+4930123' })
  expect(plan('+49(30)1-2.3', free)).toEqual({ kind: 'dial', to: '+4930123' })
  expect(plan('sip%3Ax%40far.example')).toEqual({ refuse: 'not_permitted' })
  expect(plan('sip%3Ax%40far.example', free)).toEqual({ kind: 'dial', to: 'sip:x@far.example' })
  expect(plan('911')).toEqual({ kind: 'dial', to: '/public/911' })
})

it('an endpoint with its own handler runs the handler for any dialed target', () => {
  expect(plan('anything', { handler })).toEqual({ kind: 'handler', handler })
})

it('an endpoint calls with its address, number and name', () => {
  expect(partyOf(desk)).toEqual({ uri: '/sales/desk', user: '+49301', name: 'Front desk' })
  expect(partyOf({ ...desk, sendAs: '+49300' })).toMatchObject({ user: '+49301', sendAs: '+49300' })
})
