import type { Peer } from '@trunkline/sip-agent/testing/peer'
import { afterEach, expect, it } from 'vitest'
import { type Bench, type BenchOptions, carrierSdp, rejected, testApp } from '../testing/bench.ts'
import { Carrier } from '../testing/carrier.ts'

let carrier: Carrier
let bench: Bench
let peer: Peer
const begin = async (options: BenchOptions = {}) => {
  carrier = await Carrier.start(options)
  ;({ bench, peer } = carrier)
}
afterEach(() => carrier.close())

it.each([
  ['busy', 486],
  ['declined', 603],
  ['no_answer', 480],
  ['document_invalid', 503],
  ['unreachable', 503],
  ['draining', 503],
] as const)('an unanswered call that ends as %s is rejected with %i', async (code, status) => {
  await begin()
  const { call, branch } = carrier.invite()
  const { arrival } = await bench.arrival()
  arrival.leg.end({ code })
  const response = await peer.response(status)
  expect(response.headers.first('reason')).toMatch(/^Q\.850;cause=\d+/)
  // A fault of one call must not make a carrier stop sending other calls.
  expect(response.headers.first('retry-after')).toBe(code === 'draining' ? '10' : undefined)
  peer.send('ACK', call, { to: response.headers.first('to'), branch })
  await carrier.nothingLeft()
})

it('the status of the other side is passed on, except for a challenge', async () => {
  await begin()
  carrier.invite()
  const first = await bench.arrival()
  first.arrival.leg.end({ code: 'far_refused', sip: 484 })
  await peer.response(484)
  carrier.invite()
  const second = await bench.arrival()
  second.arrival.leg.end({ code: 'far_refused', sip: 401 })
  await peer.response(502)
})

it.each([
  ['unknown_domain', 404, undefined, 'sip:1@other.example', {}],
  [
    'source_not_allowed',
    403,
    undefined,
    'sip:1@demo.example',
    { apps: [testApp({ allow: ['192.0.2.0/24'] })] },
  ],
  ['no_handler', 480, undefined, 'sip:1@demo.example', { apps: [testApp({ handler: undefined })] }],
  ['over_call_limit', 503, '10', 'sip:1@demo.example', { parts: { maxCalls: 0 } }],
  // One application at its limit must not make a carrier stop calling the others.
  ['over_call_limit', 503, undefined, 'sip:1@demo.example', { apps: [testApp({ maxCalls: 0 })] }],
] as const)(
  'a call is rejected with %s and %i (Retry-After: %s), one log line and one count',
  async (code, status, retryAfter, to, options) => {
    await begin(options)
    carrier.invite({ to })
    const response = await peer.response(status)
    expect(response.headers.first('retry-after')).toBe(retryAfter)
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
    await carrier.nothingLeft()
  },
)

it.each([
  ['no_common_codec', carrierSdp({ formats: '18 101' }), 'G729/8000'],
  ['bad_sdp', 'v=0\r\nnonsense\r\n', 'line 2'],
  ['bad_sdp', carrierSdp({ address: '192.0.2.255' }), 'cannot be sent to'],
] as const)('%s is rejected with 488 and a Warning with the reason', async (code, body, why) => {
  await begin()
  carrier.invite({ body })
  const response = await peer.response(488)
  expect(response.headers.first('warning')).toContain(why)
  expect(bench.logged.filter((line) => line.code === code)).toHaveLength(1)
  expect(await rejected(bench.metrics, code)).toBe(1)
  await carrier.nothingLeft()
})

it('a tel: URI whose context is a domain application is accepted', async () => {
  await begin()
  peer.send('INVITE', peer.call('tel:+49-30-123;phone-context=demo.example'), { body: carrierSdp() })
  const { arrival } = await bench.arrival()
  expect(arrival.leg.to).toMatchObject({ user: '+4930123', uri: 'sip:+4930123@demo.example;user=phone' })
  await arrival.leg.answer()
  await peer.response(200)
})

it('a tel: URI without a domain is rejected with 416, and the log has the URI', async () => {
  await begin()
  peer.send('INVITE', peer.call('tel:+4930123;phone-context=ims.example'), { body: carrierSdp() })
  await peer.response(416)
  const lines = bench.logged.filter((line) => line.code === 'unsupported_uri')
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatchObject({
    level: 40,
    status: 416,
    source: '127.0.0.1',
    transport: 'udp',
    requestUri: 'tel:+4930123;phone-context=ims.example',
  })
  expect(await rejected(bench.metrics, 'unsupported_uri')).toBe(1)
  await carrier.nothingLeft()
})

it('a call is rejected if the last media port was taken meanwhile', async () => {
  await begin()
  bench.edge.exhausted = true
  carrier.invite()
  await peer.response(503)
  expect(await rejected(bench.metrics, 'no_ports')).toBe(1)
  await carrier.nothingLeft()
})

it('the calls of a domain are counted until they end', async () => {
  await begin({ apps: [testApp({ maxCalls: 1 })] })
  carrier.invite()
  const { arrival } = await bench.arrival()
  carrier.invite()
  await peer.response(503)
  arrival.leg.end({ code: 'busy' })
  await peer.response(486)
  carrier.invite()
  await bench.arrival()
})

it('OPTIONS is answered and other methods are rejected; calls and OPTIONS are rejected while draining', async () => {
  await begin()
  peer.send('OPTIONS', peer.call('sip:demo.example'))
  expect((await peer.response(200)).headers.first('allow')).toContain('INVITE')
  peer.send('MESSAGE', peer.call('sip:demo.example'), { body: 'x', extra: { 'Content-Type': 'text/plain' } })
  expect((await peer.response(405)).headers.first('allow')).toContain('INVITE')
  expect(await rejected(bench.metrics, 'method_not_allowed')).toBe(1)
  bench.sip.drain()
  peer.send('OPTIONS', peer.call('sip:demo.example'))
  await peer.response(503, 'OPTIONS')
  carrier.invite()
  await peer.response(503, 'INVITE')
  expect(await rejected(bench.metrics, 'draining')).toBe(2)
})

it('an INVITE that requires an extension is rejected', async () => {
  await begin()
  carrier.invite({ extra: { Require: 'precondition, timer' } })
  expect((await peer.response(420)).headers.first('unsupported')).toBe('precondition')
})
