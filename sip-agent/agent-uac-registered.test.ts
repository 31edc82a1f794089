import type { Dialog, SrfRequest, SrfResponse } from 'drachtio-srf'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Peer, testSdp } from './testing/peer.ts'
import { answerTo, idle, request, routed, startTestAgent, type TestAgent } from './testing/srf.ts'

const contact = 'sip:webuser@abc.invalid;transport=ws'
let bench: TestAgent
let far: Peer
beforeEach(async () => {
  bench = await startTestAgent()
  far = await Peer.tcp(bench.tcp)
  bench.srf.use('register', (req: SrfRequest, res: SrfResponse) => {
    const asked = req.get('Contact')
    const headers: Record<string, string> = asked === '*' ? {} : { Contact: `${asked};expires=300` }
    res.send(200, { headers })
  })
  await routed(bench.srf)
  await register({})
})
afterEach(async () => {
  far.close()
  await bench.close()
})

const register = async (extra: Record<string, string>) => {
  const call = far.call(`sip:127.0.0.1:${bench.tcp};transport=tcp`)
  far.send('REGISTER', call, { extra: { Contact: `<${contact}>`, ...extra } })
  await far.response(200, 'REGISTER')
}
const registered = async () => (await bench.agent.stats()).registeredFlows

describe('a contact that registered over a connection (drachtio page 9.3)', () => {
  it('is called over that connection, also for later requests of the call', async () => {
    expect(await registered()).toBe(1)
    const options: object = { localSdp: testSdp('offer'), callingNumber: '77' }
    const dialog: Promise<Dialog> = bench.srf.createUAC('sip:webuser@ABC.invalid', options)
    const invite = await far.request('INVITE')
    expect(invite.via.transport).toBe('TCP')
    expect(invite.headers.first('contact')).toBe(`<sip:77@127.0.0.1:${bench.tcp};transport=tcp>`)
    far.reply(invite, 200, { body: testSdp('answer'), contact: false, extra: { Contact: `<${contact}>` } })
    expect((await far.request('ACK')).uri).toBe(contact)
    ;(await dialog).destroy()
    far.reply(await far.request('BYE'), 200)
    await idle(bench.agent)
  })

  it.each(['OPTIONS', 'NOTIFY', 'MESSAGE'])('gets a %s over it', async (method) => {
    const headers = { Event: 'x', 'Subscription-State': 'active' }
    const answer = answerTo(await request(bench.srf, 'sip:webuser@abc.invalid', { method, headers }))
    far.reply(await far.request(method), 200)
    expect((await answer).status).toBe(200)
  })

  it('is not used if the application gives a next hop, or for other methods', async () => {
    const peer = await Peer.udp()
    const uri = 'sip:webuser@abc.invalid'
    const proxied = answerTo(await request(bench.srf, uri, { method: 'OPTIONS', proxy: peer.uri }))
    peer.reply(await peer.request('OPTIONS'), 200)
    expect((await proxied).status).toBe(200)
    const published = answerTo(await request(bench.srf, uri, { method: 'PUBLISH' }))
    expect((await published).status).toBe(503)
    expect(far.inbox).toEqual([])
    peer.close()
  })

  it('is forgotten when it unregisters, alone or with all contacts', async () => {
    await register({ Contact: `<${contact}>`, Expires: '0' })
    expect(await registered()).toBe(0)
    await register({})
    expect(await registered()).toBe(1)
    await register({ Contact: '*', Expires: '0' })
    expect(await registered()).toBe(0)
  })

  it('is forgotten with its connection', async () => {
    far.close()
    while ((await registered()) > 0);
    const gone = bench.srf.createUAC('sip:webuser@abc.invalid', { localSdp: testSdp() })
    await expect(gone).rejects.toMatchObject({ status: 503 })
  })

  it('is reached at its new connection by a call that lost the old one', async () => {
    const dialog = bench.srf.createUAC('sip:webuser@abc.invalid', { localSdp: testSdp('offer') })
    const invite = await far.request('INVITE')
    far.reply(invite, 200, { body: testSdp('answer'), contact: false, extra: { Contact: `<${contact}>` } })
    await far.request('ACK')
    const up = await dialog
    far.close()
    while ((await bench.agent.stats()).connections > 0);
    far = await Peer.tcp(bench.tcp)
    await register({})
    up.destroy()
    const bye = await far.request('BYE')
    expect([bye.callId, bye.uri]).toEqual([invite.callId, contact])
    far.reply(bye, 200)
    await idle(bench.agent)
  })
})
