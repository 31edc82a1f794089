import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Bottleneck } from './bottleneck.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

it('a bottleneck delivers packets at its rate and in order, and loses those beyond its queue', () => {
  // 100 bytes with headers take 10 ms.
  const path = new Bottleneck({ bitRate: 80_000, queueMs: 45 })
  const arrived: number[] = []
  for (let i = 0; i < 10; i++) path.carry(() => arrived.push(i), 72)
  expect([path.lost, path.bytes]).toEqual([5, 500])
  vi.advanceTimersByTime(10)
  expect(arrived).toEqual([0])
  vi.advanceTimersByTime(40)
  expect(arrived).toEqual([0, 1, 2, 3, 4])
  vi.advanceTimersByTime(1000)
  path.carry(() => arrived.push(10), 72)
  path.carry(() => arrived.push(11), 72)
  vi.advanceTimersByTime(10)
  expect(arrived.at(-1)).toBe(10)
  path.close()
  vi.advanceTimersByTime(100)
  expect(arrived.at(-1)).toBe(10)
})
