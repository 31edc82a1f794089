import { unverifiedHeader } from '@trunkline/sip-agent'
import { describe, expect, it } from 'vitest'
import { GatewayHeaders } from '../gateway-headers.ts'
import { readSdp } from '../sdp/read-sdp.ts'
import { farAddress, farSdp } from '../testing/dialog-rig.ts'
import { FakeRequest, FakeResponse } from '../testing/fake-srf.ts'
import { arrive, type InboundBench, type InboundChanges } from '../testing/inbound-rig.ts'

const settled = async () => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}
const reliable = { reliability: 'supported' } as const
const gone = (bench: ReturnType<typeof arrive>) => [bench.released(), bench.port.closed, bench.clock.running]

describe('an INVITE without an offer', () => {
  it('gets the gateway’s offer in the 200, and its answer is in the ACK', async () => {
    const bench = arrive({}, '')
    await bench.leg.progress()
    expect(bench.response.statuses).toEqual([180])
    void bench.leg.answer()
    expect(bench.srf.answers[0]?.localSdp).toContain('m=audio 20000 RTP/AVP 0 8 101')
    const dialog = bench.answered()
    expect(bench.leg.port).toBeUndefined()
    dialog.emit('ack', { body: farSdp({ formats: '8 101' }) })
    expect([bench.heard, bench.port.far?.codec]).toEqual([['answered'], 'PCMA'])
    expect(bench.leg.port).toBe(bench.port)
  })

  it('has its answer found among several parts of the ACK', () => {
    const bench = arrive({}, '')
    void bench.leg.answer()
    const body = `--b\r\nContent-Type: application/sdp\r\n\r\n${farSdp({ formats: '8' })}\r\n--b--\r\n`
    const type = { 'content-type': 'multipart/mixed;boundary=b' }
    bench.answered().emit('ack', new FakeRequest('ACK', 'sip:x@y', body, type))
    expect([bench.heard, bench.port.far?.codec]).toEqual([['answered'], 'PCMA'])
  })

  it('gets a BYE with a reason if the ACK has no answer', () => {
    const bench = arrive({}, '')
    void bench.leg.answer()
    const dialog = bench.answered()
    dialog.emit('ack', { body: '' })
    expect(bench.heard).toEqual(['answered', 'ended bad_sdp by us'])
    expect(dialog.byeHeaders[0]?.Reason).toBe('Q.850;cause=96;text="MANDATORY_IE_MISSING"')
    dialog.byes[0]?.()
    expect(gone(bench)).toEqual([true, true, 0])
  })

  it('gets the offer in a reliable 183, and its answer is in the PRACK; the 200 then has no description', async () => {
    const bench = arrive(reliable, '')
    const opened = bench.leg.progress()
    const [progress] = bench.response.sent
    expect(progress).toMatchObject({ status: 183, headers: { Require: '100rel' } })
    expect(progress?.body).toContain('m=audio 20000 RTP/AVP 0 8 101')
    expect(bench.prack(farSdp()).statuses).toEqual([200])
    await opened
    // The call has early media now.
    expect([bench.leg.port, bench.port.far?.codec]).toEqual([bench.port, 'PCMU'])
    void bench.leg.answer()
    expect(bench.srf.answers[0]).toMatchObject({ localSdp: undefined })
    expect(bench.srf.answers[0]?.headers).not.toHaveProperty('Content-Type')
    bench.answered().emit('ack', { body: '' })
    expect(bench.heard).toEqual(['answered'])
  })

  it('gets the offer once, in the very first response, if it requires reliable ones', async () => {
    const bench = arrive({ reliability: 'required' }, '')
    bench.leg.ring()
    const opened = bench.leg.progress()
    expect(bench.prack(farSdp()).statuses).toEqual([200])
    await opened
    const [ringing, ...more] = bench.response.sent
    expect(ringing).toMatchObject({ status: 180, headers: { Require: '100rel' } })
    expect([ringing?.body, more]).toEqual([bench.media.local, []])
    void bench.leg.answer()
    expect([bench.leg.port, bench.srf.answers[0]?.localSdp]).toEqual([bench.port, undefined])
  })

  it('is rejected if the PRACK has no answer', () => {
    const bench = arrive(reliable, '')
    void bench.leg.progress()
    expect(bench.prack().statuses).toEqual([488])
    expect([bench.heard, bench.response.statuses]).toEqual([['ended bad_sdp by us'], [183, 488]])
    expect(gone(bench)).toEqual([true, true, 0])
  })
})

