import type { Dialog, SrfRequest, SrfResponse } from 'drachtio-srf'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Peer, testSdp } from './testing/peer.ts'
import { connectSrf, idle, routed, startTestAgent, type TestAgent } from './testing/srf.ts'

let bench: TestAgent
let caller: Peer
let peer: Peer
/** Records that the application received, as `event source detail method-or-status`. */
let records: string[]
const start = async (timers = {}) => {
  bench = await startTestAgent({ timers })
  caller = await Peer.udp(bench.udp)
  peer = await Peer.udp()
  records = []
  for (const event of ['attempt', 'start', 'stop']) {
    const received = (...args: unknown[]) => {
      const message = args.at(-1) as { method?: string; status?: number; get(name: string): string }
      const [source, time, detail] = args as string[]
      expect(time).toMatch(/^\d\d:\d\d:\d\d\.\d{6}$/)
      const words = [event, source, args.length > 3 ? detail : '', message.method ?? message.status]
      records.push(words.filter((word) => word !== '').join(' '))
    }
    bench.srf.on(`cdr:${event}` as never, received as never)
  }
}
const stop = async () => {
  caller.close()
  peer.close()
  await bench.close()
}
beforeEach(() => start())
afterEach(stop)

const dial = (): Promise<Dialog> => bench.srf.createUAC(peer.uri, { localSdp: testSdp('offer') })
/** Returns the records so far, after the agent has sent all of them. */
const received = async () => {
  await idle(bench.agent)
  await routed(bench.srf)
  return records
}

describe('call records', () => {
  it('of two joined calls have one attempt, one start and one stop for each call', async () => {
    bench.srf.invite(async (req, res) => {
      const { uas, uac } = await bench.srf.createB2BUA(req, res, peer.uri, {})
      uas.on('destroy', () => uac.destroy())
      uac.on('destroy', () => uas.destroy())
    })
    await routed(bench.srf)
    const call = caller.call(`sip:bob@127.0.0.1:${bench.udp}`)
    caller.send('INVITE', call, { body: testSdp('a') })
    const invite = await peer.request('INVITE')
    peer.reply(invite, 200, { body: testSdp('b') })
    await peer.request('ACK')
    caller.send('ACK', call, { to: (await caller.response(200)).headers.first('to') })
    const target = invite.headers.first('contact')?.slice(1, -1) ?? ''
    const from = `<${peer.uri}>;tag=peer${peer.port}`
    peer.send(
      'BYE',
      { callId: invite.callId, from, to: '', target, seq: 1 },
      { to: invite.headers.first('from') },
    )
    caller.reply(await caller.request('BYE'), 200)
    expect(await received()).toEqual([
      'attempt network INVITE',
      'attempt application INVITE',
      'start network uac 200',
      'start application uas 200',
      'stop network normal-release BYE',
      'stop application normal-release BYE',
    ])
  })

  it('are sent for a call without an answer', async () => {
    await stop()
    await start({ t1: 10, t2: 40 })
    await dial().catch(() => {})
    expect(await received()).toEqual(['attempt application INVITE', 'stop application call-rejected 408'])
  })

  it('are sent for calls that either side rejects', async () => {
    const refused = dial().catch(() => {})
    peer.reply(await peer.request('INVITE'), 486)
    await refused
    bench.srf.invite((_req: SrfRequest, res: SrfResponse) => res.send(404))
    await routed(bench.srf)
    caller.send('INVITE', caller.call(`sip:bob@127.0.0.1:${bench.udp}`), { body: testSdp() })
    await caller.response(404)
    expect(await received()).toEqual([
      'attempt application INVITE',
      'stop network call-rejected 486',
      'attempt network INVITE',
      'stop application call-rejected 404',
    ])
  })

  it('are sent for calls that either side cancels', async () => {
    let sent: SrfRequest | undefined
    const progress: object = {
      cbRequest: (_error: unknown, req: SrfRequest) => {
        sent = req
      },
      cbProvisional: () => sent?.cancel(() => {}),
    }
    const cancelled = bench.srf.createUAC(peer.uri, { localSdp: testSdp() }, progress).catch(() => {})
    const invite = await peer.request('INVITE')
    peer.reply(invite, 180)
    peer.reply(await peer.request('CANCEL'), 200)
    peer.reply(invite, 487)
    await cancelled
    bench.srf.invite((_req: SrfRequest, res: SrfResponse) => res.send(180))
    await routed(bench.srf)
    const call = caller.call(`sip:bob@127.0.0.1:${bench.udp}`)
    const branch = caller.send('INVITE', call, { body: testSdp() })
    await caller.response(180)
    caller.send('CANCEL', call, { branch })
    await caller.response(487)
    expect(await received()).toEqual([
      'attempt application INVITE',
      'stop network call-canceled 487',
      'attempt network INVITE',
      'stop network call-canceled 487',
    ])
  })

  it('are sent for a call that the agent ends itself', async () => {
    const dialog = dial()
    peer.reply(await peer.request('INVITE'), 200, { body: testSdp() })
    await peer.request('ACK')
    const info = (await dialog).request({ method: 'INFO' } as never)
    peer.reply(await peer.request('INFO'), 481)
    await info
    peer.reply(await peer.request('BYE'), 200)
    expect((await received()).slice(1)).toEqual([
      'start network uac 200',
      'stop application system-initiated-termination BYE',
    ])
  })

  it('are sent only to an application that requested them', async () => {
    const other = await connectSrf(bench.agent)
    const starts: unknown[] = []
    other.on('cdr:start' as never, ((...args: unknown[]) => starts.push(args)) as never)
    await routed(other)
    for (let i = 0; i < 2; i++) {
      const dialog = dial()
      peer.reply(await peer.request('INVITE'), 200, { body: testSdp() })
      await peer.request('ACK')
      ;(await dialog).destroy()
      peer.reply(await peer.request('BYE'), 200)
    }
    await received()
    await routed(other)
    expect(starts).toHaveLength(1)
    expect(records.filter((each) => each.startsWith('start'))).toHaveLength(1)
    expect(records.filter((each) => each.startsWith('attempt'))).toHaveLength(2)
    other.disconnect()
  })
})
