import { Peer } from '@trunkline/sip-agent/testing/peer'
import { afterEach, expect, it } from 'vitest'
import type { CarrierConfig } from '../../../config/types.ts'
import { type Clock, FakeClock, SystemClock } from '../../core/clock.ts'
import { Trust } from '../admission/trust.ts'
import { createSrf } from '../srf.ts'
import { type Bench, carrierSdp, Heard, startBench, wish } from '../testing/bench.ts'
import { Carrier as Caller } from '../testing/carrier.ts'
import { testCarrier } from '../testing/test-carrier.ts'
import { CarrierDirectory } from './carrier-directory.ts'

// The rules by themselves are tested beside them; here they meet a real agent and real sockets.

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})
const peers = async (count: number): Promise<Peer[]> => {
  const made = await Promise.all(Array.from({ length: count }, () => Peer.udp()))
  open.push(...made)
  return made
}
const start = async (changes: Partial<CarrierConfig>, clock: Clock = new SystemClock()): Promise<Bench> => {
  const carriers = new CarrierDirectory([testCarrier({ default: true, ...changes })], clock)
  const bench = await startBench({ agent: { deliversTrying: true }, parts: { carriers, clock } })
  open.push(bench)
  return bench
}
const at = (peer: Peer) => `sip:127.0.0.1:${peer.port}`
const call = (bench: Bench, peer: Peer) => {
  const uri = `sip:+4930@127.0.0.1:${peer.port}`
  const leg = bench.sip.dial({ kind: 'sip', uri }, wish(uri))
  return { leg, heard: new Heard(leg) }
}
const auth = { username: 'trunk', password: 'hush' }
const challenge = 'Digest realm="carrier", nonce="n", qop="auth", algorithm=SHA-256'

it('a call reaches the second target if the first is unreachable, and leaves nothing open', async () => {
  const [second] = await peers(1)
  const gone = await Peer.tcpServer()
  gone.close()
  const bench = await start({
    targets: [`${at(gone)};transport=tcp`, at(second!)],
    failover: { statuses: [503], noProgressMs: 60_000 },
  })
  const { leg, heard } = call(bench, gone)
  const invite = await second!.request('INVITE')
  expect(invite.uri).toContain('sip:+4930@')
  second!.reply(invite, 200, { body: carrierSdp() })
  await heard.until('answered')
  expect(leg.attempts.map(({ sipStatus }) => sipStatus)).toEqual([undefined, 200])
  expect(leg.facts.sipCallId).toBe(invite.headers.first('call-id'))
  leg.end({ code: 'normal' })
  second!.reply(await second!.request('BYE'), 200)
  await expect.poll(() => bench.edge.used).toBe(0)
})

it('a silent target is given up, and a late answer is hung up', async () => {
  const [slow, second] = await peers(2)
  const clock = new FakeClock()
  const bench = await start({ targets: [at(slow!), at(second!)] }, clock)
  const { heard } = call(bench, slow!)
  const late = await slow!.request('INVITE')
  clock.advance(8_000)
  const invite = await second!.request('INVITE')
  second!.reply(invite, 200, { body: carrierSdp() })
  await heard.until('answered')
  slow!.reply(late, 200, { body: carrierSdp() })
  await slow!.request('ACK')
  slow!.reply(await slow!.request('BYE'), 200)
  expect(heard.events).toEqual(['answered'])
})

it('a challenged BYE is repeated with credentials', async () => {
  const [carrier] = await peers(1)
  const bench = await start({ targets: [at(carrier!)], auth })
  const { leg, heard } = call(bench, carrier!)
  carrier!.reply(await carrier!.request('INVITE'), 401, { extra: { 'WWW-Authenticate': challenge } })
  await carrier!.request('ACK')
  const invite = await carrier!.request('INVITE')
  expect(invite.headers.first('authorization')).toContain(`uri="sip:+4930@127.0.0.1:${carrier!.port}"`)
  carrier!.reply(invite, 200, { body: carrierSdp() })
  await heard.until('answered')
  leg.end({ code: 'normal' })
  carrier!.reply(await carrier!.request('BYE'), 401, { extra: { 'WWW-Authenticate': challenge } })
  const bye = await carrier!.request('BYE')
  // Its request-URI is the contact of the 200.
  expect(bye.headers.first('authorization')).toContain(`uri="${carrier!.uri}"`)
  carrier!.reply(bye, 200)
  await expect.poll(() => bench.sip.legs).toBe(0)
})

