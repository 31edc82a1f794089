import pino from 'pino'
import { beforeEach, expect, it } from 'vitest'
import { FakeClock } from '../../clock.ts'
import { digestSecret } from '../../directory/secrets.ts'
import type { SipEndpoint } from '../../directory/types.ts'
import { Metrics } from '../../metrics.ts'
import { Refusals } from '../refusals.ts'
import { FakeRequest, FakeResponse } from '../testing/srf.ts'
import type { Challenges } from './ports.ts'
import { Registrar } from './registrar.ts'
import { Registrations } from './registrations.ts'

const realm = 'phones.example'

const desk: SipEndpoint = {
  ...{ id: 'e1', projectId: 'p1', username: 'desk', address: '/public/desk', displayName: 'Desk' },
  ...{ callerId: 'desk', mayDialOut: false, handler: undefined },
  secrets: new Map([[realm, digestSecret('desk', realm, 'password-1')]]),
}

/** Takes the HA1 itself for an answer, so that the test sees which secret was asked for. */
const challenges: Challenges = {
  check: (request, { realm: asked, secretOf }) => {
    const [user = '', answer] = (request.get('authorization') ?? '').split(' ')
    const headers = { 'WWW-Authenticate': `Digest realm="${asked}"` }
    if (answer === undefined) return { kind: 'challenge', why: 'missing', headers }
    const right = secretOf(user)?.sha256 === answer
    return right ? { kind: 'proved', username: user } : { kind: 'challenge', why: 'wrong', headers }
  },
}

let clock: FakeClock
let registrations: Registrations
let registrar: Registrar
let metrics: Metrics
let lines: string[]
let offences: string[]
let draining: boolean
beforeEach(() => {
  clock = new FakeClock()
  ;[lines, offences, draining] = [[], [], false]
  metrics = new Metrics()
  const limits = { minExpiresMs: 60_000, maxExpiresMs: 3_600_000, contacts: 2 }
  registrations = new Registrations({ limits, clock })
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) })
  registrar = new Registrar({
    ...{ limits, registrations, challenges, metrics, clock, log, domains: [realm], userAgent: 'T' },
    directory: { endpointByName: (name) => (name === 'desk' ? desk : undefined) },
    offence: (address) => offences.push(address),
    refusals: new Refusals({ log, metrics, userAgent: 'T' }),
    draining: () => draining,
  })
})

const answer = `desk ${desk.secrets.get(realm)!.sha256}`
const base = {
  to: `<sip:desk@${realm}>`,
  contact: '<sip:desk@192.0.2.7:5062>',
  cseq: '1 REGISTER',
  via: 'SIP/2.0/UDP 192.0.2.7:5062;branch=z9hG4bK1',
  authorization: answer,
}

const register = (headers: Record<string, string> = {}, uri = `sip:${realm}`) => {
  const response = new FakeResponse()
  registrar.handle(new FakeRequest('REGISTER', uri, '', { ...base, ...headers }), response)
  expect(response.sent).toHaveLength(1)
  return response.sent[0]!
}
const count = async (outcome: string) =>
  (await metrics.registrations.get()).values.find(({ labels }) => labels.outcome === outcome)?.value

it('registers whoever signs in, and says for how long', async () => {
  const { status, headers } = register({ contact: `${base.contact};q=0.5;expires=120` })
  expect(status).toBe(200)
  expect(headers).toEqual({
    ...{ Server: 'T', Supported: 'outbound', Expires: '120' },
    Contact: '<sip:desk@192.0.2.7:5062>;expires=120;q=0.5',
    Date: 'Tue, 14 Nov 2023 22:13:20 GMT',
  })
  expect(registrations.of('e1')).toMatchObject([
    { source: { transport: 'udp', address: '192.0.2.9', port: 5060 }, seq: 1 },
  ])
  clock.advance(20_000)
  register({ contact: '<sip:other@192.0.2.8>', cseq: '2 REGISTER' })
  const asked = register({ contact: '', cseq: '3 REGISTER' })
  expect(asked.headers.Contact).toBe(
    '<sip:other@192.0.2.8>;expires=3600, <sip:desk@192.0.2.7:5062>;expires=100;q=0.5',
  )
  expect(asked.headers.Expires).toBeUndefined()
  const gone = register({ contact: '*', expires: '0', cseq: '4 REGISTER' })
  expect(gone.headers).not.toHaveProperty('Contact')
  expect([await count('registered'), await count('queried'), await count('removed')]).toEqual([2, 1, 1])
  expect(lines.join('')).not.toContain(answer)
})

