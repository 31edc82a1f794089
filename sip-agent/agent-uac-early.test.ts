import type { Dialog, SrfRequest, SrfResponse } from 'drachtio-srf'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SipRequest } from './message/message.ts'
import { Peer, testSdp } from './testing/peer.ts'
import { answerTo, idle, request, startTestAgent, type TestAgent } from './testing/srf.ts'

let bench: TestAgent
let peer: Peer
let provisional: SrfResponse[]
let sent: SrfRequest | undefined
beforeEach(async () => {
  bench = await startTestAgent()
  peer = await Peer.udp()
  provisional = []
  sent = undefined
})
afterEach(async () => {
  peer.close()
  await bench.close()
})

const dial = (extra: object = {}): Promise<Dialog> => {
  const options = { localSdp: testSdp('offer'), headers: { Supported: '100rel' }, ...extra }
  const progress: object = {
    cbRequest: (_error: unknown, req: SrfRequest) => (sent = req),
    cbProvisional: (res: SrfResponse) => provisional.push(res),
  }
  return bench.srf.createUAC(peer.uri, options, progress)
}
const reliable = (rseq: number, more: Record<string, string> = {}) => ({
  Require: '100rel',
  RSeq: String(rseq),
  ...more,
})
/** The peer asks within the dialog that `invite` made with its tag `tag`. */
const ask = (method: string, invite: SipRequest, seq: number, tag: string, body = '', target = '') => {
  const contact = invite.headers.first('contact')?.slice(1, -1) ?? ''
  const call = { callId: invite.callId, from: `<${peer.uri}>;tag=${tag}`, to: '', target: contact, seq }
  const extra: Record<string, string> = target === '' ? {} : { Contact: `<${target}>` }
  peer.send(method, call, { to: invite.headers.first('from'), body, extra })
}
const hangUp = async (dialog: Dialog) => {
  dialog.destroy()
  peer.reply(await peer.request('BYE'), 200)
  await idle(bench.agent)
}
const statuses = () => provisional.map((each) => each.status)

describe('reliable provisional responses (RFC 3262)', () => {
  it('are acknowledged in their early dialog, in order, and delivered once', async () => {
    const dialog = dial()
    const invite = await peer.request('INVITE')
    const route = { 'Record-Route': `<sip:127.0.0.1:${peer.port};lr>` }
    peer.reply(invite, 183, { tag: 'a', extra: reliable(7, route), body: testSdp('early') })
    peer.reply(invite, 183, { tag: 'a', extra: reliable(7, route), body: testSdp('early') })
    peer.reply(invite, 180, { tag: 'a', extra: reliable(9, route) })
    const prack = await peer.request('PRACK')
    expect(prack.headers.first('rack')).toBe(`7 ${invite.seq} INVITE`)
    expect([prack.toTag, prack.uri, prack.seq]).toEqual(['a', peer.uri, invite.seq + 1])
    expect(prack.headers.first('route')).toBe(`<sip:127.0.0.1:${peer.port};lr>`)
    peer.reply(prack, 200)
    peer.reply(invite, 180, { tag: 'a', extra: reliable(8, route) })
    const next = await peer.request('PRACK')
    expect([next.headers.first('rack'), next.seq]).toEqual([`8 ${invite.seq} INVITE`, invite.seq + 2])
    peer.reply(next, 200)
    peer.reply(invite, 200, { tag: 'a', body: testSdp('early') })
    await peer.request('ACK')
    const up = await dialog
    expect(statuses()).toEqual([183, 180])
    expect(peer.inbox).toEqual([])
    await hangUp(up)
  })

  it('are acknowledged at their source, with one dialog per fork', async () => {
    const dialog = dial()
    const invite = await peer.request('INVITE')
    peer.reply(invite, 183, { tag: 'one', extra: reliable(1) })
    peer.reply(invite, 183, { tag: 'two', extra: reliable(1) })
    const pracks = [await peer.request('PRACK'), await peer.request('PRACK')]
    expect(pracks.map((each) => each.toTag).sort()).toEqual(['one', 'two'])
    for (const prack of pracks) peer.reply(prack, 200)
    peer.reply(invite, 180, { tag: 'one', extra: reliable(2) })
    const third = await peer.request('PRACK')
    expect([third.toTag, third.headers.first('rack')]).toEqual(['one', `2 ${invite.seq} INVITE`])
    peer.reply(third, 200)
    expect((await bench.agent.stats()).dialogs).toBe(2)
    peer.reply(invite, 200, { tag: 'two', body: testSdp('answer') })
    await peer.request('ACK')
    const up = await dialog
    expect((await bench.agent.stats()).dialogs).toBe(1)
    await hangUp(up)
  })

  it('do not affect the final response if their PRACK is rejected or unanswered', async () => {
    const refused = expect(dial()).rejects.toMatchObject({ status: 486 })
    const invite = await peer.request('INVITE')
    peer.reply(invite, 183, { extra: reliable(1) })
    peer.reply(await peer.request('PRACK'), 481)
    peer.reply(invite, 486)
    await refused
    await idle(bench.agent)
  })
})

