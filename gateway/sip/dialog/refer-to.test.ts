import { describe, expect, it } from 'vitest'
import { type DialogOrigin, Dialogs, isSameOrigin, type KnownDialog } from './known-dialogs.ts'
import { readReferTo, readReplaces } from './refer-to.ts'

describe('Refer-To', () => {
  it.each([
    ['<sip:+4930@demo.example>', '+4930', 'demo.example'],
    ['"Bob" <sip:bob@demo.example;method=INVITE?X-A=b>', 'bob', 'demo.example'],
    ['sip:bob@demo.example', 'bob', 'demo.example'],
  ])('reads %s', (value, user, host) => {
    expect(readReferTo(value)).toMatchObject({ kind: 'uri', uri: { user, host } })
  })

  it('reads a telephone number', () => {
    expect(readReferTo('<tel:+49-30-1234;phone-context=x>')).toEqual({ kind: 'number', number: '+49301234' })
  })

  it('reads the call to replace', () => {
    const value = '<sip:c@demo.example?Replaces=call%40peer%3Bto-tag%3Dours%3Bfrom-tag%3Dtheirs>'
    expect(readReferTo(value)).toMatchObject({
      replaces: { callId: 'call@peer', toTag: 'ours', fromTag: 'theirs', isEarlyOnly: false },
    })
  })

  it.each([
    '',
    '<sip:a@b>, <sip:c@d>',
    '<mailto:a@b>',
    '<sip:a@b;method=BYE>',
    '<sip:a@b?Replaces=x>',
    '<sip:a@b?Replaces=x%3Bto-tag%3D1%3Bfrom-tag%3D2&Replaces=y%3Bto-tag%3D1%3Bfrom-tag%3D2>',
  ])('rejects %j', (value) => {
    expect(readReferTo(value)).toBeUndefined()
  })
})

describe('Replaces', () => {
  it('has a Call-ID and both tags, and can be restricted to early dialogs', () => {
    expect(readReplaces('a@b ; From-Tag=2; to-tag=1 ;early-only')).toEqual({
      callId: 'a@b',
      toTag: '1',
      fromTag: '2',
      isEarlyOnly: true,
    })
  })

  it.each([
    '',
    'a@b',
    'a@b;to-tag=1',
    'a@b;to-tag=1;to-tag=2;from-tag=3',
    ';to-tag=1;from-tag=2',
    'a b;to-tag=1;from-tag=2',
  ])('rejects %j', (value) => {
    expect(readReplaces(value)).toBeUndefined()
  })
})

it('finds a dialog by its Call-ID and both tags until it is removed', () => {
  const dialogs = new Dialogs()
  const dialog = { callId: 'c', localTag: '1', remoteTag: '2' } as KnownDialog
  const forget = dialogs.add(dialog)
  const named = { callId: 'c', toTag: '1', fromTag: '2', isEarlyOnly: false }
  expect(dialogs.find(named)).toBe(dialog)
  expect(dialogs.find({ ...named, fromTag: '1' })).toBeUndefined()
  expect(dialogs.find({ ...named, toTag: '2', fromTag: '1' })).toBeUndefined()
  forget()
  forget()
  expect([dialogs.find(named), dialogs.size]).toEqual([undefined, 0])
})

it('finds the dialogs of one party by endpoint, carrier or address', () => {
  const endpoint = (id: string) => ({ id, address: `/public/${id}`, mayDialOut: false })
  const source = '192.0.2.9'
  const same = (a: Omit<DialogOrigin, 'projectId'>, b: typeof a, projectId = 'p1') =>
    isSameOrigin({ projectId: 'p1', ...a }, { projectId, ...b })
  expect(same({ source, endpoint: endpoint('a') }, { source: 'x', endpoint: endpoint('a') })).toBe(true)
  expect(same({ source, endpoint: endpoint('a') }, { source, endpoint: endpoint('b') })).toBe(false)
  expect(same({ source, endpoint: endpoint('a') }, { source })).toBe(false)
  expect(same({ source, carrier: 'a' }, { source: 'x', carrier: 'a' })).toBe(true)
  expect(same({ source, carrier: 'a' }, { source })).toBe(false)
  expect(same({ source }, { source })).toBe(true)
  expect(same({ source: '' }, { source: '' })).toBe(false)
  // Calls of the same party in two projects are separate.
  expect(same({ source }, { source }, 'p2')).toBe(false)
  expect(same({ source, carrier: 'a' }, { source, carrier: 'a' }, 'p2')).toBe(false)
})
