import { describe, expect, it } from 'vitest'
import { FakeClock } from '../clock.ts'
import { Attempts } from './attempts.ts'

describe('attempts', () => {
  it('forget old windows, and the oldest when there are too many keys', () => {
    const clock = new FakeClock()
    const attempts = new Attempts(clock, { attempts: 1, windowMs: 1000, keys: 3 })
    for (const key of ['a', 'b', 'c', 'd']) expect(attempts.take(key)).toBe(0)
    expect(attempts.size).toBe(3)
    expect(attempts.take('d')).toBe(1000)
    clock.advance(1000)
    expect(attempts.take('e')).toBe(0)
    expect(attempts.size).toBe(1)
    attempts.forget('e')
    expect(attempts.take('e')).toBe(0)
  })
})
