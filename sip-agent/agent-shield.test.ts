import type { SrfRequest, SrfResponse } from 'drachtio-srf'
import { afterEach, expect, it } from 'vitest'
import { offenseHeader, unverifiedHeader } from './index.ts'
import type { SipShield } from './shield/shield-settings.ts'
import { Peer, testSdp } from './testing/peer.ts'
import { routed, startTestAgent, type TestAgent } from './testing/srf.ts'

let bench: TestAgent
let peer: Peer
afterEach(async () => {
  peer.close()
  await bench.close()
})

const settings: SipShield = {
  packetsPerSecond: 1_000,
  knownPacketsPerSecond: 1_000,
  banAfter: 3,
  banForMs: 600_000,
  scanners: ['friendly-scanner'],
  untrusted: 'answer',
  known: [],
}
const target = () => `sip:bob@127.0.0.1:${bench.udp}`

/** An agent with an application that refuses every call, with these headers, and answers every OPTIONS. */
const begin = async (
  changes: Partial<SipShield> = {},
  headers: Record<string, string> = { [offenseHeader]: '1' },
) => {
  bench = await startTestAgent({ shield: { ...settings, ...changes } })
  bench.srf.invite((_request: SrfRequest, response: SrfResponse) => response.send(403, { headers }))
  bench.srf.use('options', (_request: SrfRequest, response: SrfResponse) => response.send(200))
  await routed(bench.srf)
  peer = await Peer.udp(bench.udp)
}
const counts = async () => {
  const { dropped, banned } = await bench.agent.stats()
  return { scanner: dropped.scanner, stranger: dropped.stranger, banned }
}
const ask = async () => {
  peer.send('OPTIONS', peer.call(target()))
  await peer.response(200, 'OPTIONS')
}
/** Calls, and acknowledges the rejection with its tag. */
const refused = async (tag: (to: string) => string) => {
  const call = peer.call(target())
  const branch = peer.send('INVITE', call)
  const { headers } = await peer.response(403, 'INVITE')
  peer.send('ACK', call, { to: tag(headers.first('to') ?? ''), branch })
  return headers
}

it('bans a UDP address after too many rejections that it has acknowledged', async () => {
  await begin()
  for (let i = 0; i < 3; i++) await refused((to) => to)
  await expect.poll(counts).toMatchObject({ banned: 1 })
  peer.send('OPTIONS', peer.call(target()))
  await expect.poll(async () => (await bench.agent.stats()).dropped.banned).toBe(1)
  expect(peer.inbox).toEqual([])
})

it('bans no address for an ACK that could have been spoofed', async () => {
  await begin()
  for (let i = 0; i < 5; i++) await refused((to) => to.replace(/tag=.*/, 'tag=guessed'))
  await ask()
  expect(await counts()).toMatchObject({ banned: 0 })
})

it('bans no address for a 403 for which the application does not blame the sender', async () => {
  await begin({}, {})
  for (let i = 0; i < 5; i++) await refused((to) => to)
  await ask()
  expect(await counts()).toMatchObject({ banned: 0 })
})

it.each([offenseHeader, unverifiedHeader])(
  'neither sends nor takes %s, a mark of the application',
  async (mark) => {
    await begin()
    expect((await refused((to) => to)).count(mark.toLowerCase())).toBe(0)
    const asked = new Promise<SrfRequest>((resolve) => {
      bench.srf.use('message', (request: SrfRequest, response: SrfResponse) => {
        resolve(request)
        response.send(200, { headers: { [mark]: '1', 'X-Other': '1' } })
      })
    })
    await routed(bench.srf)
    peer.send('MESSAGE', peer.call(target()), { extra: { [mark]: '1', 'X-Other': '1' } })
    const request = await asked
    expect([request.get(mark), request.get('X-Other')]).toEqual([undefined, '1'])
    const { headers } = await peer.response(200, 'MESSAGE')
    expect([headers.first(mark.toLowerCase()), headers.first('x-other')]).toEqual([undefined, '1'])
  },
)

it('bans no address for malformed datagrams', async () => {
  await begin()
  for (let i = 0; i < 20; i++) peer.raw('INVITE nonsense\r\n\r\n')
  await ask()
  expect(await counts()).toMatchObject({ banned: 0 })
})

it('bans an address for malformed messages on connections, which cannot be spoofed', async () => {
  await begin()
  peer.close()
  for (let i = 0; i < 3; i++) {
    peer = await Peer.tcp(bench.tcp)
    peer.raw('INVITE sip:a SIP/2.0\r\nContent-Length: x\r\n\r\n')
    await expect.poll(async () => (await bench.agent.stats()).connections).toBe(0)
    peer.close()
  }
  await expect.poll(counts).toMatchObject({ banned: 1 })
  peer = await Peer.udp(bench.udp)
})

it('counts failed sign-ins that the application reports', async () => {
  await begin()
  for (let i = 0; i < 3; i++) bench.agent.failedSignIn('198.51.100.1')
  await expect.poll(counts).toMatchObject({ banned: 1 })
})

it('drops requests of scanners without a response', async () => {
  await begin()
  peer.send('OPTIONS', peer.call(target()), { extra: { 'User-Agent': 'friendly-scanner' } })
  await ask()
  expect(await counts()).toMatchObject({ scanner: 1 })
  expect(peer.inbox).toEqual([])
})

it('drops untrusted sources silently, until their network is known', async () => {
  await begin({ untrusted: 'drop' })
  peer.send('OPTIONS', peer.call(target()))
  await expect.poll(counts).toMatchObject({ stranger: 1 })
  bench.agent.change({ shield: { ...settings, untrusted: 'drop', known: ['127.0.0.0/8'] } })
  await ask()
  expect(peer.inbox).toEqual([])
})

it('lets an untrusted callee answer and hang up', async () => {
  await begin({ untrusted: 'drop' })
  const made = bench.srf.createUAC(`sip:far@127.0.0.1:${peer.port}`, { localSdp: testSdp() })
  const invite = await peer.request('INVITE')
  peer.reply(invite, 200, { tag: 'far', body: testSdp() })
  const dialog = await made
  await peer.request('ACK')
  const ended = new Promise<void>((resolve) => dialog.on('destroy', () => resolve()))
  const from = `${invite.headers.first('to')};tag=far`
  const to = invite.headers.first('from') ?? ''
  peer.send('BYE', { callId: invite.callId, from, to, target: target(), seq: 1 })
  await ended
  expect(await counts()).toMatchObject({ stranger: 0 })
})
