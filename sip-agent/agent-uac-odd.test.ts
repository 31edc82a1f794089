import type { Dialog } from 'drachtio-srf'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Peer, testSdp } from './testing/peer.ts'
import { answerTo, idle, request, startTestAgent, type TestAgent } from './testing/srf.ts'

let bench: TestAgent
let peer: Peer
beforeEach(async () => {
  bench = await startTestAgent()
  peer = await Peer.udp()
})
afterEach(async () => {
  peer.close()
  await bench.close()
})

const dial = (): Promise<Dialog> => bench.srf.createUAC(peer.uri, { localSdp: testSdp('offer') })

describe('a call whose far end violates the protocol', () => {
  it.each([
    [200, false],
    [202, true],
  ])('is up after a %i (with a Contact: %s), and can be ended', async (status, contact) => {
    const dialog = dial()
    const invite = await peer.request('INVITE')
    peer.reply(invite, status, { body: testSdp('answer'), contact })
    await peer.request('ACK')
    const up = await dialog
    expect(up.remote.sdp).toContain('s=answer')
    up.destroy()
    const bye = await peer.request('BYE')
    expect(bye.uri).toBe(peer.uri)
    peer.reply(bye, 200)
    await idle(bench.agent)
  })

  it.each([
    '*',
    '<>',
    '',
    '<sip:a b@c',
    '"x <sip:a@b>',
    ';expires=3',
    'J\u00fcrgen <sip:a@b>',
    '<tel:+49>',
    'localhost" <',
  ])('is up after a 200 with the Contact %j, and can be ended', async (contact) => {
    const dialog = dial()
    const invite = await peer.request('INVITE')
    peer.reply(invite, 200, { body: testSdp('answer'), contact: false, extra: { Contact: contact } })
    await peer.request('ACK')
    const up = await dialog
    expect(up.remote.sdp).toContain('s=answer')
    up.destroy()
    peer.reply(await peer.request('BYE'), 200)
    await idle(bench.agent)
  })

  it('limits the dialogs of forks without an answer', async () => {
    const dialog = dial()
    const invite = await peer.request('INVITE')
    for (let i = 0; i < 100; i++) peer.reply(invite, 180, { tag: `fork${i}` })
    peer.reply(invite, 183, { tag: 'last' })
    // The OPTIONS is served after everything before it.
    peer.send('OPTIONS', peer.call(`sip:x@127.0.0.1:${bench.udp}`))
    await peer.response(503, 'OPTIONS')
    expect((await bench.agent.stats()).dialogs).toBe(32)
    peer.reply(invite, 486, { tag: 'last' })
    await expect(dialog).rejects.toMatchObject({ status: 486 })
    await idle(bench.agent)
  })
})

it('a REGISTER is sent again with credentials, without a Contact of the agent', async () => {
  const auth = { username: 'joe', password: 'pass' }
  const sent = request(bench.srf, peer.uri, {
    method: 'REGISTER',
    auth,
    headers: { From: 'sip:joe@localhost' },
  })
  const first = await peer.request('REGISTER')
  expect(first.headers.first('contact')).toBeUndefined()
  expect(first.headers.first('from')).toContain(`<sip:joe@127.0.0.1:${bench.udp}>;tag=`)
  peer.reply(first, 407, { extra: { 'Proxy-Authenticate': 'Digest realm="r", nonce="n"' } })
  const second = await peer.request('REGISTER')
  expect([second.callId, second.fromTag, second.seq]).toEqual([first.callId, first.fromTag, first.seq + 1])
  expect(second.headers.first('proxy-authorization')).toContain('username="joe"')
  peer.reply(second, 200)
  expect((await answerTo(await sent)).status).toBe(200)
})
