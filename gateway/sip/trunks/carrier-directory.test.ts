import { describe, expect, it } from 'vitest'
import type { CarrierConfig } from '../../../config/types.ts'
import { FakeClock } from '../../core/clock.ts'
import { parseSipUri } from '../../core/sip-uri.ts'
import { splitList } from '../headers.ts'
import { refusalOf } from '../testing/fake-srf.ts'
import { testCarrier } from '../testing/test-carrier.ts'
import type { CarrierCall } from './carrier.ts'
import { CarrierDirectory } from './carrier-directory.ts'
import { CarrierLoad } from './carrier-load.ts'
import { CarrierTarget } from './carrier-target.ts'
import { numberOf, userWrittenFor, writtenFor } from './dialled-number.ts'
import { contactsOf } from './redirect-contacts.ts'
import { retryAfterMs } from './retry-after.ts'
import { shouldTryNext } from './route.ts'

const uri = (text: string) => parseSipUri(text)!

describe('a number', () => {
  it.each([
    ['+15550123', '+15550123'],
    [' +1 (555) 01-23 ', '+15550123'],
    ['tel:+1555;phone-context=x', '+1555'],
    ['030.123', '030123'],
    ['112', '112'],
  ])('is read from %s', (text, number) => expect(numberOf(text)).toBe(number))

  it.each([
    '',
    '1',
    '+',
    '+0123',
    'sip:1@x',
    '/public/1',
    'alice',
    '12*3',
    '1'.repeat(21),
    `+${'1'.repeat(16)}`,
  ])('is not in %s', (text) => expect(numberOf(text)).toBeUndefined())

  it.each([
    ['+1555', 'keep', '', '+1555'],
    ['1555', 'keep', '00', '001555'],
    ['1555', 'add', '', '+1555'],
    ['+1555', 'add', '', '+1555'],
    ['+1555', 'strip', '00', '001555'],
    ['+1555', 'strip', '9#', '9#1555'],
  ] as const)('%s with plus %s and prefix %j is written as %s', (number, plus, prefix, written) =>
    expect(writtenFor(number, { plus, prefix })).toBe(written),
  )

  it.each([
    ['+1555;tgrp=tg1;trunk-context=+1-555', 'keep', '+1555;tgrp=tg1;trunk-context=+1-555'],
    ['+1555;isub=1%3A2;npdi;rn=+1556', 'strip', '1555;isub=1%3A2;npdi;rn=+1556'],
    ['030;phone-context=+49', 'keep', '030;phone-context=+49'],
    // A number of the whole world has no context (RFC 3966 section 5.1.5).
    ['030;phone-context=+49', 'add', '+030'],
    ['+1555;phone-context=x', 'strip', '1555'],
    ['tel:+1555;isub=a:b[c]', 'keep', '+1555;isub=a%3Ab%5Bc%5D'],
    ['+1555;tgrp=a:pw;x=y', 'keep', '+1555;tgrp=a'],
    ['+1555;;tgrp=;=x;a b=c;x=%zz;ok', 'keep', '+1555;ok'],
  ] as const)('%s with plus: %s is written %s with its parameters (RFC 4904)', (dialled, plus, written) => {
    const number = numberOf(dialled.replace(/^tel:/, '').replace(/;.*/, ''))!
    expect(userWrittenFor(number, dialled, { plus, prefix: '' })).toBe(written)
  })
})

