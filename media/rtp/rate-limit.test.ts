import { describe, expect, it } from 'vitest'
import { RateLimit } from './rate-limit.ts'

/** Returns the number of packets of `ms` that pass when `count` arrive every `everyMs`, for `seconds`. */
const passed = (pace: RateLimit, seconds: number, everyMs: number, count: number, ms = 20): number => {
  let passes = 0
  for (let now = 0; now < seconds * 1000; now += everyMs)
    for (let i = 0; i < count; i++) if (pace.permits(now, ms)) passes++
  return passes
}

describe('the rate limit of a stream', () => {
  it('passes a stream in real time, also with every packet sent twice', () => {
    expect(passed(new RateLimit(), 60, 20, 1)).toBe(3000)
    expect(passed(new RateLimit(), 60, 20, 2)).toBe(6000)
  })

  it('passes a burst of five seconds, after an outage', () => {
    const pace = new RateLimit()
    expect(Array.from({ length: 250 }, () => pace.permits(1000, 20))).not.toContain(false)
    expect(pace.permits(1000, 20)).toBe(false)
    expect(pace.permits(1005, 20)).toBe(true)
  })

  it('limits a flood to four times real time', () => {
    expect(passed(new RateLimit(), 10, 1, 20)).toBeLessThanOrEqual(250 + 10 * 200 + 1)
  })

  it('counts a packet as at least 5 ms', () => {
    expect(passed(new RateLimit(), 1, 1000, 5000, 0)).toBe(1000)
  })
})
