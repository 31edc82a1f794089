import { once } from 'node:events'
import type { Dialog, SrfRequest, SrfResponse } from 'drachtio-srf'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { SipAgentOptions, SipListen } from './index.ts'
import { makeAuthority, type TestAuthority } from './testing/certificates.ts'
import { message } from './testing/messages.ts'
import { Peer, testSdp } from './testing/peer.ts'
import { idle, routed, startTestAgent, type TestAgent } from './testing/srf.ts'
import type { SipTls } from './transport/transport-settings.ts'

let authority: TestAuthority
let tls: SipTls
let renewed: SipTls
const open: { close(): unknown }[] = []

beforeAll(async () => {
  authority = await makeAuthority()
  const rest = {
    names: [],
    ca: authority.certificate,
    clientCertificates: 'none',
    minVersion: 'TLSv1.2',
  } as const
  tls = { ...(await authority.issue({ dns: ['localhost'] })), ...rest }
  renewed = { ...(await authority.issue({ dns: ['renewed.example'] })), ...rest }
})
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

const on = (transport: SipListen['transport'], address = '127.0.0.1'): SipListen => ({
  transport,
  address,
  port: 0,
})

const start = async (
  listen: readonly SipListen[],
  options: Partial<SipAgentOptions> = {},
): Promise<TestAgent> => {
  const bench = await startTestAgent({ listen, tls, ...options })
  open.push(bench)
  return bench
}

/** The final answer to a request of the application, listened for from the first moment. */
const ask = ({ srf }: TestAgent, uri: string, options: object): Promise<SrfResponse> =>
  new Promise((resolve, reject) => {
    const sent = (error: Error | null, req: SrfRequest) => {
      if (error) reject(error)
      else req.on('response', (response) => resolve(response as SrfResponse))
    }
    srf.request(uri, options as never, sent as never, [])
  })

const portOf = ({ agent }: TestAgent, transport: string) =>
  agent.addresses.find((each) => each.transport === transport)?.port ?? 0

/** Starts an agent whose application answers every call and reports its Via and Contact. */
const callee = async (listen: readonly SipListen[], options: Partial<SipAgentOptions> = {}) => {
  const bench = await start(listen, options)
  const heard: { via: string; contact: string; protocol: string }[] = []
  bench.srf.invite((req, res) => {
    heard.push({ via: req.get('Via'), contact: req.get('Contact'), protocol: req.protocol })
    void bench.srf.createUAS(req, res, { localSdp: testSdp('answer') })
  })
  await routed(bench.srf)
  return { bench, heard }
}

const call = (from: TestAgent, uri: string, options: object = {}): Promise<Dialog> =>
  from.srf.createUAC(uri, { localSdp: testSdp('offer'), ...options })

const endBoth = async (dialog: Dialog, ...benches: TestAgent[]) => {
  await dialog.destroy()
  for (const { agent } of benches) await idle(agent)
}

describe.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::1', '[::1]'],
])('on %s', (address, host) => {
  it.each(['udp', 'tcp', 'tls'] as const)('outgoing and incoming calls work over %s', async (transport) => {
    const far = await callee([on(transport, address)])
    const near = await start([on(transport, address)], {
      tlsPeers: [{ hosts: [address], serverName: 'localhost', verify: true, alpn: [] }],
    })
    const dialog = await call(near, `sip:bob@${host}:${portOf(far.bench, transport)};transport=${transport}`)
    const [{ via, contact, protocol } = { via: '', contact: '', protocol: '' }] = far.heard
    const own = `${host}:${portOf(near, transport)}`
    expect(via).toContain(`SIP/2.0/${transport.toUpperCase()} ${own};`)
    expect(contact).toContain(`${own}${transport === 'udp' ? '' : `;transport=${transport}`}>`)
    expect(protocol).toBe(transport)
    await endBoth(dialog, near, far.bench)
  })
})

describe('TLS', () => {
  it('reaches a sips URI by a name in a hosts file', async () => {
    const far = await callee([on('tls')])
    const near = await start([on('tls')])
    const dialog = await call(near, `sips:bob@localhost:${portOf(far.bench, 'tls')}`)
    await endBoth(dialog, near, far.bench)
  })

  it('rejects a certificate of another host, and accepts the right one after a change', async () => {
    const far = await callee([on('tls')], { tls: renewed })
    const near = await start([on('tls')])
    const uri = `sip:bob@localhost:${portOf(far.bench, 'tls')};transport=tls`
    const refused = await ask(near, uri, { method: 'OPTIONS' })
    expect([refused.status, refused.get('Warning')]).toEqual([
      503,
      `399 localhost "tls 127.0.0.1:${portOf(far.bench, 'tls')} (localhost): the certificate is for renewed.example, not for localhost"`,
    ])
    far.bench.agent.change({ tls })
    await far.bench.agent.stats()
    await endBoth(await call(near, uri), near, far.bench)
  })

  it('keeps its certificate if a new one is unusable, and throws', async () => {
    const far = await callee([on('tls')])
    const near = await start([on('tls')])
    const received = new Promise<string>((resolve) => far.bench.agent.onFault(resolve))
    far.bench.agent.change({ tls: { ...tls, certificate: 'none', key: 'secret words' } })
    expect(await received).toMatch(/^Error: TLS: the certificate of the listeners cannot be used/)
    expect(await received).not.toContain('secret words')
    const uri = `sip:bob@localhost:${portOf(far.bench, 'tls')};transport=tls`
    await endBoth(await call(near, uri), near, far.bench)
  })

  it('names the listener that has no certificate', async () => {
    await expect(start([on('wss')], { tls: undefined })).rejects.toThrow(
      /cannot bind wss 127.0.0.1:0: TLS: there is no certificate/,
    )
  })
})

