import { describe, expect, it } from 'vitest'
import { FakeClock } from './clock.ts'
import { FixedWindowCounter, FixedWindowLimiter } from './rates.ts'

describe('a fixed-window limiter', () => {
  it('forgets old windows, and the oldest if there are too many keys', () => {
    const clock = new FakeClock()
    const limiter = new FixedWindowLimiter(clock, { attempts: 2, windowMs: 1000, keys: 3 })
    for (const key of ['a', 'b', 'c', 'd']) expect(limiter.take(key)).toBe(0)
    expect(limiter.size).toBe(3)
    expect([limiter.take('d'), limiter.take('d')]).toEqual([0, 1000])
    clock.advance(1000)
    expect(limiter.take('e')).toBe(0)
    expect(limiter.size).toBe(1)
    limiter.take('e')
    expect(limiter.take('e')).toBe(1000)
    limiter.forget('e')
    expect(limiter.take('e')).toBe(0)
  })

  it('tells the time until the next attempt, without counting one', () => {
    const clock = new FakeClock()
    const limiter = new FixedWindowLimiter(clock, { attempts: 2, windowMs: 1000 })
    for (const wait of [0, 0, 1000]) {
      for (let i = 0; i < 3; i++) expect(limiter.waitOf('a')).toBe(wait)
      limiter.take('a')
    }
    expect([limiter.waitOf('a', 3), limiter.waitOf('b')]).toEqual([0, 0])
    clock.advance(1000)
    expect(limiter.waitOf('a')).toBe(0)
  })

  it('remembers keys at their limit, however many other keys arrive', () => {
    const clock = new FakeClock()
    const limiter = new FixedWindowLimiter(clock, { attempts: 2, windowMs: 1000, keys: 3 })
    limiter.take('locked')
    limiter.take('locked')
    clock.advance(1)
    for (let i = 0; i < 100; i++) limiter.take(`other ${i}`)
    expect(limiter.take('locked')).toBe(999)
    expect(limiter.size).toBe(4)
    clock.advance(1000)
    limiter.take('new')
    expect(limiter.size).toBe(1)
  })
})

it('a changed limit applies to attempts already counted', () => {
  const clock = new FakeClock()
  const limiter = new FixedWindowLimiter(clock, { attempts: 1, windowMs: 60_000 })
  expect([limiter.take('a'), limiter.take('a')]).toEqual([0, 60_000])
  limiter.change(3)
  expect([limiter.take('a'), limiter.take('a'), limiter.take('a')]).toEqual([0, 0, 60_000])
  limiter.change(1)
  expect(limiter.take('a')).toBe(60_000)
})

it('a fixed-window counter counts per key, and forgets the least recently used key', () => {
  const clock = new FakeClock()
  const counter = new FixedWindowCounter(clock, { windowMs: 1000, maxKeys: 2 })
  expect(counter.count('a')).toEqual({ count: 1, remainingMs: 1000 })
  clock.advance(400)
  expect(counter.count('a')).toEqual({ count: 2, remainingMs: 600 })
  expect([counter.count('b').count, counter.count('a').count, counter.count('c').count]).toEqual([1, 3, 1])
  expect(counter.size).toBe(2)
  expect(counter.count('b').count).toBe(1)
  clock.advance(1000)
  expect(counter.count('c')).toEqual({ count: 1, remainingMs: 1000 })
})
