import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import type { Dialog } from 'drachtio-srf'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Diversion } from './core/diversions.ts'
import { reachHeader, unverifiedHeader } from './drachtio/extensions.ts'
import { SystemDns } from './route/dns.ts'
import { NameServer } from './testing/name-server.ts'
import { type Extra, Peer, testSdp } from './testing/peer.ts'
import { reachCarrier } from './testing/reach.ts'
import { idle, routed, startTestAgent, type TestAgent } from './testing/srf.ts'

/** Address of a carrier that knows the gateway by its address, and of a host that no peer may reach. */
const carrierAddress = '127.0.0.30'
const innerAddress = '127.0.9.9'

/** A host that counts what reaches it. */
class Victim {
  readonly received: string[] = []
  readonly #socket: Socket = createSocket('udp4')

  static async at(address: string): Promise<Victim> {
    const victim = new Victim()
    victim.#socket.on('message', (bytes) =>
      victim.received.push(bytes.toString('latin1').split(' ', 1)[0] ?? ''),
    )
    victim.#socket.bind(0, address)
    await once(victim.#socket, 'listening')
    return victim
  }

  get port(): number {
    return this.#socket.address().port
  }

  /** Sends a datagram from its own address, as any sender on the internet can by spoofing it. */
  send(text: string, port: number): void {
    this.#socket.send(text, port, '127.0.0.1')
  }

  close(): void {
    this.#socket.close()
  }
}

/** Opens a UDP host and listens for TCP at its port. Tries another port if the TCP port is in use. */
const udpBeside = async (server: Server, address: string): Promise<Victim> => {
  for (;;) {
    const victim = await Victim.at(address)
    server.listen(victim.port, address)
    const listens = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (listens) return victim
    victim.close()
  }
}

let bench: TestAgent
let peer: Peer
let carrier: Victim
let inner: Victim
beforeEach(async () => {
  carrier = await Victim.at(carrierAddress)
  inner = await Victim.at(innerAddress)
  const acme = reachCarrier({
    targets: [`sip:${carrierAddress}:${carrier.port}`],
    networks: ['127.0.0.31/32'],
  })
  const networks = ['127.0.0.0/24']
  bench = await startTestAgent({ reach: { networks, carriers: [acme] }, timers: { t1: 20 } })
  peer = await Peer.udp(bench.udp)
})
afterEach(async () => {
  peer.close()
  carrier.close()
  inner.close()
  await bench.close()
})

const carrierUri = () => `sip:+882131234567@${carrierAddress}:${carrier.port}`
const innerUri = () => `sip:${innerAddress}:${inner.port}`

/** A call of the peer with these headers, which the application answers with others. */
const establish = async (extra: Extra, answer: Extra = {}, from = peer) => {
  const made = new Promise<Dialog>((resolve) => {
    bench.srf.invite(async (req, res) => {
      resolve(await bench.srf.createUAS(req, res, { localSdp: testSdp('answer'), headers: answer }))
    })
  })
  await routed(bench.srf)
  const call = from.call(`sip:bob@127.0.0.1:${bench.udp}`)
  from.send('INVITE', call, { body: testSdp(), extra })
  const to = (await from.response(200)).headers.first('to') ?? ''
  from.send('ACK', call, { to })
  const dialog = await made
  return { call, to, dialog }
}

/** The application's request in a call; resolves with its final status. */
const ask = (dialog: Dialog, method: string, body?: string): Promise<number> =>
  new Promise((resolve) => {
    const options = {
      method,
      ...(body !== undefined && { body }),
      headers: { 'Refer-To': 'sip:x@y.example' },
    }
    dialog.request(
      options as never,
      ((_error: unknown, response: { status: number }) => resolve(response?.status ?? 0)) as never,
    )
  })

const methods = ['INVITE', 'UPDATE', 'REFER', 'INFO', 'NOTIFY'] as const
const places = [
  ['the carrier', carrierUri],
  ['an inner host', innerUri],
] as const

