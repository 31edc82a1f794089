import { beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { digestSecret } from '../../directory/model/digest-secret.ts'
import type { SignallingSource } from '../signalling-source.ts'
import { EndpointContacts } from './endpoint-contacts.ts'
import { type Contact, readContacts } from './register-contacts.ts'
import { Registrations } from './registrations.ts'

const phone: SignallingSource = { transport: 'udp', address: '198.51.100.7', port: 6100 }

let clock: FakeClock
let registrations: Registrations
let seq: number
beforeEach(() => {
  clock = new FakeClock()
  seq = 0
  registrations = new Registrations({
    limits: { minExpiresMs: 60_000, maxExpiresMs: 3_600_000, contacts: 3 },
    maxBindings: 4,
    clock,
  })
})

interface Options {
  readonly expires?: number
  readonly callId?: string
  readonly seq?: number
  readonly source?: SignallingSource
  readonly endpoint?: string
}

/** An endpoint with this password. */
const registrant = (id: string, password = 'password-1') => ({
  id,
  secrets: new Map(['x.example', 'y.example'].map((realm) => [realm, digestSecret(id, realm, password)])),
})

const register = (contact: string, options: Options = {}) => {
  const { expires, callId = 'call-1', endpoint = 'e1', source = phone } = options
  const contacts = readContacts(contact) as readonly Contact[] | '*'
  const registration = { contacts, expires, callId, seq: options.seq ?? ++seq, source }
  return registrations.apply(registrant(endpoint), registration)
}
const users = (endpoint = 'e1') => registrations.of(endpoint).map(({ uri }) => uri.user)
const a = '<sip:a@192.0.2.1>'
const b = '<sip:b@192.0.2.2>'

describe('a registration', () => {
  it('lasts the requested time, at most the maximum, which is also the default', () => {
    register(`${a};expires=120, ${b}`, { expires: 999_999 })
    clock.advance(119_999)
    expect(users()).toEqual(['a', 'b'])
    clock.advance(1)
    expect(users()).toEqual(['b'])
    register('<sip:c@192.0.2.3>')
    clock.advance(3_600_000 - 120_000 - 1)
    expect(users()).toEqual(['b', 'c'])
    clock.advance(1)
    expect(users()).toEqual(['c'])
    clock.advance(3_600_000)
    expect([registrations.size, clock.running]).toEqual([0, 0])
  })

  it('is removed with its endpoint only', () => {
    register(a)
    register(b, { endpoint: 'e2' })
    registrations.changed('e1', undefined)
    registrations.changed('unknown', undefined)
    expect([users(), users('e2')]).toEqual([[], ['b']])
    registrations.changed('e2', undefined)
    expect([registrations.size, clock.running]).toEqual([0, 0])
  })

  it('is removed if the endpoint’s password changes, and by no other change', () => {
    register(a)
    register(b)
    registrations.changed('e1', registrant('e1'))
    registrations.disconnected('e1', 'sip:192.0.2.9:5060;transport=tcp')
    registrations.changed('e1', registrant('e1'))
    expect(users()).toEqual(['a', 'b'])
    registrations.changed('e1', registrant('e1', 'password-2'))
    expect([users(), registrations.size, clock.running]).toEqual([[], 0, 0])
  })

  it('with a too short time is rejected, except for an unregistration', () => {
    expect(register(a, { expires: 59 })).toEqual({ kind: 'too-brief' })
    expect(registrations.size).toBe(0)
    register(a, { expires: 60 })
    expect(register(a, { expires: 0 })).toEqual({ kind: 'bindings', bindings: [] })
    expect([registrations.size, clock.running]).toEqual([0, 0])
  })

  it('changes nothing if one part of it is invalid', () => {
    register(a)
    const brief = register(`<sip:new@192.0.2.9>, ${a};expires=0, ${b};expires=5`)
    expect(brief).toEqual({ kind: 'too-brief' })
    expect(users()).toEqual(['a'])
  })

  it('is refreshed by an equivalent URI in any spelling', () => {
    register('<sip:alice@Host.Example;transport=tcp>', { expires: 60 })
    register('<sip:%61lice@host.example;Transport=TCP>', { expires: 600 })
    expect(registrations.of('e1')).toHaveLength(1)
    clock.advance(300_000)
    expect(users()).toEqual(['%61lice'])
  })

  it('is not undone by an older request of the same Call-ID, but by one with a new Call-ID', () => {
    register(a, { seq: 10 })
    expect(register(a, { seq: 10, expires: 0 })).toEqual({ kind: 'out-of-order' })
    expect(register('*', { seq: 9, expires: 0 })).toEqual({ kind: 'out-of-order' })
    expect(users()).toEqual(['a'])
    register(a, { seq: 1, callId: 'after-a-restart', expires: 0 })
    expect(users()).toEqual([])
  })

  it('is removed completely by a star, which must be valid', () => {
    register(`${a}, ${b}`)
    expect(register('*', { expires: 60 })).toMatchObject({ kind: 'bad' })
    expect(register('*')).toMatchObject({ kind: 'bad' })
    expect(register('*', { expires: 0 })).toEqual({ kind: 'bindings', bindings: [] })
  })

  it('is queried by a request without a contact', () => {
    register(a)
    expect(register('')).toMatchObject({ kind: 'bindings', bindings: [{ uri: { user: 'a' } }] })
  })

  it('over the limit replaces the one that expires first, and those with an instance last', () => {
    register('<sip:i@192.0.2.5>;+sip.instance="<urn:uuid:1>"', { expires: 60 })
    register(a, { expires: 900 })
    register(b, { expires: 600 })
    expect(register('<sip:d@192.0.2.4>')).toMatchObject({ kind: 'bindings' })
    expect(users()).toEqual(['i', 'a', 'd'])
    register('<sip:e@192.0.2.4>, <sip:f@192.0.2.4>')
    expect(users()).toEqual(['i', 'e', 'f'])
    expect(registrations.size).toBe(3)
  })

  it('ends with its own connection only', () => {
    const over = (port: number, transport: 'tcp' | 'udp' = 'tcp'): SignallingSource => ({
      transport,
      port,
      address: '192.0.2.1',
    })
    register(a, { source: over(1000) })
    register(b, { source: over(1001) })
    registrations.disconnected('e1', 'sip:192.0.2.1:1000;transport=tcp')
    expect([users(), registrations.size]).toEqual([['b'], 1])
    register(a, { source: over(1000, 'udp') })
    registrations.disconnected('e1', 'sip:192.0.2.1:1000;transport=udp')
    registrations.disconnected('e2', 'sip:192.0.2.1:1001;transport=tcp')
    expect(users()).toEqual(['b', 'a'])
  })

  it('is limited per endpoint and in total', () => {
    register(`${a}, ${b}, <sip:c@192.0.2.3>`)
    const four = [1, 2, 3, 4].map((n) => `<sip:${n}@192.0.2.4>`).join(', ')
    expect(register(four)).toEqual({ kind: 'too-many' })
    expect(users()).toEqual(['a', 'b', 'c'])
    register(a, { endpoint: 'e2' })
    expect(register(a, { endpoint: 'e3' })).toEqual({ kind: 'full' })
    // Existing registrations can still be refreshed.
    expect(register(a, { endpoint: 'e2' })).toMatchObject({ kind: 'bindings' })
    register(b, { expires: 0 })
    expect(register(a, { endpoint: 'e3' })).toMatchObject({ kind: 'bindings' })
    expect(registrations.size).toBe(4)
    registrations.close()
    expect([registrations.size, clock.running]).toEqual([0, 0])
  })
})

describe('an instance (RFC 5626)', () => {
  const flow = (user: string, regId?: number) =>
    `<sip:${user}@192.0.2.1>;+sip.instance="<urn:uuid:1>"${regId === undefined ? '' : `;reg-id=${regId}`}`

  it('has one binding per flow, whatever its URI', () => {
    register(flow('x', 1))
    register(flow('y', 2))
    register(flow('z', 1))
    expect(users().sort()).toEqual(['y', 'z'])
    expect(register(`${flow('z', 1)}, ${b}`)).toMatchObject({ kind: 'bad' })
  })

  it.each([1, undefined])('replaces its old URI, which the same request removes (flow %s)', (regId) => {
    register(flow('old', regId))
    expect(register(`${flow('new', regId)}, ${flow('old', regId)};expires=0`)).toMatchObject({
      bindings: [{ uri: { user: 'new' } }],
    })
    expect(register(`${flow('new', regId)};expires=0`)).toEqual({ kind: 'bindings', bindings: [] })
  })

  it('has one binding for each URI of one request', () => {
    register(`${flow('x')}, ${flow('y')}, ${flow('x')}`)
    expect(users()).toEqual(['y', 'x'])
    register(flow('z'))
    expect(users()).toEqual(['z'])
  })

  it('without a flow has one binding, so that a restart leaves no dead contact', () => {
    register(flow('before'))
    register(flow('after'), { callId: 'other' })
    register('<sip:another@192.0.2.5>')
    expect(users()).toEqual(['after', 'another'])
  })
})

describe('calls to an endpoint', () => {
  it('go to every contact, preferred ones first, at the source of the registration', () => {
    register(`${a};q=0.2`)
    const tcp: SignallingSource = { transport: 'wss', address: '2001:db8::5', port: 51_000 }
    register('<sip:web@df7jal23ls0d.invalid;transport=ws>', { source: tcp })
    expect(new EndpointContacts(registrations, true).contacts('e1')).toEqual([
      {
        kind: 'sip',
        uri: 'sip:web@df7jal23ls0d.invalid;transport=ws',
        nextHop: 'sip:[2001:db8::5]:51000;transport=wss',
      },
      { kind: 'sip', uri: 'sip:a@192.0.2.1', nextHop: 'sip:198.51.100.7:6100;transport=udp' },
    ])
    expect(new EndpointContacts(registrations, true).contacts('e2')).toEqual([])
  })

  it('use the contact URI with a drachtio-server if the registration came over a connection', () => {
    register(a, { source: { ...phone, transport: 'tcp' } })
    register(b, { source: phone })
    expect(new EndpointContacts(registrations, false).contacts('e1')).toEqual([
      { kind: 'sip', uri: 'sip:a@192.0.2.1' },
      { kind: 'sip', uri: 'sip:b@192.0.2.2', nextHop: 'sip:198.51.100.7:6100;transport=udp' },
    ])
  })
})
