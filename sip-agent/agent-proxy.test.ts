import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { makeAuthority } from './testing/certificates.ts'
import { Peer, testSdp } from './testing/peer.ts'
import { idle, routed, startTestAgent, type TestAgent } from './testing/srf.ts'

interface Result {
  readonly connected: boolean
  readonly finalStatus?: number
  readonly responses: readonly {
    readonly port: number
    readonly msgs: readonly { readonly status: number }[]
  }[]
}
type Proxied = { proxyRequest(request: unknown, targets: string[], options?: object): Promise<Result> }

let bench: TestAgent
let caller: Peer
let peers: Peer[] = []
/** Handler of the next request in the application. */
let handle: (request: unknown) => void

const target = async (): Promise<Peer> => {
  const peer = await Peer.udp()
  peers.push(peer)
  return peer
}

/** Lets the application proxy the next request to these targets. Resolves with the result. */
const sendOn = (targets: readonly Peer[], options: object = {}): Promise<Result> =>
  new Promise((resolve, reject) => {
    const uris = targets.map(({ port }) => `sip:bob@127.0.0.1:${port}`)
    handle = (request) =>
      (bench.srf as unknown as Proxied).proxyRequest(request, uris, options).then(resolve, reject)
  })

// The client groups them by port wrongly, so only the order of the statuses tells something.
const statusesOf = ({ responses }: Result) =>
  responses.flatMap(({ msgs }) => msgs.map(({ status }) => status))

beforeAll(async () => {
  bench = await startTestAgent()
  bench.srf.use((request: unknown) => handle(request))
  for (const method of ['invite', 'register', 'message'])
    (bench.srf as unknown as Record<string, (run: (request: unknown) => void) => void>)[method]?.((request) =>
      handle(request),
    )
  await routed(bench.srf)
})
afterAll(() => bench.close())
afterEach(async () => {
  for (const peer of new Set([...peers, caller])) peer.close()
  peers = []
  await idle(bench.agent)
})

const call = async () => {
  caller = await Peer.udp(bench.udp)
  return caller.call(`sip:bob@127.0.0.1:${bench.udp}`)
}