it('asks everybody the same, known or not, and tells of those who guess', async () => {
  const first = register({ authorization: '' })
  expect(first).toMatchObject({ status: 401, headers: { 'WWW-Authenticate': `Digest realm="${realm}"` } })
  expect(offences).toEqual([])
  const wrong = register({ authorization: 'desk guess' })
  const unknown = register({ authorization: 'nobody guess', to: `<sip:nobody@${realm}>` })
  expect(wrong).toEqual(unknown)
  expect(wrong.status).toBe(401)
  expect(offences).toEqual(['192.0.2.9', '192.0.2.9'])
  expect(await count('challenged')).toBe(3)
  expect(registrations.size).toBe(0)
})

it('knows nothing of other domains, and nobody registers for another', () => {
  expect(register({}, 'sip:elsewhere.example').status).toBe(404)
  expect(register({ to: `<sip:boss@${realm}>` }).status).toBe(403)
  expect(register({ to: '<sip:desk@elsewhere.example>' }).status).toBe(403)
  expect(register({ to: 'rubbish<<' }).status).toBe(403)
  expect(registrations.size).toBe(0)
})

it('refuses what it cannot do, each with its status', async () => {
  expect(register({ expires: '30' })).toMatchObject({ status: 423, headers: { 'Min-Expires': '60' } })
  expect(register({ require: 'path, outbound' })).toMatchObject({
    status: 420,
    headers: { Unsupported: 'path' },
  })
  expect(register({ contact: '<mailto:a@b.example>' }).status).toBe(400)
  expect(register({ contact: `<sip:desk@${realm}>` }).status).toBe(400)
  expect(register({ cseq: 'x' }).status).toBe(400)
  const three = '<sip:a@192.0.2.1>, <sip:b@192.0.2.1>, <sip:c@192.0.2.1>'
  expect(register({ contact: three }).status).toBe(403)
  draining = true
  expect(register()).toMatchObject({ status: 503, headers: { 'Retry-After': expect.any(String) } })
  expect(registrations.size).toBe(0)
  expect(await count('refused')).toBe(7)
})

it('keeps flows of whoever talks to it directly (RFC 5626)', () => {
  const contact = '<sip:x@abc.invalid;transport=ws>;+sip.instance="<urn:uuid:1>";reg-id=1'
  const { headers } = register({ contact })
  expect(headers.Require).toBe('outbound')
  expect(headers.Contact).toBe(
    '<sip:x@abc.invalid;transport=ws>;expires=3600;+sip.instance="<urn:uuid:1>";reg-id=1',
  )
  const via = `${base.via}, SIP/2.0/TCP 10.0.0.1;branch=z9hG4bK2`
  expect(register({ contact, via, cseq: '2 REGISTER' }).status).toBe(439)
  // Without a flow a proxy between is none of our business.
  expect(register({ via, cseq: '3 REGISTER' }).status).toBe(200)
})

it('tells a WebSocket from TCP by the Via, where the agent does not', () => {
  const request = new FakeRequest('REGISTER', `sip:${realm}`, '', {
    ...base,
    via: 'SIP/2.0/WSS df7jal23ls0d.invalid;branch=z9hG4bK56sdasks',
  })
  registrar.handle(Object.assign(request, { protocol: 'tcp' }), new FakeResponse())
  expect(registrations.of('e1')).toMatchObject([{ source: { transport: 'wss' } }])
})
