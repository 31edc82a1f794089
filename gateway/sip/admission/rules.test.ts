import { isPrivate } from '@trunkline/sip-agent/networks'
import { describe, expect, it } from 'vitest'
import { type Code, catalogue } from '../../core/errors/catalogue.ts'
import { parseSipUri, shownUri, userOf } from '../../core/sip-uri.ts'
import { digitOfInfo, infoOfDigit } from '../dialog/info-digits.ts'
import { applicationHeaders, fromHeader, printable, reasonHeader } from '../headers.ts'
import { causeOfBye, causeOfCancel, causeOfRefusal, refusalStatus } from '../sip-causes.ts'
import type { FarResponse } from '../srf.ts'

describe('SIP URIs', () => {
  it('are parsed', () => {
    const uri = parseSipUri('sip:+49%2030;isub=1:pw@Demo.Example:5070;transport=TCP;lr?X-A=b%20c&X-D=e')
    expect(uri).toMatchObject({
      scheme: 'sip',
      user: '+49%2030;isub=1:pw',
      host: 'demo.example',
      port: 5070,
      headers: [
        { name: 'X-A', value: 'b c' },
        { name: 'X-D', value: 'e' },
      ],
      bare: 'sip:+49%2030;isub=1:pw@Demo.Example:5070;transport=TCP;lr',
    })
    expect(uri?.params.get('transport')).toBe('TCP')
    expect(uri?.params.get('lr')).toBe('')
    expect(uri && userOf(uri)).toBe('+49 30')
  })

  it.each([
    ['sip:[2001:DB8::1]:5060', '2001:db8::1'],
    ['sips:x@a', 'a'],
    ['SIP:x@demo.example.', 'demo.example'],
    ['sip:192.0.2.1', '192.0.2.1'],
  ])('%s has the host %s', (text, host) => {
    expect(parseSipUri(text)?.host).toBe(host)
  })

  it.each([
    '',
    'tel:+49',
    'http://x',
    'sip:',
    'sip:x@',
    'sip:x@a b',
    'sip:x@host:0',
    'sip:x@host:70000',
    'sip:x@[::zz]',
    'sip:x@host>',
    'sip:x@host\r\nVia: y',
    'sip:a@b@c',
    'sip:x@host?X=%zz',
    `sip:${'x'.repeat(2_000)}@host`,
  ])('%j is not a SIP URI', (text) => {
    expect(parseSipUri(text)).toBeUndefined()
  })
})

it('never show a password in logs', () => {
  expect(shownUri('sip:user:pass@host:5060;x=y')).toBe('sip:user@host:5060;x=y')
  expect(shownUri('sip:user@host:5060')).toBe('sip:user@host:5060')
  expect(shownUri('sip:host:5060')).toBe('sip:host:5060')
  // What is no URI, or has one in it, is shown, too.
  expect(shownUri('sip:user:pass@bad host')).toBe('sip:user@bad host')
  expect(shownUri('sip:user:p@ss@host')).toBe('sip:user@host')
  expect(shownUri('"Ann: B" <sips:user:pass@host?Replaces=x>;y=z')).toBe(
    '"Ann: B" <sips:user@host?Replaces=x>;y=z',
  )
})

