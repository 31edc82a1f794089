import { afterEach, expect, it } from 'vitest'
import { Peer } from '../sip-agent/testing/peer.ts'
import { type Bench, type BenchOptions, carrierSdp, rejected, startBench, testApp } from './testing/bench.ts'

let bench: Bench
let peer: Peer
const start = async (options: BenchOptions = {}) => {
  bench = await startBench(options)
  peer = await Peer.udp(bench.udp)
}
afterEach(async () => {
  peer.close()
  await bench.close()
})

const invite = (options: { body?: string; to?: string; extra?: Record<string, string> } = {}) => {
  const call = peer.call(options.to ?? 'sip:+49301@demo.example')
  const branch = peer.send('INVITE', call, { body: options.body ?? carrierSdp(), extra: options.extra })
  return { call, branch }
}

/** Brings a call up to the ACK. */
const answered = async (options: Parameters<typeof invite>[0] = {}) => {
  const { call } = invite(options)
  const { arrival, heard } = await bench.arrival()
  const answer = arrival.leg.answer()
  const ok = await peer.response(200)
  const to = ok.headers.first('to')!
  peer.send('ACK', call, { to })
  await answer
  return { call, to, arrival, heard, ok }
}

/** Nothing of a call may be left. */
const nothingLeft = async () => {
  await expect.poll(() => bench.sip.legs).toBe(0)
  expect(bench.edge.used).toBe(0)
  expect(bench.sip.busyDomains).toBe(0)
}

it('takes a call, answers it, and hears the caller hang up', async () => {
  await start()
  const { call, to, arrival, heard, ok } = await answered({
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
    ...{
      address: '127.0.0.1',
      port: 4000,
      codec: 'PCMU',
      payloadType: 0,
      telephoneEvent: 101,
      direction: 'sendrecv',
    },
  })
  expect(bench.sip.legs).toBe(1)
  call.seq++
  peer.send('BYE', call, { to })
  await peer.response(200, 'BYE')
  await heard.until('ended')
  expect(heard.events).toEqual(['answered', 'ended normal by far'])
  await nothingLeft()
})

it('rings, opens early media, and hangs up with a Q.850 cause', async () => {
  await start()
  const { call } = invite()
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
  await nothingLeft()
  expect(heard.events).toEqual(['answered', 'ended max_duration by us'])
  expect(peer.inbox.filter((each) => each.kind === 'response' && each.status === 183)).toEqual([])
})

it('waits for the ACK before it hangs up', async () => {
  await start()
  const { call } = invite()
  const { arrival } = await bench.arrival()
  void arrival.leg.answer()
  const ok = await peer.response(200)
  arrival.leg.end({ code: 'normal' })
  expect(bench.edge.ports[0]?.closed).toBe(true)
  expect(peer.inbox.some((each) => each.kind === 'request')).toBe(false)
  peer.send('ACK', call, { to: ok.headers.first('to') })
  peer.reply(await peer.request('BYE'), 200)
  await nothingLeft()
})

it('ends the leg of a caller who gives up', async () => {
  await start()
  const { call, branch } = invite()
  const { arrival, heard } = await bench.arrival()
  arrival.leg.ring()
  await peer.response(180)
  peer.send('CANCEL', call, { branch })
  await peer.response(200, 'CANCEL')
  await peer.response(487)
  await heard.until('ended')
  expect(heard.events).toEqual(['ended canceled by far'])
  await nothingLeft()
})

it.each([
  ['busy', 486],
  ['declined', 603],
  ['no_answer', 480],
  ['document_invalid', 503],
] as const)('refuses an unanswered call that ends as %s with %i', async (code, status) => {
  await start()
  const { call, branch } = invite()
  const { arrival } = await bench.arrival()
  arrival.leg.end({ code })
  const response = await peer.response(status)
  expect(response.headers.first('reason')).toMatch(/^Q\.850;cause=\d+/)
  expect(response.headers.first('retry-after')).toBe(status === 503 ? '10' : undefined)
  peer.send('ACK', call, { to: response.headers.first('to'), branch })
  await nothingLeft()
})

it('passes on the status that the other side gave, but not a challenge', async () => {
  await start()
  invite()
  const first = await bench.arrival()
  first.arrival.leg.end({ code: 'far_refused', sip: 484 })
  await peer.response(484)
  invite()
  const second = await bench.arrival()
  second.arrival.leg.end({ code: 'far_refused', sip: 401 })
  await peer.response(502)
})