describe('carriers', () => {
  const open = (...changes: Partial<CarrierConfig>[]) => {
    const clock = new FakeClock()
    const carriers = new CarrierDirectory(
      changes.map((each, i) => testCarrier({ name: `c${i}`, ...each })),
      clock,
    )
    return { clock, carriers, first: carriers.all[0]! }
  }
  const call = (text: string, more: Partial<CarrierCall> = {}): CarrierCall => ({
    uri: uri(text),
    headers: () => ({}),
    isNumber: false,
    ...more,
  })

  it('own the URIs of their targets, by host and port', () => {
    const { carriers } = open(
      { targets: ['sip:a.example', 'sip:b.example:5080;transport=tcp'] },
      { targets: ['sips:c.example', 'sip:192.0.2.1:5070'] },
    )
    const owner = (text: string) => carriers.of(uri(text), 'p1')?.name
    expect(owner('sip:1@A.example')).toBe('c0')
    expect(owner('sip:1@a.example:5060')).toBe('c0')
    expect(owner('sip:1@a.example:5061')).toBeUndefined()
    expect(owner('sip:1@b.example')).toBe('c0')
    expect(owner('sip:1@b.example:5060')).toBeUndefined()
    expect(owner('sips:1@c.example:5061')).toBe('c1')
    expect(owner('sip:1@192.0.2.1:5070')).toBe('c1')
    expect(owner('sip:1@d.example')).toBeUndefined()
  })

  it('are chosen for numbers by their default flag', () => {
    const { carriers } = open({}, { default: true, targets: ['sip:gw.example;transport=tls'] })
    expect(carriers.numberTarget('+1 555', 'p1')).toEqual({
      kind: 'sip',
      uri: 'sip:+1555@gw.example;transport=tls',
      carrier: 'c1',
    })
    expect(carriers.numberTarget('alice', 'p1')).toBeUndefined()
    expect(open({}).carriers.numberTarget('+1555', 'p1')).toBeUndefined()
  })

  it('can belong to one project or to all', () => {
    const { carriers } = open(
      { project: 'p2', default: true, targets: ['sip:a.example'] },
      { default: true, targets: ['sip:b.example'] },
    )
    expect(carriers.of(uri('sip:1@a.example'), 'p1')).toBeUndefined()
    expect(carriers.of(uri('sip:1@a.example'), 'p2')?.name).toBe('c0')
    expect(carriers.numberTarget('+1555', 'p1')?.carrier).toBe('c1')
    expect(carriers.numberTarget('+1555', 'p2')?.carrier).toBe('c0')
  })

  it('keep their state when others change, and their call count when they change themselves', () => {
    const { carriers } = open({ maxCalls: 2 }, { maxCalls: 2 })
    const [first, second] = carriers.all
    const changes: unknown[] = []
    carriers.onChange(({ added, removed }) =>
      changes.push([added.map(({ name }) => name), removed.map(({ name }) => name)]),
    )
    const release = second!.load.take('outbound')
    carriers.change([structuredClone(first!.config), { ...second!.config, maxCalls: 1 }])
    expect(carriers.byName('c0')).toBe(first)
    expect(carriers.byName('c1')).not.toBe(second)
    expect(carriers.byName('c1')?.load.take('outbound')).toBe('1 calls at once')
    if (typeof release !== 'string') release()
    expect(carriers.byName('c1')?.load.calls).toBe(0)
    carriers.change([first!.config])
    carriers.change([first!.config])
    expect(carriers.byName('c1')).toBeUndefined()
    expect(changes).toEqual([
      [['c1'], ['c1']],
      [[], ['c1']],
    ])
  })

  it('are called for a tel: URI with its parameters', () => {
    const { carriers } = open({ default: true, targets: ['sip:gw.example'] })
    const dialled = 'tel:+1-555;tgrp=t;trunk-context=c.example;phone-context=x'
    expect(carriers.numberTarget(dialled, 'p1')?.uri).toBe(
      'sip:+1555;tgrp=t;trunk-context=c.example@gw.example',
    )
  })

  it('are called with the number in their format, over the transport of the target', () => {
    const { first } = open({
      targets: ['sip:a.example:5080;transport=tcp'],
      number: { prefix: '9#', plus: 'strip' },
    })
    const hops = (text: string) => first.hops(call(text)).map((hop) => hop.uri)
    expect(hops('sip:+1555@a.example;user=phone;transport=udp')).toEqual([
      'sip:9%231555@a.example:5080;transport=tcp;user=phone',
    ])
    expect(hops('sip:+1555;tgrp=t-1;trunk-context=c.example:pw@a.example;user=phone')).toEqual([
      'sip:9%231555;tgrp=t-1;trunk-context=c.example@a.example:5080;transport=tcp;user=phone',
    ])
    expect(hops('sip:alice%20b@a.example')).toEqual(['sip:alice%20b@a.example:5080;transport=tcp'])
  })

  const hosts = (hops: readonly { uri: string }[]) => hops.map((hop) => uri(hop.uri).host)

  it('are tried in order, with the dialed target first and targets that are down last', () => {
    const { first, clock } = open({ targets: ['sip:a.example', 'sip:b.example', 'sip:c.example'] })
    const order = (text = 'sip:1@x') => hosts(first.hops(call(text)))
    expect(order()).toEqual(['a.example', 'b.example', 'c.example'])
    expect(order('sip:1@b.example')).toEqual(['b.example', 'a.example', 'c.example'])
    first.hops(call('sip:1@x'))[0]!.onFailure?.('silent')
    expect(order()).toEqual(['b.example', 'c.example', 'a.example'])
    clock.advance(30_000)
    expect(order()).toEqual(['a.example', 'b.example', 'c.example'])
  })

  it('are not called during the Retry-After of a 503', () => {
    const { first, clock } = open({ targets: ['sip:a.example', 'sip:b.example'] })
    const order = () => hosts(first.hops(call('sip:1@x')))
    first.hops(call('sip:1@x'))[0]!.onFailure?.(refusalOf(503, { 'Retry-After': '90' }))
    clock.advance(89_999)
    expect(order()).toEqual(['b.example', 'a.example'])
    clock.advance(1)
    expect(order()).toEqual(['a.example', 'b.example'])
    // Without Retry-After, or with another status, it stays where it is.
    first.hops(call('sip:1@x'))[0]!.onFailure?.(refusalOf(503))
    first.hops(call('sip:1@x'))[0]!.onFailure?.(refusalOf(500, { 'Retry-After': '90' }))
    expect(order()).toEqual(['a.example', 'b.example'])
  })

  it('follow redirections only to their own hosts', () => {
    const { first } = open({
      targets: ['sip:a.example', 'sip:b.example'],
      auth: { username: 'u', password: 'p' },
    })
    const contact =
      '<sip:2@evil.example>, "x, y" <sip:2@a.example>;q=0.2, <sip:3@b.example:5090>;q=0.9, <tel:+1>'
    const hops = first.redirected(contact, call('sip:1@a.example'))
    expect(hops.map((hop) => hop.uri)).toEqual(['sip:3@b.example:5090', 'sip:2@a.example'])
    expect(hops[0]?.credentials?.username).toBe('u')
    expect(first.redirected('*', call('sip:1@a.example'))).toEqual([])
  })

  it('do not follow redirections to a maddr, nor from TLS to clear transport, where SRTP keys would be readable', () => {
    const { first } = open({ targets: ['sip:a.example;transport=tls', 'sips:b.example'] })
    const followed = (contact: string) =>
      first.redirected(contact, call('sip:1@a.example')).map((hop) => hop.uri)
    expect(followed('<sip:2@a.example;maddr=10.0.0.1;transport=tls>')).toEqual([])
    expect(followed('<sip:2@a.example;transport=udp>, <sip:3@b.example>')).toEqual([])
    expect(followed('<sip:2@a.example:5071>, <sips:3@b.example>')).toEqual([
      'sip:2@a.example:5071;transport=tls',
      'sips:3@b.example',
    ])
  })

  it('get a document’s credentials only at the host that the document named', () => {
    const auth = { username: 'own', password: 'p', realm: 'r' }
    const { first } = open({ targets: ['sip:a.example', 'sip:b.example'], auth })
    const credentials = { username: 'doc', password: 'd' }
    const users = (more: Partial<CarrierCall>) =>
      first.hops(call('sip:1@a.example', more)).map((hop) => hop.credentials?.username)
    expect(users({ credentials })).toEqual(['doc', 'own'])
    expect(users({ credentials, isNumber: true })).toEqual(['doc', 'doc'])
    expect(users({})).toEqual(['own', 'own'])
    expect(first.credentials).toEqual({ username: 'own', password: 'p', realms: ['r'] })
    expect(open({}).first.credentials).toBeUndefined()
  })
})

