import { ClientError } from '@trunkline/client'
import { describe, expect, it } from 'vitest'
import { signIn } from './api.ts'
import { moment } from './dates.ts'
import { destination, duration, initials } from './format.ts'
import { RecentCalls, resultOf, SignedIn, type Store } from './memory.ts'
import { endMessage } from './messages.ts'
import { fakeStore } from './testing/fakes.ts'

describe('texts and numbers', () => {
  it('a duration shows hours only from one hour on', () => {
    expect([0, 59_999, 61_000, 3_600_000].map(duration)).toEqual(['0:00', '0:59', '1:01', '1:00:00'])
  })

  it.each([
    ['/public/bob', '/public/bob'],
    [' sip:bob@example.com ', 'sip:bob@example.com'],
    ['sips:bob@example.com;transport=tcp', 'sips:bob@example.com;transport=tcp'],
    ['+1555@carrier.test', 'sip:+1555@carrier.test'],
    ['+49 (30) 123-45', '+493012345'],
    ['*21#', '*21#'],
    ['030 1234', '0301234'],
    ['5', undefined],
    ['bob', undefined],
    ['/public', undefined],
    ['', undefined],
    ['http://x/y', undefined],
  ])('%s is dialled as %s', (typed, to) => {
    expect(destination(typed)).toBe(to)
  })

  it('recent times are shown shorter', () => {
    const now = new Date(2030, 4, 10, 12, 0).getTime()
    expect(moment(new Date(2030, 4, 10, 9, 5).getTime(), now)).not.toMatch(/Fri|2030/)
    expect(moment(new Date(2030, 4, 8, 9, 5).getTime(), now)).toMatch(/Wed/)
    expect(moment(new Date(2029, 4, 8, 9, 5).getTime(), now)).toMatch(/2029/)
  })

  it('initials are derived from the name', () => {
    expect(['Alice Adams', '/public/bob', 'sip:carol@x.test', '+1 555'].map(initials)).toEqual([
      'AA',
      'B',
      'C',
      '#',
    ])
  })

  it('an unknown end is reported in general terms', () => {
    expect(endMessage(new Error('x'))).toBe('The call failed.')
    expect(endMessage(new ClientError('failed', 'ODD'))).toBe('The call could not be completed.')
    const unreachable = new ClientError('failed', 'NO_ROUTE_DESTINATION', {
      causeName: 'NO_ROUTE_DESTINATION',
    })
    expect(endMessage(unreachable)).toBe('This number or address cannot be reached.')
  })
})

describe('signing in', () => {
  const server = (status: number, body: unknown) => async () => new Response(JSON.stringify(body), { status })

  it('returns the account', async () => {
    const body = { token: 't', subscriber: { email: 'a@b.c', address: '/public/a', display_name: '' } }
    expect(await signIn('a@b.c', 'x', server(200, body))).toEqual({
      token: 't',
      email: 'a@b.c',
      address: '/public/a',
      name: 'a@b.c',
    })
  })

  it.each([
    [401, /wrong/],
    [429, /Too many/],
    [500, /failed/],
  ])('explains the status %i', async (status, words) => {
    await expect(signIn('a@b.c', 'x', server(status, {}))).rejects.toThrow(words)
  })

  it('reports an unreachable server and an invalid response', async () => {
    await expect(signIn('a', 'x', () => Promise.reject(new TypeError()))).rejects.toThrow(/cannot be reached/)
    await expect(signIn('a', 'x', server(200, []))).rejects.toThrow(/unexpected response/)
  })
})

describe('stored data', () => {
  const store = (text: string | null): Store => ({
    getItem: () => text,
    setItem: () => {
      throw new Error('full')
    },
    removeItem: () => {},
  })

  it.each(['{', '3', '[1,{"to":1}]', '"x"', null])('is ignored if invalid: %s', (text) => {
    expect(new RecentCalls(store(text), '/a/b').list).toEqual([])
    expect(new SignedIn(store(text)).account).toBeUndefined()
  })

  it('has the latest hundred calls, even if the storage is full', () => {
    const recents = new RecentCalls(store(null), '/a/b')
    for (let at = 0; at < 120; at++) recents.add({ to: `/p/${at}`, name: 'x', direction: 'inbound', at })
    expect(recents.list).toHaveLength(100)
    expect(recents.list[0]?.at).toBe(119)
  })

  it('counts missed calls until they are seen, without those that were declined here', () => {
    const recents = new RecentCalls(store(null), '/a/b')
    recents.add({ to: '/p/1', name: 'x', direction: 'missed', at: 5, result: 'missed' })
    recents.add({ to: '/p/2', name: 'x', direction: 'missed', at: 6, result: 'declined' })
    expect(recents.missed).toBe(1)
    recents.see(7)
    expect(recents.missed).toBe(0)
  })

  it.each([
    ['normal', true, 'answered'],
    ['session_lost', true, 'lost'],
    ['normal', false, 'canceled'],
    ['busy', false, 'busy'],
    ['unknown_address', false, 'failed'],
  ] as const)('has the result of a call that ended with %s, answered: %s', (code, answered, result) => {
    expect(resultOf(new ClientError(code, ''), answered)).toBe(result)
  })

  it('keeps the sign-in for the tab, or for the browser', () => {
    const account = { token: 't', email: 'e', address: '/a/b', name: 'n' }
    const tab = fakeStore()
    const browser = fakeStore()
    new SignedIn(tab, browser).keep(account)
    expect(new SignedIn(fakeStore(), browser).account).toBeUndefined()
    const signedIn = new SignedIn(tab, browser)
    signedIn.keep(account, true)
    signedIn.wantsOnline = true
    const later = new SignedIn(fakeStore(), browser)
    expect([later.account, later.wantsOnline]).toEqual([account, true])
    signedIn.forget(account.token)
    expect(new SignedIn(tab, browser).account).toBeUndefined()
  })

  it('keeps the newer token of another tab when the token of this tab has expired', () => {
    const account = { token: 'old', email: 'e', address: '/a/b', name: 'n' }
    const browser = fakeStore()
    const tab = new SignedIn(fakeStore(), browser)
    tab.keep(account, true)
    new SignedIn(fakeStore(), browser).keep({ ...account, token: 'new' }, true)
    tab.forget('old')
    expect(tab.account?.token).toBe('new')
  })
})
