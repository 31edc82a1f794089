import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SipResponse } from './message/message.ts'
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

const target = () => `sip:bob@127.0.0.1:${bench.udp}`

describe('what the agent answers itself', () => {
  const ask = async (
    method: string,
    status: number,
    options: Parameters<Peer['send']>[2] = {},
  ): Promise<SipResponse> => {
    peer.send(method, peer.call(target()), options)
    return await peer.response(status, method)
  }

  it('501 to unknown methods, with what is allowed', async () => {
    expect((await ask('DANCE', 501)).headers.first('allow')).toContain('INVITE')
  })
  it('481 to a request for a dialog that does not exist', async () => {
    await ask('BYE', 481)
    await ask('INVITE', 481, { to: `<${target()}>;tag=nobody` })
    await ask('PRACK', 481)
  })
  it('483 when no hop is left', async () => {
    await ask('OPTIONS', 483, { extra: { 'Max-Forwards': '0' } })
  })
  it('420 to an extension that is required and not there', async () => {
    const refused = await ask('INVITE', 420, { extra: { Require: '100rel' } })
    expect(refused.headers.first('unsupported')).toBe('100rel')
  })
  it('400 to a broken header, saying which', async () => {
    expect((await ask('OPTIONS', 400, { extra: { Contact: '<sip:x@' } })).reason).toBe('Bad Contact')
  })
  it('482 to a copy that came by another path', async () => {
    bench.srf.invite(() => {})
    const call = peer.call(target())
    peer.send('INVITE', call, { body: testSdp() })
    await peer.response(100)
    peer.send('INVITE', call, { body: testSdp() })
    await peer.response(482, 'INVITE')
  })
  it('100 again to a repeated INVITE that is still being served', async () => {
    bench.srf.invite(() => {})
    const call = peer.call(target())
    const branch = peer.send('INVITE', call, { body: testSdp() })
    await peer.response(100)
    peer.send('INVITE', call, { body: testSdp(), branch })
    await peer.response(100)
  })
})

it('survives what is not SIP', async () => {
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