describe('an UPDATE before the answer (RFC 3311)', () => {
  it('of the peer gets 491 while an offer of the agent is open, then changes the target', async () => {
    const moved = `sip:moved@127.0.0.1:${peer.port}`
    const dialog = dial()
    const invite = await peer.request('INVITE')
    peer.reply(invite, 180, { tag: 'a' })
    ask('UPDATE', invite, 1, 'a', testSdp('too early'))
    await peer.response(491, 'UPDATE')
    ask('UPDATE', invite, 2, 'a')
    await peer.response(200, 'UPDATE')
    peer.reply(invite, 183, { tag: 'a', extra: reliable(1), body: testSdp('answer') })
    peer.reply(await peer.request('PRACK'), 200)
    ask('UPDATE', invite, 3, 'a', testSdp('changed'), moved)
    expect((await peer.response(200, 'UPDATE')).body.toString()).toContain('s=offer')
    peer.reply(invite, 180, { tag: 'a', extra: reliable(2) })
    const prack = await peer.request('PRACK')
    expect(prack.uri).toBe(moved)
    peer.reply(prack, 200)
    peer.reply(invite, 200, { tag: 'a' })
    await peer.request('ACK')
    await hangUp(await dialog)
  })

  it('of the application is sent in the early dialog, and blocks other offers until answered', async () => {
    const dialog = dial()
    const invite = await peer.request('INVITE')
    peer.reply(invite, 183, { tag: 'a', extra: reliable(1), body: testSdp('answer') })
    peer.reply(await peer.request('PRACK'), 200)
    const stackDialogId = `${invite.callId};from-tag=${invite.fromTag}`
    const body = testSdp('hold')
    const update = request(bench.srf, 'sip:placeholder', { method: 'UPDATE', stackDialogId, body })
    const asked = await peer.request('UPDATE')
    expect([asked.toTag, asked.headers.first('content-type')]).toEqual(['a', 'application/sdp'])
    expect(asked.headers.first('contact')).toBe(invite.headers.first('contact'))
    const answer = answerTo(await update)
    ask('UPDATE', invite, 1, 'a', testSdp('glare'))
    await peer.response(491, 'UPDATE')
    peer.reply(asked, 200, {
      body: testSdp('held'),
      extra: { Contact: `<sip:later@127.0.0.1:${peer.port}>` },
      contact: false,
    })
    expect((await answer).status).toBe(200)
    ask('UPDATE', invite, 2, 'a', testSdp('now'), `sip:later@127.0.0.1:${peer.port}`)
    await peer.response(200, 'UPDATE')
    peer.reply(invite, 200, { tag: 'a', contact: false })
    expect((await peer.request('ACK')).uri).toBe(`sip:later@127.0.0.1:${peer.port}`)
    await hangUp(await dialog)
  })

  it('of the peer is rejected while the application owes an answer', async () => {
    const dialog = dial({ localSdp: undefined, noAck: true }) as Promise<unknown>
    const invite = await peer.request('INVITE')
    peer.reply(invite, 183, { tag: 'a', extra: reliable(1), body: testSdp('their offer') })
    peer.reply(await peer.request('PRACK'), 200)
    ask('UPDATE', invite, 1, 'a', testSdp('another'))
    expect((await peer.response(500, 'UPDATE')).headers.first('retry-after')).toBeDefined()
    peer.reply(invite, 200, { tag: 'a', body: testSdp('their offer') })
    const { ack } = (await dialog) as { ack: (sdp: string) => Promise<Dialog> }
    const up = await ack(testSdp('our answer'))
    expect((await peer.request('ACK')).body.toString()).toContain('s=our answer')
    ask('UPDATE', invite, 2, 'a', testSdp('fine now'))
    await peer.response(200, 'UPDATE')
    await hangUp(up)
  })
})

