import type { Peer } from '@trunkline/sip-agent/testing/peer'
import { afterEach, describe, expect, it } from 'vitest'
import type { Leg, LegOwner } from '../calls/leg/leg.ts'
import type { Referral } from '../calls/leg/referral.ts'
import { type Bench, type BenchOptions, carrierSdp, testApp } from './testing/bench.ts'
import { Carrier } from './testing/carrier.ts'

let carrier: Carrier
let bench: Bench
let peer: Peer
const begin = async (options: BenchOptions = {}) => {
  const sessionTimer = { expiresMs: 1_800_000, minMs: 90_000 }
  carrier = await Carrier.start({ ...options, parts: { sessionTimer, ...options.parts } })
  ;({ bench, peer } = carrier)
}
afterEach(() => carrier.close())

const reliable = { Supported: '100rel, timer', Allow: 'INVITE, UPDATE' }

describe('a call through the embedded agent', () => {
  it('has its offer in a reliable 183 answered by PRACK, and no description in the 200', async () => {
    await begin()
    const { call } = carrier.invite({ body: '', extra: reliable })
    const { arrival, heard } = await bench.arrival()
    const opened = arrival.leg.progress()
    const progress = await peer.response(183)
    expect(progress.headers.first('require')).toBe('100rel')
    expect(progress.body.toString()).toContain('RTP/AVP 0 8 101')
    const to = progress.headers.first('to')!
    call.seq++
    const rack = `${progress.headers.first('rseq')} 1 INVITE`
    peer.send('PRACK', call, { to, body: carrierSdp(), extra: { RAck: rack } })
    await peer.response(200, 'PRACK')
    await opened
    expect(arrival.leg.port).toBe(bench.edge.ports[0])
    const answer = arrival.leg.answer()
    const ok = await peer.response(200, 'INVITE')
    expect(ok.body.toString()).toBe('')
    call.seq = 1
    peer.send('ACK', call, { to })
    await answer
    expect(heard.events).toEqual(['answered'])
  })

  it.each([
    ['an offer', carrierSdp(), '', [false, true]],
    ['none', '', carrierSdp(), [true, false]],
  ] as const)(
    'of a caller that requires 100rel, with %s, rings and is answered',
    async (_what, body, answer, described) => {
      await begin()
      const { call } = carrier.invite({ body, extra: { Require: '100rel' } })
      const { arrival, heard } = await bench.arrival()
      arrival.leg.ring()
      const ringing = await peer.response(180)
      const to = ringing.headers.first('to')!
      call.seq++
      const rack = `${ringing.headers.first('rseq')} 1 INVITE`
      peer.send('PRACK', call, { to, body: answer, extra: { RAck: rack } })
      await peer.response(200, 'PRACK')
      void arrival.leg.answer()
      const ok = await peer.response(200, 'INVITE')
      expect([ringing, ok].map((each) => each.body.toString().includes('m=audio'))).toEqual(described)
      call.seq = 1
      peer.send('ACK', call, { to })
      await heard.until('answered')
      expect(bench.edge.ports[0]?.far).toMatchObject({ port: 4000 })
    },
  )

  it('accepts an UPDATE before the answer, after the PRACK of its own answer', async () => {
    await begin()
    const { call } = carrier.invite({ extra: reliable })
    const { arrival } = await bench.arrival()
    void arrival.leg.progress()
    const progress = await peer.response(183)
    const to = progress.headers.first('to')!
    call.seq++
    peer.send('PRACK', call, { to, extra: { RAck: `${progress.headers.first('rseq')} 1 INVITE` } })
    await peer.response(200, 'PRACK')
    call.seq++
    peer.send('UPDATE', call, { to, body: carrierSdp({ version: 2, lines: ['a=sendonly'] }) })
    expect((await peer.response(200, 'UPDATE')).body.toString()).toContain('a=recvonly')
  })

  it('agrees on a session timer, rejects a short interval, and can be refreshed', async () => {
    await begin()
    carrier.invite({ extra: { ...reliable, 'Session-Expires': '60' } })
    expect((await peer.response(422)).headers.first('min-se')).toBe('90')
    const { call, to, ok } = await carrier.answered({ extra: { ...reliable, 'Session-Expires': '600' } })
    expect(ok.headers.first('session-expires')).toBe('600;refresher=uac')
    expect(ok.headers.first('require')).toBe('timer')
    call.seq++
    peer.send('UPDATE', call, { to, extra: { ...reliable, 'Session-Expires': '600;refresher=uac' } })
    const refreshed = await peer.response(200, 'UPDATE')
    expect(refreshed.headers.first('session-expires')).toBe('600;refresher=uac')
  })

  it('answers a refresh by re-INVITE with an unchanged description', async () => {
    await begin()
    const { call, to, ok } = await carrier.answered()
    call.seq++
    peer.send('INVITE', call, { to, body: carrierSdp() })
    const again = await peer.response(200, 'INVITE')
    expect(again.body.toString()).toBe(ok.body.toString())
    peer.send('ACK', call, { to })
  })

  it('counts as answered if the caller hangs up at once and the ACK is lost', async () => {
    await begin()
    const { call } = carrier.invite()
    const { arrival, heard } = await bench.arrival()
    void arrival.leg.answer()
    const ok = await peer.response(200)
    call.seq++
    peer.send('BYE', call, { to: ok.headers.first('to')! })
    await heard.until('ended normal by far')
    expect(heard.events).toEqual(['answered', 'ended normal by far'])
  })

  it('keeps diversions and identities of the INVITE as far as the source is trusted', async () => {
    await begin({ apps: [testApp({ allow: ['127.0.0.1'] })] })
    const { arrival } = await carrier.answered({
      extra: {
        'P-Asserted-Identity': '"Real" <sip:+4931@carrier.example>',
        Diversion: '<sip:+4932@carrier.example>;reason=no-answer',
        Privacy: 'id',
        'Max-Forwards': '20',
        'X-A': '1',
      },
    })
    expect(arrival.leg.from).toMatchObject({ user: '+4931', name: 'Real', private: true })
    expect(arrival.maxForwards).toBe(20)
    expect(arrival.headers.map(({ name }) => name).sort()).toEqual([
      'Diversion',
      'P-Asserted-Identity',
      'Privacy',
      'X-A',
    ])
  })
})

