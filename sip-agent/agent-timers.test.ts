import type { Dialog, SrfRequest } from 'drachtio-srf'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startSipAgent } from './index.ts'
import { Peer, testSdp } from './testing/peer.ts'
import { idle, routed, startTestAgent, type TestAgent } from './testing/srf.ts'

/** The real machine with a hundredth of the usual times: 64 * T1 is 640 ms. */
const timers = { t1: 10, t2: 80, t4: 100, ringing: 300, answer: 100 }
let bench: TestAgent
let peer: Peer
beforeEach(async () => {
  bench = await startTestAgent({ timers })
  peer = await Peer.udp(bench.udp)
})
afterEach(async () => {
  peer.close()
  await bench.close()
})
const target = () => `sip:bob@127.0.0.1:${bench.udp}`

describe('missing messages', () => {
  it('no ACK: the 200 is repeated, then the call ends and the application is notified', async () => {
    const dialog = new Promise<Dialog>((resolve) => {
      bench.srf.invite(async (req, res) =>
        resolve(await bench.srf.createUAS(req, res, { localSdp: testSdp() })),
      )
    })
    await routed(bench.srf)
    peer.send('INVITE', peer.call(target()), { body: testSdp() })
    for (let i = 0; i < 4; i++) await peer.response(200)
    const up = await dialog
    const destroyed = new Promise<unknown[]>((resolve) => {
      up.on('destroy', ((...args: unknown[]) => resolve(args)) as never)
    })
    const bye = await peer.request('BYE')
    expect(bye.headers.first('reason')).toContain('ACK timeout')
    peer.reply(bye, 200)
    expect((await destroyed)[1]).toBe('ACK timeout')
    await idle(bench.agent)
  })

  it('no ACK while the application hangs up: its BYE waits, then is sent once', async () => {
    const gone = new Promise<void>((resolve) => {
      bench.srf.invite(async (req, res) => {
        const dialog = await bench.srf.createUAS(req, res, { localSdp: testSdp() })
        dialog.destroy({ headers: { 'X-Own': 'yes' } }, () => resolve())
      })
    })
    await routed(bench.srf)
    peer.send('INVITE', peer.call(target()), { body: testSdp() })
    const bye = await peer.request('BYE')
    expect(bye.headers.first('x-own')).toBe('yes')
    peer.reply(bye, 200)
    await gone
    await idle(bench.agent)
  })

  it('no response of the application: the caller gets 480 and the application is notified', async () => {
    const received = new Promise<void>((resolve) => {
      bench.srf.invite((req) => (req as unknown as NodeJS.EventEmitter).on('cancel', () => resolve()))
    })
    bench.srf.use('options', () => {})
    await routed(bench.srf)
    const call = peer.call(target())
    const branch = peer.send('INVITE', call, { body: testSdp() })
    // A caller waits longer than the sender of any other request.
    peer.send('OPTIONS', peer.call(target()))
    await peer.response(500, 'OPTIONS')
    expect(peer.inbox.some((each) => each.kind === 'response' && each.status === 480)).toBe(false)
    const refused = await peer.response(480)
    peer.send('ACK', call, { to: refused.headers.first('to'), branch })
    await received
    await idle(bench.agent)
  })

  it('no response to an INVITE: it is repeated, then a local 408 follows', async () => {
    const refused = expect(bench.srf.createUAC(peer.uri, { localSdp: testSdp() })).rejects.toMatchObject({
      status: 408,
    })
    for (let i = 0; i < 5; i++) await peer.request('INVITE')
    await refused
    await idle(bench.agent)
  })

  it('no answer after a 180: the agent cancels, and reports 487 if the CANCEL has no effect', async () => {
    const refused = expect(bench.srf.createUAC(peer.uri, { localSdp: testSdp() })).rejects.toMatchObject({
      status: 487,
    })
    peer.reply(await peer.request('INVITE'), 180)
    await peer.request('CANCEL')
    await refused
    await idle(bench.agent)
  })

  it('no credentials after a challenge to a BYE: the dialog expires', async () => {
    const dialog = bench.srf.createUAC(peer.uri, { localSdp: testSdp() })
    peer.reply(await peer.request('INVITE'), 200, { body: testSdp() })
    await peer.request('ACK')
    const up = await dialog
    const released = new Promise<void>((resolve) => up.destroy({ headers: {} }, () => resolve()))
    const extra = { 'WWW-Authenticate': 'Digest realm="r", nonce="n"' }
    peer.reply(await peer.request('BYE'), 401, { extra })
    await released
    await idle(bench.agent)
  })

  it('no response to a BYE: it is repeated, then the application is released', async () => {
    const dialog = bench.srf.createUAC(peer.uri, { localSdp: testSdp() })
    peer.reply(await peer.request('INVITE'), 200, { body: testSdp() })
    await peer.request('ACK')
    const up = await dialog
    const released = new Promise<void>((resolve) => up.destroy({ headers: {} }, () => resolve()))
    await peer.request('BYE')
    await peer.request('BYE')
    await released
    await idle(bench.agent)
  })
})

it('a BYE before the answer ends the call for the application too', async () => {
  const cancelled = new Promise<void>((resolve) => {
    bench.srf.invite((req: SrfRequest, res) => {
      ;(req as unknown as NodeJS.EventEmitter).on('cancel', () => resolve())
      res.send(180)
    })
  })
  await routed(bench.srf)
  const call = peer.call(target())
  peer.send('INVITE', call, { body: testSdp() })
  const ringing = await peer.response(180)
  const before = call.seq++
  peer.send('BYE', call, { to: ringing.headers.first('to') })
  await peer.response(200, 'BYE')
  expect((await peer.response(487)).seq).toBe(before)
  await cancelled
})

it('the error of a port in use names the port', async () => {
  const listen = [{ transport: 'tcp', address: '127.0.0.1', port: bench.tcp }] as const
  await expect(startSipAgent({ listen })).rejects.toThrow(`cannot bind tcp 127.0.0.1:${bench.tcp}`)
})

it('closing twice has no effect, and later requests are rejected', async () => {
  const agent = await startSipAgent({ listen: [{ transport: 'udp', address: '127.0.0.1', port: 0 }] })
  const failures: Error[] = []
  agent.onFailure((error) => failures.push(error))
  await agent.close()
  await agent.close()
  await expect(agent.stats()).rejects.toThrow('closed')
  expect(failures).toEqual([])
})
