import { offenseHeader } from '@trunkline/sip-agent'
import { expect, it } from 'vitest'
import { Metrics } from '../../core/metrics.ts'
import { GatewayHeaders } from '../gateway-headers.ts'
import { testApp } from '../testing/bench.ts'
import { Carrier } from '../testing/carrier.ts'
import { FakeResponse } from '../testing/fake-srf.ts'
import { Refusals } from './refusals.ts'

const shield = {
  packetsPerSecond: 1_000,
  knownPacketsPerSecond: 1_000,
  banAfter: 3,
  banForMs: 600_000,
  scanners: [],
  untrusted: 'answer' as const,
  known: [],
}

it('an untrusted source with rejected calls is banned, but not for another party’s 403', async () => {
  const apps = [testApp(), testApp({ id: 'app-2', domain: 'closed.example', allow: ['192.0.2.0/24'] })]
  const carrier = await Carrier.start({ apps, agent: { shield } })
  const { bench, peer } = carrier
  const acknowledged = async (to: string, end: () => Promise<void> = async () => {}) => {
    const { call, branch } = carrier.invite({ to })
    await end()
    const { headers } = await peer.response(403)
    expect(headers.list().filter(({ key }) => key.startsWith('x-'))).toEqual([])
    peer.send('ACK', call, { to: headers.first('to'), branch })
  }
  for (let i = 0; i < 4; i++) {
    await acknowledged('sip:1@demo.example', async () => {
      const { arrival } = await bench.arrival()
      arrival.leg.end({ code: 'far_refused', sip: 403 })
    })
  }
  peer.send('OPTIONS', peer.call('sip:demo.example'))
  await peer.response(200)
  expect((await bench.agent.stats()).banned).toBe(0)
  for (let i = 0; i < 3; i++) await acknowledged('sip:1@closed.example')
  await expect.poll(async () => (await bench.agent.stats()).banned).toBe(1)
  await carrier.close()
})

it('no ban is sent to a drachtio-server, which would forward the header to the sender', () => {
  const sent = (marks: boolean, code: 'source_not_allowed' | 'not_permitted') => {
    const headers = new GatewayHeaders({ hasPrivateHeaders: marks })
    const response = new FakeResponse()
    new Refusals(headers, { warn: () => {} }, new Metrics()).refuse(response, code, {})
    return Object.keys(response.sent[0]?.headers ?? {})
  }
  expect(sent(true, 'source_not_allowed')).toEqual(['Reason', offenseHeader])
  expect(sent(false, 'source_not_allowed')).toEqual(['Reason'])
  expect(sent(true, 'not_permitted')).toEqual(['Reason'])
})
