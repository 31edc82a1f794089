import { createHash } from 'node:crypto'
import type { Dialog, SrfRequest, SrfResponse } from 'drachtio-srf'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Peer, testSdp } from './testing/peer.ts'
import { connectSrf, idle, routed, startTestAgent, type TestAgent } from './testing/srf.ts'

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

const dial = (extra: object = {}, progress: object = {}): Promise<Dialog> =>
  bench.srf.createUAC(peer.uri, { localSdp: testSdp('offer'), ...extra }, progress)

describe('an outgoing call', () => {
  it('is answered, acknowledged, and ended by the far end', async () => {
    const provisional: number[] = []
    const dialog = dial(
      { callingNumber: '1000' },
      { cbProvisional: (res: SrfResponse) => provisional.push(res.status) },
    )
    const invite = await peer.request('INVITE')
    expect(invite.headers.first('from')).toContain(`<sip:1000@127.0.0.1:${bench.udp}>;tag=`)
    expect(invite.headers.first('contact')).toBe(`<sip:1000@127.0.0.1:${bench.udp}>`)
    peer.reply(invite, 100)
    peer.reply(invite, 180)
    peer.reply(invite, 200, { body: testSdp('answer') })
    const ack = await peer.request('ACK')
    expect([ack.seq, ack.uri]).toEqual([invite.seq, peer.uri])
    const up = await dialog
    expect(provisional).toEqual([180])
    expect(up.remote.sdp).toContain('s=answer')
    const destroyed = new Promise<void>((resolve) => up.on('destroy', () => resolve()))
    const call = { ...peer.call(invite.headers.first('contact')?.slice(1, -1) ?? ''), callId: invite.callId }
    peer.send(
      'BYE',
      { ...call, from: `${invite.headers.first('to')};tag=peer${peer.port}` },
      {
        to: invite.headers.first('from'),
      },
    )
    await peer.response(200, 'BYE')
    await destroyed
    await idle(bench.agent)
  })

  it('is rejected: the agent acknowledges, the application receives the status', async () => {
    const refused = expect(dial()).rejects.toMatchObject({ status: 486 })
    const invite = await peer.request('INVITE')
    peer.reply(invite, 486)
    expect((await peer.request('ACK')).via.branch).toBe(invite.via.branch)
    await refused
    await idle(bench.agent)
  })

  it('is cancelled while it rings', async () => {
    let sent: SrfRequest | undefined
    const refused = expect(
      dial(
        {},
        {
          cbRequest: (_error: unknown, req: SrfRequest) => (sent = req),
          cbProvisional: () => sent?.cancel(() => {}),
        },
      ),
    ).rejects.toMatchObject({ status: 487 })
    const invite = await peer.request('INVITE')
    peer.reply(invite, 180)
    const cancel = await peer.request('CANCEL')
    expect([cancel.via.branch, cancel.seq, cancel.toTag]).toEqual([invite.via.branch, invite.seq, ''])
    peer.reply(cancel, 200)
    peer.reply(invite, 487)
    await peer.request('ACK')
    await refused
    await idle(bench.agent)
  })

  it('is cancelled before any response: the CANCEL waits for the first provisional response', async () => {
    const refused = expect(
      dial({}, { cbRequest: (_error: unknown, req: SrfRequest) => req.cancel(() => {}) }),
    ).rejects.toMatchObject({ status: 487 })
    const invite = await peer.request('INVITE')
    expect(peer.inbox.some((each) => each.kind === 'request' && each.method === 'CANCEL')).toBe(false)
    peer.reply(invite, 100)
    peer.reply(await peer.request('CANCEL'), 200)
    peer.reply(invite, 487)
    await refused
  })

  it('is answered while the CANCEL is in flight: acknowledged, then ended', async () => {
    let sent: SrfRequest | undefined
    const dialog = dial(
      {},
      {
        cbRequest: (_error: unknown, req: SrfRequest) => (sent = req),
        cbProvisional: () => sent?.cancel(() => {}),
      },
    )
    const invite = await peer.request('INVITE')
    peer.reply(invite, 180)
    const cancel = await peer.request('CANCEL')
    peer.reply(invite, 200, { body: testSdp('late') })
    peer.reply(cancel, 481)
    await peer.request('ACK')
    const bye = await peer.request('BYE')
    expect(bye.headers.first('reason')).toContain('cancel race')
    peer.reply(bye, 200)
    await dialog.catch(() => {})
    await idle(bench.agent)
  })

  it('answers a digest challenge with the same Call-ID and From tag and the next CSeq', async () => {
    const dialog = dial({ auth: { username: 'joe', password: 'pass' } })
    const first = await peer.request('INVITE')
    peer.reply(first, 401, {
      extra: { 'WWW-Authenticate': 'Digest realm="r1", nonce="n1", algorithm=MD5, qop="auth"' },
    })
    await peer.request('ACK')
    const second = await peer.request('INVITE')
    expect([second.callId, second.fromTag, second.seq]).toEqual([first.callId, first.fromTag, first.seq + 1])
    const field = (name: string) =>
      new RegExp(`${name}="?([^",]+)`).exec(second.headers.first('authorization') ?? '')?.[1]
    const md5 = (text: string) => createHash('md5').update(text).digest('hex')
    const expected = md5(
      `${md5('joe:r1:pass')}:n1:${field('nc')}:${field('cnonce')}:auth:${md5(`INVITE:${field('uri')}`)}`,
    )
    expect(field('response')).toBe(expected)
    peer.reply(second, 200, { body: testSdp('answer') })
    await peer.request('ACK')
    const up = await dialog
    up.destroy()
    peer.reply(await peer.request('BYE'), 200)
    await idle(bench.agent)
  })

  it('ends the second fork that answers without notifying the application', async () => {
    const dialog = dial()
    const invite = await peer.request('INVITE')
    peer.reply(invite, 200, { tag: 'one', body: testSdp('one') })
    expect((await peer.request('ACK')).toTag).toBe('one')
    peer.reply(invite, 200, { tag: 'two', body: testSdp('two') })
    expect((await peer.request('ACK')).toTag).toBe('two')
    const bye = await peer.request('BYE')
    expect(bye.toTag).toBe('two')
    peer.reply(bye, 200)
    expect((await dialog).remote.sdp).toContain('s=one')
  })
})

