import { describe, expect, it } from 'vitest'
import { parseSipUri } from '../../core/sip-uri.ts'
import { readContacts } from './register-contacts.ts'
import { isSameUri } from './same-uri.ts'

describe('the Contact of a REGISTER', () => {
  it('is parsed with its parameters', () => {
    const contacts = readContacts(
      '"Front, desk" <sip:a@192.0.2.1:5070;transport=tcp>;q=0.5;expires=120;+sip.instance="<urn:uuid:00-11>";reg-id=2, <sip:b@[2001:db8::1]>, sip:c@host.example;expires=7',
    )
    expect(contacts).toMatchObject([
      { uri: { user: 'a', port: 5070 }, q: 0.5, expires: 120, instance: '<urn:uuid:00-11>', regId: 2 },
      { uri: { host: '2001:db8::1' }, q: 1, expires: undefined, instance: undefined, regId: undefined },
      // Without brackets a parameter is the header's.
      { uri: { user: 'c', host: 'host.example' }, expires: 7 },
    ])
    expect(readContacts(' * ')).toBe('*')
    expect(readContacts(undefined)).toEqual([])
  })

  it('is accepted without unreadable parameters', () => {
    expect(readContacts('<sip:a@b.example>;expires=soon;q=2;reg-id=1')).toMatchObject([
      // A reg-id without an instance means nothing (RFC 5626 section 6).
      { expires: undefined, q: 1, regId: undefined },
    ])
    expect(readContacts('<sip:a@b.example>;expires=99999999999999')).toMatchObject([{ expires: 2 ** 31 }])
  })

  it('is rejected if one contact is not a SIP address', () => {
    for (const text of [
      '<tel:+4930>',
      '<sip:a@b.example>, *',
      '<sip:a b@c>',
      '"x',
      '<'.repeat(8_000),
      '"\\'.repeat(4_000),
      `<sip:${'a'.repeat(17_000)}@b>`,
    ])
      expect(readContacts(text), text.slice(0, 40)).toHaveProperty('expected')
  })
})

describe('two URIs', () => {
  const same = (a: string, b: string) => isSameUri(parseSipUri(a)!, parseSipUri(b)!)

  // The table of RFC 3261 section 19.1.4.
  it.each([
    ['sip:%61lice@atlanta.com;transport=TCP', 'sip:alice@AtLanTa.CoM;Transport=tcp'],
    ['sip:carol@chicago.com', 'sip:carol@chicago.com;newparam=5'],
    ['sip:carol@chicago.com;security=on', 'sip:carol@chicago.com;newparam=5'],
    [
      'sip:biloxi.com;transport=tcp;method=REGISTER?to=sip:bob%40biloxi.com',
      'sip:biloxi.com;method=REGISTER;transport=tcp?to=sip:bob%40biloxi.com',
    ],
    [
      'sip:alice@atlanta.com?subject=project%20x&priority=urgent',
      'sip:alice@atlanta.com?priority=urgent&subject=project%20x',
    ],
  ])('%s and %s are equivalent', (a, b) => {
    expect([same(a, b), same(b, a)]).toEqual([true, true])
  })

  it.each([
    ['SIP:ALICE@AtLanTa.CoM;Transport=udp', 'sip:alice@AtLanTa.CoM;Transport=UDP'],
    ['sip:bob@biloxi.com', 'sip:bob@biloxi.com:5060'],
    ['sip:bob@biloxi.com', 'sip:bob@biloxi.com;transport=udp'],
    ['sip:bob@biloxi.com', 'sip:bob@biloxi.com:6000;transport=tcp'],
    ['sip:carol@chicago.com', 'sip:carol@chicago.com?Subject=next%20meeting'],
    ['sip:carol@chicago.com;security=on', 'sip:carol@chicago.com;security=off'],
    ['sip:bob@phone21.boxesbybob.com', 'sip:bob@192.0.2.4'],
    ['sip:bob@biloxi.com', 'sips:bob@biloxi.com'],
    ['sip:a%3Bb@biloxi.com', 'sip:a;b@biloxi.com'],
  ])('%s and %s differ', (a, b) => {
    expect([same(a, b), same(b, a)]).toEqual([false, false])
  })
})
