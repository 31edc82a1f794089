import type { Dialog } from 'drachtio-srf'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Peer, testSdp } from './testing/peer.ts'
import { answerTo, connectSrf, idle, request, startTestAgent, type TestAgent } from './testing/srf.ts'

let bench: TestAgent
let far: Peer
beforeEach(async () => {
  bench = await startTestAgent()
  far = await Peer.tcpServer()
})
afterEach(async () => {
  far.close()
  await bench.close()
})

const dial = (): Promise<Dialog> => bench.srf.createUAC(far.uri, { localSdp: testSdp('offer') })
const answered = async (): Promise<Dialog> => {
  const dialog = dial()
  far.reply(await far.request('INVITE'), 200, { body: testSdp('answer') })
  await far.request('ACK')
  return await dialog
}

describe('a connection that closes', () => {
  it.each([0, 100, 180])('ends an INVITE whose latest response is %i with one 503', async (status) => {
    const refused = expect(dial()).rejects.toMatchObject({ status: 503 })
    const invite = await far.request('INVITE')
    if (status) far.reply(invite, status)
    far.hangUp()
    await refused
    if (status) {
      // The called phone must stop ringing, though its answer would find no application.
      const cancel = await far.request('CANCEL')
      expect(cancel.via.branch).toBe(invite.via.branch)
      far.reply(cancel, 200)
    }
    await idle(bench.agent)
    expect(far.inbox).toEqual([])
  })

  it('ends another request with one 503', async () => {
    const answer = answerTo(await request(bench.srf, far.uri, { method: 'MESSAGE' }))
    await far.request('MESSAGE')
    far.hangUp()
    expect((await answer).status).toBe(503)
  })

  it('during a call is replaced by a new one for the BYE', async () => {
    const up = await answered()
    far.hangUp()
    while ((await bench.agent.stats()).connections > 0);
    up.destroy()
    far.reply(await far.request('BYE'), 200)
    await idle(bench.agent)
  })

  it('permanently ends the call with an undelivered BYE', async () => {
    const up = await answered()
    far.close()
    while ((await bench.agent.stats()).connections > 0);
    await new Promise<void>((resolve) => up.destroy({ headers: {} }, () => resolve()))
    await idle(bench.agent)
  })
})

describe('an application that has disconnected', () => {
  it('has its call acknowledged and ended if the answer crosses the CANCEL', async () => {
    const other = await connectSrf(bench.agent)
    other.createUAC(far.uri, { localSdp: testSdp() }).catch(() => {})
    const invite = await far.request('INVITE')
    far.reply(invite, 180)
    other.disconnect()
    const cancel = await far.request('CANCEL')
    expect(cancel.headers.first('reason')).toContain('Application connection lost')
    far.reply(invite, 200, { body: testSdp() })
    far.reply(cancel, 200)
    await far.request('ACK')
    const bye = await far.request('BYE')
    expect(bye.headers.first('reason')).toContain('Application connection lost')
    far.reply(bye, 200)
    await idle(bench.agent)
  })

  it('has a just answered call, or re-INVITE, acknowledged and ended', async () => {
    const other = await connectSrf(bench.agent)
    const dialog = other.createUAC(far.uri, { localSdp: testSdp() })
    far.reply(await far.request('INVITE'), 200, { body: testSdp() })
    await far.request('ACK')
    const up = await dialog
    up.modify(testSdp('again')).catch(() => {})
    const reinvite = await far.request('INVITE')
    far.reply(reinvite, 100)
    other.disconnect()
    await far.request('CANCEL')
    far.reply(await far.request('BYE'), 200)
    far.reply(reinvite, 200, { body: testSdp() })
    expect((await far.request('ACK')).seq).toBe(reinvite.seq)
    await idle(bench.agent)
  })

  it('leaves no subscription behind', async () => {
    const other = await connectSrf(bench.agent)
    const options: object = { method: 'SUBSCRIBE', headers: { Event: 'presence' } }
    const dialog = other.createUAC(far.uri, options)
    const subscription = await far.request('SUBSCRIBE')
    far.reply(subscription, 200, { extra: { Expires: '600' } })
    await dialog
    other.disconnect()
    await idle(bench.agent)
    expect(far.inbox).toEqual([])
  })
})

describe('a repeated 200 to a re-INVITE', () => {
  it('is acknowledged again', async () => {
    const up = await answered()
    const modified = up.modify(testSdp('again'))
    const reinvite = await far.request('INVITE')
    for (let i = 0; i < 3; i++) {
      far.reply(reinvite, 200, { body: testSdp('fine') })
      expect((await far.request('ACK')).seq).toBe(reinvite.seq)
    }
    await modified
    up.destroy()
    far.reply(await far.request('BYE'), 200)
    await idle(bench.agent)
  })
})