describe('the next target is tried', () => {
  const route = { statuses: new Set([408, 500, 502, 503, 504]) }
  it.each([408, 500, 502, 503, 504])('after %i', (status) => {
    expect(shouldTryNext(refusalOf(status), route, false)).toBe(true)
  })
  it.each([302, 404, 480, 486, 487, 600, 603])(
    'but not after %i, which would ring a callee twice',
    (status) => {
      expect(shouldTryNext(refusalOf(status), route, false)).toBe(false)
    },
  )
  it('if the target is unreachable', () => {
    expect(shouldTryNext({ message: 'requested protocol/transport not available' }, route, false)).toBe(true)
    const { res } = refusalOf(408)
    expect(
      shouldTryNext({ status: 408, res: { ...res!, source_address: '' } }, { statuses: new Set() }, false),
    ).toBe(true)
  })
  it('but never after a target has rung', () => {
    expect(shouldTryNext(refusalOf(503), route, true)).toBe(false)
    expect(shouldTryNext({ message: 'gone' }, route, true)).toBe(false)
  })
})

describe('the limits of a carrier', () => {
  it('count the calls of both directions together', () => {
    const load = new CarrierLoad({ maxCalls: 2 }, new FakeClock())
    const one = load.take('inbound')
    const two = load.take('outbound')
    expect(load.take('outbound')).toBe('2 calls at once')
    if (typeof one === 'string' || typeof two === 'string') throw new Error('refused')
    one()
    one()
    expect(load.calls).toBe(1)
    expect(typeof load.take('inbound')).toBe('function')
  })

  it('count new calls of each direction separately', () => {
    const clock = new FakeClock()
    const load = new CarrierLoad({ callsPerSecond: 2 }, clock)
    const taken = (direction: 'inbound' | 'outbound') => typeof load.take(direction) === 'function'
    expect([taken('outbound'), taken('outbound'), taken('outbound'), taken('inbound')]).toEqual([
      true,
      true,
      false,
      true,
    ])
    clock.advance(499)
    expect(taken('outbound')).toBe(false)
    clock.advance(1)
    expect([taken('outbound'), taken('outbound')]).toEqual([true, false])
    clock.advance(60_000)
    expect([taken('outbound'), taken('outbound'), taken('outbound')]).toEqual([true, true, false])
  })

  it('apply also after the clock is set back', () => {
    let now = 3_600_000
    const load = new CarrierLoad({ callsPerSecond: 2 }, { now: () => now })
    load.take('outbound')
    now = 0
    expect(typeof load.take('outbound')).toBe('function')
    now += 500
    expect(typeof load.take('outbound')).toBe('function')
  })
})

