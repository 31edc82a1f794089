import { afterAll, beforeAll, expect, it } from 'vitest'
import { Gateway } from '../support/gateway.ts'
import { RtpPeer } from '../support/rtp-peer.ts'
import { Sipp } from '../support/sipp.ts'
import { application, scripted } from './applications.ts'

let gateway: Gateway

beforeAll(async () => {
  gateway = await Gateway.start({
    rtpPorts: 16,
    domains: [application('short.test', scripted('answer', 'hangup'))],
  })
})

afterAll(async () => {
  await gateway?.stop()
})

it('takes more calls within 30 s than the range has pairs of ports', async () => {
  const media = await RtpPeer.open()
  const calls = 20
  const sipp = await Sipp.start({
    scenario: 'caller-released',
    to: `127.0.0.1:${gateway.sipPort}`,
    values: { domain: 'short.test', user: '1', payloads: '0', codecs: 'a=rtpmap:0 PCMU/8000' },
    mediaPorts: Array<number>(calls).fill(media.port),
    rate: 15,
    trace: false,
  })
  await sipp.succeeded()
  media.close()
  expect(await gateway.metric('rtp_ports_total')).toBe(8)
  expect(await gateway.metric('rtp_ports_reused_total')).toBe(calls - 8)
  expect(await gateway.metric('calls_ended_total', { direction: 'inbound', cause: 'normal' })).toBe(calls)
  await gateway.settled()
  expect(await gateway.metric('rtp_ports_quarantined')).toBe(8)
})