describe('headers from applications', () => {
  const refusedNames = (...names: string[]) =>
    applicationHeaders(names.map((name) => ({ name, value: 'x' }))).refused.map(({ name }) => name)

  it('are sent unless they belong to the dialog, the routing, the body or the credentials', () => {
    const reserved = [
      'Via',
      'FROM',
      'to',
      'Contact',
      'Route',
      'Record-Route',
      'Call-ID',
      'CSeq',
      'Authorization',
    ]
    expect(refusedNames(...reserved, 'v', 'f', 'Content-Length', 'Require', 'Replaces')).toHaveLength(14)
    expect(refusedNames('X-A', 'P-Asserted-Identity', 'Diversion', 'Privacy', 'Subject')).toEqual([])
  })

  it.each(['', 'X A', 'X:A', 'X-A\r\nVia', 'Ü-A', 'x'.repeat(65)])(
    'are rejected with the name %j',
    (name) => {
      expect(refusedNames(name)).toHaveLength(1)
    },
  )

  it.each(['a\r\nVia: x', 'a\nb', 'a\rb', 'a\0b', 'a\u2028b', 'y'.repeat(2_000)])(
    'are rejected with the value %j',
    (value) => {
      expect(applicationHeaders([{ name: 'X-A', value }]).headers).toEqual({})
    },
  )

  it('are joined under one name, up to a limit', () => {
    const twice = [
      { name: 'X-A', value: '1' },
      { name: 'x-a', value: '2' },
    ]
    expect(applicationHeaders(twice).headers).toEqual({ 'X-A': '1, 2' })
    const many = Array.from({ length: 70 }, (_each, at) => ({ name: `X-${at}`, value: '' }))
    expect(applicationHeaders(many).refused).toHaveLength(6)
  })
})

describe('a From header', () => {
  it('has the user at the gateway’s own address, escaped', () => {
    expect(fromHeader({ user: '+4930', name: '' })).toBe('<sip:+4930@localhost>')
    expect(fromHeader({ user: 'a b@c>', name: '' })).toBe('<sip:a%20b%40c%3E@localhost>')
    expect(fromHeader({ user: '', name: '' })).toBe('<sip:anonymous@localhost>')
    // The text is cut in the middle of a character.
    const cut = `${'a'.repeat(127)}\u{1f600}`
    expect(fromHeader({ user: cut, name: '' })).toBe(`<sip:${'a'.repeat(127)}@localhost>`)
  })

  it('has a quoted name on one line', () => {
    expect(fromHeader({ user: 'a', name: 'Ann "X" \\ \r\nVia: y' })).toBe(
      '"Ann \\"X\\" \\\\  Via: y" <sip:a@localhost>',
    )
  })

  it('has a SIP URI unchanged, without its headers', () => {
    expect(fromHeader({ user: 'x', name: '' }, 'sip:me@trunk.example?A=b')).toBe('<sip:me@trunk.example>')
    expect(fromHeader({ user: '123', name: '' }, '123')).toBe('<sip:123@localhost>')
  })
})

describe('end causes', () => {
  const response = (source_address: string): FarResponse => ({
    status: 0,
    reason: '',
    source_address,
    get: () => undefined,
  })

  it.each([
    [408, '', false, 'unreachable'],
    [503, '', false, 'unreachable'],
    [408, '', true, 'no_answer'],
    [503, '192.0.2.1', false, 'far_refused'],
    [408, '192.0.2.1', false, 'no_answer'],
    [480, '192.0.2.1', false, 'no_answer'],
    [486, '192.0.2.1', true, 'busy'],
    [600, '192.0.2.1', true, 'busy'],
    [603, '192.0.2.1', true, 'declined'],
    [302, '192.0.2.1', false, 'far_refused'],
  ] as const)(
    'are derived from the response: a %i from %j (it rang: %s) means %s',
    (status, source, rang, code) => {
      expect(causeOfRefusal({ status, reason: 'x', res: response(source) }, rang).code).toBe(code)
    },
  )

  it('a response without a source is a local 408 (RFC 3261 section 8.1.3.1)', () => {
    const silent = causeOfRefusal({ status: 408, reason: 'x', res: response('') }, false)
    expect(refusalStatus(silent)).toBe(408)
  })

  it('an error without a status means that no target was reached', () => {
    expect(causeOfRefusal({ message: 'no\r\nroute' }, false)).toEqual({
      code: 'unreachable',
      detail: 'no??route',
    })
  })

  it('a BYE by the agent is not a hang-up of the far side', () => {
    expect(causeOfBye('normal release')).toEqual({ code: 'normal' })
    expect(causeOfBye(undefined, 'Q.850;cause=31')).toEqual({ code: 'normal', detail: 'Q.850;cause=31' })
    expect(causeOfBye('ACK timeout')).toEqual({ code: 'unreachable', detail: 'ACK timeout' })
  })

  it('every code of the catalogue has a known status that is not a challenge', () => {
    for (const code of Object.keys(catalogue) as Code[]) {
      const status = refusalStatus({ code })
      expect(status).toBeGreaterThanOrEqual(400)
      expect([401, 407]).not.toContain(status)
      expect(reasonHeader({ code })).toMatch(/^(Q\.850|SIP);cause=\d+;text="[\w ]+"$/)
    }
    expect(refusalStatus({ code: 'far_refused', sip: 484 })).toBe(484)
    expect(refusalStatus({ code: 'far_refused', sip: 407 })).toBe(502)
    expect(refusalStatus({ code: 'far_refused', sip: 699 })).toBe(502)
  })
})