describe('a target', () => {
  it('changes its health only after a number of pings in a row', () => {
    const target = new CarrierTarget('sip:a.example')
    const rules = { down: 3, up: 2 }
    const ping = (...answers: boolean[]) => answers.map((answered) => target.recordPing(answered, rules))
    expect(ping(false, false, true, false, false)).toEqual([false, false, false, false, false])
    expect(target.isUp).toBe(true)
    expect(ping(false)).toEqual([true])
    expect([target.isUp, target.isUsable(0)]).toEqual([false, false])
    expect(ping(true, false, true, true)).toEqual([false, false, false, true])
    expect(target.isUp).toBe(true)
  })

  it('must be a SIP URI', () => {
    expect(() => new CarrierTarget('http://x')).toThrow(RangeError)
  })
})

it.each([
  ['120', 120_000],
  [' 5 ', 5_000],
  ['18000;duration=3600', 3_600_000],
  ['30 (maintenance)', 30_000],
  ['99999999999', undefined],
  ['soon', undefined],
  ['-1', undefined],
  [undefined, undefined],
])('the value %s of Retry-After is parsed', (value, ms) => {
  expect(retryAfterMs(value)).toBe(ms)
})

it('lists are split outside of quotes and brackets', () => {
  expect(splitList('"a, b" <sip:x;y=1,2@z>;q=1, sip:c@d')).toEqual(['"a, b" <sip:x;y=1,2@z>;q=1', 'sip:c@d'])
  expect(contactsOf('')).toEqual([])
  expect(contactsOf('"unfinished <sip:a@b>')).toEqual([])
  expect(contactsOf(`<sip:a@b>,${'x'.repeat(9_000)}`)).toEqual([])
})