describe.each(places)('an untrusted caller whose route leads to %s', (_name, uri) => {
  it.each(methods)('receives the %s of the agent at its own address', async (method) => {
    const headers = { 'Record-Route': `<${uri()};lr>`, Contact: `<${carrierUri()}>` }
    const { dialog } = await establish(headers)
    const status = ask(dialog, method, method === 'INVITE' ? testSdp() : undefined)
    const request = await peer.request(method)
    expect(request.toTag).not.toBe('')
    peer.reply(request, 488)
    expect(await status).toBe(488)
    dialog.destroy()
    peer.reply(await peer.request('BYE'), 200)
    await idle(bench.agent)
    expect([carrier.received, inner.received]).toEqual([[], []])
  })

  it.each([
    ['of a strict router', (target: string) => `<${target}>`],
    ['of two proxies', (target: string) => `<${target};lr>, <sip:${carrierAddress};lr>`],
    ['over TCP', (target: string) => `<${target};transport=tcp;lr>`],
  ])('gets the agent’s BYE at its own address, with a route %s', async (_form, route) => {
    const { dialog } = await establish({ 'Record-Route': route(uri()) })
    dialog.destroy()
    peer.reply(await peer.request('BYE'), 200)
    await idle(bench.agent)
    expect([carrier.received, inner.received]).toEqual([[], []])
  })

  it('receives nothing if its Contact changed before its connection closed', async () => {
    const caller = await Peer.tcp(bench.tcp)
    const { call, to, dialog } = await establish({}, {}, caller)
    for (const method of ['UPDATE', 'INVITE']) {
      call.seq++
      caller.send(method, call, { to, extra: { Contact: `<${uri()}>` } })
      await caller.response(200, method)
      if (method === 'INVITE') caller.send('ACK', call, { to })
    }
    caller.hangUp()
    await expect.poll(async () => (await bench.agent.stats()).connections).toBe(0)
    dialog.destroy()
    await idle(bench.agent)
    expect([carrier.received, inner.received]).toEqual([[], []])
    caller.close()
  })

  it('receives nothing after its connection has closed', async () => {
    const caller = await Peer.tcp(bench.tcp)
    const { dialog } = await establish({ Contact: `<${uri()}>` }, {}, caller)
    caller.hangUp()
    await expect.poll(async () => (await bench.agent.stats()).connections).toBe(0)
    expect(await ask(dialog, 'INVITE', testSdp())).toBe(503)
    dialog.destroy()
    await idle(bench.agent)
    expect([carrier.received, inner.received]).toEqual([[], []])
    caller.close()
  })
})

it('a datagram with the spoofed source of a carrier does not redirect an untrusted caller’s call', async () => {
  const { call, to, dialog } = await establish({})
  const forged = (method: string) =>
    `${method} ${call.target} SIP/2.0\r\nVia: SIP/2.0/UDP ${carrierAddress}:${carrier.port};branch=z9hG4bKforged\r\n` +
    `From: ${call.from}\r\nTo: ${to}\r\nCall-ID: ${call.callId}\r\nCSeq: 2 ${method}\r\nMax-Forwards: 70\r\n` +
    `Contact: <${carrierUri()}>\r\nContent-Length: 0\r\n\r\n`
  carrier.send(forged('UPDATE'), bench.udp)
  // The answer goes to the source, as any answer does.
  await expect.poll(() => carrier.received).toEqual(['SIP/2.0'])
  dialog.destroy()
  peer.reply(await peer.request('BYE'), 200)
  await idle(bench.agent)
  expect(carrier.received).toEqual(['SIP/2.0'])
})

