import { describe, expect, it } from 'vitest'
import { TestClock } from './testing/test-clock.ts'
import { Ticker } from './ticker.ts'

function ticked(isBusy: boolean, isFramed = false) {
  const times: number[] = []
  const frames: string[] = []
  return {
    isBusy,
    isFramed,
    times,
    frames,
    tick: (now: number) => times.push(now),
    frameIn: (now: number) => frames.push(`in ${now}`),
    frameOut: (now: number) => frames.push(`out ${now}`),
  }
}

describe('the ticker', () => {
  it('ticks busy ports every 10 ms and idle ones every 100 ms', () => {
    const clock = new TestClock()
    const ticker = new Ticker(clock)
    const busy = ticked(true)
    const idle = ticked(false)
    ticker.add(busy)
    ticker.add(idle)
    ticker.wake(busy)
    ticker.wake(idle)
    clock.advance(1000)
    expect([busy.times.length, idle.times.length]).toEqual([100, 10])
    busy.isBusy = false
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

  it('skips missed ticks', () => {
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

  it('makes frames every 20 ms for framed ports: all in, then the mixers, then all out', () => {
    const clock = new TestClock()
    const ticker = new Ticker(clock)
    const order: string[] = []
    const part = (name: string) => ({
      ...ticked(false, true),
      frameIn: () => order.push(`${name} in`),
      frameOut: () => order.push(`${name} out`),
    })
    const a = part('a')
    const b = part('b')
    const idle = ticked(false)
    const mixer = { isFramed: true, mix: () => order.push('mix') }
    for (const each of [a, b, idle]) ticker.add(each)
    ticker.addMixer(mixer)
    ticker.wakeMixer(mixer)
    clock.advance(20)
    expect(order).toEqual(['a in', 'b in', 'mix', 'a out', 'b out'])
    clock.advance(980)
    expect([order.length, idle.frames.length, idle.times.length]).toEqual([50 * 5, 0, 10])
  })

  it('catches up late frames, but not after a long stall', () => {
    const clock = new TestClock()
    const ticker = new Ticker(clock)
    const late = ticked(false, true)
    ticker.add(late)
    clock.advance(10_000, 55)
    expect(late.frames.length / 2).toBeGreaterThanOrEqual(495)
    late.frames.length = 0
    clock.advance(3000, 3000)
    expect(late.frames).toHaveLength(2)
  })

  it('counts frames from the first framed port, and drops ports that are framed no more', () => {
    const clock = new TestClock()
    const ticker = new Ticker(clock)
    const port = ticked(false)
    ticker.add(port)
    clock.advance(10_000)
    port.isFramed = true
    ticker.wake(port)
    clock.advance(20)
    expect(port.frames).toHaveLength(2)
    port.isFramed = false
    clock.advance(1000)
    expect(port.frames).toHaveLength(4)
  })

  it('ticks a port at once if a frame left a packet to send', () => {
    const clock = new TestClock()
    const ticker = new Ticker(clock)
    const port = { ...ticked(false, true), frameOut: () => 0 }
    port.frameOut = () => {
      port.isBusy = true
      return 0
    }
    ticker.add(port)
    clock.advance(20)
    const before = port.times.length
    clock.advance(10)
    expect(port.times.length).toBe(before + 1)
  })

  it('has no timer when ports and mixers are gone', () => {
    const clock = new TestClock()
    const ticker = new Ticker(clock)
    const mixer = { isFramed: true, mix: () => {} }
    ticker.addMixer(mixer)
    ticker.wakeMixer(mixer)
    expect(clock.running).toBe(1)
    ticker.removeMixer(mixer)
    expect(clock.running).toBe(0)
  })
})
