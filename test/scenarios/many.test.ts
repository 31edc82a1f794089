import { afterAll, beforeAll, expect, it } from 'vitest'
import { Gateway } from '../support/gateway.ts'
import { faultsOf, fromFirstSound, levels } from '../support/hearing.ts'
import { RtpPeer } from '../support/rtp-peer.ts'
import { Sipp } from '../support/sipp.ts'
import { until } from '../support/until.ts'
import { application, scripted } from './applications.ts'

const count = 20

let gateway: Gateway

beforeAll(async () => {
  gateway = await Gateway.start({
    domains: [
      application(
        'many.test',
        scripted({ play: { url: 'say:You are one of many. This takes some seconds to say.' } }, 'hangup'),
      ),
    ],
  })
})

afterAll(() => gateway?.stop())

it(`serves ${count} calls at once, each with its own continuous voice`, async () => {
  const peers = await Promise.all(Array.from({ length: count }, () => RtpPeer.open()))
  const sipp = await Sipp.start({
    scenario: 'caller-released',
    to: `127.0.0.1:${gateway.sipPort}`,
    mediaPorts: peers.map(({ port }) => port),
    rate: count,
    values: { user: 'all', domain: 'many.test', payloads: '0', codecs: 'a=rtpmap:0 PCMU/8000' },
  })
  try {
    await until(
      'all are in a call at once',
      () => gateway.metric('calls'),
      (calls) => calls === count,
    )
    await sipp.succeeded()
    expect(
      peers.flatMap((peer, index) =>
        faultsOf(fromFirstSound(peer.packets)).map((fault) => `call ${index}: ${fault}`),
      ),
    ).toEqual([])
    for (const peer of peers) {
      expect(levels(peer.packets).filter((level) => level > 300).length).toBeGreaterThan(20)
    }
    expect(await gateway.metric('calls_ended_total', { cause: 'normal' })).toBe(count)
    await gateway.settled({ transactions: true })
  } finally {
    for (const peer of peers) peer.close()
    await sipp.stop()
  }
})