describe('a call to an untrusted callee', () => {
  const dial = (headers: Extra = {}) =>
    bench.srf.createUAC(peer.uri, {
      localSdp: testSdp('offer'),
      headers: { [reachHeader]: 'project other', ...headers },
    })

  it.each(places)(
    'that answers with a route to %s receives ACK, INVITE and BYE at its own address',
    async (_name, uri) => {
      for (const extra of [{ 'Record-Route': `<${uri()};lr>` }, { 'Record-Route': `<${uri()}>` }]) {
        const answered = dial()
        const invite = await peer.request('INVITE')
        expect(invite.headers.first(reachHeader.toLowerCase() as never)).toBeUndefined()
        peer.reply(invite, 200, {
          body: testSdp('answer'),
          contact: false,
          extra: { ...extra, Contact: `<${carrierUri()}>` },
        })
        await peer.request('ACK')
        const dialog = await answered
        const status = ask(dialog, 'INVITE', testSdp())
        peer.reply(await peer.request('INVITE'), 488)
        expect(await status).toBe(488)
        dialog.destroy()
        peer.reply(await peer.request('BYE'), 200)
      }
      await idle(bench.agent)
      expect([carrier.received, inner.received]).toEqual([[], []])
    },
  )

  it('that answers without a tag fails and creates no dialog', async () => {
    const failed = expect(dial()).rejects.toMatchObject({ status: 502 })
    const invite = await peer.request('INVITE')
    peer.reply(invite, 200, {
      tag: '',
      body: testSdp('answer'),
      extra: { 'Record-Route': `<${carrierUri()};lr>` },
    })
    await failed
    await idle(bench.agent)
    expect(peer.inbox.filter((each) => each.kind === 'request' && each.method !== 'INVITE')).toEqual([])
    expect(carrier.received).toEqual([])
  })

  it('is rejected if it leads to a carrier of another project or to an internal address', async () => {
    const headers = { [reachHeader]: 'project other' }
    for (const uri of [carrierUri(), innerUri(), `sip:1@127.0.0.31`])
      await expect(bench.srf.createUAC(uri, { localSdp: testSdp(), headers })).rejects.toThrow(
        /not permitted/,
      )
    expect([carrier.received, inner.received]).toEqual([[], []])
  })
})

it.each([
  ['of the application, and its route over udp nothing', 'udp', true],
  ['of the application, and its route over tcp nothing', 'tcp', true],
  ['of the agent, and its route nothing', 'udp', false],
] as const)('a caller who never acknowledges gets one BYE %s', async (_name, protocol, hangsUp) => {
  const connections: unknown[] = []
  const server = createServer((socket) => connections.push(socket.destroy()))
  const proxy = await udpBeside(server, '127.0.0.5')
  const made = new Promise<Dialog>((resolve) => {
    bench.srf.invite(async (req, res) => {
      const headers = { [unverifiedHeader]: '1' }
      resolve(await bench.srf.createUAS(req, res, { localSdp: testSdp('answer'), headers }))
    })
  })
  await routed(bench.srf)
  const route = `<sip:127.0.0.5:${proxy.port};lr;transport=${protocol}>`
  const call = peer.call(`sip:bob@127.0.0.1:${bench.udp}`)
  peer.send('INVITE', call, { body: testSdp(), extra: { 'Record-Route': route } })
  await peer.response(200)
  const dialog = await made
  if (hangsUp) dialog.destroy()
  await peer.request('BYE')
  await idle(bench.agent)
  expect(peer.inbox.filter((each) => each.kind === 'request')).toEqual([])
  expect([proxy.received, connections]).toEqual([[], []])
  server.close()
  proxy.close()
})

it('a call of the carrier continues if its route stays within the carrier’s addresses', async () => {
  const headers = { 'Record-Route': `<${carrierUri()};lr>` }
  const { dialog } = await establish(headers, { [reachHeader]: 'carrier acme' })
  dialog.destroy()
  await expect.poll(() => carrier.received.includes('BYE')).toBe(true)
})

it('a call of the carrier whose route leaves its addresses is reported once', async () => {
  const reported: Diversion[] = []
  bench.agent.onDiversion((diversion) => reported.push(diversion))
  const headers = { 'Record-Route': `<${innerUri()};lr>` }
  const { call, dialog } = await establish(headers, { [reachHeader]: 'carrier acme' })
  const status = ask(dialog, 'INFO')
  peer.reply(await peer.request('INFO'), 200)
  expect(await status).toBe(200)
  dialog.destroy()
  peer.reply(await peer.request('BYE'), 200)
  await expect.poll(() => reported).toHaveLength(1)
  expect(reported[0]).toEqual({
    callId: call.callId,
    method: 'INFO',
    nextHop: expect.stringContaining(innerAddress),
    sentTo: '127.0.0.1',
    carrier: 'acme',
  })
  expect((await bench.agent.stats()).diverted).toBe(1)
})

