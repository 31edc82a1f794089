import { beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../clock.ts'
import { RecordingFlow, request } from '../testing/messages.ts'
import { makeTimers } from './timers.ts'
import { type ServerEntry, Transactions } from './transactions.ts'

const bytes = (text: string) => Buffer.from(text)
let clock: FakeClock
let transactions: Transactions
let flow: RecordingFlow
let side: ServerEntry

const open = (method: string, reliable = false) => {
  clock = new FakeClock()
  transactions = new Transactions(clock, makeTimers(), () => {})
  flow = new RecordingFlow(reliable)
  side = transactions.serve(request(method, 'z9hG4bK1'), flow)
}
/** Moves on in small steps and says when something was sent. */
const timesOfSending = (ms: number) => {
  const times: number[] = []
  for (let at = 100; at <= ms; at += 100) {
    const before = flow.sent.length
    clock.advance(100)
    for (let i = before; i < flow.sent.length; i++) times.push(at)
  }
  return times
}

describe('an INVITE server transaction on UDP', () => {
  beforeEach(() => open('INVITE'))

  it('repeats the latest provisional response for a repeated INVITE, if there is one', () => {
    side.machine.retransmitted()
    expect(flow.sent).toEqual([])
    side.machine.respond(100, bytes('100'))
    side.machine.respond(180, bytes('180'))
    side.machine.retransmitted()
    expect(flow.sent).toEqual(['100', '180', '180'])
  })
  it('repeats a rejection at T1 doubling to T2 until the ACK, absorbs ACKs for T4, and ends', () => {
    side.machine.respond(486, bytes('486'))
    expect(timesOfSending(9_000)).toEqual([500, 1_500, 3_500, 7_500])
    const found = transactions.find(request('ACK', 'z9hG4bK1'))
    expect(found).toBe(side)
    found?.machine.acknowledged()
    found?.machine.acknowledged()
    side.machine.retransmitted()
    expect(timesOfSending(4_900)).toEqual([])
    expect(transactions.size).toBe(1)
    clock.advance(200)
    expect([transactions.size, clock.running]).toEqual([0, 0])
  })
  it('repeats a rejection to a possibly spoofed address only for a repeated INVITE', () => {
    side = transactions.serve(request('INVITE', 'z9hG4bK2'), flow, { isSpoofable: true })
    side.machine.respond(403, bytes('403'))
    expect(timesOfSending(9_000)).toEqual([])
    side.machine.retransmitted()
    expect(flow.sent).toEqual(['403', '403'])
    clock.advance(23_000)
    expect(transactions.find(request('ACK', 'z9hG4bK2'))).toBeUndefined()
    // After a provisional response the INVITE is not repeated.
    side = transactions.serve(request('INVITE', 'z9hG4bK3'), flow, { isSpoofable: true })
    side.machine.respond(100, bytes('100'))
    side.machine.respond(486, bytes('486'))
    expect(timesOfSending(2_000)).toEqual([500, 1_500])
  })
  it('repeats a rejection twice to an unverified peer', () => {
    side = transactions.serve(request('INVITE', 'z9hG4bK4'), flow)
    side.machine.respond(180, bytes('180'))
    side.isPeerUnverified = true
    side.machine.respond(504, bytes('504'))
    expect(timesOfSending(31_000)).toEqual([500, 1_500])
  })
  it('ends 32 s after a rejection without an ACK', () => {
    side.machine.respond(486, bytes('486'))
    clock.advance(31_999)
    expect(transactions.size).toBe(1)
    clock.advance(1)
    expect([transactions.size, clock.running]).toEqual([0, 0])
  })
  it('leaves retransmissions of a 2xx to the layer above and absorbs the INVITE for 32 s (RFC 6026)', () => {
    side.machine.respond(200, bytes('200'))
    side.machine.retransmitted()
    expect(timesOfSending(31_900)).toEqual([])
    expect(flow.sent).toEqual(['200'])
    clock.advance(200)
    expect(transactions.size).toBe(0)
  })
  it('takes no second final response', () => {
    expect(side.machine.respond(200, bytes('200'))).toBe(true)
    expect(side.machine.respond(486, bytes('486'))).toBe(false)
    expect(flow.sent).toEqual(['200'])
  })
  it('is found by a CANCEL with its branch', () => {
    expect(transactions.findCancelled(request('CANCEL', 'z9hG4bK1'))).toBe(side)
    expect(transactions.findCancelled(request('CANCEL', 'z9hG4bK2'))).toBeUndefined()
  })
  it('detects a copy by another path, but not itself', () => {
    const copy = transactions.serve(request('INVITE', 'z9hG4bK2'), flow)
    expect(transactions.isMerged(request('INVITE', 'z9hG4bK2'), copy)).toBe(true)
    expect(transactions.isMerged(request('INVITE', 'z9hG4bK1'), side)).toBe(false)
  })
  it('is found without the magic cookie by the other headers (RFC 2543)', () => {
    const old = transactions.serve(request('INVITE', 'old'), flow)
    expect(transactions.find(request('INVITE', 'old'))).toBe(old)
    expect(transactions.find(request('ACK', 'old'))).toBe(old)
  })
})

it('an INVITE server transaction on TCP repeats nothing and ends with the ACK', () => {
  open('INVITE', true)
  side.machine.respond(486, bytes('486'))
  expect(timesOfSending(10_000)).toEqual([])
  side.machine.acknowledged()
  expect([transactions.size, clock.running]).toEqual([0, 0])
})

describe('another server transaction', () => {
  const late = () => bytes('100')
  const serve = (reliable = false) => {
    open('OPTIONS', reliable)
    side = transactions.serve(request('INFO', 'z9hG4bK9'), flow, { trying: late })
  }

  it('repeats its final response to a repeated request for 32 s (timer J)', () => {
    open('OPTIONS')
    side.machine.retransmitted()
    side.machine.respond(200, bytes('200'))
    side.machine.retransmitted()
    expect(flow.sent).toEqual(['200', '200'])
    clock.advance(31_999)
    side.machine.retransmitted()
    expect([flow.sent.length, transactions.size]).toEqual([3, 1])
    clock.advance(1)
    expect([transactions.size, clock.running]).toEqual([0, 0])
  })
  it('takes no second final response', () => {
    open('OPTIONS')
    expect(side.machine.respond(200, bytes('200'))).toBe(true)
    expect(side.machine.respond(500, bytes('500'))).toBe(false)
    expect(flow.sent).toEqual(['200'])
  })
  it('ends at once with its final response on TCP', () => {
    open('OPTIONS', true)
    side.machine.respond(200, bytes('200'))
    expect([flow.sent, transactions.size, clock.running]).toEqual([['200'], 0, 0])
  })
  it('sends a 100 once the sender repeats every T2, and again to each repetition (RFC 4320)', () => {
    serve()
    side.machine.retransmitted()
    clock.advance(3_499)
    expect(flow.sent).toEqual([])
    clock.advance(1)
    side.machine.retransmitted()
    expect(flow.sent).toEqual(['100', '100'])
    side.machine.respond(200, bytes('200'))
    side.machine.retransmitted()
    expect(flow.sent.slice(2)).toEqual(['200', '200'])
  })
  it('sends no 100 after its answer, and none on TCP', () => {
    serve()
    side.machine.respond(200, bytes('200'))
    clock.advance(10_000)
    expect(flow.sent).toEqual(['200'])
    serve(true)
    clock.advance(10_000)
    expect(flow.sent).toEqual([])
  })
  it('delays a 100 of the application until then, and sends no other provisional response', () => {
    serve()
    expect(side.machine.respond(100, bytes('own 100'))).toBe(true)
    expect(side.machine.respond(183, bytes('183'))).toBe(true)
    expect(flow.sent).toEqual([])
    clock.advance(3_500)
    expect(flow.sent).toEqual(['own 100'])
  })
  it('sends no 408, and ignores retransmissions until it ends', () => {
    serve()
    expect(side.machine.respond(408, bytes('408'))).toBe(true)
    side.machine.retransmitted()
    clock.advance(31_999)
    expect([flow.sent, transactions.find(request('INFO', 'z9hG4bK9'))]).toEqual([[], side])
    clock.advance(1)
    expect(transactions.find(request('INFO', 'z9hG4bK9'))).toBeUndefined()
  })
})

describe('a request is matched', () => {
  const via = (each: ReturnType<typeof request>, changes: Partial<typeof each.via>) => ({
    ...each,
    via: { ...each.via, ...changes },
  })
  beforeEach(() => open('INVITE'))

  it('by its sent-by, ignoring case and the default port', () => {
    const named = transactions.serve(via(request('INVITE', 'z9hG4bK2'), { host: 'Phone.example' }), flow)
    const ack = via(request('ACK', 'z9hG4bK2'), { host: 'phone.EXAMPLE', port: 5060 })
    expect(transactions.find(ack)).toBe(named)
    expect(transactions.find(via(ack, { port: 5062 }))).toBeUndefined()
    const tls = transactions.serve(via(request('INVITE', 'z9hG4bK3'), { transport: 'TLS' }), flow)
    expect(transactions.find(via(request('ACK', 'z9hG4bK3'), { transport: 'TLS', port: 5061 }))).toBe(tls)
  })
  it('not by a branch that imitates other parts of the key', () => {
    // With separators that a branch may hold, these were the parts of the first one.
    for (const branch of ['z9hG4bK1|192.0.2.9:|INVITE', 'z9hG4bK1|192.0.2.9|5060', 'c1|f|1']) {
      expect(transactions.find(request('INVITE', branch))).toBeUndefined()
    }
    const odd = via(request('INVITE', 'z9hG4bK1|192.0.2.9'), { host: '5060' })
    expect(transactions.find(odd)).toBeUndefined()
  })
  it('by its Call-ID too, as a branch can be guessed', () => {
    const elsewhere = { ...request('CANCEL', 'z9hG4bK1'), callId: 'c2' }
    expect(transactions.findCancelled(request('CANCEL', 'z9hG4bK1'))).toBe(side)
    expect(transactions.findCancelled(elsewhere)).toBeUndefined()
    expect(transactions.find({ ...request('INVITE', 'z9hG4bK1'), callId: 'c2' })).toBeUndefined()
    expect(transactions.find({ ...request('ACK', 'z9hG4bK1'), callId: 'c2' })).toBeUndefined()
  })
  it('as its own if an RFC 2543 element sends no branch', () => {
    const bare = via(request('INVITE', 'old'), { branch: '' })
    const old = transactions.serve(bare, flow)
    expect(transactions.find(bare)).toBe(old)
    expect(transactions.find({ ...bare, method: 'ACK' })).toBe(old)
    expect(transactions.findCancelled({ ...bare, method: 'CANCEL' })).toBe(old)
    for (const other of [{ seq: 2 }, { callId: 'c2' }, { fromTag: 'g' }, { uri: 'sip:other@192.0.2.1' }]) {
      expect(transactions.find({ ...bare, ...other })).toBeUndefined()
    }
  })
})