describe('a Q.850 cause', () => {
  const refused = (status: number, reason?: string) => {
    const res = { status, reason: 'x', source_address: '192.0.2.1', get: () => reason }
    return reasonHeader(causeOfRefusal({ status, reason: 'x', res }, false))
  }

  it.each([
    // Switches use the Q.850 cause rather than the status: an unallocated number is not a temporary failure.
    [404, undefined, 'Q.850;cause=1'],
    [484, undefined, 'Q.850;cause=28'],
    [500, undefined, 'Q.850;cause=41;text="NORMAL_TEMPORARY_FAILURE"'],
    [486, undefined, 'Q.850;cause=17;text="USER_BUSY"'],
    [480, 'Q.850;cause=18;text="No user responding"', 'Q.850;cause=18'],
    [404, 'SIP ;cause=404 , q.850 ; text="x;y" ; cause = 22', 'Q.850;cause=22'],
    [404, 'Q.850;cause=999', 'Q.850;cause=1'],
    [404, 'X.850;cause=3', 'Q.850;cause=1'],
    [404, 'Q.850;text="\u0007"', 'Q.850;cause=1'],
  ])('of a rejection with %i and Reason %j is %j (RFC 3326, RFC 3398)', (status, reason, expected) => {
    expect(refused(status, reason)).toBe(expected)
  })
})

it('of a cancelled call is in the Reason of the CANCEL; a missing PRACK is not a cancel', () => {
  expect(causeOfCancel(undefined)).toEqual({ code: 'canceled' })
  const elsewhere = 'SIP;cause=200;text="Call completed elsewhere"'
  expect(causeOfCancel(elsewhere)).toEqual({ code: 'canceled', detail: elsewhere })
  expect(causeOfCancel('SIP;cause=504')).toEqual({ code: 'unreachable', detail: 'no PRACK in time' })
})

describe('digits in INFO', () => {
  it.each([
    ['application/dtmf-relay', 'Signal=5\r\nDuration=160', '5'],
    ['application/dtmf-relay; x=y', 'Signal= *\r\nDuration= 160', '*'],
    ['Application/DTMF-Relay', 'Duration=1\r\nsignal=11\r\n', '#'],
    ['application/dtmf', ' 7\r\n', '7'],
    ['application/dtmf', 'd', 'D'],
    ['application/dtmf-relay', 'Signal=55', undefined],
    ['application/dtmf', '', undefined],
    ['text/plain', '5', undefined],
  ])('with %s and %j are %s', (type, body, digit) => {
    expect(digitOfInfo(type, body)).toBe(digit)
  })

  it('are parsed in the sent format', () => {
    for (const key of '0123456789*#ABCD')
      expect(digitOfInfo('application/dtmf-relay', infoOfDigit(key))).toBe(key)
  })
})

it('private addresses are distinguished from public ones', () => {
  const addresses = [
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '100.64.0.1',
    'fd00::1',
    '8.8.8.8',
    '172.32.0.1',
    'x',
  ]
  expect(addresses.map(isPrivate)).toEqual([true, true, true, true, true, false, false, false])
})

it('text from the far side is made safe for one log line', () => {
  expect(printable('a\r\nb\x1b[31m\u202ec')).toBe('a??b?[31m?c')
  expect(printable('x'.repeat(500))).toHaveLength(128)
})
