import { expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { LoadMeter } from './load-meter.ts'

const setUp = () => {
  const clock = new FakeClock()
  const loops = [
    { active: 0, idle: 0 },
    { active: 0, idle: 0 },
  ]
  const meter = new LoadMeter(
    clock,
    loops.map((loop) => () => ({ ...loop })),
  )
  /** Advances by this number of 250 ms steps, in which a loop is busy for a share of the time. */
  const pass = (steps: number, ...shares: number[]) => {
    for (let i = 0; i < steps; i++) {
      for (const [at, share] of shares.entries()) {
        loops[at]!.active += 250 * share
        loops[at]!.idle += 250 * (1 - share)
      }
      clock.advance(250)
    }
  }
  return { clock, meter, pass }
}

it('reports the utilisation of the busiest event loop in the last second', () => {
  const { meter, pass } = setUp()
  expect(meter.busyPercent).toBe(0)
  pass(2, 1, 1)
  expect(meter.busyPercent).toBe(0)
  pass(4, 0.2, 0.6)
  expect(meter.busyPercent).toBeCloseTo(60)
  pass(2, 1, 0)
  expect(meter.busyPercent).toBeGreaterThan(45)
  pass(4, 1, 0)
  expect(meter.busyPercent).toBeCloseTo(100)
  pass(4, 0, 0)
  expect(meter.busyPercent).toBe(0)
})

it('stops measuring when closed', () => {
  const { clock, meter } = setUp()
  expect(clock.running).toBe(1)
  clock.advance(1_000)
  meter.close()
  expect(clock.running).toBe(0)
})