describe('a reliable provisional response', () => {
  it('has the answer if the caller supports 100rel, and the 200 does not repeat it', async () => {
    const bench = arrive(reliable)
    bench.leg.ring()
    void bench.leg.progress()
    expect(bench.response.sent.map(({ status, headers }) => [status, headers.Require])).toEqual([
      [180, undefined],
      [183, '100rel'],
    ])
    expect(bench.prack().statuses).toEqual([200])
    void bench.leg.answer()
    expect(bench.srf.answers[0]?.localSdp).toBeUndefined()
    bench.answered().emit('ack', { body: '' })
    expect(bench.heard).toEqual(['answered'])
  })

  it('is sent after the PRACK of the previous one, if the caller requires 100rel', () => {
    const bench = arrive({ reliability: 'required' })
    bench.leg.ring()
    void bench.leg.progress()
    expect(bench.response.statuses).toEqual([180])
    bench.prack()
    expect(bench.response.sent.map(({ status, headers }) => [status, headers.Require])).toEqual([
      [180, '100rel'],
      [183, '100rel'],
    ])
  })

  it('without SDP leaves the answer to the 200', () => {
    const bench = arrive({ reliability: 'required' })
    bench.leg.ring()
    expect(bench.prack().statuses).toEqual([200])
    void bench.leg.answer()
    expect(bench.srf.answers[0]?.localSdp).toBe(bench.media.local)
  })

  it('delays the 200 until its PRACK', () => {
    const bench = arrive(reliable)
    void bench.leg.progress()
    void bench.leg.answer()
    expect(bench.srf.answers).toEqual([])
    bench.prack()
    expect(bench.srf.answers).toHaveLength(1)
  })

  it('accepts a new offer in the PRACK, and answers it in the 200 to the PRACK', () => {
    const bench = arrive(reliable)
    void bench.leg.progress()
    const [answer] = bench.prack(farSdp({ version: 2, address: '192.0.2.20' })).sent
    expect([answer?.status, answer?.body]).toEqual([200, expect.stringContaining('m=audio 20000')])
    expect(bench.port.far?.address).toBe('192.0.2.20')
  })

  it.each(['caller', 'callee'] as const)(
    'leaves nothing open if the %s gives up before the PRACK',
    async (who) => {
      const bench = arrive(reliable)
      const opened = bench.leg.progress()
      const answer = bench.leg.answer()
      if (who === 'caller') bench.request.emit('cancel')
      else bench.leg.end({ code: 'busy' })
      await Promise.all([opened, answer])
      expect(bench.srf.answers).toEqual([])
      expect(bench.response.statuses).toEqual(who === 'caller' ? [183] : [183, 486])
      expect(gone(bench)).toEqual([true, true, 0])
      bench.prack()
      expect(bench.srf.answers).toEqual([])
    },
  )
})

describe('UPDATE before the answer', () => {
  it('gets 500 with Retry-After while the offer of the INVITE has no reliable answer', () => {
    const bench = arrive()
    void bench.leg.progress()
    const [refused] = bench.update(farSdp({ version: 2 })).sent
    expect(refused).toMatchObject({ status: 500, headers: { 'Retry-After': '5' } })
    expect(bench.update().statuses).toEqual([200])
  })

  it('gets 491 while the gateway’s own offer waits for its answer', () => {
    const bench = arrive(reliable, '')
    void bench.leg.progress()
    expect(bench.update(farSdp({ version: 2 })).statuses).toEqual([491])
  })

  it('is accepted after the answer was sent reliably', () => {
    const bench = arrive(reliable)
    void bench.leg.progress()
    bench.prack()
    const [answer] = bench.update(farSdp({ version: 2, address: '192.0.2.30' })).sent
    expect([answer?.status, answer?.headers.Contact]).toEqual([200, undefined])
    expect(bench.port.far?.address).toBe('192.0.2.30')
  })
})

