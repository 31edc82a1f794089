import { expect, it } from 'vitest'
import { CallRateBuckets } from './call-rate-buckets.ts'

const setUp = () => {
  const clock = { now: 1_000_000 }
  const rates = new CallRateBuckets(() => clock.now)
  const calls = (key: string, perSecond: number, times: number) => {
    let taken = 0
    for (let i = 0; i < times; i++) {
      if (!rates.has(key, perSecond)) continue
      rates.take(key, perSecond)
      taken++
    }
    return taken
  }
  return { clock, rates, calls }
}

it('accepts one second’s calls at once, and more as time passes', () => {
  const { clock, calls } = setUp()
  expect(calls('a', 5, 20)).toBe(5)
  clock.now += 400
  expect(calls('a', 5, 20)).toBe(2)
  clock.now += 3_600_000
  expect(calls('a', 5, 20)).toBe(5)
})

it('counts each key separately, and does not count rejected calls', () => {
  const { clock, rates, calls } = setUp()
  expect([calls('a', 1, 3), calls('b', 1, 3)]).toEqual([1, 1])
  for (let i = 0; i < 100; i++) rates.has('a', 1)
  clock.now += 1_000
  expect(rates.has('a', 1)).toBe(true)
})

it('accepts no additional calls when the clock is set back', () => {
  const { clock, calls } = setUp()
  calls('a', 5, 5)
  clock.now -= 3_600_000
  expect(calls('a', 5, 5)).toBe(0)
})

it('has a limited number of keys, and forgets the least recently used one', () => {
  const { rates, calls } = setUp()
  calls('first', 1, 1)
  calls('kept', 2, 1)
  for (let i = 0; i < 19_999; i++) {
    calls(String(i), 1, 1)
    if (i === 10_000) calls('kept', 2, 1)
  }
  expect([rates.size, rates.has('first', 1), rates.has('kept', 2)]).toEqual([20_000, true, false])
})
