import { describe, expect, it } from 'vitest'
import { FakeClock } from './clock.ts'
import { FixedWindowLimiter } from './rates.ts'

describe('attempts', () => {
  it('forget old windows, and the oldest when there are too many keys', () => {
    const clock = new FakeClock()
    const attempts = new FixedWindowLimiter(clock, { attempts: 2, windowMs: 1000, keys: 3 })
    for (const key of ['a', 'b', 'c', 'd']) expect(attempts.take(key)).toBe(0)
    expect(attempts.size).toBe(3)
    expect([attempts.take('d'), attempts.take('d')]).toEqual([0, 1000])
    clock.advance(1000)
    expect(attempts.take('e')).toBe(0)
    expect(attempts.size).toBe(1)
    attempts.take('e')
    expect(attempts.take('e')).toBe(1000)
    attempts.forget('e')
    expect(attempts.take('e')).toBe(0)
  })

  it('remember what has reached the limit, however many other keys come', () => {
    const clock = new FakeClock()
    const attempts = new FixedWindowLimiter(clock, { attempts: 2, windowMs: 1000, keys: 3 })
    attempts.take('locked')
    attempts.take('locked')
    clock.advance(1)
    for (let i = 0; i < 100; i++) attempts.take(`other ${i}`)
    expect(attempts.take('locked')).toBe(999)
    expect(attempts.size).toBe(4)
    clock.advance(1000)
    attempts.take('new')
    expect(attempts.size).toBe(1)
  })
})

it('another number of attempts holds for what was counted already', () => {
  const clock = new FakeClock()
  const attempts = new FixedWindowLimiter(clock, { attempts: 1, windowMs: 60_000 })
  expect([attempts.take('a'), attempts.take('a')]).toEqual([0, 60_000])
  attempts.change(3)
  expect([attempts.take('a'), attempts.take('a'), attempts.take('a')]).toEqual([0, 0, 60_000])
  attempts.change(1)
  expect(attempts.take('a')).toBe(60_000)
})