describe('an inbound call counts as answered when the 200 is sent', () => {
  const answering = (offer?: string) => {
    const bench = arrive({}, offer)
    void bench.leg.answer()
    bench.clock.advance(500)
    const dialog = bench.answered()
    const at = bench.clock.now()
    bench.clock.advance(300)
    return { bench, dialog, at }
  }

  it.each([
    ['with', farSdp()],
    ['without', ''],
  ])('also without an ACK before the BYE, %s an offer', (_with, offer) => {
    const { bench, dialog, at } = answering(offer)
    dialog.emit('destroy', new FakeRequest('BYE', 'sip:x@y'), 'normal release')
    expect(bench.heard).toEqual(['answered', 'ended normal by far'])
    expect(bench.leg.times.answeredAt).toBe(at)
    expect(gone(bench)).toEqual([true, true, 0])
  })

  it('also if the gateway hangs up before the ACK', () => {
    const { bench, dialog, at } = answering()
    bench.leg.end({ code: 'normal' })
    expect(bench.heard).toEqual(['answered', 'ended normal by us'])
    expect(bench.leg.times.answeredAt).toBe(at)
    dialog.emit('ack', { body: '' })
    dialog.byes[0]?.()
    expect(gone(bench)).toEqual([true, true, 0])
  })

  it('also if the ACK arrives late', () => {
    const { bench, dialog, at } = answering()
    dialog.emit('ack', { body: '' })
    expect([bench.heard, bench.leg.times.answeredAt]).toEqual([['answered'], at])
    expect(bench.leg.state).toEqual({ kind: 'answered', at })
  })
})

describe('an answer without an ACK for 2 s', () => {
  const unacknowledged = () => {
    const bench = arrive()
    void bench.leg.answer()
    const dialog = bench.answered()
    bench.clock.advance(2_000)
    expect(bench.heard).toEqual(['answered'])
    return { bench, dialog }
  }

  it('makes the end by the gateway count as unreachable, and no longer once the ACK has come', () => {
    const never = unacknowledged()
    never.bench.leg.end({ code: 'normal' })
    const cause = { code: 'unreachable', detail: 'no ACK' }
    expect(never.bench.leg.state).toEqual({ kind: 'ended', cause, by: 'us' })

    const late = unacknowledged()
    late.dialog.emit('ack', { body: '' })
    late.bench.leg.end({ code: 'normal' })
    expect(late.bench.heard).toEqual(['answered', 'ended normal by us'])

    // A request in the dialog proves that the caller has the answer.
    const lost = unacknowledged()
    lost.dialog.emit('info', new FakeRequest('INFO', 'sip:x@y'), new FakeResponse())
    lost.bench.leg.end({ code: 'normal' })
    expect(lost.bench.heard).toEqual(['answered', 'ended normal by us'])
  })

  it('changes neither another cause nor the hang-up of the caller', () => {
    const limited = unacknowledged()
    limited.bench.leg.end({ code: 'max_duration' })
    expect(limited.bench.heard).toEqual(['answered', 'ended max_duration by us'])

    const hungUp = unacknowledged()
    hungUp.dialog.emit('destroy', new FakeRequest('BYE', 'sip:x@y'), 'normal release')
    expect(hungUp.bench.heard).toEqual(['answered', 'ended normal by far'])
  })
})

it.each(['a CANCEL that crossed it', 'the longest wait'])(
  'an answered call whose answer crossed its end by %s is hung up',
  (by) => {
    const bench = arrive()
    void bench.leg.answer()
    if (by === 'the longest wait') bench.leg.end({ code: 'normal' })
    else bench.request.emit('cancel')
    bench.clock.advance(40_000)
    expect(gone(bench)).toEqual([true, true, 0])
    const dialog = bench.answered()
    dialog.emit('ack', { body: '' })
    expect(dialog.byes).toHaveLength(1)
    dialog.byes[0]?.()
    expect(gone(bench)).toEqual([true, true, 0])
  },
)

it('a call that is on hold in its first offer is reported as held', async () => {
  const bench = arrive({}, farSdp({ lines: ['a=sendonly'] }))
  const answer = bench.leg.answer()
  bench.answered().emit('ack', { body: '' })
  await answer
  expect(bench.heard).toEqual(['answered', 'held'])
})

it('a PRACK with another body than SDP gets 415', () => {
  const bench = arrive(reliable, '')
  void bench.leg.progress()
  const foreign = new FakeRequest('PRACK', 'sip:x@y', 'text', { 'content-type': 'text/plain' })
  const answer = new FakeResponse()
  bench.response.pracks.shift()?.(Object.assign(foreign, { res: answer }))
  expect(answer.sent).toMatchObject([
    { status: 415, headers: { Accept: 'application/sdp, multipart/mixed' } },
  ])
  expect(bench.heard).toEqual(['ended unsupported_body by us'])
})