describe('a browser', () => {
  const lines = (method: string, id: string, extra: string[] = []) =>
    [
      `${method} sip:bob@edge.example SIP/2.0`,
      `Via: SIP/2.0/WSS df7jal23ls0d.invalid;branch=z9hG4bK${id}`,
      'Max-Forwards: 70',
      'From: <sip:alice@edge.example>;tag=a1',
      'To: <sip:bob@edge.example>',
      `Call-ID: ${id}`,
      `CSeq: 1 ${method}`,
      'Contact: <sip:alice@df7jal23ls0d.invalid;transport=ws>',
      ...extra,
      '',
      '',
    ].join('\r\n')

  it.each(['ws', 'wss'] as const)(
    'is answered over its own connection, and called over it (%s)',
    async (transport) => {
      const bench = await start([on(transport)])
      bench.srf.use('options', (_req, res) => res.send(200))
      await routed(bench.srf)
      const client = new WebSocket(`${transport}://localhost:${portOf(bench, transport)}`, 'sip', {
        ca: authority.certificate,
        family: 4,
      } as object)
      open.push({ close: () => client.terminate() })
      await once(client, 'open')
      const replied = once(client, 'message')
      client.send(lines('OPTIONS', 'one'))
      const answer = message(String((await replied)[0]))
      expect(answer).toMatchObject({ kind: 'response', status: 200 })
      expect(answer.via.host).toBe('df7jal23ls0d.invalid')
      const asked = once(client, 'message')
      const port = answer.via.params.get('rport')
      const answered = ask(bench, `sip:alice@127.0.0.1:${port};transport=ws`, { method: 'MESSAGE' })
      const text = String((await asked)[0])
      expect(text).toContain(`Via: SIP/2.0/${transport.toUpperCase()} 127.0.0.1:${portOf(bench, transport)};`)
      const copied = text.split('\r\n').filter((line) => /^(Via|From|To|Call-ID|CSeq):/.test(line))
      client.send(
        ['SIP/2.0 202 Taken', ...copied.map((line) => line.replace(/^To:.*/, '$&;tag=b')), '', ''].join(
          '\r\n',
        ),
      )
      expect((await answered).status).toBe(202)
    },
  )
})

describe('a request that is too large for UDP', () => {
  const large = { headers: { 'X-Filler': 'x'.repeat(1_300) } }

  it('is sent over TCP, with TCP in its Via', async () => {
    const bench = await start([on('udp'), on('tcp')])
    const peer = await Peer.tcpServer()
    open.push(peer)
    const answered = ask(bench, `sip:127.0.0.1:${peer.port}`, { method: 'OPTIONS', ...large })
    const heard = await peer.request('OPTIONS')
    expect([heard.via.transport, heard.via.port]).toEqual(['TCP', bench.tcp])
    peer.reply(heard, 200)
    expect((await answered).status).toBe(200)
  })

  it('is sent over UDP without a TCP listener, or if the URI requires UDP', async () => {
    const bench = await start([on('udp'), on('tcp')])
    const peer = await Peer.udp()
    open.push(peer)
    for (const uri of [`sip:127.0.0.1:${peer.port}`, `sip:127.0.0.1:${peer.port};transport=udp`]) {
      const answered = ask(bench, uri, { method: 'OPTIONS', ...large })
      const heard = await peer.request('OPTIONS')
      expect([heard.via.transport, heard.via.port]).toEqual(['UDP', bench.udp])
      peer.reply(heard, 200)
      expect((await answered).status).toBe(200)
    }
  })
})

describe('addresses', () => {
  const announced = {
    announce: '203.0.113.7',
    announceTo: [{ networks: ['127.0.0.0/8'], address: '10.9.9.9' }],
  }

  it('are announced per network, and requests to them are rejected', async () => {
    const bench = await start([on('udp')], announced)
    const peer = await Peer.udp()
    open.push(peer)
    const answered = ask(bench, peer.uri, { method: 'OPTIONS' })
    const heard = await peer.request('OPTIONS')
    expect(heard.via.host).toBe('10.9.9.9')
    peer.reply(heard, 200)
    await answered
    for (const host of ['203.0.113.7', '10.9.9.9', '127.0.0.1']) {
      const refused = ask(bench, `sip:${host}:${bench.udp}`, { method: 'OPTIONS' })
      await expect(refused).rejects.toThrow('can not send request to myself')
    }
  })

  it('with a malformed network are rejected at the start', async () => {
    const wrong = { announceTo: [{ networks: ['10.0.0.0/99'], address: '10.9.9.9' }] }
    await expect(start([on('udp')], wrong)).rejects.toThrow('10.0.0.0/99')
  })
})

it('message limits follow the options', async () => {
  const bench = await start([on('tcp')], { limits: { messageBytes: 600 } })
  const peer = await Peer.tcp(bench.tcp)
  open.push(peer)
  peer.send('OPTIONS', peer.call('sip:edge.example'), { extra: { 'X-Filler': 'x'.repeat(600) } })
  expect((await peer.response(413)).seqMethod).toBe('OPTIONS')
})
