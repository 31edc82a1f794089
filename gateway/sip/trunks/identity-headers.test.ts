import { describe, expect, it } from 'vitest'
import type { CarrierIdentity } from '../../../config/types.ts'
import { carrierIdentityHeaders, directIdentityHeaders, type PresentedCaller } from './identity-headers.ts'

const ann: PresentedCaller = { user: '+4930123', name: 'Ann', private: false }
const hidden: PresentedCaller = { ...ann, private: true }
const headers = (
  identity: Partial<CarrierIdentity>,
  caller: PresentedCaller = ann,
  username: string | undefined = 'trunk7',
) =>
  carrierIdentityHeaders(caller, {
    identity: { from: 'caller', header: 'none', ...identity },
    username,
    host: 'gw.example',
  })

describe('the caller of a call to a carrier', () => {
  it.each<[string, Partial<CarrierIdentity>, string]>([
    ['stands in From', {}, '"Ann" <sip:+4930123@localhost>'],
    ['stands in From at a host', { host: 'trunk.example' }, '"Ann" <sip:+4930123@trunk.example>'],
    ['at an IPv6 host', { host: '2001:db8::1' }, '"Ann" <sip:+4930123@[2001:db8::1]>'],
    ['gives way to the user name of the trunk', { from: 'username' }, '"Ann" <sip:trunk7@localhost>'],
    [
      'gives way to a fixed user',
      { from: { user: '+49300' }, host: 'trunk.example' },
      '"Ann" <sip:+49300@trunk.example>',
    ],
  ])('%s', (_what, identity, from) => expect(headers(identity)).toEqual({ From: from }))

  it('is in From if the trunk has no user name', () => {
    expect(
      carrierIdentityHeaders(ann, {
        identity: { from: 'username', header: 'none' },
        username: undefined,
        host: 'x',
      }),
    ).toEqual({ From: '"Ann" <sip:+4930123@localhost>' })
  })

  it.each<[CarrierIdentity['header'], string, string]>([
    ['p-asserted-identity', 'P-Asserted-Identity', '"Ann" <sip:+4930123@gw.example>'],
    ['p-preferred-identity', 'P-Preferred-Identity', '"Ann" <sip:+4930123@gw.example>'],
    [
      'remote-party-id',
      'Remote-Party-ID',
      '"Ann" <sip:+4930123@gw.example>;party=calling;screen=yes;privacy=off',
    ],
  ])('is also asserted by %s', (header, name, value) => {
    expect(headers({ header, from: 'username' })).toEqual({
      From: '"Ann" <sip:trunk7@localhost>',
      [name]: value,
    })
  })

  it('is asserted at the configured host of From', () => {
    expect(headers({ header: 'p-asserted-identity', host: 't.example' })['P-Asserted-Identity']).toBe(
      '"Ann" <sip:+4930123@t.example>',
    )
  })

  it('can be set by a document', () => {
    const named = { user: 'sip:shop@a.example', name: 'Shop', uri: 'sip:shop@a.example', private: false }
    expect(headers({ header: 'p-asserted-identity' }, named)).toEqual({
      From: '"Shop" <sip:shop@a.example>',
      'P-Asserted-Identity': '"Shop" <sip:shop@gw.example>',
    })
    expect(headers({ host: 't.example' }, named).From).toBe('"Shop" <sip:shop@t.example>')
    expect(headers({}, { ...named, user: '+49', uri: '+49' }).From).toBe('"Shop" <sip:+49@localhost>')
  })

  it('without a user is not asserted', () => {
    expect(headers({ header: 'p-asserted-identity' }, { ...ann, user: '' })).toEqual({
      From: '"Ann" <sip:anonymous@localhost>',
    })
  })
})

describe('a caller who requests privacy', () => {
  const anonymous = '"Anonymous" <sip:anonymous@anonymous.invalid>'

  it('is named to the carrier only', () => {
    expect(headers({ header: 'p-asserted-identity' }, hidden)).toEqual({
      From: anonymous,
      'P-Asserted-Identity': '"Ann" <sip:+4930123@gw.example>',
      Privacy: 'id',
    })
    expect(headers({ header: 'remote-party-id' }, hidden)['Remote-Party-ID']).toMatch(/;privacy=full$/)
  })

  it('is not named if the carrier wants no identity header', () => {
    expect(headers({}, hidden)).toEqual({ From: anonymous, Privacy: 'id' })
  })

  it('keeps the trunk’s user name in From', () => {
    expect(headers({ from: 'username' }, hidden)).toEqual({
      From: '"Anonymous" <sip:trunk7@localhost>',
      Privacy: 'id',
    })
  })

  it('is not named in direct calls', () => {
    expect(directIdentityHeaders(hidden)).toEqual({ From: anonymous, Privacy: 'id' })
    expect(directIdentityHeaders(ann)).toEqual({ From: '"Ann" <sip:+4930123@localhost>' })
  })
})
