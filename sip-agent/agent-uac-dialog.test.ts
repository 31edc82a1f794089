import type { Dialog, SrfRequest, SrfResponse } from 'drachtio-srf'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SipRequest } from './message/message.ts'
import { Peer, testSdp } from './testing/peer.ts'
import { idle, startTestAgent, type TestAgent } from './testing/srf.ts'

let bench: TestAgent
let peer: Peer
let invite: SipRequest
let up: Dialog
/** Notice of the end of a call to the application. */
let destroyed: Promise<{ method: string; reason: string }>
const auth = { username: 'joe', password: 'pass' }
const challenge = { extra: { 'WWW-Authenticate': 'Digest realm="r", nonce="n", qop="auth"' } }

const start = async (timers = {}) => {
  bench = await startTestAgent({ timers })
  peer = await Peer.udp()
  const dialog: Promise<Dialog> = bench.srf.createUAC(peer.uri, { localSdp: testSdp('offer') })
  invite = await peer.request('INVITE')
  peer.reply(invite, 200, { body: testSdp('answer') })
  await peer.request('ACK')
  up = await dialog
  destroyed = new Promise((resolve) => {
    const received = (req: SrfRequest, reason: string) => resolve({ method: req.method, reason })
    up.on('destroy', received as never)
  })
}
const stop = async () => {
  peer.close()
  await bench.close()
}
/** With 64 * T1 of 640 ms, for what ends by time alone. */
const hurry = async () => {
  await stop()
  await start({ t1: 10, t2: 80 })
}
beforeEach(() => start())
afterEach(stop)

const request = (options: object): Promise<SrfResponse> => up.request(options as never) as never
const bye = (): void => {
  const target = invite.headers.first('contact')?.slice(1, -1) ?? ''
  const from = `<${peer.uri}>;tag=peer${peer.port}`
  const call = { callId: invite.callId, from, to: '', target, seq: 1 }
  peer.send('BYE', call, { to: invite.headers.first('from') })
}
const hangUp = async () => {
  up.destroy()
  peer.reply(await peer.request('BYE'), 200)
  await idle(bench.agent)
}

describe('a request in a dialog', () => {
  it('has the address of the agent for localhost, and a Content-Type for a description', async () => {
    const headers = {
      Contact: 'sip:x@localhost',
      'Refer-To': 'sip:y@h',
      'P-Asserted-Identity': 'sip:1@localhost',
    }
    const answer = request({ method: 'REFER', headers, body: 'v=0\r\n' })
    const refer = await peer.request('REFER')
    expect(refer.headers.first('contact')).toBe(`<sip:x@127.0.0.1:${bench.udp}>`)
    expect(refer.headers.first('p-asserted-identity')).toBe(`<sip:1@127.0.0.1:${bench.udp}>`)
    expect(refer.headers.first('content-type')).toBe('application/sdp')
    peer.reply(refer, 202)
    expect((await answer).status).toBe(202)
    await expect(request({ method: 'INFO', body: 'Signal=1' })).rejects.toThrow('missing content-type')
    await hangUp()
  })

  it('is sent again with credentials, for every method', async () => {
    const info = request({ method: 'INFO', auth })
    const first = await peer.request('INFO')
    peer.reply(first, 401, challenge)
    const second = await peer.request('INFO')
    expect(second.headers.first('authorization')).toContain('response=')
    expect([second.callId, second.fromTag, second.toTag]).toEqual([first.callId, first.fromTag, first.toTag])
    expect([second.seq, second.uri]).toEqual([first.seq + 1, peer.uri])
    peer.reply(second, 200)
    expect((await info).status).toBe(200)
    const modified = up.modify(testSdp('again'), { auth } as never)
    peer.reply(await peer.request('INVITE'), 401, challenge)
    await peer.request('ACK')
    const reinvite = await peer.request('INVITE')
    expect(reinvite.headers.first('authorization')).toContain('response=')
    peer.reply(reinvite, 200, { body: testSdp('fine') })
    await peer.request('ACK')
    await modified
    const released = new Promise<void>((resolve) => up.destroy({ auth } as never, () => resolve()))
    peer.reply(await peer.request('BYE'), 401, challenge)
    peer.reply(await peer.request('BYE'), 200)
    await released
    await idle(bench.agent)
  })

  it.each([
    ['INFO', 481, 'Dialog unknown to the far end'],
    ['UPDATE', 408, 'Request timeout in the dialog'],
  ])(
    '%s answered with %i ends the call: BYE to the far end, word to the application',
    async (method, status, text) => {
      const answer = request({ method })
      peer.reply(await peer.request(method), status)
      expect((await answer).status).toBe(status)
      const hungUp = await peer.request('BYE')
      expect(hungUp.headers.first('reason')).toContain(`cause=${status}`)
      peer.reply(hungUp, 481)
      expect(await destroyed).toEqual({ method: 'BYE', reason: text })
      await idle(bench.agent)
    },
  )

  it('without any response ends the call', async () => {
    await hurry()
    expect((await request({ method: 'INFO' })).status).toBe(408)
    expect((await destroyed).reason).toBe('Request timeout in the dialog')
    peer.reply(await peer.request('BYE'), 200)
    await idle(bench.agent)
  })

  it('rejected with 481 as a NOTIFY, or with 503, does not end the call', async () => {
    const headers = { Event: 'refer', 'Subscription-State': 'active' }
    const notify = request({ method: 'NOTIFY', headers })
    peer.reply(await peer.request('NOTIFY'), 481)
    expect((await notify).status).toBe(481)
    const info = request({ method: 'INFO' })
    peer.reply(await peer.request('INFO'), 503)
    expect((await info).status).toBe(503)
    await hangUp()
  })

  it('after the far end has hung up fails without a dialog', async () => {
    bye()
    await peer.response(200, 'BYE')
    await destroyed
    await expect(request({ method: 'INFO' })).rejects.toMatchObject({ code: 'ENODIALOG' })
  })
})

