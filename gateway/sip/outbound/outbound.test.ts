import { Peer } from '@trunkline/sip-agent/testing/peer'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Leg } from '../../calls/leg/leg.ts'
import { type Bench, carrierSdp, Heard, startBench, wish } from '../testing/bench.ts'

let bench: Bench
let peer: Peer
beforeEach(async () => {
  bench = await startBench()
  peer = await Peer.udp()
})
afterEach(async () => {
  peer.close()
  await bench.close()
})

const dial = (uri = peer.uri, destination: Parameters<typeof wish>[1] = {}): { leg: Leg; heard: Heard } => {
  const leg = bench.sip.dial({ kind: 'sip', uri }, wish(uri, destination))
  expect(leg.state.kind).toBe('new')
  return { leg, heard: new Heard(leg) }
}

const answered = async () => {
  const made = dial()
  const invite = await peer.request('INVITE')
  peer.reply(invite, 200, { body: carrierSdp({ formats: '8 101' }) })
  await peer.request('ACK')
  await made.heard.until('answered')
  return { ...made, invite }
}

/** In-dialog requests of the called side: From and To change places. */
const inDialog = (invite: Awaited<ReturnType<Peer['request']>>) => {
  const contact = /<([^>]+)>/.exec(invite.headers.first('contact') ?? '')?.[1] ?? ''
  return {
    callId: invite.headers.first('call-id') ?? '',
    from: `${invite.headers.first('to')};tag=peer${peer.port}`,
    to: invite.headers.first('from') ?? '',
    target: contact,
    seq: 10,
  }
}

const nothingLeft = async () => {
  await expect.poll(() => bench.sip.legs).toBe(0)
  expect(bench.edge.used).toBe(0)
  await expect.poll(async () => (await bench.agent.stats()).dialogs).toBe(0)
}

it('an outbound call offers the preferred codec first, and is answered', async () => {
  const { invite, leg } = await answered()
  const sdp = invite.body.toString()
  expect(sdp).toContain('m=audio 20000 RTP/AVP 8 0 101\r\n')
  expect(invite.headers.first('from')).toMatch(/^"Ann \\"A\\" Caller" <sip:\+4930123@127\.0\.0\.1:\d+>;tag=/)
  expect(invite.headers.first('user-agent')).toBe('Trunkline')
  expect(bench.edge.ports[0]?.farUpdates.at(-1)).toMatchObject({
    near: { codecs: [{ codec: 'PCMA', payloadType: 8 }], telephoneEvent: 101 },
    far: { address: '127.0.0.1', port: 4000, codec: 'PCMA', telephoneEvent: 101 },
  })
  leg.end({ code: 'normal' })
  const bye = await peer.request('BYE')
  expect(bye.headers.first('reason')).toBe('Q.850;cause=16;text="NORMAL_CLEARING"')
  peer.reply(bye, 200)
  await nothingLeft()
})

it('an outbound call reports ringing, early media, the answer and the callee’s hang-up', async () => {
  const { heard } = dial()
  const invite = await peer.request('INVITE')
  peer.reply(invite, 180)
  await heard.until('ringing')
  peer.reply(invite, 183, { body: carrierSdp() })
  await heard.until('early media')
  expect(bench.edge.ports[0]?.far?.codec).toBe('PCMU')
  // The 200 has no SDP: the SDP of the 183 stays valid.
  peer.reply(invite, 200)
  await heard.until('answered')
  peer.send('BYE', inDialog(invite))
  await peer.response(200, 'BYE')
  await heard.until('ended')
  expect(heard.events).toEqual(['ringing', 'early media', 'answered', 'ended normal by far'])
  await nothingLeft()
})

it.each([
  [486, 'busy'],
  [600, 'busy'],
  [603, 'declined'],
  [480, 'no_answer'],
  [408, 'no_answer'],
  [404, 'far_refused'],
  [503, 'far_refused'],
] as const)('a %i ends the leg with %s', async (status, code) => {
  const { leg, heard } = dial()
  peer.reply(await peer.request('INVITE'), status)
  await heard.until('ended')
  expect(leg.state).toMatchObject({ kind: 'ended', by: 'far', cause: { code, sip: status } })
  await nothingLeft()
})

