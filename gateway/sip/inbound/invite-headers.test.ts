import { describe, expect, it } from 'vitest'
import { FakeRequest } from '../testing/fake-srf.ts'
import { callerOf, keptHeaders, maxForwardsOf } from './invite-headers.ts'

const invite = (headers: Record<string, string>) =>
  new FakeRequest('INVITE', 'sip:1@demo.example', '', headers)
const from = '"Ann" <sip:+4930@carrier.example>;tag=1'
const asserted = '"Real" <sip:+4931@carrier.example>, <tel:+4931>'

describe('the caller', () => {
  it('is From, or the asserted identity of a trusted source', () => {
    const request = invite({ from, 'p-asserted-identity': asserted })
    expect(callerOf(request, false)).toEqual({ uri: 'sip:+4930@carrier.example', user: '+4930', name: 'Ann' })
    expect(callerOf(request, true)).toEqual({ uri: 'sip:+4931@carrier.example', user: '+4931', name: 'Real' })
  })

  it.each([
    ['<tel:+4932;phone-context=x>', '+4932'],
    ['<tel:+4933>, "X, Y" <sip:+4934@c.example>', '+4934'],
    ['nonsense', '+4930'],
    ['<sip:c.example>', '+4930'],
    ['', '+4930'],
  ])('with the identity %j is %s', (value, user) => {
    expect(callerOf(invite({ from, 'p-asserted-identity': value }), true)?.user).toBe(user)
  })

  it.each([
    ['id', true],
    ['user; critical', true],
    ['header', true],
    ['none', undefined],
    ['', undefined],
  ])('with Privacy %j is anonymous: %s', (privacy, hidden) => {
    expect(callerOf(invite({ from, privacy }), false)?.private).toBe(hidden)
  })

  it('is the asserted identity of a trusted source, even if From is anonymous', () => {
    const hidden = '"Anonymous" <sip:anonymous@anonymous.invalid>;tag=1'
    expect(callerOf(invite({ from: hidden, 'p-asserted-identity': asserted }), true)).toMatchObject({
      user: '+4931',
      private: true,
    })
    expect(callerOf(invite({ from: hidden }), true)).toMatchObject({ user: 'anonymous', private: true })
  })

  it('is undefined without an address in From', () => {
    expect(callerOf(invite({ from: 'x y' }), true)).toBeUndefined()
  })
})

it('headers with a harmful name are not kept', () => {
  const names = { 'X-Good': '1', 'x-a%0d%0ab': '2', 'x-bad!': '3', [`X-${'l'.repeat(70)}`]: '4' }
  expect(keptHeaders(invite(names), true).map(({ name }) => name.toLowerCase())).toEqual(['x-good'])
})

it('headers of applications are kept, and diversions and identities only from trusted sources', () => {
  const request = invite({
    'X-Account': '42',
    'x-two': 'a\r\nb',
    subject: 'no',
    diversion: '<sip:a@b>;reason=user-busy',
    'history-info': '<sip:c@d>;index=1',
    privacy: 'id',
    'p-asserted-identity': asserted,
  })
  const names = (trusted: boolean) => keptHeaders(request, trusted).map(({ name }) => name)
  expect(names(true)).toEqual([
    'X-Account',
    'x-two',
    'Diversion',
    'History-Info',
    'Privacy',
    'P-Asserted-Identity',
  ])
  // Otherwise a phone could make a carrier believe that another number forwarded the call.
  expect(names(false)).toEqual(['X-Account', 'x-two', 'Privacy'])
  expect(keptHeaders(request, false)[1]?.value).toBe('a??b')
})

it('headers are kept up to a maximum size', () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_each, at) => [`X-${at}`, 'y'.repeat(2_000)]))
  const headers = keptHeaders(invite(many), false)
  expect([headers.length, headers[0]?.value.length]).toEqual([64, 1_024])
})

it.each([
  ['70', 70],
  [' 0 ', 0],
  ['999', 255],
  ['-1', undefined],
  ['x', undefined],
])('Max-Forwards %j is read as %s', (value, expected) => {
  expect(maxForwardsOf(invite({ 'max-forwards': value }))).toBe(expected)
})
