import { beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../clock.ts'
import { RecordingFlow, response } from '../testing/messages.ts'
import { InviteClientTransaction } from './invite-client.ts'
import { makeTimers } from './timers.ts'
import { type ClientEntry, Transactions } from './transactions.ts'

const branch = 'z9hG4bKour'
let clock: FakeClock
let transactions: Transactions
let flow: RecordingFlow
let heard: (number | string)[]
let side: ClientEntry
let faults: unknown[]

const start = (method: string, reliable = false, failure?: string) => {
  clock = new FakeClock()
  transactions = new Transactions(clock, makeTimers(), (error) => faults.push(error))
  flow = new RecordingFlow(reliable)
  flow.failure = failure
  heard = []
  faults = []
  const user = {
    response: (each: { status: number; toTag: string }) => heard.push(each.status),
    failed: (why: string) => heard.push(why),
    ack: (each: { status: number }) => Buffer.from(`ACK ${each.status}`),
    ended: () => heard.push('ended'),
  }
  side = transactions.send(branch, method, Buffer.from(method), flow, user)
}
const receive = (status: number, method: string, tag?: string) =>
  transactions.receive(response(status, branch, method, tag), flow, 100)
const timesOfSending = (ms: number) => {
  const times: number[] = []
  for (let at = 100; at <= ms; at += 100) {
    const before = flow.sent.length
    clock.advance(100)
    for (let i = before; i < flow.sent.length; i++) times.push(at)
  }
  return times
}

describe('an INVITE client transaction on UDP', () => {
  beforeEach(() => start('INVITE'))

  it('repeats the INVITE with doubling intervals and gives up after 32 s', () => {
    expect(timesOfSending(33_000)).toEqual([500, 1_500, 3_500, 7_500, 15_500, 31_500])
    expect(heard).toEqual(['ended', 'timeout'])
    expect([transactions.size, clock.running]).toEqual([0, 0])
  })
  it('stops repeating with the first provisional and then waits without limit', () => {
    receive(100, 'INVITE')
    expect(timesOfSending(60_000)).toEqual([])
    expect([heard, transactions.size]).toEqual([[100], 1])
  })
  it('acknowledges a rejection and each retransmission, and reports it once', () => {
    receive(180, 'INVITE')
    receive(486, 'INVITE')
    receive(486, 'INVITE')
    expect(flow.sent).toEqual(['INVITE', 'ACK 486', 'ACK 486'])
    expect(heard).toEqual([180, 486])
    clock.advance(32_000)
    expect([transactions.size, clock.running]).toEqual([0, 0])
  })
  it('reports every 2xx, also of other forks, for 32 s, and acknowledges none itself (RFC 6026)', () => {
    receive(200, 'INVITE', 'one')
    receive(200, 'INVITE', 'one')
    receive(200, 'INVITE', 'two')
    receive(180, 'INVITE', 'three')
    expect(heard).toEqual([200, 200, 200])
    expect(flow.sent).toEqual(['INVITE'])
    clock.advance(32_000)
    expect(heard.at(-1)).toBe('ended')
    expect(receive(200, 'INVITE', 'one')).toBe(false)
  })
  it('waits 32 s after a rejection on UDP (timer D), and not on TCP', () => {
    receive(486, 'INVITE')
    clock.advance(31_999)
    receive(486, 'INVITE')
    expect([transactions.size, flow.sent.length]).toEqual([1, 3])
    clock.advance(1)
    expect([transactions.size, clock.running, heard]).toEqual([0, 0, [486, 'ended']])
    start('INVITE', true)
    receive(486, 'INVITE')
    clock.advance(0)
    expect([transactions.size, clock.running]).toEqual([0, 0])
  })
  it('on TCP repeats nothing, and times out as well (timer B)', () => {
    start('INVITE', true)
    expect(timesOfSending(31_900)).toEqual([])
    clock.advance(100)
    expect(heard).toEqual(['ended', 'timeout'])
  })
  it('absorbs a provisional after the final response', () => {
    receive(486, 'INVITE')
    receive(180, 'INVITE')
    expect([heard, flow.sent.length]).toEqual([[486], 2])
  })
  it('times out if given up after its CANCEL, but not after a final response', () => {
    receive(180, 'INVITE')
    side.machine instanceof InviteClientTransaction && side.machine.giveUp()
    expect([heard, transactions.size, clock.running]).toEqual([[180, 'ended', 'timeout'], 0, 0])
    start('INVITE')
    receive(200, 'INVITE')
    side.machine instanceof InviteClientTransaction && side.machine.giveUp()
    expect(heard).toEqual([200])
  })
  it('drops a 2xx after a rejection', () => {
    receive(486, 'INVITE')
    receive(200, 'INVITE')
    expect(heard).toEqual([486])
  })
  it('ignores the response to its CANCEL', () => {
    expect(receive(200, 'CANCEL')).toBe(false)
    expect(heard).toEqual([])
  })
  it('fails once when its connection is lost, and not after a final response', () => {
    start('INVITE', true)
    receive(180, 'INVITE')
    transactions.lost(flow)
    transactions.lost(flow)
    expect(heard).toEqual([180, 'ended', 'transport'])
  })
})

describe('another client transaction', () => {
  it('repeats at T1 doubling to T2 and gives up after 32 s', () => {
    start('OPTIONS')
    const times = timesOfSending(32_000)
    expect(times.slice(0, 6)).toEqual([500, 1_500, 3_500, 7_500, 11_500, 15_500])
    expect(heard).toEqual(['ended', 'timeout'])
  })
  it('repeats every T2 after a provisional', () => {
    start('OPTIONS')
    receive(100, 'OPTIONS')
    expect(timesOfSending(9_000)).toEqual([500, 4_500, 8_500])
  })
  it('absorbs retransmitted responses for T4, then drops them', () => {
    start('BYE')
    receive(200, 'BYE')
    expect(receive(200, 'BYE')).toBe(true)
    expect(heard).toEqual([200])
    clock.advance(5_000)
    expect(receive(200, 'BYE')).toBe(false)
    expect(clock.running).toBe(0)
  })
  it('repeats nothing on TCP and still gives up', () => {
    start('OPTIONS', true)
    expect(timesOfSending(31_900)).toEqual([])
    clock.advance(100)
    expect(heard).toEqual(['ended', 'timeout'])
  })
})

describe('the end of another client transaction', () => {
  it('ends at once with its response on TCP (timer K), and reports the end after the response', () => {
    start('OPTIONS', true)
    receive(200, 'OPTIONS')
    clock.advance(0)
    expect([heard, transactions.size, clock.running]).toEqual([[200, 'ended'], 0, 0])
  })
  it('fails once if sending fails', () => {
    start('OPTIONS', false, 'unreachable')
    expect([heard, transactions.size, clock.running]).toEqual([['ended', 'transport'], 0, 0])
  })
  it('ignores a response of another method', () => {
    start('OPTIONS')
    expect([receive(200, 'INFO'), heard]).toEqual([false, []])
  })
})

it('a response with a second Via is a stray', () => {
  start('OPTIONS')
  const stray = { ...response(200, branch, 'OPTIONS'), vias: 2 }
  expect(transactions.receive(stray, flow, 1)).toBe(false)
})

it('a closed connection fails its own transactions only', () => {
  start('OPTIONS', true)
  const other = new RecordingFlow(true)
  const user = { response: () => {}, failed: (why: string) => heard.push(`other ${why}`) }
  transactions.send('z9hG4bKother', 'INVITE', Buffer.from('INVITE'), other, user)
  transactions.send('z9hG4bKthird', 'INFO', Buffer.from('INFO'), flow, user)
  expect(transactions.connections).toBe(2)
  transactions.lost(other)
  expect([heard, transactions.size, transactions.connections]).toEqual([['other transport'], 2, 1])
  transactions.lost(flow)
  expect(heard).toEqual(['other transport', 'ended', 'transport', 'other transport'])
  expect([transactions.size, transactions.connections, clock.running]).toEqual([0, 0, 0])
})

describe('an error of the callback for a failed send', () => {
  const broken = {
    response: () => {},
    failed: () => {
      throw new Error('broken')
    },
  }

  it.each(['INVITE', 'OPTIONS'])('is reported, and does not affect its socket (%s)', (method) => {
    start(method, true)
    side.machine.stop()
    flow.failure = 'refused'
    transactions.send('z9hG4bKone', method, Buffer.from(method), flow, broken)
    expect([String(faults), transactions.size]).toEqual(['Error: broken', 0])
  })

  it('does not prevent the failure of other requests on the connection', () => {
    start('OPTIONS', true)
    side.machine.stop()
    for (const name of ['z9hG4bKone', 'z9hG4bKtwo'])
      transactions.send(name, 'OPTIONS', Buffer.from('OPTIONS'), flow, broken)
    transactions.lost(flow)
    expect([faults.length, transactions.size]).toEqual([2, 0])
  })
})