it('an outbound call can be cancelled before the answer', async () => {
  const { leg, heard } = dial()
  const invite = await peer.request('INVITE')
  peer.reply(invite, 180)
  await heard.until('ringing')
  leg.end({ code: 'answered_elsewhere' })
  const cancel = await peer.request('CANCEL')
  expect(cancel.headers.first('reason')).toBe('SIP;cause=200;text="Call completed elsewhere"')
  peer.reply(cancel, 200)
  peer.reply(invite, 487)
  await peer.request('ACK')
  await nothingLeft()
  expect(heard.events).toEqual(['ringing', 'ended answered_elsewhere by us'])
})

it('an INVITE that the agent has not accepted yet is cancelled', async () => {
  const { leg } = dial()
  await Promise.resolve()
  await Promise.resolve()
  leg.end({ code: 'canceled' })
  // The INVITE may or may not have been sent; neither case may leave anything open.
  void peer.request('INVITE').then(async (invite) => {
    peer.reply(invite, 180)
    peer.reply(await peer.request('CANCEL'), 200)
    peer.reply(invite, 487)
  })
  await nothingLeft()
})

it('an answer that crosses the CANCEL is hung up', async () => {
  const { leg, heard } = dial()
  const invite = await peer.request('INVITE')
  peer.reply(invite, 180)
  await heard.until('ringing')
  peer.reply(invite, 200, { body: carrierSdp() })
  leg.end({ code: 'canceled' })
  await peer.request('ACK')
  peer.reply(await peer.request('BYE'), 200)
  await nothingLeft()
  expect(heard.events).toEqual(['ringing', 'ended canceled by us'])
})

it('an unusable answer is hung up', async () => {
  const { leg, heard } = dial()
  peer.reply(await peer.request('INVITE'), 200, { body: carrierSdp({ formats: '18' }) })
  await peer.request('ACK')
  peer.reply(await peer.request('BYE'), 200)
  await nothingLeft()
  expect(heard.events).toEqual(['ended no_common_codec by us'])
  expect(leg.isAnswered).toBe(false)
})

it('a digest challenge is answered with the credentials of the destination', async () => {
  const { heard } = dial(peer.uri, { username: 'trunk', password: 'secret "1"' })
  const first = await peer.request('INVITE')
  peer.reply(first, 407, {
    extra: { 'Proxy-Authenticate': 'Digest realm="carrier", nonce="abc", qop="auth"' },
  })
  await peer.request('ACK')
  const second = await peer.request('INVITE')
  expect(second.headers.first('proxy-authorization')).toContain('username="trunk"')
  expect(second.headers.first('call-id')).toBe(first.headers.first('call-id'))
  peer.reply(second, 200, { body: carrierSdp() })
  await heard.until('answered')
  expect(JSON.stringify(bench.logged)).not.toContain('secret')
})

it('a challenge without credentials is not answered', async () => {
  const { leg, heard } = dial()
  peer.reply(await peer.request('INVITE'), 401, {
    extra: { 'WWW-Authenticate': 'Digest realm="r", nonce="n"' },
  })
  await heard.until('ended')
  expect(leg.state).toMatchObject({ cause: { code: 'far_refused', sip: 401 } })
})

it('headers of the application and the URI are sent, except reserved ones', async () => {
  dial(`${peer.uri}?X-Campaign=a%20b`, {
    from: 'sip:shop@trunk.example',
    fromName: 'Shop',
    headers: [
      { name: 'X-Order', value: '7' },
      { name: 'Route', value: '<sip:evil.example;lr>' },
      { name: 'X-Bad', value: 'a\r\nVia: x' },
    ],
  })
  const invite = await peer.request('INVITE')
  expect(invite.headers.first('x-order')).toBe('7')
  expect(invite.headers.first('x-campaign')).toBe('a b')
  expect(invite.headers.first('from')).toMatch(/^"Shop" <sip:shop@trunk\.example>;tag=/)
  expect(invite.headers.first('route')).toBeUndefined()
  expect(invite.headers.first('x-bad')).toBeUndefined()
  expect(bench.logged.filter((line) => line.msg === 'header not sent').map((line) => line.header)).toEqual([
    'Route',
    'X-Bad',
  ])
})