describe('a re-INVITE', () => {
  it('rejected with 481 ends the call', async () => {
    const modified = expect(up.modify(testSdp('again'))).rejects.toMatchObject({ status: 481 })
    peer.reply(await peer.request('INVITE'), 481)
    await modified
    expect((await destroyed).reason).toBe('Dialog unknown to the far end')
    peer.reply(await peer.request('BYE'), 200)
    await idle(bench.agent)
  })

  it('rejected with 488 leaves the call unchanged', async () => {
    const modified = expect(up.modify(testSdp('again'))).rejects.toMatchObject({ status: 488 })
    peer.reply(await peer.request('INVITE'), 488)
    await modified
    await hangUp()
  })

  it.each(['200', '487', 'nothing'])(
    'that is open while the application hangs up is cancelled; the far end says %s',
    async (answer) => {
      if (answer === 'nothing') await hurry()
      const modified = up.modify(testSdp('again')).catch(() => {})
      const open = await peer.request('INVITE')
      peer.reply(open, 100)
      up.destroy()
      const cancel = await peer.request('CANCEL')
      expect(cancel.via.branch).toBe(open.via.branch)
      peer.reply(await peer.request('BYE'), 200)
      if (answer === '200') {
        peer.reply(cancel, 481)
        peer.reply(open, 200, { body: testSdp('late') })
        expect((await peer.request('ACK')).seq).toBe(open.seq)
        // A repeated 200 is acknowledged again, though nothing of the call is left.
        peer.reply(open, 200, { body: testSdp('late') })
        expect((await peer.request('ACK')).seq).toBe(open.seq)
      } else if (answer === '487') {
        peer.reply(cancel, 200)
        peer.reply(open, 487)
        await peer.request('ACK')
      }
      await modified
      await idle(bench.agent)
    },
  )

  it('that is pending when the far end hangs up is cancelled, or acknowledged if answered', async () => {
    const modified = up.modify(testSdp('again')).catch(() => {})
    const open = await peer.request('INVITE')
    peer.reply(open, 180)
    bye()
    await peer.response(200, 'BYE')
    peer.reply(await peer.request('CANCEL'), 200)
    peer.reply(open, 200, { body: testSdp('late') })
    await peer.request('ACK')
    await modified
    await idle(bench.agent)
  })

  it('waits for the previous one', async () => {
    const first = up.modify(testSdp('one')).catch(() => {})
    const open = await peer.request('INVITE')
    await expect(request({ method: 'INVITE', body: testSdp('two') })).rejects.toThrow('an INVITE is open')
    peer.reply(open, 488)
    await first
    await hangUp()
  })
})

describe('the end of a call', () => {
  it('crosses the BYE of the far end', async () => {
    const released = new Promise<void>((resolve) => up.destroy({ headers: {} }, () => resolve()))
    const ours = await peer.request('BYE')
    bye()
    // The application has forgotten the dialog by now, or has not; either answer ends it.
    await peer.response(200, 'BYE')
    peer.reply(ours, 481)
    await released
    await idle(bench.agent)
  })
})
