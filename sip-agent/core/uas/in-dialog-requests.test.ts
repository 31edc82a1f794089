import { beforeEach, describe, expect, it } from 'vitest'
import { CoreBench, nothing } from '../../testing/core.ts'

const sdp = 'v=0\r\n'
let bench: CoreBench
let to: { To: string }
beforeEach(() => {
  bench = new CoreBench()
})

/** An INVITE comes and gets this provisional; returns the id under which it is answered. */
const ringing = (status = 180, body = '', offer = sdp, lines: Record<string, string> = {}) => {
  bench.receive('INVITE', 1, 'i', { Supported: '100rel' }, offer)
  const txnId = bench.handed()[0]?.txnId as string
  bench.respond(txnId, status, lines, body)
  const [response] = bench.sent()
  to = { To: `<sip:b@h>;tag=${response?.toTag}` }
  bench.received()
  return { txnId, rseq: response?.headers.first('rseq') }
}

const established = () => {
  const { txnId } = ringing()
  bench.respond(txnId, 200, {}, sdp)
  bench.receive('ACK', 1, 'a', to)
  bench.sent()
  bench.received()
}

describe('requests in an early dialog', () => {
  it.each(['INFO', 'OPTIONS', 'MESSAGE', 'NOTIFY', 'UPDATE', 'REFER'])(
    '%s is delivered to the application that owns the INVITE',
    (method) => {
      ringing()
      bench.receive(method, 2, 'x', to)
      const [handed] = bench.handed()
      expect([handed?.method, handed?.dialogId]).toEqual([method, 'c1;from-tag=f'])
      bench.respond(handed?.txnId as string, 202)
      expect(bench.statuses()).toEqual([202])
    },
  )
  it('are still answered after the call was rejected', () => {
    const { txnId } = ringing()
    bench.receive('INFO', 2, 'x', to)
    const [handed] = bench.handed()
    bench.respond(txnId, 486)
    bench.respond(handed?.txnId as string, 200)
    expect(bench.statuses()).toEqual([486, 200])
    bench.receive('ACK', 1, 'i', to)
    bench.clock.advance(64_000)
    expect(bench.held()).toEqual(nothing)
  })
  it('end with the call after a BYE', () => {
    ringing()
    bench.receive('INFO', 2, 'x', to)
    bench.receive('BYE', 3, 'b', to)
    expect(bench.sent().map(({ status, seqMethod }) => `${status} ${seqMethod}`)).toEqual([
      '200 BYE',
      '487 INVITE',
      '487 INFO',
    ])
    expect(bench.handed().map((each) => each.method)).toEqual(['INFO', 'CANCEL'])
    bench.clock.advance(64_000)
    expect(bench.held()).toEqual(nothing)
  })
  it('that are a second INVITE must wait', () => {
    ringing()
    bench.receive('INVITE', 2, 'j', to, sdp)
    const [refused] = bench.sent()
    expect([refused?.status, refused?.headers.first('retry-after')]).toEqual([
      500,
      expect.stringMatching(/^\d+$/),
    ])
  })
})

describe('UPDATE', () => {
  const update = (seq: number, body = sdp) => {
    bench.receive('UPDATE', seq, `u${seq}`, to, body)
    return bench.handed().find((each) => each.method === 'UPDATE')?.txnId as string
  }
  it('refreshes the target when it is accepted, and gets Contact and Content-Type', () => {
    established()
    bench.receive('UPDATE', 2, 'u', { ...to, Contact: '<sip:moved@192.0.2.77>' }, sdp)
    const txnId = bench.handed()[0]?.txnId as string
    const dialog = bench.dialogs.byId('c1;from-tag=f')
    expect(dialog?.target).toBe('sip:a@192.0.2.9')
    bench.respond(txnId, 200, {}, sdp)
    expect(dialog?.target).toBe('sip:moved@192.0.2.77')
    const [ok] = bench.sent()
    expect(ok?.headers.first('content-type')).toBe('application/sdp')
    expect(ok?.headers.first('contact')).toBe('<sip:192.0.2.1:5060>')
  })
  it('gets 500 while another UPDATE is pending, with or without a description', () => {
    established()
    const first = update(2, '')
    update(3, '')
    const [refused] = bench.sent()
    expect([refused?.status, refused?.headers.first('retry-after')]).toEqual([
      500,
      expect.stringMatching(/^\d+$/),
    ])
    bench.respond(first, 200)
    expect(update(4)).toBeDefined()
  })
  it('gets 491 while an INVITE of the agent is pending, unless it has no offer', () => {
    established()
    const dialog = bench.dialogs.byId('c1;from-tag=f')
    if (dialog) dialog.inviteTxn = 'ours'
    update(2)
    expect(bench.statuses()).toEqual([491])
    expect(update(3, '')).toBeDefined()
  })
  it('gets 491 while an UPDATE of the agent has a pending offer, as does a re-INVITE', () => {
    established()
    bench.dialogs.byId('c1;from-tag=f')?.offers.noteDescription('ours', 'own UPDATE 7')
    update(2)
    bench.receive('INVITE', 3, 'j', to, sdp)
    expect(bench.statuses()).toEqual([491, 491])
  })
  it('must wait while the INVITE has no answer, and is accepted after a 183 with the answer', () => {
    const { txnId } = ringing()
    update(2)
    expect(bench.statuses()).toEqual([500])
    bench.respond(txnId, 183, {}, sdp)
    bench.sent()
    const open = update(3)
    bench.respond(open, 488)
    expect(bench.statuses()).toEqual([488])
    expect(update(4)).toBeDefined()
  })
  it('gets 491 before the PRACK that answers the agent’s offer', () => {
    const { rseq } = ringing(183, sdp, '', { Require: '100rel' })
    update(2)
    expect(bench.statuses()).toEqual([491])
    bench.receive('PRACK', 3, 'p', { ...to, RAck: `${rseq} 1 INVITE` }, sdp)
    expect(update(4)).toBeDefined()
  })
})

