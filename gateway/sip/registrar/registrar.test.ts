import pino from 'pino'
import { beforeEach, expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { Metrics } from '../../core/metrics.ts'
import type { SipEndpoint } from '../../directory/model/callers.ts'
import { digestSecret } from '../../directory/model/digest-secret.ts'
import { Challenger } from '../admission/challenger.ts'
import { Refusals } from '../admission/refusals.ts'
import { parseChallenges } from '../digest/challenge-header.ts'
import { authorization } from '../digest/digest-session.ts'
import { GatewayHeaders } from '../gateway-headers.ts'
import { FakeRequest, FakeResponse } from '../testing/fake-srf.ts'
import { EndpointAuthenticator } from './endpoint-authenticator.ts'
import { Registrar } from './registrar.ts'
import { Registrations } from './registrations.ts'

const realm = 'phones.example'

const desk: SipEndpoint = {
  id: 'e1',
  projectId: 'p1',
  username: 'desk',
  address: '/public/desk',
  displayName: 'Desk',
  callerId: 'desk',
  mayDialOut: false,
  handler: undefined,
  secrets: new Map([[realm, digestSecret('desk', realm, 'password-1')]]),
}

let clock: FakeClock
let registrations: Registrations
let registrar: Registrar
let metrics: Metrics
let lines: string[]
let offenses: string[]
let draining: boolean
let asks: boolean
beforeEach(() => {
  clock = new FakeClock()
  lines = []
  offenses = []
  draining = false
  asks = true
  metrics = new Metrics()
  const limits = { minExpiresMs: 60_000, maxExpiresMs: 3_600_000, contacts: 2 }
  registrations = new Registrations({ limits, clock })
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) })
  const headers = new GatewayHeaders({ userAgent: 'T' })
  const refusals = new Refusals(headers, log, metrics)
  const challenger = new Challenger(
    () => clock.now(),
    undefined,
    (address) => offenses.push(address),
  )
  const directory = { endpointByName: (name: string) => (name === 'desk' ? desk : undefined) }
  registrar = new Registrar(
    {
      authenticator: new EndpointAuthenticator(directory, challenger, refusals),
      registrations,
      refusals,
      trust: { isListed: () => true, mayChallenge: () => asks },
      load: {
        get isDraining() {
          return draining
        },
      },
      metrics,
      log,
    },
    { domains: [realm], limits, headers, clock },
  )
})

const base = {
  to: `<sip:desk@${realm}>`,
  contact: '<sip:desk@192.0.2.7:5062>',
  cseq: '1 REGISTER',
  via: 'SIP/2.0/UDP 192.0.2.7:5062;branch=z9hG4bK1',
}

const send = (headers: Record<string, string> = {}, uri = `sip:${realm}`, changes: object = {}) => {
  const response = new FakeResponse()
  const request = new FakeRequest('REGISTER', uri, '', { ...base, ...headers })
  registrar.handle(Object.assign(request, changes), response)
  expect(response.sent).toHaveLength(1)
  return response.sent[0]!
}
/** Returns a client's answer to its challenge. */
const answer = (who = { username: 'desk', password: 'password-1' }, uri = `sip:${realm}`) => {
  const [challenge] = parseChallenges(send().headers['WWW-Authenticate'] ?? '')
  return authorization(challenge!, who, { method: 'REGISTER', uri, body: '' }, { count: 1, nonce: 'client' })
}
const register = (headers: Record<string, string> = {}, changes: object = {}) =>
  send({ authorization: answer(), ...headers }, undefined, changes)
const count = async (outcome: string) =>
  (await metrics.registrations.get()).values.find(({ labels }) => labels.outcome === outcome)?.value

it('an authenticated endpoint is registered, and gets the granted time', async () => {
  const { status, headers } = register({ contact: `${base.contact};q=0.5;expires=120` })
  expect(status).toBe(200)
  expect(headers).toEqual({
    Server: 'T',
    Supported: 'outbound',
    Expires: '120',
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
  expect(lines.join('')).not.toContain('password-1')
})

it('all senders get the same challenge, known or not, and wrong passwords are recorded', async () => {
  expect(send()).toMatchObject({ status: 401, headers: { 'WWW-Authenticate': expect.any(String) } })
  expect(offenses).toEqual([])
  const wrong = send({ authorization: answer({ username: 'desk', password: 'guess' }) })
  const unknown = send({
    authorization: answer({ username: 'unknown', password: 'guess' }),
    to: `<sip:nobody@${realm}>`,
  })
  const shape = ({ status, headers }: typeof wrong) => [status, Object.keys(headers)]
  expect(shape(wrong)).toEqual(shape(unknown))
  expect(wrong.status).toBe(401)
  expect(offenses).toEqual(['192.0.2.9', '192.0.2.9'])
  const forged = answer({ username: 'desk', password: 'guess' })
  send({ authorization: forged }, undefined, { source_address: '198.51.100.66' })
  expect(offenses).toHaveLength(2)
  expect(registrations.size).toBe(0)
})

it('no sender is challenged at any domain if untrusted sources are refused', () => {
  const signed = answer()
  asks = false
  const tries: Record<string, string>[] = [{}, { authorization: signed }]
  for (const headers of tries)
    for (const uri of [`sip:${realm}`, 'sip:elsewhere.example']) {
      const refused = send(headers, uri)
      expect([refused.status, refused.headers['WWW-Authenticate']]).toEqual([403, undefined])
    }
  expect(registrations.size).toBe(0)
})

it('unknown domains are rejected, and endpoints cannot register at another’s domain', () => {
  expect(send({}, 'sip:elsewhere.example').status).toBe(404)
  expect(register({ to: `<sip:boss@${realm}>` }).status).toBe(403)
  expect(register({ to: '<sip:desk@elsewhere.example>' }).status).toBe(403)
  expect(register({ to: 'rubbish<<' }).status).toBe(403)
  expect(registrations.size).toBe(0)
})

it('unsupported requests are rejected, each with its status', async () => {
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
  expect(send()).toMatchObject({ status: 503, headers: { 'Retry-After': expect.any(String) } })
  expect(registrations.size).toBe(0)
  expect(await count('refused')).toBe(7)
})

it('flows of clients without a proxy are kept (RFC 5626)', () => {
  const contact = '<sip:x@abc.invalid;transport=ws>;+sip.instance="<urn:uuid:1>";reg-id=1'
  const { headers } = register({ contact })
  expect(headers.Require).toBe('outbound')
  expect(headers.Contact).toBe(
    '<sip:x@abc.invalid;transport=ws>;expires=3600;+sip.instance="<urn:uuid:1>";reg-id=1',
  )
  const via = `${base.via}, SIP/2.0/TCP 10.0.0.1;branch=z9hG4bK2`
  expect(register({ contact, via, cseq: '2 REGISTER' }).status).toBe(439)
  // A request without a flow may pass a proxy.
  expect(register({ via, cseq: '3 REGISTER' }).status).toBe(200)
})

it('a WebSocket is distinguished from TCP by the Via if the agent does not report it', () => {
  const via = 'SIP/2.0/WSS df7jal23ls0d.invalid;branch=z9hG4bK56sdasks'
  register({ via }, { protocol: 'tcp' })
  expect(registrations.of('e1')).toMatchObject([{ source: { transport: 'wss' } }])
})