/** Owner that accepts every request. */
class Willing implements LegOwner {
  referral: Referral | undefined
  by: Leg | undefined
  legEarly(): void {}
  legAnswered(): void {}
  legDigit(): void {}
  legHeld(): void {}
  legEnded(): void {}
  legReferred(_leg: Leg, referral: Referral): boolean {
    this.referral = referral
    return true
  }
  legReplaced(leg: Leg, by: Leg): boolean {
    this.by = by
    leg.end({ code: 'answered_elsewhere' })
    return true
  }
}

describe('a transfer through the embedded agent', () => {
  const directory = {
    domainApp: (name: string) => (name === 'demo.example' ? testApp() : undefined),
    endpointByName: () => undefined,
    resolve: (to: string) =>
      to === '/public/bob' ? ({ kind: 'subscriber', subscriberId: 'bob', address: to } as const) : undefined,
  }

  it('by REFER is accepted, and its end is reported by NOTIFY', async () => {
    await begin({ parts: { directory } })
    const { call, to, arrival } = await carrier.answered()
    const owner = new Willing()
    arrival.leg.own(owner)
    call.seq++
    peer.send('REFER', call, { to, extra: { 'Refer-To': '<sip:bob@demo.example>' } })
    await peer.response(202, 'REFER')
    const trying = await peer.request('NOTIFY')
    expect(trying.body.toString()).toContain('SIP/2.0 100')
    peer.reply(trying, 200)
    expect(owner.referral?.to).toBe('/public/bob')
    owner.referral?.progress(200)
    const last = await peer.request('NOTIFY')
    expect(last.headers.first('subscription-state')).toBe('terminated;reason=noresource')
    peer.reply(last, 200)
  })

  it('by INVITE with Replaces replaces a leg of the same source only', async () => {
    await begin({ parts: { directory } })
    const { call, to, arrival } = await carrier.answered()
    const owner = new Willing()
    arrival.leg.own(owner)
    const tag = (value: string) => /tag=([^;]+)/.exec(value)?.[1]
    const replaces = (fromTag: string | undefined) => `${call.callId};to-tag=${tag(to)};from-tag=${fromTag}`
    carrier.invite({ extra: { Replaces: replaces('wrong') } })
    await peer.response(481, 'INVITE')
    const { call: second } = carrier.invite({ extra: { Replaces: replaces(tag(call.from)) } })
    const ok = await peer.response(200, 'INVITE')
    peer.send('ACK', second, { to: ok.headers.first('to') })
    peer.reply(await peer.request('BYE'), 200)
    await expect.poll(() => owner.by?.isAnswered).toBe(true)
    expect(arrival.leg.isEnded).toBe(true)
    // Both have their ports in one call, so that they can be joined to the same other party.
    expect(bench.edge.ports.map(({ group }) => group)).toEqual([arrival.callId, arrival.callId])
    expect(bench.arrivals).toHaveLength(1)
  })
})
