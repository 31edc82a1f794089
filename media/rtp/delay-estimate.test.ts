import { describe, expect, it } from 'vitest'
import { DelayEstimate } from './delay-estimate.ts'

/** Delivers packets every 20 ms for `seconds`, each `lateness(n)` ms later than the fastest. */
function run(estimate: DelayEstimate, seconds: number, lateness: (n: number) => number, from = 0): number {
  let now = from
  for (let n = 0; n < seconds * 50; n++, now += 20) estimate.arrived(now, 1000 + lateness(n))
  return now
}

describe('the estimate of the delay', () => {
  it('starts with 40 ms, and falls to the minimum within 5 s of even packets', () => {
    const estimate = new DelayEstimate(20, 200)
    expect(estimate.target).toBe(40)
    const now = run(estimate, 2, () => 0)
    expect(estimate.target).toBe(40)
    run(estimate, 3, () => 0, now)
    expect(estimate.target).toBe(20)
  })

  it('grows within a few late packets, and shrinks within seconds', () => {
    const estimate = new DelayEstimate(20, 200)
    let now = run(estimate, 30, () => 0)
    now = run(estimate, 0.2, (n) => (n % 5 === 4 ? 75 : 0), now)
    expect(estimate.target).toBe(20)
    now = run(estimate, 0.4, (n) => (n % 5 === 4 ? 75 : 0), now)
    expect(estimate.target).toBe(80)
    now = run(estimate, 2, () => 0, now)
    expect(estimate.target).toBe(80)
    run(estimate, 10, () => 0, now)
    expect(estimate.target).toBe(20)
  })

  it('ignores a single late packet', () => {
    const estimate = new DelayEstimate(20, 200)
    run(estimate, 30, (n) => (n === 1400 ? 150 : 0))
    expect(estimate.target).toBe(20)
  })

  it('stays within its bounds', () => {
    const estimate = new DelayEstimate(20, 200)
    run(estimate, 20, (n) => (n % 3) * 400)
    expect(estimate.target).toBe(200)
    const narrow = new DelayEstimate(60, 60)
    run(narrow, 20, (n) => (n % 3) * 30)
    expect(narrow.target).toBe(60)
  })

  it('follows a path that became longer or shorter', () => {
    const estimate = new DelayEstimate(20, 200)
    let now = run(estimate, 30, () => 0)
    // Beyond the maximum delay: detected within ten packets; else within two windows.
    now = run(estimate, 0.24, () => 500, now)
    expect(estimate.base).toBe(1500)
    now = run(estimate, 0.02, () => 300, now)
    expect(estimate.base).toBe(1300)
    now = run(estimate, 21, () => 400, now)
    expect(estimate.base).toBe(1400)
  })

  it('follows clock drift, also over a long silence', () => {
    const estimate = new DelayEstimate(20, 200)
    const drift = (now: number) => 1000 + now * 1e-4
    let furthest = 0
    for (let now = 0; now < 3_600_000; now += 20) {
      estimate.arrived(now, drift(now))
      furthest = Math.max(furthest, drift(now) - estimate.base)
    }
    // The drift within two windows.
    expect(furthest).toBeLessThan(2.1)
    expect(estimate.target).toBe(20)
    estimate.arrived(10_000_000, drift(10_000_000))
    expect(estimate.base).toBe(drift(10_000_000))
  })
})