it('the Reason of a CANCEL is recorded', () => {
  const bench = arrive()
  bench.request.emit('cancel', { get: () => 'SIP;cause=200' })
  expect(bench.leg.state).toMatchObject({ cause: { code: 'canceled', detail: 'SIP;cause=200' } })
})

it('a 503 has the configured Retry-After', () => {
  const bench = arrive({ headers: new GatewayHeaders({ retryAfterMs: () => 4_500 }) })
  bench.leg.end({ code: 'draining' })
  expect(bench.response.sent).toMatchObject([{ status: 503, headers: { 'Retry-After': '5' } }])
})

it('the caller gets the callee’s reason of a rejection (RFC 3326)', () => {
  const bench = arrive()
  bench.leg.end({ code: 'far_refused', sip: 404, q850: 22 })
  expect(bench.response.sent).toMatchObject([{ status: 404, headers: { Reason: 'Q.850;cause=22' } }])
})

it('a call at its maximum duration is hung up with its reason', async () => {
  const bench = arrive()
  void bench.leg.answer()
  const dialog = bench.answered()
  dialog.emit('ack', { body: '' })
  bench.leg.end({ code: 'max_duration' })
  expect(dialog.byeHeaders[0]?.Reason).toBe('Q.850;cause=102;text="ALLOTTED_TIMEOUT"')
  dialog.byes[0]?.()
  expect(gone(bench)).toEqual([true, true, 0])
})

it('no messages are sent after the connection to the agent was lost', async () => {
  const bench = arrive({ connection: { isAlive: false } })
  bench.leg.ring()
  await settled()
  bench.leg.end({ code: 'normal' })
  expect([bench.response.statuses, ...gone(bench)]).toEqual([[], true, true, 0])
})

describe('an answer with certain codecs', () => {
  const offer = farSdp({ formats: '0 8 9 101' })
  const bearing = (bench: ReturnType<typeof arrive>) =>
    /^m=audio \d+ \S+ (.*)$/m.exec(bench.srf.answers[0]?.localSdp ?? '')?.[1]

  it.each([
    [['PCMA', 'PCMU'], '8 101', 'PCMA'],
    [['PCMU', 'PCMA'], '0 101', 'PCMU'],
    [['opus', 'PCMA'], '8 101', 'PCMA'],
    // The codec is not among the configured ones.
    [['G722', 'PCMA'], '8 101', 'PCMA'],
  ] as const)('has those of %j that the caller offers', (codecs, formats, codec) => {
    const bench = arrive({}, offer)
    void bench.leg.answer(codecs)
    expect([bearing(bench), bench.port.codec]).toEqual([formats, codec])
    expect(bench.port.far).toMatchObject({ address: farAddress, port: 4000, telephoneEvent: 101 })
  })

  it('is a rejection if the caller offers none of them', () => {
    const bench = arrive({}, farSdp({ formats: '0 101' }))
    void bench.leg.answer(['PCMA', 'opus'])
    expect([bench.response.statuses, bench.heard]).toEqual([[488], ['ended no_common_codec by us']])
    expect(bench.srf.answers).toEqual([])
    expect(gone(bench)).toEqual([true, true, 0])
  })

  it('offers them to a caller without an offer', () => {
    const bench = arrive({}, '')
    void bench.leg.answer(['PCMA'])
    expect(bearing(bench)).toBe('8 101')
    bench.answered().emit('ack', { body: farSdp({ formats: '8 101' }) })
    expect([bench.heard, bench.port.codec]).toEqual([['answered'], 'PCMA'])
    const none = arrive({}, '')
    void none.leg.answer(['L16'])
    expect([none.response.statuses, none.heard]).toEqual([[488], ['ended no_common_codec by us']])
  })

  it.each([{}, reliable])('does not change an answer that the caller already has (%j)', async (how) => {
    const bench = arrive(how, offer)
    void bench.leg.progress()
    if ('reliability' in how) bench.prack()
    await settled()
    void bench.leg.answer(['PCMA'])
    expect([bench.srf.answers.length, bench.port.codec]).toEqual([1, 'PCMU'])
  })

  it('also restricts later offers', () => {
    const bench = arrive({}, offer)
    void bench.leg.answer(['PCMA'])
    bench.answered().emit('ack', { body: '' })
    expect(() => bench.media.answer(readSdp(farSdp({ version: 2, formats: '0 101' })))).toThrow(
      expect.objectContaining({ code: 'no_common_codec' }),
    )
    expect(bench.media.answer(readSdp(farSdp({ version: 3, formats: '0 8 101' })))).toContain('RTP/AVP 8 101')
  })
})

