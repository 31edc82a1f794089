import { expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { RestartingTimer } from './restarting-timer.ts'

it('begins the wait anew, runs once, and leaves no timer after a cancellation', () => {
  const clock = new FakeClock()
  const timer = new RestartingTimer(clock)
  const runs: string[] = []
  timer.restart(100, () => runs.push('first'))
  clock.advance(99)
  timer.restart(50, () => runs.push('second'))
  clock.advance(49)
  expect([runs, clock.running]).toEqual([[], 1])
  clock.advance(1)
  expect([runs, clock.running]).toEqual([['second'], 0])
  timer.restart(10, () => runs.push('third'))
  timer.cancel()
  timer.cancel()
  clock.advance(10)
  expect([runs, clock.running]).toEqual([['second'], 0])
})