it('a URI with transport=tcp is called over TCP', async () => {
  const server = await Peer.tcpServer()
  const { heard } = dial(server.uri)
  const invite = await server.request('INVITE')
  expect(invite.headers.first('via')).toContain('SIP/2.0/TCP')
  server.reply(invite, 486)
  await heard.until('ended busy')
  server.close()
})

it.each([
  ['sips:x@127.0.0.1', 'requested protocol/transport not available'],
  ['sip:x@', 'this is no SIP URI'],
])('%s is unreachable', async (uri, why) => {
  const { leg, heard } = dial(uri)
  await heard.until('ended')
  expect(leg.state).toMatchObject({ cause: { code: 'unreachable', detail: expect.stringContaining(why) } })
  await nothingLeft()
})

it('a far side that stays silent is unreachable', async () => {
  await bench.close()
  bench = await startBench({ agent: { timers: { t1: 15 } } })
  const { leg, heard } = dial()
  await peer.request('INVITE')
  await heard.until('ended')
  expect(leg.state).toMatchObject({ cause: { code: 'unreachable' } })
  await nothingLeft()
})

it('a name that does not exist is unreachable', async () => {
  const { leg, heard } = dial('sip:x@nowhere.invalid')
  await heard.until('ended')
  expect(leg.state).toMatchObject({ cause: { code: 'unreachable' } })
  await nothingLeft()
})

it('a call without a free media port fails with no_ports', async () => {
  bench.edge.exhausted = true
  const { heard } = dial()
  await heard.until('ended')
  expect(heard.events).toEqual(['ended no_ports by far'])
  await nothingLeft()
})

it('missing ports of many legs do not fill the log; a later line has the number of suppressed lines', async () => {
  bench.edge.exhausted = true
  const legs = Array.from({ length: 25 }, () => dial())
  for (const { heard } of legs) await heard.until('ended')
  const lines = bench.logged.filter(({ code }) => code === 'no_ports')
  expect([lines.length, lines[0]?.msg]).toEqual([10, 'no media port for the leg'])
  await bench.sip.close()
  expect(bench.logged.at(-1)).toMatchObject({
    code: 'no_ports',
    count: 15,
    msg: 'log lines of missing media ports suppressed',
  })
})

it('a hold by the callee is reported', async () => {
  const { invite } = await answered()
  const call = inDialog(invite)
  peer.send('INVITE', call, { body: carrierSdp({ formats: '8 101', lines: ['a=inactive'], version: 2 }) })
  const held = await peer.response(200, 'INVITE')
  expect(held.body.toString()).toContain('a=inactive')
  expect(held.headers.first('contact')).toBe(invite.headers.first('contact'))
  peer.send('ACK', call)
  expect(bench.edge.ports[0]?.far).toMatchObject({ direction: 'inactive', codec: 'PCMA' })
})

it('closing hangs up all legs, and prevents new ones', async () => {
  const { heard } = await answered()
  const ringing = dial()
  const invite = await peer.request('INVITE')
  peer.reply(invite, 180)
  await ringing.heard.until('ringing')
  const closed = bench.sip.close()
  const [bye, cancel] = await Promise.all([peer.request('BYE'), peer.request('CANCEL')])
  peer.reply(bye, 200)
  peer.reply(cancel, 200)
  peer.reply(invite, 487)
  await closed
  expect(heard.events.at(-1)).toBe('ended draining by us')
  expect(ringing.heard.events.at(-1)).toBe('ended draining by us')
  expect([bench.sip.legs, bench.edge.used, bench.sip.isConnected]).toEqual([0, 0, false])
  const late = dial()
  await late.heard.until('ended control_lost')
})

it('the last response is available with its own headers', async () => {
  const { leg, heard } = dial()
  const invite = await peer.request('INVITE')
  peer.reply(invite, 180, { extra: { 'X-Queue': '3' } })
  await heard.until('ringing')
  expect(leg.facts.response).toEqual({ status: 180, headers: [{ name: 'X-Queue', value: '3' }] })
  peer.reply(invite, 486, { extra: { 'X-Why': 'lunch', Warning: '399 a "b"' } })
  await heard.until('ended')
  expect(leg.facts.response).toEqual({ status: 486, headers: [{ name: 'X-Why', value: 'lunch' }] })
  expect(leg.facts.sipCallId).toBe(invite.headers.first('call-id'))
})
