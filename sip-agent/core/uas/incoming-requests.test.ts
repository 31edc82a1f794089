import { beforeEach, describe, expect, it } from 'vitest'
import { CoreBench, nothing } from '../../testing/core.ts'
import { RecordingFlow, response } from '../../testing/messages.ts'

const sdp = 'v=0\r\n'
let bench: CoreBench
beforeEach(() => {
  bench = new CoreBench()
})

const invite = (lines: Record<string, string> = {}) => {
  bench.receive('INVITE', 1, 'i', lines, sdp)
  return bench.handed()[0]?.txnId as string
}

describe('100 Trying', () => {
  it('is sent after 200 ms without an answer, with the elapsed time', () => {
    invite({ Timestamp: '54' })
    bench.clock.advance(199)
    expect(bench.sent()).toEqual([])
    bench.clock.advance(1)
    const [trying] = bench.sent()
    expect([trying?.status, trying?.toTag]).toEqual([100, ''])
    expect(trying?.headers.first('timestamp')).toBe('54 0.200')
  })
  it('is sent at once when the INVITE is retransmitted, and for each retransmission', () => {
    invite()
    bench.receive('INVITE', 1, 'i', {}, sdp)
    expect(bench.statuses()).toEqual([100])
    bench.receive('INVITE', 1, 'i', {}, sdp)
    expect(bench.statuses()).toEqual([100])
    bench.clock.advance(1_000)
    expect(bench.statuses()).toEqual([])
  })
  it('is not sent after an earlier answer: a rejection is one packet', () => {
    bench.respond(invite(), 403)
    bench.clock.advance(400)
    expect(bench.statuses()).toEqual([403])
  })
  it('is not sent after the 180', () => {
    bench.respond(invite(), 180)
    bench.clock.advance(1_000)
    bench.receive('INVITE', 1, 'i', {}, sdp)
    expect(bench.statuses()).toEqual([180, 180])
  })
})

describe('a provisional response of the application', () => {
  it('is repeated each minute until the answer, so that no proxy gives up the call', () => {
    const txnId = invite()
    bench.respond(txnId, 180)
    bench.clock.advance(119_999)
    expect(bench.statuses()).toEqual([180, 180])
    bench.respond(txnId, 183)
    bench.clock.advance(60_000)
    expect(bench.statuses()).toEqual([183, 183])
    bench.respond(txnId, 200, {}, sdp)
    bench.receive('ACK', 1, 'a', { To: `<sip:b@h>;tag=${bench.sent()[0]?.toTag}` })
    bench.clock.advance(120_000)
    expect(bench.statuses()).toEqual([])
  })
  it('is repeated for at most half an hour, after which the call is given up', () => {
    bench.respond(invite(), 180)
    bench.received()
    bench.clock.advance(1_800_000)
    expect(bench.statuses().filter((status) => status !== 180)).toEqual([480])
    expect(bench.handed().map((each) => each.method)).toEqual(['CANCEL'])
    bench.clock.advance(64_000)
    expect(bench.held()).toEqual(nothing)
  })
  it('is not repeated if it was reliable', () => {
    const txnId = invite({ Supported: '100rel' })
    bench.respond(txnId, 183, { Require: '100rel' })
    const [progress] = bench.sent()
    bench.receive('PRACK', 2, 'p', {
      To: `<sip:b@h>;tag=${progress?.toTag}`,
      RAck: `${progress?.headers.first('rseq')} 1 INVITE`,
    })
    bench.clock.advance(100)
    bench.respond(bench.handed()[0]?.txnId as string, 200)
    bench.sent()
    bench.clock.advance(600_000)
    expect(bench.statuses()).toEqual([])
  })
})

it('a request other than INVITE does not last longer after a provisional response', () => {
  bench.receive('MESSAGE', 1, 'm')
  bench.respond(bench.handed()[0]?.txnId as string, 183)
  bench.clock.advance(32_000)
  expect(bench.statuses().at(-1)).toBe(500)
  expect(bench.handed()).toEqual([])
})

it('a second INVITE of the same call is rejected before and after the answer, and accepted after a rejection', () => {
  const txnId = invite()
  bench.receive('INVITE', 2, 'j', {}, sdp)
  bench.respond(txnId, 180)
  bench.receive('INVITE', 3, 'k', {}, sdp)
  bench.respond(txnId, 401)
  expect(bench.statuses()).toEqual([482, 180, 482, 401])
  bench.received()
  bench.receive('INVITE', 4, 'l', {}, sdp)
  expect(bench.handed()).toHaveLength(1)
})

describe('a message without a transaction', () => {
  it('is dropped and counted', () => {
    bench.receive('ACK', 1, 'x')
    bench.receive('ACK', 1, 'x', { To: '<sip:b@h>;tag=none' })
    expect([bench.receiver.strays, bench.sent()]).toEqual([2, []])
  })
  it('is also dropped and counted if it is a response', () => {
    bench.receiver.received(response(200, 'z9hG4bKnone', 'INVITE'), bench.flow, 100)
    expect(bench.receiver.strays).toBe(1)
  })
  it('gets 481 at once if it belongs to an unknown dialog', () => {
    for (const method of ['BYE', 'UPDATE', 'PRACK', 'INFO', 'INVITE'])
      bench.receive(method, 2, method, { To: '<sip:b@h>;tag=none' })
    expect(bench.statuses()).toEqual([481, 481, 481, 481, 481])
    expect(bench.handed()).toEqual([])
  })
})

describe('an answer to a request whose connection is closed', () => {
  beforeEach(() => {
    bench = new CoreBench({ reliable: true })
  })
  it('uses a new connection to the address of the Via, also for retransmissions of a 2xx', () => {
    const txnId = invite()
    bench.flow.isClosed = true
    bench.again = new RecordingFlow(true)
    bench.respond(txnId, 200, {}, sdp)
    bench.clock.advance(500)
    expect([bench.sent(), bench.again.sent.length]).toEqual([[], 2])
  })
  it('fails for the application without a new connection, and the wait ends', () => {
    const txnId = invite()
    bench.respond(txnId, 180)
    bench.received()
    bench.flow.isClosed = true
    bench.respond(txnId, 200, {}, sdp)
    expect(bench.received()[0]?.fields[3]).toBe('transport for response has been shutdown or closed')
    bench.clock.advance(64_000)
    expect(bench.held()).toEqual(nothing)
  })
})

it('a lost application has its pending requests rejected, but a BYE is still effective', () => {
  const txnId = invite()
  bench.respond(txnId, 200, {}, sdp)
  const to = { To: `<sip:b@h>;tag=${bench.sent()[0]?.toTag}` }
  bench.receive('ACK', 1, 'a', to)
  bench.receive('INFO', 2, 'n', to)
  bench.receive('MESSAGE', 9, 'm', { 'Call-ID': 'other' })
  bench.incoming.lost(bench.app)
  expect(bench.statuses()).toEqual([503, 503])
  bench.receive('BYE', 3, 'b', to)
  bench.incoming.lost(bench.app)
  expect(bench.statuses()).toEqual([200])
})