it.each([
  ['unknown_domain', 404, 'sip:1@other.example', {}],
  ['source_not_allowed', 403, 'sip:1@demo.example', { apps: [testApp({ allow: ['192.0.2.0/24'] })] }],
  ['no_handler', 480, 'sip:1@demo.example', { apps: [testApp({ handler: undefined })] }],
  ['over_call_limit', 503, 'sip:1@demo.example', { parts: { maxCalls: 0 } }],
  ['over_call_limit', 503, 'sip:1@demo.example', { apps: [testApp({ maxCalls: 0 })] }],
] as const)(
  'refuses with %s and %i, says so once in the log, and counts it',
  async (code, status, to, options) => {
    await start(options)
    invite({ to })
    const response = await peer.response(status)
    expect(response.headers.first('retry-after')).toBe(status === 503 ? '10' : undefined)
    const lines = bench.logged.filter((line) => line.code === code)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({
      level: 40,
      status,
      source: '127.0.0.1',
      transport: 'udp',
      domain: to.split('@')[1],
    })
    expect(await rejected(bench.metrics, code)).toBe(1)
    expect(bench.arrivals).toEqual([])
    await nothingLeft()
  },
)

it.each([
  ['no_common_codec', carrierSdp({ formats: '18 101' }), 'G729/8000'],
  ['bad_sdp', 'v=0\r\nnonsense\r\n', 'line 2'],
  ['bad_sdp', carrierSdp({ address: '192.0.2.255' }), 'cannot be sent to'],
] as const)('refuses %s with 488 and a warning that says why', async (code, body, why) => {
  await start()
  invite({ body })
  const response = await peer.response(488)
  expect(response.headers.first('warning')).toContain(why)
  expect(bench.logged.filter((line) => line.code === code)).toHaveLength(1)
  expect(await rejected(bench.metrics, code)).toBe(1)
  await nothingLeft()
})

it('refuses when the last media port went meanwhile', async () => {
  await start()
  bench.edge.exhausted = true
  invite()
  await peer.response(503)
  expect(await rejected(bench.metrics, 'no_ports')).toBe(1)
  await nothingLeft()
})

it('counts the calls of a domain until they have ended', async () => {
  await start({ apps: [testApp({ maxCalls: 1 })] })
  invite()
  const { arrival } = await bench.arrival()
  invite()
  await peer.response(503)
  arrival.leg.end({ code: 'busy' })
  await peer.response(486)
  invite()
  await bench.arrival()
})

it('answers a hold, then talk again, with the session version rising', async () => {
  await start()
  const { call, to, ok } = await answered()
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
  const told = port.told.length
  expect(await reinvite(carrierSdp({ address: '127.0.0.2', formats: '8', version: 4 }))).toBe(talk)
  expect(port.told).toHaveLength(told)
  await reinvite(carrierSdp({ formats: '18', version: 5 }), 488)
  expect(port.told).toHaveLength(told)
})

it('offers in the 200 to an INVITE without SDP, and takes the answer of the ACK', async () => {
  await start()
  const { call } = invite({ body: '' })
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

it('hangs up on an ACK without the answer that it owes', async () => {
  await start()
  const { call } = invite({ body: '' })
  const { arrival, heard } = await bench.arrival()
  void arrival.leg.answer()
  const ok = await peer.response(200)
  peer.send('ACK', call, { to: ok.headers.first('to') })
  peer.reply(await peer.request('BYE'), 200)
  await nothingLeft()
  expect(heard.events).toEqual(['ended bad_sdp by us'])
})

it('hears digits in INFO, and refuses other INFO', async () => {
  await start()
  const { call, to, heard } = await answered()
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
  await peer.response(405, 'REFER')
})

it('sends digits as RFC 4733, or as INFO where the far side takes none', async () => {
  await start()
  const { arrival } = await answered()
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

it('ends its legs some time after the connection to the agent is lost', async () => {
  await start({ parts: { graceMs: 50 } })
  const { heard } = await answered()
  invite()
  const ringing = await bench.arrival()
  await bench.agent.close()
  await Promise.all([heard.until('ended'), ringing.heard.until('ended')])
  expect(heard.events.at(-1)).toBe('ended control_lost by far')
  expect(bench.sip.isConnected).toBe(false)
  await nothingLeft()
})

it('answers OPTIONS, refuses other methods, and both calls and OPTIONS while draining', async () => {
  await start()
  peer.send('OPTIONS', peer.call('sip:demo.example'))
  expect((await peer.response(200)).headers.first('allow')).toContain('INVITE')
  peer.send('MESSAGE', peer.call('sip:demo.example'), { body: 'x', extra: { 'Content-Type': 'text/plain' } })
  expect((await peer.response(405)).headers.first('allow')).toContain('INVITE')
  expect(await rejected(bench.metrics, 'method_not_allowed')).toBe(1)
  bench.sip.drain()
  peer.send('OPTIONS', peer.call('sip:demo.example'))
  await peer.response(503, 'OPTIONS')
  invite()
  await peer.response(503, 'INVITE')
  expect(await rejected(bench.metrics, 'draining')).toBe(2)
})
