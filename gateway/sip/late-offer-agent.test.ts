import type { SipRequest } from '@trunkline/sip-agent/message'
import { Peer } from '@trunkline/sip-agent/testing/peer'
import { afterEach, expect, it } from 'vitest'
import type { CarrierConfig } from '../../config/types.ts'
import { SystemClock } from '../core/clock.ts'
import { type Bench, carrierSdp, Heard, startBench, wish } from './testing/bench.ts'
import { testCarrier } from './testing/test-carrier.ts'
import { CarrierDirectory } from './trunks/carrier-directory.ts'

// late-offer.test.ts tests the rules alone; here drachtio-srf and a real agent send the ACKs and PRACKs.

let bench: Bench
let peer: Peer
afterEach(async () => {
  peer.close()
  await bench.close()
})

const call = async (changes: Partial<CarrierConfig> = {}) => {
  peer = await Peer.udp()
  const target = `sip:127.0.0.1:${peer.port}`
  const carriers = new CarrierDirectory(
    [testCarrier({ targets: [target], lateOffer: true, ...changes })],
    new SystemClock(),
  )
  bench = await startBench({ parts: { carriers } })
  const uri = `sip:+4930@127.0.0.1:${peer.port}`
  const leg = bench.sip.dial({ kind: 'sip', uri }, wish(uri))
  const heard = new Heard(leg)
  return { leg, heard, invite: await peer.request('INVITE') }
}
const nothingLeft = async () => {
  await expect.poll(() => bench.sip.legs).toBe(0)
  expect(bench.edge.used).toBe(0)
  await expect.poll(async () => (await bench.agent.stats()).dialogs).toBe(0)
}
const body = ({ body: sdp }: SipRequest) => sdp.toString()
const pcma = { body: carrierSdp({ formats: '8 101' }) }

it('the embedded agent answers the offer of a 200 in the ACK', async () => {
  const { leg, heard, invite } = await call()
  expect([body(invite), invite.headers.first('content-type')]).toEqual(['', undefined])
  peer.reply(invite, 180)
  await heard.until('ringing')
  peer.reply(invite, 200, pcma)
  const ack = await peer.request('ACK')
  expect(ack.headers.first('content-type')).toBe('application/sdp')
  expect(body(ack)).toContain('m=audio 20000 RTP/AVP 8 101\r\n')
  await heard.until('answered')
  expect(bench.edge.ports[0]?.far).toMatchObject({ port: 4000, codec: 'PCMA' })
  // The same ACK is sent again for a retransmitted 200 (RFC 3261 section 13.2.2.4).
  peer.reply(invite, 200, pcma)
  expect(body(await peer.request('ACK'))).toBe(body(ack))
  leg.end({ code: 'normal' })
  peer.reply(await peer.request('BYE'), 200)
  await nothingLeft()
})

it('the embedded agent answers the offer of a reliable 183 in its PRACK, and sends no other answer', async () => {
  const { leg, heard, invite } = await call()
  expect(invite.headers.first('supported')).toContain('100rel')
  peer.reply(invite, 183, { ...pcma, extra: { Require: '100rel', RSeq: '7' } })
  const prack = await peer.request('PRACK')
  expect(prack.headers.first('rack')).toBe(`7 ${invite.headers.first('cseq')}`)
  expect(body(prack)).toContain('m=audio 20000 RTP/AVP 8 101\r\n')
  peer.reply(prack, 200)
  await heard.until('early media')
  peer.reply(invite, 200)
  expect(body(await peer.request('ACK'))).toBe('')
  await heard.until('answered')
  expect(peer.inbox.filter((message) => message.kind === 'request')).toEqual([])
  leg.end({ code: 'normal' })
  peer.reply(await peer.request('BYE'), 200)
  await nothingLeft()
})

it('an unusable offer is refused, and the BYE has the reason', async () => {
  const { heard, invite } = await call()
  peer.reply(invite, 200, { body: carrierSdp({ formats: '18' }) })
  expect(body(await peer.request('ACK'))).toContain('m=audio 0 RTP/AVP 18\r\n')
  const bye = await peer.request('BYE')
  expect(bye.headers.first('reason')).toMatch(/^Q\.850;cause=\d+;text=/)
  peer.reply(bye, 200)
  await heard.until('ended no_common_codec by us')
  await nothingLeft()
})

it('an answer without an offer is acknowledged and hung up', async () => {
  const { heard, invite } = await call()
  peer.reply(invite, 200)
  expect(body(await peer.request('ACK'))).toBe('')
  peer.reply(await peer.request('BYE'), 200)
  await heard.until('ended bad_sdp by us')
  await nothingLeft()
})

it('an answer that crosses the CANCEL is hung up', async () => {
  const { leg, heard, invite } = await call()
  peer.reply(invite, 180)
  await heard.until('ringing')
  peer.reply(invite, 200, pcma)
  leg.end({ code: 'canceled' })
  expect(body(await peer.request('ACK'))).toMatch(/m=audio (0|20000) RTP\/AVP 8 101\r\n/)
  peer.reply(await peer.request('BYE'), 200)
  await nothingLeft()
})

it('a challenge is answered with an INVITE that also has no offer', async () => {
  const { leg, heard, invite } = await call({ auth: { username: 'trunk', password: 'hush' } })
  peer.reply(invite, 401, { extra: { 'WWW-Authenticate': 'Digest realm="r", nonce="n", qop="auth"' } })
  await peer.request('ACK')
  const second = await peer.request('INVITE')
  expect([body(second), second.headers.first('authorization')]).toEqual([
    '',
    expect.stringContaining('trunk'),
  ])
  peer.reply(second, 200, pcma)
  expect(body(await peer.request('ACK'))).toContain('m=audio 20000 ')
  await heard.until('answered')
  leg.end({ code: 'normal' })
  peer.reply(await peer.request('BYE'), 200)
  await nothingLeft()
})
