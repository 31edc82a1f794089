import { beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../../clock.ts'
import { Dialog } from '../../dialog/dialog.ts'
import { RecordingFlow } from '../../testing/messages.ts'
import { makeTimers } from '../../transaction/timers.ts'
import { Unacked2xx } from './unacked-2xx.ts'

let clock: FakeClock
let answers: Unacked2xx
let dialog: Dialog
let expired: Dialog[]
let flow: RecordingFlow

const setUp = (reliable: boolean) => {
  clock = new FakeClock()
  expired = []
  answers = new Unacked2xx({ clock, timers: makeTimers() }, (each) => expired.push(each))
  flow = new RecordingFlow(reliable)
  dialog = new Dialog({
    id: 'd',
    callId: 'c',
    localTag: 'l',
    remoteTag: 'r',
    localAddress: '<sip:l@h>;tag=l',
    remoteAddress: '<sip:r@h>;tag=r',
    routeSet: [],
    localSeq: 1,
    remoteSeq: 1,
    localContact: '',
    flow,
    target: 'sip:r@h',
    owner: undefined,
  })
}
beforeEach(() => setUp(false))

const add = (seq: number, txnId: string, isUnconfirmed = false) =>
  answers.add({
    dialog,
    seq,
    bytes: Buffer.from('200'),
    send: (bytes) => flow.send(bytes),
    txnId,
    isPeerUnverified: isUnconfirmed,
  })

const timesOfSending = (ms: number) => {
  const times: number[] = []
  for (let at = 100; at <= ms; at += 100) {
    const before = flow.sent.length
    clock.advance(100)
    for (let i = before; i < flow.sent.length; i++) times.push(at)
  }
  return times
}

describe('a 2xx that waits for its ACK', () => {
  it('is repeated at T1 doubling to T2, and given up after 32 s', () => {
    add(1, 'txn')
    const times = timesOfSending(32_000)
    expect(times.slice(0, 6)).toEqual([500, 1_500, 3_500, 7_500, 11_500, 15_500])
    expect([expired, answers.size, clock.running]).toEqual([[dialog], 0, 0])
  })
  it('is repeated twice, and given up after 5 s, if the caller may have forged its address', () => {
    add(1, 'txn', true)
    expect(timesOfSending(4_900)).toEqual([500, 1_500])
    expect(expired).toEqual([])
    clock.advance(100)
    expect([expired, answers.size, clock.running]).toEqual([[dialog], 0, 0])
  })
  it('stops with its ACK, which is counted once', () => {
    add(1, 'txn')
    clock.advance(600)
    expect(answers.acknowledge(dialog, 1)).toBe('txn')
    expect(answers.acknowledge(dialog, 1)).toBeUndefined()
    expect(timesOfSending(40_000)).toEqual([])
    expect([expired, clock.running]).toEqual([[], 0])
  })
  it('does not accept the ACK of another INVITE', () => {
    add(1, 'first')
    add(2, 'second')
    expect(answers.acknowledge(dialog, 2)).toBe('second')
    expect(answers.size).toBe(1)
    expect(answers.acknowledge(dialog, 1)).toBe('first')
    expect(answers.size).toBe(0)
  })
  it('is replaced by another answer with the same CSeq number', () => {
    add(1, 'first')
    add(1, 'second')
    expect(answers.acknowledge(dialog, 1)).toBe('second')
    expect([timesOfSending(40_000), answers.size, clock.running]).toEqual([[], 0, 0])
  })
  it('is repeated on TCP too, because a proxy may forward it over UDP (RFC 3261 13.3.1.4)', () => {
    setUp(true)
    add(1, 'txn')
    expect(timesOfSending(32_000).slice(0, 3)).toEqual([500, 1_500, 3_500])
    expect([expired, clock.running]).toEqual([[dialog], 0])
  })
})

describe('a BYE of the application', () => {
  it('is delayed until the ACK', () => {
    const ran: string[] = []
    add(1, 'txn')
    answers.whenSettled(dialog, () => ran.push('bye'))
    expect(ran).toEqual([])
    answers.acknowledge(dialog, 1)
    expect(ran).toEqual(['bye'])
  })
  it('replaces the agent’s BYE for a missing ACK', () => {
    const ran: string[] = []
    add(1, 'txn')
    answers.whenSettled(dialog, () => ran.push('bye'))
    clock.advance(32_000)
    expect([ran, expired]).toEqual([['bye'], []])
  })
  it('is sent at once if no ACK is pending', () => {
    const ran: string[] = []
    answers.whenSettled(dialog, () => ran.push('bye'))
    expect(ran).toEqual(['bye'])
  })
})
