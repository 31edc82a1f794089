import type { SrfRequest, SrfResponse } from 'drachtio-srf'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SipResponse } from './message/message.ts'
import { Peer, testSdp } from './testing/peer.ts'
import { routed, startTestAgent, type TestAgent } from './testing/srf.ts'

let bench: TestAgent
let peer: Peer
beforeEach(async () => {
  bench = await startTestAgent()
  peer = await Peer.udp(bench.udp)
})
afterEach(async () => {
  peer.close()
  await bench.close()
})

const target = () => `sip:bob@127.0.0.1:${bench.udp}`

describe('a response of the agent itself', () => {
  const ask = async (
    method: string,
    status: number,
    options: Parameters<Peer['send']>[2] = {},
  ): Promise<SipResponse> => {
    peer.send(method, peer.call(target()), options)
    return await peer.response(status, method)
  }

  it('is 501 to unknown methods, with Allow', async () => {
    expect((await ask('DANCE', 501)).headers.first('allow')).toContain('INVITE')
  })
  it('is 481 to a request for an unknown dialog', async () => {
    await ask('BYE', 481)
    await ask('INVITE', 481, { to: `<${target()}>;tag=unknown` })
    await ask('PRACK', 481)
  })
  it('is not 483 to a request with Max-Forwards 0, which ends at the agent', async () => {
    const extra = { 'Max-Forwards': '0' }
    await ask('INVITE', 481, { extra, to: `<${target()}>;tag=unknown` })
    bench.srf.use('options', (_req: SrfRequest, res: SrfResponse) => res.send(200))
    bench.srf.invite((_req: SrfRequest, res: SrfResponse) => res.send(486))
    await routed(bench.srf)
    await ask('OPTIONS', 200, { extra })
    await ask('INVITE', 486, { extra })
  })
  it('is 420 to an unsupported required extension', async () => {
    const refused = await ask('INVITE', 420, { extra: { Require: '100rel, sec-agree' } })
    expect(refused.headers.first('unsupported')).toBe('sec-agree')
  })
  it('is counted by status and reported', async () => {
    const received = new Promise((resolve) => bench.agent.onRefusal(resolve))
    await ask('INVITE', 420, { extra: { Require: 'sec-agree' } })
    await ask('OPTIONS', 400, { extra: { Contact: '<sip:x@' } })
    await ask('BYE', 481)
    await ask('BYE', 481)
    await ask('INVITE', 503)
    const facts = { method: 'INVITE', uri: target(), source: '127.0.0.1', detail: 'sec-agree' }
    expect(await received).toMatchObject({ status: 420, ...facts })
    expect((await bench.agent.stats()).refused).toEqual({ 400: 1, 420: 1, 481: 2, 503: 1 })
  })
  it('is not a rejection by an application or a cancelled call', async () => {
    bench.srf.invite((request: SrfRequest, response: SrfResponse) => {
      if (request.uri.includes('busy')) response.send(486)
    })
    await routed(bench.srf)
    peer.send('INVITE', peer.call(target().replace('bob', 'busy')))
    await peer.response(486, 'INVITE')
    const call = peer.call(target())
    const branch = peer.send('INVITE', call, { body: testSdp() })
    await peer.response(100)
    peer.send('CANCEL', call, { branch })
    await peer.response(487, 'INVITE')
    expect((await bench.agent.stats()).refused).toEqual({})
  })
  it('is 416 to a tel URI, except in an INVITE, which the application receives', async () => {
    peer.send('OPTIONS', peer.call('tel:+4930123'))
    await peer.response(416, 'OPTIONS')
    bench.srf.invite((request: SrfRequest, response: SrfResponse) =>
      response.send(404, { headers: { 'X-Uri': request.uri } }),
    )
    await routed(bench.srf)
    peer.send('INVITE', peer.call('tel:+4930123'))
    expect((await peer.response(404, 'INVITE')).headers.first('x-uri')).toBe('tel:+4930123')
  })
  it('is 400 to a malformed header, with its name', async () => {
    expect((await ask('OPTIONS', 400, { extra: { Contact: '<sip:x@' } })).reason).toBe('Bad Contact')
  })
  it('is 482 to a copy that arrived by another path', async () => {
    bench.srf.invite(() => {})
    await routed(bench.srf)
    const call = peer.call(target())
    peer.send('INVITE', call, { body: testSdp() })
    await peer.response(100)
    peer.send('INVITE', call, { body: testSdp() })
    await peer.response(482, 'INVITE')
  })
  it('is 100 to an unanswered INVITE, at once for a retransmission', async () => {
    bench.srf.invite(() => {})
    await routed(bench.srf)
    const call = peer.call(target())
    const branch = peer.send('INVITE', call, { body: testSdp() })
    peer.send('INVITE', call, { body: testSdp(), branch })
    await peer.response(100)
    peer.send('INVITE', call, { body: testSdp(), branch })
    await peer.response(100)
  })
  it('is 503 with Retry-After if no application takes the request, without a provisional response', async () => {
    const refused = await ask('INVITE', 503)
    expect(refused.headers.first('retry-after')).toBe('5')
    expect(peer.inbox.some((each) => each.kind === 'response' && each.status === 100)).toBe(false)
  })
  it('is 482 to a request of its own that returns', async () => {
    const sent = bench.srf.createUAC(peer.uri, { localSdp: testSdp() })
    const invite = await peer.request('INVITE')
    const via = `SIP/2.0/UDP 127.0.0.1:${peer.port};branch=z9hG4bKproxy;rport, ${invite.headers.first('via')}`
    peer.send('INVITE', peer.call(target()), { extra: { Via: via } })
    await peer.response(482, 'INVITE')
    peer.reply(invite, 486)
    await expect(sent).rejects.toMatchObject({ status: 486 })
  })
})