describe('other requests', () => {
  it('an OPTIONS is sent and its response delivered', async () => {
    const answer = new Promise<SrfResponse>((resolve) => {
      bench.srf.request(
        peer.uri,
        { method: 'OPTIONS' } as never,
        ((_error: unknown, req: SrfRequest) =>
          req.on('response', (res) => resolve(res as SrfResponse))) as never,
        [],
      )
    })
    const options = await peer.request('OPTIONS')
    expect(options.headers.first('contact')).toBeUndefined()
    peer.reply(options, 200)
    expect((await answer).status).toBe(200)
  })

  it('a name without an address leads to 503', async () => {
    const gone = bench.srf.createUAC('sip:bob@no-such-host.invalid', { localSdp: testSdp() })
    await expect(gone).rejects.toMatchObject({ status: 503 })
  })

  it('a TCP port without a listener leads to 503', async () => {
    const gone = bench.srf.createUAC('sip:bob@127.0.0.1:1;transport=tcp', { localSdp: testSdp() })
    await expect(gone).rejects.toMatchObject({ status: 503 })
  })

  it('the agent does not call itself', async () => {
    const self = bench.srf.createUAC(`sip:bob@127.0.0.1:${bench.udp}`, { localSdp: testSdp() })
    await expect(self).rejects.toThrow('can not send request to myself')
  })
})

