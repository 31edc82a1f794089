import type Srf from 'drachtio-srf'
import type { Dialog, SrfRequest } from 'drachtio-srf'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Agent } from './agent.ts'
import { SystemClock } from './clock.ts'
import type { SipAgent } from './index.ts'
import type { Dns } from './route/dns.ts'
import { Peer, testSdp } from './testing/peer.ts'
import { answerTo, connectSrf, request } from './testing/srf.ts'

const none = () => Promise.reject(Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' }))
/** The ports behind far.example, best first. */
let ports: number[]
const dns: Dns = {
  naptr: none,
  srv: async () => ports.map((port, i) => ({ name: `h${i}.far.example`, port, priority: i, weight: 0 })),
  addresses: (_name, family) =>
    family === 4 ? Promise.resolve([{ address: '127.0.0.1', ttl: 60 }]) : none(),
}

let agent: Agent
let srf: Srf
let first: Peer
let second: Peer
let sent: SrfRequest[]
const faults: unknown[] = []
const start = async (timers = {}) => {
  sent = []
  const fault = (error: unknown) => faults.push(error)
  agent = new Agent({ secret: 's', clock: new SystemClock(), fault, dns, timers })
  const port = await agent.start([
    { transport: 'udp', address: '127.0.0.1', port: 0 },
    { transport: 'tcp', address: '127.0.0.1', port: 0 },
  ])
  srf = await connectSrf({ host: '127.0.0.1', port, secret: 's' } as SipAgent)
}
const stop = async () => {
  srf.disconnect()
  await agent.close()
}
beforeEach(() => start())
afterEach(async () => {
  first.close()
  second.close()
  await stop()
  expect(faults).toEqual([])
})

const udp = async () => {
  first = await Peer.udp()
  second = await Peer.udp()
  ports = [first.port, second.port]
}
const dial = (uri: string, extra: object = {}): Promise<Dialog> => {
  const progress: object = { cbRequest: (_error: unknown, req: SrfRequest) => sent.push(req) }
  return srf.createUAC(uri, { localSdp: testSdp('offer'), ...extra } as object, progress)
}
const quiet = async () => {
  while (agent.stats.dialogs + agent.stats.pending > 0) await new Promise((resolve) => setImmediate(resolve))
}
/** The second place has the call: the application ends it there. */
const hangUp = async (dialog: Dialog) => {
  await second.request('ACK')
  dialog.destroy()
  second.reply(await second.request('BYE'), 200)
  await quiet()
}

describe('a name with two servers (RFC 3263)', () => {
  it('is called at the second if the first answers 503; the application sees one request', async () => {
    await udp()
    const dialog = dial('sip:bob@far.example')
    const refused = await first.request('INVITE')
    first.reply(refused, 503)
    await first.request('ACK')
    const invite = await second.request('INVITE')
    expect([invite.callId, invite.fromTag, invite.seq]).toEqual([
      refused.callId,
      refused.fromTag,
      refused.seq,
    ])
    expect(invite.via.branch).not.toBe(refused.via.branch)
    second.reply(invite, 200, { body: testSdp('answer') })
    const up = await dialog
    expect(sent.map((each) => each.get('Via'))).toEqual([refused.headers.first('via')])
    await hangUp(up)
  })

  it('is called at the second if the first accepts no connection', async () => {
    first = await Peer.tcpServer()
    second = await Peer.tcpServer()
    ports = [first.port, second.port]
    first.close()
    const dialog = dial('sip:bob@far.example;transport=tcp')
    second.reply(await second.request('INVITE'), 200, { body: testSdp('answer') })
    await hangUp(await dialog)
  })

  it('is tried at the second if the first is silent', async () => {
    await stop()
    await start({ t1: 10, t2: 40 })
    await udp()
    const answer = answerTo(await request(srf, 'sip:bob@far.example', { method: 'OPTIONS' }))
    const options = await second.request('OPTIONS')
    second.reply(options, 200)
    expect((await answer).status).toBe(200)
    expect((await first.request('OPTIONS')).callId).toBe(options.callId)
    await quiet()
  })

  it('is cancelled at the ringing server', async () => {
    await udp()
    const dialog = dial('sip:bob@far.example').catch((error) => error.status)
    first.reply(await first.request('INVITE'), 503)
    const invite = await second.request('INVITE')
    second.reply(invite, 180)
    sent[0]?.cancel(() => {})
    second.reply(await second.request('CANCEL'), 200)
    second.reply(invite, 487)
    expect(await dialog).toBe(487)
    await quiet()
  })

  it('receives credentials at the server that challenged', async () => {
    await udp()
    const dialog = dial('sip:bob@far.example', { auth: { username: 'joe', password: 'pass' } })
    first.reply(await first.request('INVITE'), 503)
    const extra = { 'WWW-Authenticate': 'Digest realm="r", nonce="n"' }
    const challenged = await second.request('INVITE')
    second.reply(challenged, 401, { extra })
    await second.request('ACK')
    const invite = await second.request('INVITE')
    expect([invite.callId, invite.seq]).toEqual([challenged.callId, challenged.seq + 1])
    expect(invite.headers.first('authorization')).toContain('Digest')
    second.reply(invite, 200, { body: testSdp('answer') })
    await hangUp(await dialog)
  })

  it('leads to 503 if no server is reachable', async () => {
    first = await Peer.tcpServer()
    second = await Peer.tcpServer()
    ports = [first.port, second.port]
    first.close()
    second.close()
    const uri = 'sip:bob@far.example;transport=tcp'
    expect((await answerTo(await request(srf, uri, { method: 'MESSAGE' }))).status).toBe(503)
    await expect(dial(uri)).rejects.toMatchObject({ status: 503 })
    await quiet()
  })
})