it('a call from the carrier also answers challenges with credentials', async () => {
  const carrier = testCarrier({ allow: ['127.0.0.0/8'], auth: { ...auth, realm: 'carrier' } })
  const carriers = new CarrierDirectory([carrier], new SystemClock())
  const trust = new Trust({ domains: [], carriers: [carrier], sip: { registrar: { domains: [] } } })
  const caller = await Caller.start({ parts: { carriers, trust } })
  open.push(caller)
  const { arrival } = await caller.answered()
  arrival.leg.end({ code: 'normal' })
  const { peer } = caller
  peer.reply(await peer.request('BYE'), 401, { extra: { 'WWW-Authenticate': challenge } })
  const bye = await peer.request('BYE')
  expect(bye.headers.first('authorization')).toContain('username="trunk", realm="carrier"')
  peer.reply(bye, 200)
  await expect.poll(() => caller.bench.sip.legs).toBe(0)
})

it('a carrier’s registration is made, and removed at the end', async () => {
  const [registrar] = await peers(1)
  const bench = await start({ targets: [at(registrar!)], auth, register: { expiresMs: 600_000 } })
  registrar!.reply(await registrar!.request('REGISTER'), 401, { extra: { 'WWW-Authenticate': challenge } })
  const register = await registrar!.request('REGISTER')
  const contact = register.headers.first('contact')!
  expect(contact).toBe(`<sip:trunk@127.0.0.1:${bench.udp}>`)
  expect(register.headers.first('authorization')).toContain('algorithm=SHA-256')
  registrar!.reply(register, 200, { contact: false, extra: { Contact: `${contact};expires=300` } })
  const state = async () => (await bench.metrics.text()).match(/registration_state\{.*state="(\w+)"\} 1/)?.[1]
  await expect.poll(state).toBe('registered')
  bench.sip.drain()
  const last = await registrar!.request('REGISTER')
  expect([last.headers.first('expires'), last.headers.first('call-id')]).toEqual([
    '0',
    register.headers.first('call-id'),
  ])
  registrar!.reply(last, 200)
  expect(await state()).toBe('disabled')
})

it('the targets of a carrier get pings', async () => {
  const [target] = await peers(1)
  const bench = await start({ targets: [at(target!)], probe: { intervalMs: 20, down: 2, up: 1 } })
  const up = async () => /carrier_up\{.*\} (\d)/.exec(await bench.metrics.text())?.[1]
  for (const _ of [1, 2]) target!.reply(await target!.request('OPTIONS'), 503)
  await expect.poll(up).toBe('0')
  target!.reply(await target!.request('OPTIONS'), 405)
  await expect.poll(up).toBe('1')
})

it.each([
  [true, [100, 180]],
  [false, [180]],
])('a 100 is reported if the agent was asked to deliver it (%s)', async (tryings, expected) => {
  const [carrier] = await peers(1)
  const bench = await startBench({ agent: { deliversTrying: tryings } })
  open.push(bench)
  const { host, port, secret } = bench.agent
  const srf = createSrf()
  await new Promise<void>((resolve) => {
    srf.on('connect', () => resolve())
    srf.connect({ host, port, secret })
  })
  open.push({ close: () => srf.disconnect() })
  const statuses: number[] = []
  const done = Promise.withResolvers<void>()
  srf.createUAC(
    carrier!.uri,
    { localSdp: carrierSdp(), headers: {} },
    { cbRequest: () => {}, cbProvisional: ({ status }) => statuses.push(status) },
    () => done.resolve(),
  )
  const invite = await carrier!.request('INVITE')
  for (const status of [100, 180, 486]) carrier!.reply(invite, status)
  await done.promise
  expect(statuses).toEqual(expected)
})
