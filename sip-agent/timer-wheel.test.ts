import { describe, expect, it } from 'vitest'
import { FakeClock, SystemClock, type Timer } from './clock.ts'
import { generator } from './testing/mutate.ts'
import { TimerWheel } from './timer-wheel.ts'

const setUp = (now?: number) => {
  const clock = new FakeClock(now)
  const faults: unknown[] = []
  const wheel = new TimerWheel(clock, (error) => faults.push(error))
  return { clock, wheel, faults }
}

/** One timer of the property test: when it was due, when it fired, and how many were started before it. */
interface Fired {
  readonly due: number
  readonly at: number
  readonly order: number
}

/** Starts and cancels at random, in steps of random length and within timers, and says what has fired. */
const exercise = (seed: number, longest: number) => {
  const { clock, wheel } = setUp(1_700_000_000_003 + seed)
  const random = generator(seed)
  const whole = (below: number) => Math.floor(random() * below)
  const fired: Fired[] = []
  const open = new Map<number, Timer>()
  let order = 0
  const start = () => {
    const number = order++
    const ms = random() < 0.1 ? 0 : whole(longest)
    const due = clock.now() + ms
    const timer = wheel.after(ms, () => {
      // A cancelled timer, or one that fired before, is not in the list.
      expect(open.delete(number)).toBe(true)
      fired.push({ due, at: clock.now(), order: number })
      if (random() < 0.3 && order < 1_200) start()
      if (random() < 0.2) cancel()
    })
    open.set(number, timer)
  }
  const cancel = () => {
    const numbers = [...open.keys()]
    const number = numbers[whole(numbers.length)]
    if (number === undefined) return
    open.get(number)?.cancel()
    open.get(number)?.cancel()
    open.delete(number)
  }
  for (let step = 0; step < 400; step++) {
    for (let i = whole(4); i > 0; i--) start()
    if (random() < 0.5) cancel()
    expect(wheel.running).toBe(open.size)
    expect(clock.running).toBe(open.size === 0 ? 0 : 1)
    clock.advance(random() < 0.05 ? whole(3 * longest) : whole(40))
  }
  // What fires may start more, but ever less of it.
  for (let i = 0; i < 50; i++) clock.advance(longest)
  return { fired, open, wheel, clock }
}

describe('the wheel with 40 random histories', () => {
  const histories = Array.from({ length: 40 }, (_, seed) => exercise(seed, seed % 2 === 0 ? 300 : 90_000))

  it('fires every timer that was not cancelled once, and then is idle', () => {
    let total = 0
    for (const { fired, open, wheel, clock } of histories) {
      expect([open.size, wheel.running, clock.running]).toEqual([0, 0, 0])
      total += fired.length
    }
    expect(total).toBeGreaterThan(10_000)
  })
  it('fires none early, and none more than a tick late', () => {
    const late = histories.flatMap(({ fired }) => fired.map(({ due, at }) => at - due))
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0)
    // One that a firing timer starts with 0 ms waits for the next tick.
    expect(Math.max(...late)).toBeLessThanOrEqual(10)
  })
  it('keeps the order of the due times, and among equals that of the start', () => {
    for (const { fired } of histories) {
      const together = Map.groupBy(fired, ({ at }) => at)
      expect([...together.keys()]).toEqual([...together.keys()].sort((a, b) => a - b))
      for (const list of together.values()) {
        expect(list).toEqual([...list].sort((a, b) => a.due - b.due || a.order - b.order))
      }
    }
  })
})

describe('the wheel', () => {
  it('fires in the same order as system timers', () => {
    const [plain, onWheel] = [setUp(), setUp()].map(({ clock, wheel }, which) => {
      const random = generator(99)
      const names: number[] = []
      const timed = which === 0 ? clock : wheel
      for (let i = 0; i < 800; i++) timed.after(Math.floor(random() * 200_000), () => names.push(i))
      clock.advance(200_010)
      return names
    })
    expect(onWheel).toEqual(plain)
    expect(onWheel).toHaveLength(800)
  })
  it('is late only by a stall of the process, and loses no timer', () => {
    const { clock, wheel } = setUp()
    let waiting: () => void = () => {}
    // A clock whose timer comes far too late: several turns of the wheel.
    const halted = {
      now: () => clock.now(),
      uptime: () => clock.uptime(),
      after: (_: number, run: () => void) => {
        waiting = run
        return { cancel: () => {} }
      },
    }
    const slow = new TimerWheel(halted, () => {})
    const heard: number[] = []
    for (const ms of [60_000, 500, 170_000, 32_000]) slow.after(ms, () => heard.push(ms))
    clock.advance(150_000)
    waiting()
    expect([heard, slow.running, wheel.running]).toEqual([[500, 32_000, 60_000], 1, 0])
  })
  it('wakes the system for due timers, not for every tick', () => {
    const { clock, wheel } = setUp()
    let started = 0
    const counted = {
      now: () => clock.now(),
      uptime: () => clock.uptime(),
      after: (ms: number, run: () => void) => {
        started++
        return clock.after(ms, run)
      },
    }
    const lazy = new TimerWheel(counted, () => {})
    for (const ms of [32_000, 5_000, 500]) lazy.after(ms, () => {})
    clock.advance(40_000)
    // Each of the three was the earliest when it was started, and two of them followed another.
    expect([started, lazy.running, wheel.running]).toEqual([5, 0, 0])
  })
  it('survives a timer that throws', () => {
    const { clock, wheel, faults } = setUp()
    const heard: string[] = []
    wheel.after(5, () => {
      throw new Error('within')
    })
    wheel.after(5, () => heard.push('second'))
    clock.advance(10)
    expect([heard, faults.length, wheel.running, clock.running]).toEqual([['second'], 1, 0, 0])
  })
  it('does not fire a timer that another one of the same tick has cancelled', () => {
    const { clock, wheel } = setUp()
    const heard: string[] = []
    wheel.after(5, () => second.cancel())
    const second = wheel.after(6, () => heard.push('second'))
    clock.advance(20)
    expect([heard, wheel.running, clock.running]).toEqual([[], 0, 0])
  })
  it('continues when the only timer starts and cancels another', () => {
    const { clock, wheel } = setUp()
    const heard: string[] = []
    wheel.after(5, () => {
      wheel.after(100, () => heard.push('never')).cancel()
      wheel.after(50, () => heard.push('later'))
    })
    clock.advance(200)
    expect([heard, wheel.running, clock.running]).toEqual([['later'], 0, 0])
  })
  it('keeps no reference to a cancelled timer', () => {
    const { wheel } = setUp()
    const timers = Array.from({ length: 1_000 }, (_, i) => wheel.after(i, () => {}))
    for (const timer of timers) timer.cancel()
    expect([wheel.running, timers.every((timer) => !('run' in timer && timer.run))]).toEqual([0, true])
  })
  it('works with the system’s clock', async () => {
    const system = new SystemClock()
    const wheel = new TimerWheel(system, () => {})
    const began = system.uptime()
    await new Promise<void>((resolve) => wheel.after(25, resolve))
    expect(system.uptime() - began).toBeGreaterThanOrEqual(25)
    expect([wheel.running, system.running]).toEqual([0, 0])
  })
})
