import { describe, expect, it } from 'vitest'
import { Reception } from './reception.ts'

/** Delivers packets of 20 ms on time. */
function feed(reception: Reception, sequences: readonly number[], ssrc = 1, from = 0): void {
  sequences.forEach((sequence, i) => {
    reception.update((from + i) * 20, ssrc, sequence & 0xffff, ((from + i) * 160) >>> 0, true)
  })
}
const row = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i)

describe('reception', () => {
  it('counts loss across the wrap of the sequence', () => {
    const reception = new Reception()
    feed(reception, [...row(65530, 6), ...row(65538, 4)])
    expect([reception.received, reception.lost]).toEqual([10, 2])
    expect(reception.report()).toMatchObject({ lost: 2, fractionLost: Math.floor((2 * 256) / 12) })
    expect(reception.report()?.highestSequence).toBe(65536 + 5)
  })

  it('distinguishes reordering from loss', () => {
    const reception = new Reception()
    feed(reception, [10, 12, 11, 14, 13])
    expect([reception.received, reception.lost]).toEqual([5, 0])
  })

  it('has a negative loss for duplicates, but no negative fraction', () => {
    const reception = new Reception()
    feed(reception, [1, 2, 2, 3, 3])
    expect(reception.lost).toBe(-2)
    expect(reception.report()).toMatchObject({ lost: -2, fractionLost: 0 })
  })

  it('reports the fraction since the last report only', () => {
    const reception = new Reception()
    feed(reception, [1, 2, 5, 6])
    expect(reception.report()?.fractionLost).toBe(Math.floor((2 * 256) / 6))
    feed(reception, row(7, 10), 1, 4)
    expect(reception.report()).toMatchObject({ fractionLost: 0, lost: 2 })
  })

  it('restarts after a jump confirmed by two packets, but not for a stray packet', () => {
    const reception = new Reception()
    feed(reception, [1, 2, 3])
    feed(reception, [40_000], 1, 3)
    feed(reception, [4, 5], 1, 4)
    expect(reception.report()?.highestSequence).toBe(5)
    feed(reception, [50_000, 50_001, 50_002], 1, 6)
    expect(reception.report()?.highestSequence).toBe(50_002)
    expect(reception.lost).toBeLessThan(3)
  })

  it('follows a change of source, and keeps the totals', () => {
    const reception = new Reception()
    feed(reception, [1, 2, 4], 1)
    feed(reception, [9000, 9001], 2, 3)
    expect([reception.ssrc, reception.received, reception.lost]).toEqual([2, 5, 1])
    expect(reception.report()).toMatchObject({ ssrc: 2, lost: 0, highestSequence: 9001 })
  })

  it('has the jitter of RFC 3550 A.8 for every second packet late by 20 ms', () => {
    const reception = new Reception()
    const seen: number[] = []
    for (let i = 0; i < 5; i++) {
      reception.update(1_700_000_000_000 + i * 20 + (i % 2) * 20, 1, i, i * 160, true)
      seen.push(reception.jitterMs * 8)
    }
    // J += (160 - J) / 16, by hand.
    expect(seen).toEqual([0, 10, 19.375, 28.1640625, 36.40380859375])
  })

  it('has no jitter when packets are on time, even when the timestamp wraps', () => {
    const reception = new Reception()
    for (let i = 0; i < 50; i++) reception.update(i * 20, 1, i, (0xfffff000 + i * 160) >>> 0, true)
    expect(reception.jitterMs).toBe(0)
  })

  it('excludes events from the jitter', () => {
    const reception = new Reception()
    for (let i = 0; i < 10; i++) reception.update(i * 50, 1, i, 777, false)
    expect([reception.jitterMs, reception.received]).toEqual([0, 10])
  })

  it('has nothing to report before the first packet', () => {
    const reception = new Reception()
    expect([reception.report(), reception.lost, reception.received]).toEqual([undefined, 0, 0])
  })
})
