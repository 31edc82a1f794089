import type { Dialog, SrfRequest, SrfResponse } from 'drachtio-srf'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SipRequest } from './message/message.ts'
import { Peer } from './testing/peer.ts'
import { answerTo, idle, request, routed, startTestAgent, type TestAgent } from './testing/srf.ts'

let bench: TestAgent
let peer: Peer
const start = async (timers = {}) => {
  bench = await startTestAgent({ timers })
  peer = await Peer.udp(bench.udp)
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

const subscribe = (): Promise<Dialog> =>
  bench.srf.createUAC(peer.uri, {
    method: 'SUBSCRIBE',
    headers: { Event: 'presence', Expires: '600' },
  } as never)
/** The peer notifies in the dialog that `subscribe` made. */
const notify = (subscription: SipRequest, state: string, seq: number, tag = `peer${peer.port}`) => {
  const target = subscription.headers.first('contact')?.slice(1, -1) ?? ''
  const call = { callId: subscription.callId, from: `<${peer.uri}>;tag=${tag}`, to: '', target, seq }
  const extra = { Event: 'presence', 'Subscription-State': state }
  peer.send('NOTIFY', call, { to: subscription.headers.first('from'), extra })
}
const within = (dialog: Dialog, options: object): Promise<SrfResponse> =>
  dialog.request(options as never) as never
const heard = (method: string): SrfRequest[] => {
  const list: SrfRequest[] = []
  bench.srf.use(method, (req: SrfRequest, res: SrfResponse) => {
    list.push(req)
    res.send(200)
  })
  return list
}
const granted = { extra: { Expires: '600' } }
const dialogs = async () => (await bench.agent.stats()).dialogs

describe('a subscription of the application', () => {
  it('is refreshed in its dialog, unsubscribed, and ends with the last NOTIFY', async () => {
    const dialog = subscribe()
    const first = await peer.request('SUBSCRIBE')
    expect(first.headers.first('contact')).toBe(`<sip:127.0.0.1:${bench.udp}>`)
    peer.reply(first, 200, granted)
    const up = await dialog
    notify(first, 'active;expires=600', 1)
    await peer.response(200, 'NOTIFY')
    for (const expires of ['300', '0']) {
      const again = within(up, { method: 'SUBSCRIBE', headers: { Event: 'presence', Expires: expires } })
      const refresh = await peer.request('SUBSCRIBE')
      expect([refresh.callId, refresh.toTag]).toEqual([first.callId, `peer${peer.port}`])
      expect(refresh.seq).toBe(first.seq + (expires === '300' ? 1 : 2))
      expect(refresh.headers.first('contact')).toBeDefined()
      peer.reply(refresh, 202, { extra: { Expires: expires } })
      await again
    }
    expect(await dialogs()).toBe(1)
    notify(first, 'terminated;reason=timeout', 2)
    await peer.response(200, 'NOTIFY')
    await idle(bench.agent)
    notify(first, 'active', 3)
    await peer.response(481, 'NOTIFY')
  })

  it('begins with a NOTIFY that overtakes the answer (RFC 6665 4.1.2.4)', async () => {
    const notified = heard('notify')
    const dialog = subscribe()
    const first = await peer.request('SUBSCRIBE')
    notify(first, 'pending', 1)
    await peer.response(200, 'NOTIFY')
    expect(notified[0]?.get('Call-ID')).toBe(first.callId)
    // Another fork is not wanted any more.
    notify(first, 'active', 1, 'other')
    await peer.response(481, 'NOTIFY')
    peer.reply(first, 200, granted)
    await dialog
    expect(await dialogs()).toBe(1)
    notify(first, 'terminated', 2)
    await peer.response(200, 'NOTIFY')
    await idle(bench.agent)
  })

  it('ends if its SUBSCRIBE is rejected after a NOTIFY', async () => {
    heard('notify')
    const refused = expect(subscribe()).rejects.toMatchObject({ status: 403 })
    const first = await peer.request('SUBSCRIBE')
    notify(first, 'pending', 1)
    await peer.response(200, 'NOTIFY')
    peer.reply(first, 403)
    await refused
    await idle(bench.agent)
    notify(first, 'active', 2)
    await peer.response(481, 'NOTIFY')
  })

  it('ends with the last NOTIFY even if the application rejects it', async () => {
    await hurry()
    const dialog = subscribe()
    const first = await peer.request('SUBSCRIBE')
    peer.reply(first, 200, granted)
    const up = await dialog
    up.on('notify', ((_req: SrfRequest, res: SrfResponse) => res.send(400)) as never)
    notify(first, 'terminated', 1)
    await peer.response(400, 'NOTIFY')
    await idle(bench.agent)
  })

  it('ends when it expires without a NOTIFY', async () => {
    await hurry()
    const fetch = subscribe()
    peer.reply(await peer.request('SUBSCRIBE'), 200, { extra: { Expires: '0' } })
    await fetch
    // 64 * T1 for the NOTIFY that does not come.
    await idle(bench.agent)
  })

  it('ends when a refresh gets 481', async () => {
    const dialog = subscribe()
    peer.reply(await peer.request('SUBSCRIBE'), 200, granted)
    const again = within(await dialog, { method: 'SUBSCRIBE', headers: { Event: 'presence' } })
    peer.reply(await peer.request('SUBSCRIBE'), 481)
    await again
    await idle(bench.agent)
  })
})

describe('a subscription to the application', () => {
  const served = () => {
    const dialog = new Promise<Dialog>((resolve) => {
      bench.srf.use('subscribe', async (req: SrfRequest, res: SrfResponse) =>
        resolve(await bench.srf.createUAS(req, res, { headers: { Expires: '600' } } as never)),
      )
    })
    return { dialog }
  }
  const ask = async () => {
    const { dialog } = served()
    await routed(bench.srf)
    const call = peer.call(`sip:bob@127.0.0.1:${bench.udp}`)
    peer.send('SUBSCRIBE', call, { extra: { Event: 'presence', Expires: '600' } })
    await peer.response(202, 'SUBSCRIBE')
    return await dialog
  }

  it('ends with the final response to the terminating NOTIFY', async () => {
    const up = await ask()
    const notified = within(up, {
      method: 'NOTIFY',
      headers: { Event: 'presence', 'Subscription-State': 'active' },
    })
    peer.reply(await peer.request('NOTIFY'), 200)
    await notified
    expect(await dialogs()).toBe(1)
    up.destroy()
    const last = await peer.request('NOTIFY')
    expect(last.headers.first('subscription-state')).toBe('terminated')
    expect(await dialogs()).toBe(1)
    peer.reply(last, 200)
    await idle(bench.agent)
  })

  it.each([481, 0])('ends if a NOTIFY gets %i', async (status) => {
    if (!status) await hurry()
    const up = await ask()
    const notified = within(up, {
      method: 'NOTIFY',
      headers: { Event: 'presence', 'Subscription-State': 'active' },
    })
    const sent = await peer.request('NOTIFY')
    if (status) peer.reply(sent, status)
    expect((await notified).status).toBe(status || 408)
    await idle(bench.agent)
  })
})

describe('REFER', () => {
  it('is sent, and its NOTIFYs reach the application that sent it', async () => {
    const notified = heard('notify')
    await routed(bench.srf)
    const headers = { 'Refer-To': 'sip:c@h', Contact: 'sip:me@localhost' }
    const refer = await request(bench.srf, peer.uri, { method: 'REFER', headers })
    const answer = answerTo(refer)
    const asked = await peer.request('REFER')
    peer.reply(asked, 202)
    expect((await answer).status).toBe(202)
    notify(asked, 'active', 1)
    await peer.response(200, 'NOTIFY')
    notify(asked, 'terminated;reason=noresource', 2)
    await peer.response(200, 'NOTIFY')
    expect(notified).toHaveLength(2)
    await idle(bench.agent)
  })

  it('outside a dialog is delivered like any other request', async () => {
    const referred = heard('refer')
    await routed(bench.srf)
    peer.send('REFER', peer.call(`sip:bob@127.0.0.1:${bench.udp}`), { extra: { 'Refer-To': '<sip:c@h>' } })
    await peer.response(200, 'REFER')
    expect(referred[0]?.get('Refer-To')).toBe('<sip:c@h>')
  })
})