describe('a subscription', () => {
  it('has the target of its latest refresh (RFC 5057 5.4)', () => {
    const answer = () => bench.respond(bench.handed()[0]?.txnId as string, 202, { Expires: '60' })
    bench.receive('SUBSCRIBE', 1, 's', { Event: 'dialog' })
    answer()
    to = { To: `<sip:b@h>;tag=${bench.sent()[0]?.toTag}` }
    bench.receive('SUBSCRIBE', 2, 't', { ...to, Event: 'dialog', Contact: '<sip:moved@192.0.2.77>' })
    answer()
    expect(bench.dialogs.byId('c1;from-tag=f')?.target).toBe('sip:moved@192.0.2.77')
  })
})

describe('a re-INVITE', () => {
  it('must wait while an UPDATE or another re-INVITE is pending', () => {
    established()
    bench.receive('UPDATE', 2, 'u', to)
    bench.receive('INVITE', 3, 'j', to, sdp)
    expect(bench.statuses()).toEqual([500])
    bench.respond(bench.handed()[0]?.txnId as string, 200)
    bench.receive('INVITE', 4, 'k', to, sdp)
    bench.receive('INVITE', 5, 'l', to, sdp)
    expect(bench.statuses()).toEqual([200, 500])
  })
  it('without SDP has a pending offer of the agent until the ACK', () => {
    established()
    bench.receive('INVITE', 2, 'j', to)
    bench.respond(bench.handed()[0]?.txnId as string, 200, {}, sdp)
    bench.receive('UPDATE', 3, 'u', to, sdp)
    bench.receive('ACK', 2, 'k', to, sdp)
    bench.receive('UPDATE', 4, 'v', to, sdp)
    expect(bench.statuses()).toEqual([200, 491])
  })
})

it('with a lower CSeq number gets 500', () => {
  established()
  bench.receive('INFO', 5, 'x', to)
  bench.receive('INFO', 4, 'y', to)
  expect(bench.statuses()).toEqual([500])
})

describe('a dialog whose requests the application does not answer', () => {
  it('has at most 32 pending requests, and rejects further ones except its end', () => {
    established()
    for (let i = 2; i < 42; i++) bench.receive('INFO', i, `x${i}`, to)
    const handed = bench.handed()
    expect(handed).toHaveLength(32)
    const refused = bench.sent()
    expect(refused.map(({ status }) => status)).toEqual(Array(8).fill(503))
    expect(refused[0]?.headers.first('retry-after')).toBe('5')
    bench.respond(handed[0]?.txnId as string, 200)
    bench.receive('INFO', 42, 'x42', to)
    expect(bench.handed()).toHaveLength(1)
    expect(bench.statuses()).toEqual([200])
    bench.receive('BYE', 43, 'b', to)
    const [bye] = bench.handed()
    expect(bye?.method).toBe('BYE')
    bench.respond(bye?.txnId as string, 200)
    bench.clock.advance(64_000)
    expect(bench.held()).toEqual(nothing)
  })

  it('still delivers the PRACK that a pending answer waits for', () => {
    const { rseq } = ringing(183, sdp, sdp, { Require: '100rel' })
    for (let i = 2; i < 42; i++) bench.receive('INFO', i, `x${i}`, to)
    bench.handed()
    bench.receive('PRACK', 42, 'p', { ...to, RAck: `${rseq} 1 INVITE` })
    expect(bench.handed().map(({ method }) => method)).toEqual(['PRACK'])
  })
})
