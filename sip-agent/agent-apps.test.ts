import { createServer } from 'node:net'
import Srf, { type Dialog } from 'drachtio-srf'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Peer, testSdp } from './testing/peer.ts'
import { connectSrf, idle, routed, startTestAgent, type TestAgent } from './testing/srf.ts'

let bench: TestAgent
let peer: Peer
beforeEach(async () => {
  bench = await startTestAgent()
  peer = await Peer.udp(bench.udp)
})
afterEach(async () => {
  peer.close()
  await bench.close()
})

const target = () => `sip:bob@127.0.0.1:${bench.udp}`

/** Lets an application answer calls under its name, and returns the dialogs. */
const answering = async (srf: Srf, name: string) => {
  const dialogs: Dialog[] = []
  srf.invite(async (req, res) => {
    const headers = { 'X-App': name }
    dialogs.push(await srf.createUAS(req, res, { localSdp: testSdp(name), headers }))
  })
  await routed(srf)
  return dialogs
}

/** Calls and acknowledges. Returns the call and the name of the application that answered. */
const call = async () => {
  const made = peer.call(target())
  peer.send('INVITE', made, { body: testSdp() })
  const ok = await peer.response(200, 'INVITE')
  const to = ok.headers.first('to') ?? ''
  peer.send('ACK', made, { to })
  return { made, to, name: ok.headers.first('x-app') }
}

const applications = async (count: number) => {
  while ((await bench.agent.stats()).applications !== count) {}
}

describe('several applications', () => {
  it('take turns; when an application disconnects, only its own calls end', async () => {
    const other = await connectSrf(bench.agent)
    await answering(bench.srf, 'first')
    await answering(other, 'second')
    const calls = [await call(), await call(), await call()]
    expect(new Set([calls[0]?.name, calls[1]?.name])).toEqual(new Set(['first', 'second']))
    expect(calls[2]?.name).toBe(calls[0]?.name)
    other.disconnect()
    const lost = calls.filter(({ name }) => name === 'second')
    for (const _ of lost) {
      const bye = await peer.request('BYE')
      expect(lost.map(({ made }) => made.callId)).toContain(bye.callId)
      expect(bye.headers.first('reason')).toContain('cause=503')
      peer.reply(bye, 200)
    }
    expect((await call()).name).toBe('first')
    expect((await bench.agent.stats()).dialogs).toBe(calls.length - lost.length + 1)
  })

  it('after a disconnect, an unanswered request gets 503 and an outgoing call is cancelled', async () => {
    const other = await connectSrf(bench.agent)
    const rang = new Promise<void>((resolve) => {
      other.invite((_req, res) => {
        res.send(180)
        resolve()
      })
    })
    await routed(other)
    peer.send('INVITE', peer.call(target()), { body: testSdp() })
    await rang
    await peer.response(180)
    other.createUAC(peer.uri, { localSdp: testSdp() }).catch(() => {})
    const invite = await peer.request('INVITE')
    peer.reply(invite, 180)
    other.disconnect()
    await peer.response(503)
    peer.reply(await peer.request('CANCEL'), 200)
    peer.reply(invite, 487)
    await applications(1)
    await idle(bench.agent)
  })

  it('new requests get 503 after the last application has disconnected', async () => {
    const { agent } = bench
    peer.close()
    // drachtio-srf cannot be disconnected twice.
    bench.srf.disconnect()
    await applications(0)
    bench = { ...bench, srf: await connectSrf(agent), close: () => agent.close() }
    peer = await Peer.udp(bench.udp)
    await answering(bench.srf, 'only')
    const { made, to } = await call()
    bench.srf.disconnect()
    peer.reply(await peer.request('BYE'), 200)
    await applications(0)
    made.seq++
    peer.send('INFO', made, { to })
    await peer.response(481, 'INFO')
    peer.send('INVITE', peer.call(target()), { body: testSdp() })
    expect((await peer.response(503, 'INVITE')).headers.first('retry-after')).toBe('5')
  })
})

describe('an application that listens', () => {
  /** Starts an agent with a handler of INVITE at this port. */
  const restart = async (port: number, method = 'INVITE') => {
    await bench.close()
    peer.close()
    const secret = 'handler'
    bench = await startTestAgent({ handlers: [{ method, host: '127.0.0.1', port, secret }] })
    peer = await Peer.udp(bench.udp)
  }

  /** drachtio-srf on a free port. */
  const listening = async (secret = 'handler') => {
    const server = createServer()
    const port = await new Promise<number>((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
    )
    const srf = new Srf()
    srf.on('error', () => {})
    srf.on('connect', () => {})
    ;(srf.listen as (options: unknown) => unknown)({ server, secret })
    return { srf, port, close: () => server.close() }
  }

  it('gets a connection for each new request, which carries the call until the application ends it', async () => {
    const { srf, port, close } = await listening()
    await restart(port)
    const dialogs: Dialog[] = []
    srf.invite(async (req, res) => {
      const dialog = await srf.createUAS(req, res, { localSdp: testSdp('handled') })
      dialog.on('destroy', () => (srf as unknown as { endSession(dialog: Dialog): void }).endSession(dialog))
      dialogs.push(dialog)
    })
    const calls = [await call(), await call()]
    await applications(3)
    for (const { made, to } of calls) {
      made.seq++
      peer.send('INFO', made, { to, body: 'x', extra: { 'Content-Type': 'text/plain' } })
      await peer.response(200, 'INFO')
      made.seq++
      peer.send('BYE', made, { to })
      await peer.response(200, 'BYE')
    }
    await applications(1)
    await idle(bench.agent)
    expect(dialogs).toHaveLength(2)
    close()
  })

  it('leaves other methods to connected applications', async () => {
    const { port, close } = await listening()
    await restart(port)
    bench.srf.use('options', (_req, res) => res.send(200))
    await routed(bench.srf)
    peer.send('OPTIONS', peer.call(target()))
    await peer.response(200, 'OPTIONS')
    close()
  })

  it('that is unreachable or rejects the secret leads to 480', async () => {
    const { port, close } = await listening('wrong')
    await restart(port, '*')
    peer.send('OPTIONS', peer.call(target()))
    await peer.response(480, 'OPTIONS')
    close()
    await restart(1)
    peer.send('INVITE', peer.call(target()), { body: testSdp() })
    await peer.response(480, 'INVITE')
    await idle(bench.agent)
  })

  it('that does not authenticate within 2 s leads to 480, and receives no earlier CANCEL', async () => {
    const said: string[] = []
    let ended = 0
    const server = createServer((socket) => {
      socket.on('data', (chunk) => said.push(chunk.toString()))
      socket.on('close', () => ended++)
      socket.on('error', () => {})
    })
    const port = await new Promise<number>((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
    )
    await restart(port)
    const slow = peer.call(target())
    peer.send('INVITE', slow, { body: testSdp() })
    const cancelled = peer.call(target())
    const branch = peer.send('INVITE', cancelled, { body: testSdp() })
    peer.send('CANCEL', cancelled, { branch })
    await peer.response(487)
    expect((await peer.response(480)).callId).toBe(slow.callId)
    while (ended < 2) await new Promise((resolve) => setImmediate(resolve))
    expect(said).toEqual([])
    await idle(bench.agent)
    server.close()
  })
})
