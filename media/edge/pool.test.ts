import { describe, expect, it } from 'vitest'
import { PortPool, shareRange } from './pool.ts'

describe('the port pool', () => {
  it('returns each pair once, at random, until none is left', () => {
    let turn = 0
    const pool = new PortPool([2, 4, 6, 8], 0, (below) => turn++ % below)
    const taken = [0, 0, 0, 0].map(() => pool.take(0))
    expect([...taken].sort()).toEqual([2, 4, 6, 8])
    expect(taken).not.toEqual([2, 4, 6, 8])
    expect([pool.take(0), pool.used, pool.free(0)]).toEqual([undefined, 4, 0])
  })

  it('keeps a closed pair in quarantine, and frees it to the millisecond', () => {
    const pool = new PortPool([2, 4], 30_000, () => 0)
    expect(pool.take(1000)).toBe(2)
    pool.give(5000, 2)
    expect([pool.used, pool.quarantined(34_999), pool.take(34_999)]).toEqual([0, 1, 4])
    expect([pool.quarantined(35_000), pool.take(35_000), pool.reused]).toEqual([0, 2, 0])
  })

  it('takes the pair longest in quarantine if no other is free, and counts it', () => {
    const pool = new PortPool([2, 4, 6], 30_000, () => 0)
    const taken = [pool.take(0), pool.take(0), pool.take(0)]
    for (const [index, port] of taken.entries()) pool.give(1000 + index, port!)
    expect([pool.free(2000), pool.reused]).toEqual([0, 0])
    expect([pool.take(2000), pool.take(2000)]).toEqual([taken[0], taken[1]])
    expect([pool.reused, pool.used, pool.quarantined(2000)]).toEqual([2, 2, 1])
    pool.give(3000, taken[0]!)
    expect([pool.take(3000), pool.take(3000), pool.take(3000)]).toEqual([taken[2], taken[0], undefined])
    expect(pool.reused).toBe(4)
    pool.give(4000, taken[1]!)
    expect([pool.take(34_000), pool.reused]).toEqual([taken[1], 4])
  })

  it('ignores ports that were not taken', () => {
    const pool = new PortPool([2], 0, () => 0)
    pool.give(0, 2)
    pool.give(0, 4)
    expect(pool.free(0)).toBe(1)
  })

  it('splits a range into pairs of an even port and the next', () => {
    expect(shareRange({ from: 101, to: 110 }, 1)).toEqual([[102, 104, 106, 108]])
    expect(shareRange({ from: 100, to: 109 }, 2)).toEqual([
      [100, 102],
      [104, 106, 108],
    ])
    expect(shareRange({ from: 100, to: 101 }, 3).flat()).toEqual([100])
  })
})
