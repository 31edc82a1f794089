import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { SystemClock } from './clock.ts'

describe("the machine's clock", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('waits longer than the maximum of a system timer, because a session may last a month (RFC 4028)', () => {
    const clock = new SystemClock()
    let fired = 0
    const month = 30 * 86_400_000
    clock.after(month, () => fired++)
    vi.advanceTimersByTime(month - 1)
    expect([fired, clock.running]).toEqual([0, 1])
    vi.advanceTimersByTime(1)
    expect([fired, clock.running, vi.getTimerCount()]).toEqual([1, 0, 0])
  })

  it('stops a long wait in any of its parts', () => {
    const clock = new SystemClock()
    const timer = clock.after(2 ** 32, () => expect.unreachable())
    vi.advanceTimersByTime(2 ** 31)
    timer.cancel()
    expect([clock.running, vi.getTimerCount()]).toEqual([0, 0])
  })
})
