import { Peer } from '@trunkline/sip-agent/testing/peer'
import { afterEach, expect, it } from 'vitest'
import { Trust } from '../admission/trust.ts'
import { type Bench, type BenchOptions, carrierSdp } from '../testing/bench.ts'
import { Carrier } from '../testing/carrier.ts'

let carrier: Carrier
let bench: Bench
let peer: Peer
const begin = async (options: BenchOptions = {}) => {
  carrier = await Carrier.start(options)
  ;({ bench, peer } = carrier)
}
afterEach(() => carrier.close())

it('a call is accepted and answered, and ends when the caller hangs up', async () => {
  await begin()
  const { call, to, arrival, heard, ok } = await carrier.answered({
    extra: { 'X-Account': '42', Subject: 'private' },
  })
  expect(arrival).toMatchObject({
    projectId: 'project-1',
    headers: [{ name: 'X-Account', value: '42' }],
    sip: { callId: call.callId, domain: 'demo.example', sourceAddress: '127.0.0.1' },
  })
  expect(arrival.leg.to).toEqual({ uri: 'sip:+49301@demo.example', user: '+49301', name: '' })
  expect(arrival.leg.from.user).toBe('peer')
  expect(arrival.callId).toBe(bench.edge.ports[0]?.group)
  expect(ok.body.toString()).toContain('m=audio 20000 RTP/AVP 0 101\r\n')
  expect(ok.headers.first('server')).toBe('Trunkline')
  expect(bench.edge.ports[0]?.far).toMatchObject({
    address: '127.0.0.1',
    port: 4000,
    codec: 'PCMU',
    payloadType: 0,
    telephoneEvent: 101,
    direction: 'sendrecv',
  })
  expect(bench.sip.legs).toBe(1)
  call.seq++
  peer.send('BYE', call, { to })
  await peer.response(200, 'BYE')
  await heard.until('ended')
  expect(heard.events).toEqual(['answered', 'ended normal by far'])
  await carrier.nothingLeft()
})

it('a call rings, gets early media, and is hung up with a Q.850 cause', async () => {
  const domains = [{ allow: ['127.0.0.1'] }]
  const trust = new Trust({ domains, carriers: [], sip: { registrar: { domains: [] } } })
  await begin({ parts: { trust } })
  const { call } = carrier.invite()
  const { arrival, heard } = await bench.arrival()
  arrival.leg.ring()
  await peer.response(180)
  await arrival.leg.progress()
  await arrival.leg.progress()
  const progress = await peer.response(183)
  expect(progress.body.toString()).toContain('m=audio 20000')
  const answer = arrival.leg.answer()
  const ok = await peer.response(200)
  expect(ok.body.toString()).toBe(progress.body.toString())
  peer.send('ACK', call, { to: ok.headers.first('to') })
  await answer
  arrival.leg.end({ code: 'max_duration' })
  const bye = await peer.request('BYE')
  expect(bye.headers.first('reason')).toBe('Q.850;cause=102;text="ALLOTTED_TIMEOUT"')
  expect(bench.sip.legs).toBe(1)
  peer.reply(bye, 200)
  await carrier.nothingLeft()
  expect(heard.events).toEqual(['answered', 'ended max_duration by us'])
  expect(peer.inbox.filter((each) => each.kind === 'response' && each.status === 183)).toEqual([])
})

it('a hang-up waits for the ACK', async () => {
  await begin()
  const { call } = carrier.invite()
  const { arrival } = await bench.arrival()
  void arrival.leg.answer()
  const ok = await peer.response(200)
  arrival.leg.end({ code: 'normal' })
  expect(bench.edge.ports[0]?.closed).toBe(true)
  expect(peer.inbox.some((each) => each.kind === 'request')).toBe(false)
  peer.send('ACK', call, { to: ok.headers.first('to') })
  peer.reply(await peer.request('BYE'), 200)
  await carrier.nothingLeft()
})