describe('forks', () => {
  it('that end with a 199 (RFC 6228) end alone, and a 199 of an unknown fork has no effect', async () => {
    const dialog = dial()
    const invite = await peer.request('INVITE')
    peer.reply(invite, 180, { tag: 'one' })
    peer.reply(invite, 180, { tag: 'two' })
    peer.reply(invite, 199, { tag: 'one' })
    peer.reply(invite, 199, { tag: 'three' })
    ask('INFO', invite, 1, 'one')
    await peer.response(481, 'INFO')
    expect((await bench.agent.stats()).dialogs).toBe(1)
    expect(statuses()).toEqual([180, 180, 199, 199])
    peer.reply(invite, 200, { tag: 'two', body: testSdp('answer') })
    await peer.request('ACK')
    await hangUp(await dialog)
  })

  it('that answer late are acknowledged again for each retransmitted answer', async () => {
    const dialog = dial()
    const invite = await peer.request('INVITE')
    peer.reply(invite, 200, { tag: 'one', body: testSdp('one') })
    await peer.request('ACK')
    const up = await dialog
    for (let i = 0; i < 3; i++) {
      peer.reply(invite, 200, { tag: 'two', body: testSdp('two') })
      expect((await peer.request('ACK')).toTag).toBe('two')
    }
    peer.reply(await peer.request('BYE'), 200)
    expect(peer.inbox).toEqual([])
    await hangUp(up)
  })

  it('take the route set of the 2xx (RFC 3261 13.2.2.4)', async () => {
    const dialog = dial()
    const invite = await peer.request('INVITE')
    const route = (name: string) => ({ 'Record-Route': `<sip:127.0.0.1:${peer.port};lr;x=${name}>` })
    peer.reply(invite, 180, { tag: 'a', extra: route('early') })
    peer.reply(invite, 200, { tag: 'a', extra: route('final'), body: testSdp('answer') })
    expect((await peer.request('ACK')).headers.first('route')).toContain('x=final')
    await hangUp(await dialog)
  })
})

describe('an INVITE', () => {
  it('keeps the Max-Forwards of the application, and delivers a redirection unchanged', async () => {
    const redirected = expect(dial({ headers: { 'Max-Forwards': '12' } })).rejects.toMatchObject({
      status: 302,
    })
    const invite = await peer.request('INVITE')
    expect(invite.headers.first('max-forwards')).toBe('12')
    peer.reply(invite, 302)
    expect((await peer.request('ACK')).headers.first('max-forwards')).toBe('70')
    await redirected
    await idle(bench.agent)
  })

  it('delivers no 100, and every 180', async () => {
    const refused = expect(dial()).rejects.toMatchObject({ status: 480 })
    const invite = await peer.request('INVITE')
    for (const status of [100, 180, 180, 183]) peer.reply(invite, status)
    peer.reply(invite, 480)
    await refused
    expect(statuses()).toEqual([180, 180, 183])
    expect(sent?.get('Call-ID')).toBe(invite.callId)
  })
})
