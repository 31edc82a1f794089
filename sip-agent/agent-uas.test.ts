import type { Dialog } from 'drachtio-srf'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Peer, testSdp } from './testing/peer.ts'
import { idle, routed, startTestAgent, type TestAgent } from './testing/srf.ts'

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

/** Lets the application answer the next call; resolves with its dialog. */
const answering = () =>
  new Promise<Dialog>((resolve) => {
    bench.srf.invite(async (req, res) => {
      resolve(await bench.srf.createUAS(req, res, { localSdp: testSdp('answer') }))
    })
  })

/** Calls, and acknowledges the answer. */
const establish = async () => {
  const dialog = answering()
  await routed(bench.srf)
  const call = peer.call(target())
  peer.send('INVITE', call, { body: testSdp() })
  const ok = await peer.response(200)
  const to = ok.headers.first('to') ?? ''
  peer.send('ACK', call, { to })
  return { call, to, ok, dialog: await dialog }
}

const byeFromPeer = async (call: { seq: number }, to: string) => {
  call.seq++
  peer.send('BYE', call as Parameters<Peer['send']>[1], { to })
  await peer.response(200, 'BYE')
}

describe('an incoming call', () => {
  it('is answered with a tag, a Contact and a content type, and ended by the caller', async () => {
    const { call, to, ok, dialog } = await establish()
    expect(ok.toTag).not.toBe('')
    expect(ok.headers.first('contact')).toBe(`<sip:127.0.0.1:${bench.udp}>`)
    expect(ok.headers.first('content-type')).toBe('application/sdp')
    const destroyed = new Promise<void>((resolve) => dialog.on('destroy', () => resolve()))
    await byeFromPeer(call, to)
    await destroyed
    await idle(bench.agent)
  })

  it('carries INFO in both directions, with rising CSeq numbers', async () => {
    const { call, to, dialog } = await establish()
    const info = new Promise<string>((resolve) =>
      dialog.on('info', (req, res) => {
        res.send(200)
        resolve(req.body)
      }),
    )
    call.seq++
    peer.send('INFO', call, { to, body: 'Signal=5', extra: { 'Content-Type': 'application/dtmf-relay' } })
    await peer.response(200, 'INFO')
    expect(await info).toBe('Signal=5')
    const sent = dialog.request({
      method: 'INFO',
      body: 'Signal=1',
      headers: { 'Content-Type': 'application/dtmf-relay' },
    } as never)
    const received = await peer.request('INFO')
    expect(received.uri).toBe(peer.uri)
    expect(received.fromTag).toBe(dialog.sip.localTag)
    peer.reply(received, 200)
    expect((await sent).status).toBe(200)
    await byeFromPeer(call, to)
  })

  it('takes a re-INVITE of the caller and repeats its 200 until the ACK', async () => {
    const { call, to, dialog } = await establish()
    call.seq++
    peer.send('INVITE', call, { to, body: testSdp('hold') })
    const first = await peer.response(200, 'INVITE')
    const second = await peer.response(200, 'INVITE')
    expect(second.seq).toBe(first.seq)
    expect(dialog.remote.sdp).toContain('s=hold')
    peer.send('ACK', call, { to })
    await byeFromPeer(call, to)
    await idle(bench.agent)
  })

  it('sends a re-INVITE of the application and acknowledges it again when the 200 is repeated', async () => {
    const { dialog } = await establish()
    const modified = dialog.modify(testSdp('changed'))
    const invite = await peer.request('INVITE')
    expect(invite.body.toString()).toContain('s=changed')
    peer.reply(invite, 200, { body: testSdp('ok'), extra: { 'X-Try': '1' } })
    const ack = await peer.request('ACK')
    expect(ack.seq).toBe(invite.seq)
    await modified
    peer.reply(invite, 200, { body: testSdp('ok') })
    expect((await peer.request('ACK')).via.branch).toBe(ack.via.branch)
    dialog.destroy()
    peer.reply(await peer.request('BYE'), 200)
    await idle(bench.agent)
  })

  it('answers 491 to a re-INVITE that crosses one of the application', async () => {
    const { call, to, dialog } = await establish()
    const modified = dialog.modify(testSdp('changed'))
    const invite = await peer.request('INVITE')
    call.seq++
    peer.send('INVITE', call, { to, body: testSdp('glare') })
    expect((await peer.response(491)).seq).toBe(call.seq)
    peer.send('ACK', call, { to })
    peer.reply(invite, 200, { body: testSdp('ok') })
    await modified
  })

  it('is ended by the application, with its headers on the BYE', async () => {
    const { dialog } = await establish()
    const done = new Promise<void>((resolve) =>
      dialog.destroy({ headers: { Reason: 'Q.850;cause=16' } }, () => resolve()),
    )
    const bye = await peer.request('BYE')
    expect(bye.headers.first('reason')).toBe('Q.850;cause=16')
    peer.reply(bye, 200)
    await done
    await idle(bench.agent)
  })

  it('is rejected, and the ACK stays within the agent', async () => {
    bench.srf.invite((_req, res) => res.send(486, { headers: { 'X-Why': 'busy' } }))
    await routed(bench.srf)
    const call = peer.call(target())
    const branch = peer.send('INVITE', call, { body: testSdp() })
    const busy = await peer.response(486)
    expect(busy.headers.first('x-why')).toBe('busy')
    peer.send('ACK', call, { to: busy.headers.first('to'), branch })
    await idle(bench.agent)
  })

  it('gets 503 if no application takes it', async () => {
    peer.send('INVITE', peer.call(target()), { body: testSdp() })
    expect((await peer.response(503)).toTag).not.toBe('')
  })
})

