import { describe, expect, it } from 'vitest'
import { RateLimit } from './rate-limit.ts'

/** Number of packets of `ms` that pass when `count` arrive every `everyMs`, for `seconds`. */
const passed = (pace: RateLimit, seconds: number, everyMs: number, count: number, ms = 20): number => {
  let passes = 0
  for (let now = 0; now < seconds * 1000; now += everyMs)
    for (let i = 0; i < count; i++) if (pace.permits(now, ms)) passes++
  return passes
}

describe('the pace of a stream', () => {
  it('leaves a stream in real time alone, and one that sends every packet twice', () => {
    expect(passed(new RateLimit(), 60, 20, 1)).toBe(3000)
    expect(passed(new RateLimit(), 60, 20, 2)).toBe(6000)
  })

  it('lets five seconds pass that arrive at once, after an outage', () => {
    const pace = new RateLimit()
    expect(Array.from({ length: 250 }, () => pace.permits(1000, 20))).not.toContain(false)
    expect(pace.permits(1000, 20)).toBe(false)
    expect(pace.permits(1005, 20)).toBe(true)
  })

  it('holds a flood down to four times real time', () => {
    expect(passed(new RateLimit(), 10, 1, 20)).toBeLessThanOrEqual(250 + 10 * 200 + 1)
  })

  it('counts a packet as 5 ms at least, however little it says it holds', () => {
    expect(passed(new RateLimit(), 1, 1000, 5000, 0)).toBe(1000)
  })
})
