/** @schedule first: one test sends damaged requests for a long time. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../media/testing/free-ports.ts'
import { embedded } from '../support/agents.ts'
import { application, scripted } from '../support/applications.ts'
import { connectedDomain, FuzzPeer, fuzzedDomain } from '../support/fuzz.ts'
import { Gateway } from '../support/gateway.ts'

describe('a gateway that receives damaged SIP', () => {
  let gateway: Gateway
  let peer: FuzzPeer

  beforeAll(async () => {
    const port = await freePort()
    gateway = await Gateway.start({
      agent: embedded,
      limits: { calls: 5_000 },
      rtpPorts: 4_000,
      domains: [
        application(fuzzedDomain, scripted('answer', { sleep: 5_000 })),
        application(connectedDomain, scripted({ connect: { to: `sip:x@127.0.0.1:${port}`, timeout: 2 } })),
      ],
    })
    peer = await FuzzPeer.open(gateway, port, 20_261_122)
  })

  afterAll(async () => {
    peer?.close()
    await gateway?.stop()
  })

  const isWell = () => {
    expect(gateway.exitCode).toBeUndefined()
    expect(gateway.log.filter(({ level }) => level >= 50)).toEqual([])
  }

  it.each([
    ['damaged requests of every method', () => peer.requests(1_500)],
    ['headers of 8 KB that are slow to parse', () => peer.headers(400)],
    ['damaged requests within calls', () => peer.calls(60)],
    ['damaged responses to its own calls', () => peer.answers(80)],
  ])('survives %s', async (_what, run) => {
    await run()
    isWell()
  })

  it('releases all state afterwards, and takes the next call', async () => {
    await peer.settled()
    isWell()
    const { answered, asked } = peer.counts
    expect([answered > 100, asked > 60]).toEqual([true, true])
  })
})