describe('a request that the application forwards', () => {
  it('reaches the target with Max-Forwards reduced, and the response returns', async () => {
    const bob = await target()
    const result = sendOn([bob])
    const invite = await call()
    caller.send('INVITE', invite, {
      body: testSdp('offer'),
      extra: { 'X-Kept': 'yes', 'Max-Forwards': '12' },
    })
    const request = await bob.request('INVITE')
    expect(request.uri).toBe(`sip:bob@127.0.0.1:${bob.port}`)
    expect(request.headers.first('max-forwards')).toBe('11')
    expect(request.headers.first('x-kept')).toBe('yes')
    expect(request.headers.all('via')).toHaveLength(2)
    expect(request.headers.first('record-route')).toBeUndefined()
    expect(request.body.toString()).toContain('s=offer')
    bob.reply(request, 180)
    expect((await caller.response(180)).headers.all('via')).toHaveLength(1)
    bob.reply(request, 200, { body: testSdp('answer') })
    const answer = await caller.response(200)
    expect(answer.headers.first('contact')).toContain(String(bob.port))
    expect(statusesOf(await result)).toEqual([200])
    expect((await result).connected).toBe(true)
  })

  it('goes to the next target after a rejection, and the best final response returns', async () => {
    const busy = await target()
    const unknown = await target()
    const result = sendOn([busy, unknown])
    const invite = await call()
    caller.send('INVITE', invite)
    busy.reply(await busy.request('INVITE'), 486)
    await busy.request('ACK')
    unknown.reply(await unknown.request('INVITE'), 404)
    await unknown.request('ACK')
    const refusal = await caller.response(404)
    caller.send('ACK', invite, { to: refusal.headers.first('to') ?? '', branch: refusal.via.branch })
    expect(statusesOf(await result)).toEqual([486, 404])
  })

  it('rings all targets at once, and cancels the others when one answers', async () => {
    const a = await target()
    const b = await target()
    const result = sendOn([a, b], { forking: 'simultaneous' })
    const invite = await call()
    caller.send('INVITE', invite)
    const atA = await a.request('INVITE')
    const atB = await b.request('INVITE')
    a.reply(atA, 180)
    b.reply(atB, 180)
    await caller.response(180)
    b.reply(atB, 200, { body: testSdp() })
    const cancel = await a.request('CANCEL')
    expect(cancel.via.branch).toBe(atA.via.branch)
    a.reply(cancel, 200)
    a.reply(atA, 487)
    await a.request('ACK')
    expect((await caller.response(200)).toTag).toBe(`peer${b.port}`)
    expect((await result).finalStatus).toBe(200)
  })

  it('stops at a 603 and at a challenge, which is forwarded', async () => {
    const a = await target()
    const b = await target()
    for (const [status, extra] of [
      [603, {}],
      [407, { 'Proxy-Authenticate': 'Digest realm="x", nonce="y"' }],
    ] as const) {
      const result = sendOn([a, b])
      const invite = await call()
      caller.send('INVITE', invite)
      a.reply(await a.request('INVITE'), status, { extra })
      const refusal = await caller.response(status)
      expect(refusal.headers.first('proxy-authenticate') ?? '').toContain(status === 407 ? 'realm="x"' : '')
      caller.send('ACK', invite, { to: refusal.headers.first('to') ?? '', branch: refusal.via.branch })
      expect(statusesOf(await result)).toEqual([status])
      peers.push(caller)
    }
    expect(b.inbox).toEqual([])
  })

  it('is cancelled at the target when the sender cancels', async () => {
    const bob = await target()
    const result = sendOn([bob])
    const invite = await call()
    const branch = caller.send('INVITE', invite)
    const request = await bob.request('INVITE')
    caller.send('CANCEL', invite, { branch })
    await caller.response(200, 'CANCEL')
    // RFC 3261 9.1: not before a provisional response.
    bob.reply(request, 180)
    const cancel = await bob.request('CANCEL')
    bob.reply(cancel, 200)
    bob.reply(request, 487)
    const refusal = await caller.response(487)
    caller.send('ACK', invite, { to: refusal.headers.first('to') ?? '', branch })
    expect((await result).finalStatus).toBe(487)
  })

  it('follows a redirection if the application asks for it', async () => {
    const old = await target()
    const now = await target()
    const result = sendOn([old], { followRedirects: true })
    const invite = await call()
    caller.send('INVITE', invite)
    const contact = { Contact: `<sip:bob@127.0.0.1:${now.port}>` }
    old.reply(await old.request('INVITE'), 302, { extra: contact, contact: false })
    now.reply(await now.request('INVITE'), 200, { body: testSdp() })
    await caller.response(200)
    expect(statusesOf(await result)).toEqual([302, 200])
  })

  it('leaves a silent target after the timeout of the application', async () => {
    const silent = await target()
    const bob = await target()
    const result = sendOn([silent, bob], { provisionalTimeout: '100ms' })
    caller = await Peer.udp(bench.udp)
    caller.send('MESSAGE', caller.call(`sip:bob@127.0.0.1:${bench.udp}`))
    await silent.request('MESSAGE')
    bob.reply(await bob.request('MESSAGE'), 200, { contact: false })
    await caller.response(200, 'MESSAGE')
    expect((await result).connected).toBe(true)
  })

  it('is cancelled over a new connection if the first one closes while ringing', async () => {
    const bob = await Peer.tcpServer()
    peers.push(bob)
    handle = (request) =>
      void (bench.srf as unknown as Proxied).proxyRequest(request, [bob.uri]).catch(() => {})
    const invite = await call()
    const branch = caller.send('INVITE', invite)
    const request = await bob.request('INVITE')
    bob.reply(request, 180)
    await caller.response(180)
    bob.hangUp()
    const refusal = await caller.response(500)
    caller.send('ACK', invite, { to: refusal.headers.first('to') ?? '', branch })
    const cancel = await bob.request('CANCEL')
    expect(cancel.via.branch).toBe(request.via.branch)
    bob.reply(cancel, 200)
  })

  it.each(['Max-Forwards', 'Max-Breadth'])('is rejected if %s has reached zero', async (name) => {
    const bob = await target()
    const refused = expect(sendOn([bob])).rejects.toMatch(/too many/)
    caller = await Peer.udp(bench.udp)
    caller.send('MESSAGE', caller.call(`sip:bob@127.0.0.1:${bench.udp}`), { extra: { [name]: '0' } })
    await caller.response(name === 'Max-Breadth' ? 440 : 483, 'MESSAGE')
    await refused
  })
})

