import { afterEach, beforeEach, expect, it } from 'vitest'
import { Peer, testSdp } from './testing/peer.ts'
import { type Bench, startBench } from './testing/srf.ts'

let bench: Bench
let peer: Peer
beforeEach(async () => {
  bench = await startBench()
  peer = await Peer.udp(bench.udp)
})
afterEach(async () => {
  peer.close()
  await bench.close()
})

it('answers a call and takes the caller hanging up', async () => {
  const ended = new Promise<void>((resolve) => {
    bench.srf.invite(async (req, res) => {
      const dialog = await bench.srf.createUAS(req, res, { localSdp: testSdp('answer') })
      dialog.on('destroy', () => resolve())
    })
  })
  const call = peer.call(`sip:bob@127.0.0.1:${bench.udp}`)
  peer.send('INVITE', call, { body: testSdp() })
  await peer.response(100)
  const ok = await peer.response(200)
  expect(ok.body.toString()).toContain('s=answer')
  const to = ok.headers.first('to')
  peer.send('ACK', call, { to })
  call.seq++
  peer.send('BYE', call, { to })
  await peer.response(200, 'BYE')
  await ended
})
