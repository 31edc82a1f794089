import { describe, expect, it } from 'vitest'
import { Headers } from '../message/headers.ts'
import { appHeaders, forbidden, ownContact, replaceLocalhost } from './app-headers.ts'

const own = { host: '192.0.2.1', port: 5070, protocol: 'udp' } as const
const tcp = { ...own, protocol: 'tcp' } as const

describe('localhost in headers of the application', () => {
  it.each([
    ['from', 'sip:1000@localhost', '<sip:1000@192.0.2.1:5070>'],
    ['from', '"A" <sip:1000@localhost:5060>;tag=1', '"A" <sip:1000@192.0.2.1:5070>;tag=1'],
    ['from', 'sip:localhost', '<sip:192.0.2.1:5070>'],
    ['to', 'sip:localhost', '<sip:localhost>'],
    ['contact', 'sip:x@localhost;expires=60', '<sip:x@192.0.2.1:5070>;expires=60'],
    ['p-asserted-identity', '<sip:x@localhost>', '<sip:x@192.0.2.1:5070>'],
    ['contact', '<sip:x@localhost.example.com>', '<sip:x@localhost.example.com>'],
    ['contact', '*', '*'],
    ['x-other', 'sip:x@localhost', 'sip:x@localhost'],
  ])('is replaced by the agent’s address in %s: %s', (key, value, expected) => {
    expect(replaceLocalhost(key, value, own)).toBe(expected)
  })
  it('is replaced with the transport in a Contact that is not UDP', () => {
    expect(replaceLocalhost('contact', '<sip:x@localhost>', tcp)).toBe('<sip:x@192.0.2.1:5070;transport=tcp>')
    expect(ownContact(tcp)).toBe('<sip:192.0.2.1:5070;transport=tcp>')
    expect(ownContact({ ...own, host: '2001:db8::1' })).toBe('<sip:[2001:db8::1]:5070>')
  })
})

describe('headers of the application', () => {
  const list = (...lines: [string, string][]) => {
    const headers = new Headers()
    for (const [name, value] of lines) headers.append(name, value)
    return appHeaders(headers, own, forbidden)
  }
  it('get their standard spelling, extensions keep theirs, and forbidden headers are removed', () => {
    expect(
      list(['rack', '1 2 INVITE'], ['p-my-thing', 'a'], ['X-MY-thing', 'b'], ['via', 'x'], ['route', 'y']),
    ).toEqual([
      ['RAck', '1 2 INVITE'],
      ['P-My-Thing', 'a'],
      ['X-MY-thing', 'b'],
    ])
  })
  it('can have the name of a property of every object', () => {
    expect(list(['constructor', 'a'], ['__proto__', 'b']).map(([name]) => name)).toEqual([
      'Constructor',
      '__proto__',
    ])
  })
  it('have one challenge per field, although drachtio-srf joins challenges', () => {
    const first = 'Digest realm="a, Digest x=1", qop="auth,auth-int"'
    const second = 'Digest realm="b"'
    expect(list(['www-authenticate', `${first}, ${second}`], ['subject', 'a, Digest b'])).toEqual([
      ['WWW-Authenticate', first],
      ['WWW-Authenticate', second],
      ['Subject', 'a, Digest b'],
    ])
  })
  it('are rejected if one that shapes the dialog is malformed', () => {
    expect(() => list(['contact', '<sip:x@'])).toThrow('Contact')
  })
})
