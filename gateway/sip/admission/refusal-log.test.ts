import { expect, it } from 'vitest'
import { RefusalLog, type SuppressedLines } from './refusal-log.ts'

const setUp = () => {
  const clock = { now: 1_000_000 }
  const reported: SuppressedLines[] = []
  const log = new RefusalLog(
    () => clock.now,
    (leftOut) => reported.push(leftOut),
  )
  const refuse = (source: string, times: number) =>
    Array.from({ length: times }, () => log.shouldLog(source)).filter(Boolean).length
  return { clock, log, reported, refuse }
}

it('logs ten lines per minute for each source, and later the number of suppressed lines', () => {
  const { clock, reported, refuse } = setUp()
  expect([refuse('a', 25), refuse('b', 4)]).toEqual([10, 4])
  clock.now += 59_999
  expect([refuse('a', 1), reported]).toEqual([0, []])
  clock.now += 1
  expect([refuse('b', 1), reported]).toEqual([1, [{ source: 'a', count: 16 }]])
})

it('logs the number of suppressed lines at the end', () => {
  const { log, reported, refuse } = setUp()
  refuse('a', 12)
  log.close()
  expect([reported, log.size]).toEqual([[{ source: 'a', count: 2 }], 0])
})

it('logs at most 600 lines for all sources together, and remembers at most 10,000 sources', () => {
  const { log, refuse } = setUp()
  let lines = 0
  for (let i = 0; i < 20_000; i++) lines += refuse(String(i), 1)
  expect([lines, log.size]).toEqual([600, 10_000])
})