it('the leg of a caller who gives up ends', async () => {
  await begin()
  const { call, branch } = carrier.invite()
  const { arrival, heard } = await bench.arrival()
  arrival.leg.ring()
  await peer.response(180)
  peer.send('CANCEL', call, { branch })
  await peer.response(200, 'CANCEL')
  await peer.response(487)
  await heard.until('ended')
  expect(heard.events).toEqual(['ended canceled by far'])
  await carrier.nothingLeft()
})

it('hold and resume are answered with a rising session version', async () => {
  await begin()
  const { call, to, ok } = await carrier.answered()
  const port = bench.edge.ports[0]!
  const version = (sdp: string) => Number(/^o=- \d+ (\d+)/m.exec(sdp)?.[1])
  const reinvite = async (body: string, status = 200) => {
    call.seq++
    const branch = peer.send('INVITE', call, { to, body })
    const response = await peer.response(status, 'INVITE')
    peer.send('ACK', call, status === 200 ? { to } : { to, branch })
    return response.body.toString()
  }
  const held = await reinvite(carrierSdp({ lines: ['a=sendonly'], version: 2 }))
  expect(held).toContain('a=recvonly')
  expect(version(held)).toBe(version(ok.body.toString()) + 1)
  expect(port.far?.direction).toBe('recvonly')
  const oldHold = await reinvite(carrierSdp({ address: '0.0.0.0', version: 3 }))
  expect(oldHold).toBe(held)
  expect(port.far).toMatchObject({ address: '127.0.0.1', direction: 'recvonly' })
  const talk = await reinvite(carrierSdp({ address: '127.0.0.2', formats: '8', version: 4 }))
  expect(talk).toContain('a=sendrecv')
  expect(port.far).toMatchObject({ address: '127.0.0.2', codec: 'PCMA', direction: 'sendrecv' })
  const updates = port.farUpdates.length
  expect(await reinvite(carrierSdp({ address: '127.0.0.2', formats: '8', version: 4 }))).toBe(talk)
  expect(port.farUpdates).toHaveLength(updates)
  await reinvite(carrierSdp({ formats: '18', version: 5 }), 488)
  expect(port.farUpdates).toHaveLength(updates)
})

it('an INVITE without SDP gets an offer in the 200, and its answer is read from the ACK', async () => {
  await begin()
  const { call } = carrier.invite({ body: '' })
  const { arrival, heard } = await bench.arrival()
  await arrival.leg.progress()
  await peer.response(180)
  const answer = arrival.leg.answer()
  const ok = await peer.response(200)
  expect(ok.body.toString()).toContain('RTP/AVP 0 8 101')
  expect(arrival.leg.port).toBeUndefined()
  peer.send('ACK', call, { to: ok.headers.first('to'), body: carrierSdp({ formats: '8 101' }) })
  await answer
  expect(heard.events).toEqual(['answered'])
  expect(bench.edge.ports[0]?.far).toMatchObject({ port: 4000, codec: 'PCMA' })
  expect(arrival.leg.port).toBe(bench.edge.ports[0])
})

it('an ACK without the expected answer ends the call', async () => {
  await begin()
  const { call } = carrier.invite({ body: '' })
  const { arrival, heard } = await bench.arrival()
  void arrival.leg.answer()
  const ok = await peer.response(200)
  peer.send('ACK', call, { to: ok.headers.first('to') })
  peer.reply(await peer.request('BYE'), 200)
  await carrier.nothingLeft()
  expect(heard.events).toEqual(['answered', 'ended bad_sdp by us'])
})

it('digits in INFO are reported, and other INFO is rejected', async () => {
  await begin()
  const { call, to, heard } = await carrier.answered()
  const info = async (type: string, body: string, status: number) => {
    call.seq++
    peer.send('INFO', call, { to, body, extra: { 'Content-Type': type } })
    await peer.response(status, 'INFO')
  }
  await info('application/dtmf-relay', 'Signal=5\r\nDuration=160\r\n', 200)
  await info('application/dtmf', '#', 200)
  await info('application/media_control+xml', '<x/>', 415)
  expect(heard.events).toEqual(['answered', 'digit 5', 'digit #'])
  call.seq++
  peer.send('OPTIONS', call, { to })
  await peer.response(200, 'OPTIONS')
  call.seq++
  peer.send('REFER', call, { to, extra: { 'Refer-To': '<sip:x@y.example>' } })
  await peer.response(403, 'REFER')
})