describe('the agent in the path of a dialog', () => {
  it('forwards later requests in both directions by its own route parameter alone', async () => {
    const bob = await target()
    void sendOn([bob], { remainInDialog: true })
    const invite = await call()
    caller.send('INVITE', invite, { body: testSdp() })
    const request = await bob.request('INVITE')
    const route = request.headers.first('record-route') ?? ''
    expect(route).toMatch(/;lr>$/)
    bob.reply(request, 200, { body: testSdp(), extra: { 'Record-Route': route } })
    const answer = await caller.response(200)
    const to = answer.headers.first('to') ?? ''
    const inDialog = { ...invite, target: `sip:peer@127.0.0.1:${bob.port}` }
    caller.send('ACK', inDialog, { to, extra: { Route: route } })
    const ack = await bob.request('ACK')
    expect(ack.headers.first('route')).toBeUndefined()
    inDialog.seq = 2
    // The far end could have it sent to anywhere, if any Route were believed.
    const forged = route.replace(/tk=[0-9a-f]{4}/, 'tk=0000')
    caller.send('INFO', inDialog, { to, extra: { Route: forged } })
    await caller.response(481, 'INFO')
    inDialog.seq = 3
    caller.send('BYE', inDialog, { to, extra: { Route: route } })
    const bye = await bob.request('BYE')
    expect(bye.headers.all('via')).toHaveLength(2)
    bob.reply(bye, 200)
    expect((await caller.response(200, 'BYE')).headers.all('via')).toHaveLength(1)
    expect(bob.inbox.filter((each) => each.kind === 'request' && each.method === 'INFO')).toEqual([])
  })

  it('sends responses to a browser, whose Via has no reachable host, over its connection', async () => {
    const authority = await makeAuthority()
    const certificate = await authority.issue({ dns: ['localhost'] })
    const rest = { names: [], clientCertificates: 'none', minVersion: 'TLSv1.2' } as const
    const listen = [
      { transport: 'udp', address: '127.0.0.1', port: 0 },
      { transport: 'wss', address: '127.0.0.1', port: 0 },
    ] as const
    const own = await startTestAgent({ listen, tls: { ...certificate, ...rest } })
    const bob = await target()
    caller = bob
    own.srf.invite((request) => {
      const options = { remainInDialog: true }
      void (own.srf as unknown as Proxied).proxyRequest(request, [`sip:bob@127.0.0.1:${bob.port}`], options)
    })
    await routed(own.srf)
    const port = own.agent.addresses.find(({ transport }) => transport === 'wss')?.port
    const browser = new WebSocket(`wss://localhost:${port}`, 'sip', { ca: authority.certificate, family: 4 })
    await once(browser, 'open')
    const say = (method: string, lines: string) =>
      browser.send(
        `${method} sip:bob@127.0.0.1:${bob.port} SIP/2.0\r\nVia: SIP/2.0/WSS a.invalid;branch=z9hG4bK${method}\r\n` +
          `From: <sip:a@a.invalid>;tag=1\r\nTo: <sip:bob@b>${lines}\r\nCall-ID: c\r\nCSeq: 1 ${method}\r\n` +
          'Contact: <sip:a@a.invalid;transport=ws>\r\nContent-Length: 0\r\n\r\n',
      )
    say('INVITE', '')
    const invite = await bob.request('INVITE')
    const routes = invite.headers.all('record-route')
    const answer = new Promise((resolve) =>
      browser.on('message', (data) => String(data).includes('BYE') && resolve(String(data))),
    )
    bob.reply(invite, 200, { body: testSdp() })
    say('BYE', `;tag=2\r\nRoute: ${[...routes].reverse().join(', ')}`)
    bob.reply(await bob.request('BYE'), 200)
    expect(await answer).toMatch(/^SIP\/2.0 200 /)
    browser.terminate()
    await own.close()
  })

  it('forwards no response to a request that it did not forward', async () => {
    caller = await Peer.udp(bench.udp)
    const victim = await target()
    const before = (await bench.agent.stats()).strays
    const stranger = await Peer.udp(bench.udp)
    peers.push(stranger)
    stranger.raw(
      [
        'SIP/2.0 200 OK',
        `Via: SIP/2.0/UDP 127.0.0.1:${bench.udp};branch=z9hG4bK-p0123456789abcdef0123456789abcdef`,
        `Via: SIP/2.0/UDP 127.0.0.1:${victim.port};branch=z9hG4bKx;rport=${victim.port}`,
        'From: <sip:a@x.example>;tag=1',
        'To: <sip:b@x.example>;tag=2',
        'Call-ID: forged',
        'CSeq: 1 INFO',
        'Content-Length: 0\r\n\r\n',
      ].join('\r\n'),
    )
    while ((await bench.agent.stats()).strays === before) await Promise.resolve()
    expect(victim.inbox).toEqual([])
  })
})