describe('createB2BUA', () => {
  it('joins two calls and ends both', async () => {
    const caller = await Peer.udp(bench.udp)
    bench.srf.invite(async (req, res) => {
      const { uas, uac } = await bench.srf.createB2BUA(req, res, peer.uri, {})
      uas.on('destroy', () => uac.destroy())
      uac.on('destroy', () => uas.destroy())
    })
    await routed(bench.srf)
    const call = caller.call(`sip:bob@127.0.0.1:${bench.udp}`)
    caller.send('INVITE', call, { body: testSdp('a') })
    const invite = await peer.request('INVITE')
    expect(invite.body.toString()).toContain('s=a')
    peer.reply(invite, 180)
    await caller.response(180)
    peer.reply(invite, 200, { body: testSdp('b') })
    await peer.request('ACK')
    const ok = await caller.response(200)
    expect(ok.body.toString()).toContain('s=b')
    const to = ok.headers.first('to')
    caller.send('ACK', call, { to })
    call.seq++
    caller.send('BYE', call, { to })
    peer.reply(await peer.request('BYE'), 200)
    await caller.response(200, 'BYE')
    await idle(bench.agent)
    caller.close()
  })

  it('forwards the CANCEL of the caller', async () => {
    const caller = await Peer.udp(bench.udp)
    bench.srf.invite((req, res) => void bench.srf.createB2BUA(req, res, peer.uri, {}).catch(() => {}))
    await routed(bench.srf)
    const call = caller.call(`sip:bob@127.0.0.1:${bench.udp}`)
    const branch = caller.send('INVITE', call, { body: testSdp('a') })
    const invite = await peer.request('INVITE')
    peer.reply(invite, 180)
    await caller.response(180)
    caller.send('CANCEL', call, { branch })
    await caller.response(487)
    peer.reply(await peer.request('CANCEL'), 200)
    peer.reply(invite, 487)
    await idle(bench.agent)
    caller.close()
  })
})

describe('TCP', () => {
  it('carries a call in, and the BYE back on the same connection', async () => {
    const far = await Peer.tcp(bench.tcp)
    const dialog = new Promise<Dialog>((resolve) => {
      bench.srf.invite(async (req, res) =>
        resolve(await bench.srf.createUAS(req, res, { localSdp: testSdp() })),
      )
    })
    await routed(bench.srf)
    const call = far.call(`sip:bob@127.0.0.1:${bench.tcp};transport=tcp`)
    far.send('INVITE', call, { body: testSdp() })
    const ok = await far.response(200)
    expect(ok.headers.first('contact')).toBe(`<sip:127.0.0.1:${bench.tcp};transport=tcp>`)
    far.send('ACK', call, { to: ok.headers.first('to') })
    ;(await dialog).destroy()
    far.reply(await far.request('BYE'), 200)
    await idle(bench.agent)
    far.close()
  })

  it('carries a call out', async () => {
    const far = await Peer.tcpServer()
    const dialog = bench.srf.createUAC(far.uri, { localSdp: testSdp() })
    const invite = await far.request('INVITE')
    expect(invite.via.transport).toBe('TCP')
    far.reply(invite, 200, { body: testSdp('tcp') })
    await far.request('ACK')
    ;(await dialog).destroy()
    far.reply(await far.request('BYE'), 200)
    await idle(bench.agent)
    far.close()
  })
})

describe('when the application disconnects', () => {
  it('its dialogs are hung up, its pending calls rejected, its outgoing calls cancelled', async () => {
    const other = await connectSrf(bench.agent)
    const caller = await Peer.udp(bench.udp)
    const target = `sip:bob@127.0.0.1:${bench.udp}`
    other.invite((req, res) => {
      if (req.get('X-Answer')) void other.createUAS(req, res, { localSdp: testSdp() })
    })
    await routed(other)
    const answered = caller.call(target)
    caller.send('INVITE', answered, { body: testSdp(), extra: { 'X-Answer': 'yes' } })
    const ok = await caller.response(200)
    caller.send('ACK', answered, { to: ok.headers.first('to') })
    caller.send('INVITE', caller.call(target), { body: testSdp() })
    await caller.response(100)
    other.createUAC(peer.uri, { localSdp: testSdp() }).catch(() => {})
    const invite = await peer.request('INVITE')
    peer.reply(invite, 180)
    other.disconnect()
    await caller.response(503, 'INVITE')
    const bye = await caller.request('BYE')
    expect(bye.headers.first('reason')).toContain('Application connection lost')
    caller.reply(bye, 200)
    peer.reply(await peer.request('CANCEL'), 200)
    peer.reply(invite, 487)
    await idle(bench.agent)
    caller.close()
  })
})