it('digits are sent by RFC 4733, or by INFO without telephone-event', async () => {
  await begin()
  const { arrival } = await carrier.answered()
  const port = bench.edge.ports[0]!
  await arrival.leg.sendDigits('12')
  expect(port.digits).toEqual(['12'])
  port.takesEvents = false
  const sent = arrival.leg.sendDigits('3w#')
  for (const digit of ['3', '#']) {
    const request = await peer.request('INFO')
    expect(request.body.toString()).toContain(`Signal=${digit}\r\n`)
    peer.reply(request, 200)
  }
  await sent
})

it('legs end some time after the connection to the agent was lost', async () => {
  await begin({ parts: { graceMs: 50 } })
  const { heard } = await carrier.answered()
  carrier.invite()
  const ringing = await bench.arrival()
  await bench.agent.close()
  await Promise.all([heard.until('ended'), ringing.heard.until('ended')])
  expect(heard.events.at(-1)).toBe('ended control_lost by far')
  expect(bench.sip.isConnected).toBe(false)
  await carrier.nothingLeft()
})

it('UPDATE is accepted with a new offer and as a refresh', async () => {
  await begin()
  const { call, to } = await carrier.answered()
  call.seq++
  peer.send('UPDATE', call, { to, body: carrierSdp({ lines: ['a=sendonly'], version: 2 }) })
  expect((await peer.response(200, 'UPDATE')).body.toString()).toContain('a=recvonly')
  expect(bench.edge.ports[0]?.far?.direction).toBe('recvonly')
  call.seq++
  peer.send('UPDATE', call, { to })
  expect((await peer.response(200, 'UPDATE')).body.toString()).toBe('')
})

it('a re-INVITE without SDP gets an offer, and its answer is read from the ACK', async () => {
  await begin()
  const { call, to } = await carrier.answered()
  call.seq++
  peer.send('INVITE', call, { to })
  const offer = await peer.response(200, 'INVITE')
  expect(offer.body.toString()).toContain('RTP/AVP 0 8 101')
  peer.send('ACK', call, { to, body: carrierSdp({ address: '127.0.0.3', version: 2 }) })
  await expect.poll(() => bench.edge.ports[0]?.far?.address).toBe('127.0.0.3')
})

it('a call over TCP is accepted and hung up', async () => {
  await begin()
  const tcp = await Peer.tcp(bench.tcp)
  const call = tcp.call('sip:1@demo.example')
  tcp.send('INVITE', call, { body: carrierSdp() })
  const { arrival } = await bench.arrival()
  const answer = arrival.leg.answer()
  const ok = await tcp.response(200)
  expect(ok.headers.first('contact')).toContain(';transport=tcp')
  tcp.send('ACK', call, { to: ok.headers.first('to') })
  await answer
  arrival.leg.end({ code: 'normal' })
  tcp.reply(await tcp.request('BYE'), 200)
  await carrier.nothingLeft()
  tcp.close()
})

it('an ACK with an unusable answer ends the call once', async () => {
  await begin()
  const { call } = carrier.invite({ body: '' })
  const { arrival, heard } = await bench.arrival()
  void arrival.leg.answer()
  const ok = await peer.response(200)
  peer.send('ACK', call, { to: ok.headers.first('to'), body: carrierSdp({ formats: '18' }) })
  peer.reply(await peer.request('BYE'), 200)
  await carrier.nothingLeft()
  expect(heard.events).toEqual(['answered', 'ended no_common_codec by us'])
  expect(peer.inbox.filter((each) => each.kind === 'request')).toEqual([])
})