describe('a caller who must prove its address', () => {
  const arriveUnconfirmed = (more: InboundChanges = {}, offer?: string) => {
    const confirmed: string[] = []
    const onConfirmed = () => confirmed.push('confirmed')
    return { ...arrive({ onConfirmed, ...more }, offer), confirmed }
  }
  const direction = ({ port }: InboundBench) => port.far?.direction

  it('gets no media before its ACK, whichever response it gets', async () => {
    const bench = arriveUnconfirmed()
    void bench.leg.answer()
    const dialog = bench.answered()
    bench.clock.advance(4_900)
    expect([direction(bench), bench.heard]).toEqual(['recvonly', []])
    dialog.emit('ack', { body: '' })
    await settled()
    expect([direction(bench), bench.heard, bench.confirmed]).toEqual([
      'sendrecv',
      ['answered'],
      ['confirmed'],
    ])
  })

  it('loses its call after 5 s without an ACK, and the call counts as unanswered', () => {
    const bench = arriveUnconfirmed()
    void bench.leg.answer()
    const dialog = bench.answered()
    bench.clock.advance(5_000)
    expect(bench.heard).toEqual(['ended unreachable by us'])
    expect([bench.leg.times.answeredAt, bench.port.closed, dialog.byes]).toEqual([undefined, true, []])
    dialog.emit('destroy', {}, 'ACK timeout')
    expect(gone(bench)).toEqual([true, true, 0])
  })

  it.each(['info', 'update', 'options'])('proves its address also by %s within the dialog', (method) => {
    const bench = arriveUnconfirmed()
    void bench.leg.answer()
    bench.answered().emit(method, new FakeRequest(method.toUpperCase(), 'sip:x@y', ''), new FakeResponse())
    expect([direction(bench), bench.heard]).toEqual(['sendrecv', ['answered']])
  })

  it('proves its address by a BYE that overtakes its ACK', () => {
    const bench = arriveUnconfirmed()
    void bench.leg.answer()
    bench.answered().emit('destroy', new FakeRequest('BYE', 'sip:x@y'))
    expect(bench.heard).toEqual(['answered', 'ended normal by far'])
  })

  it('hears early media after its PRACK', async () => {
    const bench = arriveUnconfirmed(reliable)
    const opened = bench.leg.progress()
    expect(direction(bench)).toBe('recvonly')
    bench.prack()
    await opened
    expect([direction(bench), bench.confirmed]).toEqual(['sendrecv', ['confirmed']])
    void bench.leg.answer()
    expect(bench.srf.answers[0]?.headers).not.toHaveProperty(unverifiedHeader)
  })

  it('without PRACK gets 180, because with early media it would hear silence instead of its ringing tone', async () => {
    const bench = arriveUnconfirmed()
    await bench.leg.progress()
    expect(bench.response.sent.map(({ status, body }) => [status, body])).toEqual([[180, undefined]])
    void bench.leg.answer(['PCMA'])
    expect(bench.srf.answers[0]?.localSdp).toContain('RTP/AVP 8')
  })

  it('has its responses marked for the gateway’s own agent', () => {
    const bench = arriveUnconfirmed()
    bench.leg.ring()
    void bench.leg.answer()
    expect(bench.response.sent[0]?.headers).toHaveProperty(unverifiedHeader)
    expect(bench.srf.answers[0]?.headers).toHaveProperty(unverifiedHeader)
    const refused = arriveUnconfirmed()
    refused.leg.end({ code: 'busy' })
    expect(refused.response.sent[0]?.headers).toHaveProperty(unverifiedHeader)
    const other = arriveUnconfirmed({ headers: new GatewayHeaders() })
    other.leg.ring()
    expect(other.response.sent[0]?.headers).not.toHaveProperty(unverifiedHeader)
  })

  it('whose INVITE had no offer loses its call after 5 s too', () => {
    const bench = arriveUnconfirmed({}, '')
    void bench.leg.answer()
    bench.answered()
    bench.clock.advance(5_000)
    expect(bench.heard).toEqual(['ended unreachable by us'])
  })
})
