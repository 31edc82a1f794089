import { expect, it, vi } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { MessageRetention } from './message-retention.ts'

const day = 86_400_000

/** Messages by their times, in a table of that alone. */
const opened = (times: number[]) => {
  const clock = new FakeClock()
  const lines: string[] = []
  let tidied = 0
  let fails = false
  const rows = {
    removeOlder: async (before: number, most: number) => {
      if (fails) throw new Error('the store is away')
      const old = times.filter((time) => time < before - clock.now()).slice(0, most)
      for (const time of old) times.splice(times.indexOf(time), 1)
      return old.length
    },
    removeDeserted: async () => {
      tidied++
    },
  }
  const log = { error: (_facts: object, text: string) => lines.push(text) } as never
  const retention = new MessageRetention({ rows, keepMs: 10 * day, clock, log })
  const fail = (now: boolean) => {
    fails = now
  }
  return { clock, times, lines, retention, fail, tidied: () => tidied }
}

it('removes expired messages at the start and every hour', async () => {
  const old = Array.from({ length: 1200 }, () => -11 * day)
  const { clock, times, retention, tidied } = opened([...old, -9 * day])
  await vi.waitFor(() => expect(times).toEqual([-9 * day]))
  await vi.waitFor(() => expect([tidied(), clock.running]).toEqual([1, 1]))
  times.push(-11 * day)
  clock.advance(3_600_000)
  await vi.waitFor(() => expect(times).toEqual([-9 * day]))
  await retention.close()
  expect(clock.running).toBe(0)
})

it('continues after a failure of the store', async () => {
  const { clock, times, lines, retention, fail } = opened([])
  await vi.waitFor(() => expect(clock.running).toBe(1))
  fail(true)
  times.push(-11 * day)
  clock.advance(3_600_000)
  await vi.waitFor(() => expect(lines).toEqual(['expired messages not removed']))
  await vi.waitFor(() => expect(clock.running).toBe(1))
  fail(false)
  clock.advance(3_600_000)
  await vi.waitFor(() => expect(times).toEqual([]))
  await retention.close()
})