describe('a CANCEL from the network', () => {
  const cancelled = (early: boolean) =>
    new Promise<void>((resolve) => {
      bench.srf.invite((req, res) => {
        req.on('cancel', () => resolve())
        if (!early) res.send(180)
      })
    })

  it('after a 180 ends the call with the tag of the 180', async () => {
    const gone = cancelled(false)
    await routed(bench.srf)
    const call = peer.call(target())
    const branch = peer.send('INVITE', call, { body: testSdp() })
    const ringing = await peer.response(180)
    peer.send('CANCEL', call, { branch })
    const ok = await peer.response(200, 'CANCEL')
    const final = await peer.response(487, 'INVITE')
    expect([ok.toTag, final.toTag]).toEqual([ringing.toTag, ringing.toTag])
    peer.send('ACK', call, { to: final.headers.first('to'), branch })
    await gone
    await idle(bench.agent)
  })

  it('before any answer ends the call too, with one tag', async () => {
    const gone = cancelled(true)
    await routed(bench.srf)
    const call = peer.call(target())
    const branch = peer.send('INVITE', call, { body: testSdp() })
    peer.send('CANCEL', call, { branch })
    const ok = await peer.response(200, 'CANCEL')
    const final = await peer.response(487, 'INVITE')
    expect(ok.toTag).toBe(final.toTag)
    peer.send('ACK', call, { to: final.headers.first('to'), branch })
    await gone
  })

  it('after the 200 is answered and changes nothing', async () => {
    void answering()
    await routed(bench.srf)
    const call = peer.call(target())
    const branch = peer.send('INVITE', call, { body: testSdp() })
    const ok = await peer.response(200, 'INVITE')
    peer.send('CANCEL', call, { branch })
    expect((await peer.response(200, 'CANCEL')).toTag).toBe(ok.toTag)
    const to = ok.headers.first('to') ?? ''
    peer.send('ACK', call, { to })
    await byeFromPeer(call, to)
  })

  it('for an unknown call gets 481', async () => {
    peer.send('CANCEL', peer.call(target()))
    await peer.response(481, 'CANCEL')
  })
})

describe('the application', () => {
  it('receives REFER, MESSAGE and OPTIONS outside dialogs', async () => {
    for (const method of ['refer', 'message', 'options'] as const) {
      bench.srf.use(method, (_req, res) => res.send(method === 'options' ? 200 : 202))
      await routed(bench.srf)
      peer.send(method.toUpperCase(), peer.call(target()))
      await peer.response(method === 'options' ? 200 : 202, method.toUpperCase())
    }
  })

  it('sends and receives UPDATE and REFER within a dialog', async () => {
    const { call, to, dialog } = await establish()
    for (const method of ['update', 'refer'] as const) {
      dialog.on(method as 'update', (_req, res) => res.send(202))
      call.seq++
      peer.send(method.toUpperCase(), call, { to })
      expect((await peer.response(202, method.toUpperCase())).headers.first('contact')).toContain('<sip:')
    }
    await byeFromPeer(call, to)
  })
})

it('follows the route set of the caller, and the Contact of its re-INVITE', async () => {
  const hop = await Peer.udp(bench.udp)
  const dialog = answering()
  await routed(bench.srf)
  const call = peer.call(target())
  const route = `<sip:127.0.0.1:${hop.port};lr>`
  peer.send('INVITE', call, { body: testSdp(), extra: { 'Record-Route': route } })
  const ok = await peer.response(200)
  expect(ok.headers.first('record-route')).toBe(route)
  const to = ok.headers.first('to') ?? ''
  peer.send('ACK', call, { to })
  call.seq++
  peer.send('INVITE', call, { to, body: testSdp(), extra: { Contact: '<sip:moved@192.0.2.77:5099>' } })
  await peer.response(200, 'INVITE')
  peer.send('ACK', call, { to })
  ;(await dialog).destroy()
  const bye = await hop.request('BYE')
  expect([bye.uri, bye.headers.first('route')]).toEqual(['sip:moved@192.0.2.77:5099', route])
  hop.reply(bye, 200)
  await idle(bench.agent)
  hop.close()
})