it('bytes that are not SIP have no effect', async () => {
  for (const text of [
    'x',
    'hello world\r\n\r\n',
    'SIP/2.0 200 OK\r\n\r\n',
    '\0'.repeat(300),
    'INVITE a b c\r\n\r\n',
  ]) {
    peer.raw(text)
  }
  peer.send('OPTIONS', peer.call(target()))
  await peer.response(503, 'OPTIONS')
})

it('an existing call can be ended while new ones are rejected for overload', async () => {
  await bench.close()
  bench = await startTestAgent({ maxTransactions: 1 })
  const caller = await Peer.udp(bench.udp)
  bench.srf.invite((req, res) => void bench.srf.createUAS(req, res, { localSdp: testSdp() }))
  await routed(bench.srf)
  const call = caller.call(target())
  caller.send('INVITE', call, { body: testSdp() })
  const to = (await caller.response(200, 'INVITE')).headers.first('to') ?? ''
  caller.send('ACK', call, { to })
  caller.send('INVITE', caller.call(target()), { body: testSdp() })
  expect((await caller.response(503, 'INVITE')).headers.first('retry-after')).toBe('5')
  call.seq++
  caller.send('BYE', call, { to })
  await caller.response(200, 'BYE')
  caller.close()
})

it('an INVITE with the Call-ID and From tag of an outgoing call gets 482', async () => {
  const far = await Peer.udp(bench.udp)
  const called = bench.srf.createUAC(far.uri, { localSdp: testSdp('offer') })
  const ours = await far.request('INVITE')
  const call = far.call(target())
  const own = { callId: ours.callId, from: `<sip:e@x.example>;tag=${ours.fromTag}` }
  far.send('INVITE', { ...call, ...own })
  await far.response(482, 'INVITE')
  far.reply(ours, 200, { body: testSdp('answer') })
  await far.request('ACK')
  far.close()
  expect((await called).remote.sdp).toContain('s=answer')
})
