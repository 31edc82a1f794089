import { Peer } from '@trunkline/sip-agent/testing/peer'
import { afterEach, expect, it } from 'vitest'
import { newCallId } from '../../calls/call/ids.ts'
import type { OutboundRequest } from '../../calls/leg/outbound-request.ts'
import { SystemClock } from '../../core/clock.ts'
import type { SipEndpoint } from '../../directory/model/callers.ts'
import { digestSecret } from '../../directory/model/digest-secret.ts'
import { Trust } from '../admission/trust.ts'
import { parseChallenges } from '../digest/challenge-header.ts'
import { authorization } from '../digest/digest-session.ts'
import { type Bench, carrierSdp, Heard, startBench } from '../testing/bench.ts'
import { EndpointContacts } from './endpoint-contacts.ts'
import { Registrations } from './registrations.ts'

const domain = 'phones.example'
const desk: SipEndpoint = {
  id: 'e1',
  projectId: 'p1',
  username: 'desk',
  address: '/public/desk',
  displayName: 'Front desk',
  callerId: '+49301',
  mayDialOut: false,
  handler: undefined,
  secrets: new Map([[domain, digestSecret('desk', domain, 'password-1')]]),
}
const handler = { kind: 'script', document: '{}', name: 'test' } as const
const config = {
  domains: [domain],
  minExpiresMs: 60_000,
  maxExpiresMs: 3_600_000,
  contacts: 10,
  keepAliveMs: 30_000,
}

let bench: Bench
let registrations: Registrations
const peers: Peer[] = []
const offenses: string[] = []

const begin = async (): Promise<void> => {
  const clock = new SystemClock()
  registrations = new Registrations({ limits: config, clock })
  const recordOffense = (address: string) => void offenses.push(address)
  const directory = {
    domainApp: () => undefined,
    endpointByName: (name: string) => (name === 'desk' ? desk : undefined),
    resolve: (to: string) =>
      to === '/public/help' ? ({ kind: 'handler', handler, address: to } as const) : undefined,
  }
  const trust = new Trust({ domains: [], carriers: [], sip: { registrar: { domains: [domain] } } })
  const registrar = { config, registrations, clock }
  bench = await startBench({ parts: { registrar, directory, trust, recordOffense } })
}
afterEach(async () => {
  for (const peer of peers.splice(0)) peer.close()
  registrations.close()
  offenses.length = 0
  await bench.close()
})

const phone = async (transport: 'udp' | 'tcp'): Promise<Peer> => {
  const peer = await (transport === 'udp' ? Peer.udp(bench.udp) : Peer.tcp(bench.tcp))
  peers.push(peer)
  return peer
}

const request = (): OutboundRequest => ({
  destination: { to: '/public/desk' },
  projectId: 'p1',
  callId: newCallId(),
  codec: 'PCMU',
  from: { uri: '/public/alice', user: 'alice', name: 'Alice' },
})

/** Sends a request, and repeats it with the answer to its challenge. */
const signed = async (
  peer: Peer,
  method: string,
  uri: string,
  more: { body?: string; extra?: object } = {},
) => {
  const { body = '', extra } = more
  const call = { ...peer.call(uri), from: `<sip:desk@${domain}>;tag=1`, to: `<sip:desk@${domain}>` }
  const branch = peer.send(method, call, { body, extra: { ...extra } })
  const asked = await peer.response(401, method)
  if (method === 'INVITE') peer.send('ACK', call, { to: asked.headers.first('to'), branch })
  const [challenge] = parseChallenges(asked.headers.all('www-authenticate').join(', '))
  const who = { username: 'desk', password: 'password-1' }
  const answer = authorization(challenge!, who, { method, uri, body }, { count: 1, nonce: 'client' })
  call.seq++
  peer.send(method, call, { body, extra: { ...extra, Authorization: answer } })
  return call
}

const register = async (peer: Peer, contact: string): Promise<void> => {
  await signed(peer, 'REGISTER', `sip:${domain}`, { extra: { Contact: `<${contact}>`, Expires: '600' } })
  const ok = await peer.response(200, 'REGISTER')
  expect(ok.headers.first('contact')).toMatch(/;expires=(600|599)/)
}

it.each(['udp', 'tcp'] as const)(
  'a phone behind NAT is called at the source of its registration, over %s',
  async (transport) => {
    await begin()
    const peer = await phone(transport)
    const contact = `sip:desk@10.255.255.1:5060${transport === 'tcp' ? ';transport=tcp' : ''}`
    await register(peer, contact)
    const [target, ...others] = new EndpointContacts(registrations, true).contacts('e1')
    expect(others).toEqual([])
    const heard = new Heard(bench.sip.dial(target!, request()))
    const invite = await peer.request('INVITE')
    expect(invite.uri).toBe(contact)
    peer.reply(invite, 486)
    await peer.request('ACK')
    await heard.until('ended busy')
    await expect.poll(() => bench.sip.legs).toBe(0)
  },
)

it('a phone whose connection is closed is unavailable at once', async () => {
  await begin()
  const peer = await phone('tcp')
  await register(peer, 'sip:desk@10.255.255.1;transport=tcp')
  peer.close()
  await expect.poll(async () => (await bench.agent.stats()).connections).toBe(0)
  const [target] = new EndpointContacts(registrations, true).contacts('e1')
  const heard = new Heard(bench.sip.dial({ ...target!, endpointId: 'e1' }, request()))
  await heard.until('ended unreachable')
  await expect.poll(() => bench.sip.legs).toBe(0)
  // The next caller learns that the phone is offline.
  expect(registrations.size).toBe(0)
})

it('all contacts of an endpoint ring, and none after the registrations were removed', async () => {
  await begin()
  const one = await phone('udp')
  const two = await phone('tcp')
  await register(one, one.uri)
  await register(two, two.uri)
  const contacts = new EndpointContacts(registrations, true)
  expect(contacts.contacts('e1').map(({ uri }) => uri)).toEqual([one.uri, two.uri])
  await signed(two, 'REGISTER', `sip:${domain}`, { extra: { Contact: '*', Expires: '0' } })
  await two.response(200, 'REGISTER')
  expect(contacts.contacts('e1')).toEqual([])
  expect(registrations.size).toBe(0)
})

it('an endpoint may call with any From', async () => {
  await begin()
  const peer = await phone('udp')
  const call = await signed(peer, 'INVITE', `sip:help@${domain}`, { body: carrierSdp() })
  const { arrival } = await bench.arrival()
  expect(arrival).toMatchObject({
    endpointId: 'e1',
    projectId: 'p1',
    plan: { kind: 'dial', to: '/public/help' },
    sip: { domain },
  })
  expect(arrival.leg.from).toEqual({ uri: '/public/desk', user: '+49301', name: 'Front desk' })
  arrival.leg.end({ code: 'busy' })
  const busy = await peer.response(486, 'INVITE')
  peer.send('ACK', call, { to: busy.headers.first('to') })
  await expect.poll(() => bench.sip.legs).toBe(0)
})

it('SUBSCRIBE gets 489, and MESSAGE and PUBLISH get 405', async () => {
  await begin()
  const peer = await phone('udp')
  for (const [method, status] of [
    ['SUBSCRIBE', 489],
    ['MESSAGE', 405],
    ['PUBLISH', 405],
  ] as const) {
    peer.send(method, peer.call(`sip:desk@${domain}`), { extra: { Event: 'presence', Expires: '60' } })
    await peer.response(status, method)
  }
  expect(offenses).toEqual([])
})