it('a private header that arrives from the network is ignored', async () => {
  const { dialog } = await establish({
    'Record-Route': `<${carrierUri()};lr>`,
    [reachHeader]: 'carrier acme',
  })
  dialog.destroy()
  peer.reply(await peer.request('BYE'), 200)
  await idle(bench.agent)
  expect(carrier.received).toEqual([])
})

it.each(['INVITE', 'SUBSCRIBE', 'REFER'])('%s without a From tag is rejected', async (method) => {
  const call = peer.call(`sip:bob@127.0.0.1:${bench.udp}`)
  peer.send(method, call, { extra: { From: `<${peer.uri}>` } })
  expect((await peer.response(400)).reason).toBe('Missing From Tag')
})

describe('with `strangers: drop`', () => {
  const shield = {
    packetsPerSecond: 1_000,
    knownPacketsPerSecond: 1_000,
    banAfter: 100,
    banForMs: 60_000,
    scanners: [],
    untrusted: 'drop',
    known: [],
  } as const

  const dropped = async () => (await bench.agent.stats()).dropped.stranger

  it('a host in a peer’s route stays untrusted', async () => {
    bench.agent.change({ shield: { ...shield, known: ['127.0.0.1/32'] } })
    const proxy = await Victim.at('127.0.0.5')
    const { dialog } = await establish({ 'Record-Route': `<sip:127.0.0.5:${proxy.port};lr>` })
    dialog.destroy()
    await expect.poll(() => proxy.received.includes('BYE')).toBe(true)
    expect(await dropped()).toBe(0)
    proxy.send('OPTIONS sip:1@127.0.0.1 SIP/2.0\r\n\r\n', bench.udp)
    await expect.poll(dropped).toBe(1)
    proxy.close()
  })

  it('a host that a customer dials is trusted for the duration of the call', async () => {
    bench.agent.change({ shield })
    const answered = bench.srf.createUAC(peer.uri, {
      localSdp: testSdp('offer'),
      headers: { [reachHeader]: 'project other' },
    })
    peer.reply(await peer.request('INVITE'), 200, { body: testSdp('answer') })
    await peer.request('ACK')
    const dialog = await answered
    const target = `sip:1@127.0.0.1:${bench.udp}`
    peer.send('BYE', peer.call(target))
    await peer.response(481)
    dialog.destroy()
    peer.reply(await peer.request('BYE'), 200)
    await idle(bench.agent)
    peer.send('BYE', peer.call(target))
    await expect.poll(dropped).toBe(1)
  })
})

describe('a name whose records change after it was permitted', () => {
  it.each([
    ['to a carrier', [carrierAddress]],
    ['inside', [innerAddress]],
    ['to a permitted place, and a carrier after it', ['127.0.0.5', carrierAddress]],
    ['to a carrier, and a permitted place after it', [carrierAddress, '127.0.0.5']],
  ])('leads %s: nothing is sent', async (_name, changed) => {
    await bench.close()
    const server = await NameServer.start(['127.0.0.5'])
    const resolver = new SystemDns([server.address])
    // The caller whose look-up found no fault.
    expect(await resolver.addresses('rebind.test', 4)).toMatchObject([{ address: '127.0.0.5' }])
    resolver.close()
    server.answers = changed
    const acme = reachCarrier({ targets: [`sip:${carrierAddress}:${carrier.port}`] })
    const nameServers = [server.address]
    bench = await startTestAgent({ reach: { networks: ['127.0.0.0/24'], carriers: [acme] }, nameServers })
    const headers = { [reachHeader]: 'project other' }
    for (const port of [carrier.port, inner.port])
      await expect(
        bench.srf.createUAC(`sip:+882131234567@rebind.test:${port}`, { localSdp: testSdp(), headers }),
      ).rejects.toThrow(/not permitted/)
    expect([carrier.received, inner.received]).toEqual([[], []])
    server.close()
  })
})
