import { describe, expect, it } from 'vitest'
import { TestClock } from './test-clock.ts'
import { Ticker } from './ticker.ts'

function ticked(busy: boolean) {
  const times: number[] = []
  return { busy, times, tick: (now: number) => times.push(now) }
}

describe('the ticker', () => {
  it('ticks busy ports every 10 ms and idle ones every 100 ms', () => {
    const clock = new TestClock()
    const ticker = new Ticker(clock)
    const [busy, idle] = [ticked(true), ticked(false)]
    ticker.add(busy)
    ticker.add(idle)
    ticker.wake(busy)
    ticker.wake(idle)
    clock.advance(1000)
    expect([busy.times.length, idle.times.length]).toEqual([100, 10])
    busy.busy = false
    clock.advance(1000)
    expect(busy.times.length).toBeLessThanOrEqual(111)
  })

  it('stays on its grid when timers are late', () => {
    const clock = new TestClock()
    const ticker = new Ticker(clock)
    const busy = ticked(true)
    ticker.add(busy)
    ticker.wake(busy)
    const start = clock.now()
    clock.advance(10_000, 3)
    expect(busy.times).toHaveLength(999)
    expect(busy.times.every((time) => (time - start) % 10 === 3)).toBe(true)
  })

  it('leaves out what it missed', () => {
    const clock = new TestClock()
    const ticker = new Ticker(clock)
    const busy = ticked(true)
    ticker.add(busy)
    ticker.wake(busy)
    clock.advance(1000, 55)
    expect(busy.times.length).toBeLessThan(20)
  })

  it('has no timer without ports', () => {
    const clock = new TestClock()
    const ticker = new Ticker(clock)
    const busy = ticked(true)
    expect(clock.running).toBe(0)
    ticker.add(busy)
    ticker.wake(busy)
    expect(clock.running).toBe(1)
    ticker.remove(busy)
    ticker.wake(busy)
    clock.advance(100)
    expect([clock.running, busy.times]).toEqual([0, []])
  })
})
