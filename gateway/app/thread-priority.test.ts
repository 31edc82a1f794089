import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { priorityOptions } from './thread-priority.ts'

const optionsOf = (realtime: boolean, threads: number) => {
  const lines: Record<string, unknown>[] = []
  const log = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) })
  return { ...priorityOptions({ realtime, threads }, log, 4), lines }
}

describe('the priority of media threads', () => {
  it('is normal without a line in the log if the configuration wants no other', () => {
    for (const threads of [1, 4]) {
      const { isRealtime, lines } = optionsOf(false, threads)
      expect([isRealtime, lines]).toEqual([false, []])
    }
  })

  it('is real-time while a core is left for other work, and each thread is logged', () => {
    const { isRealtime, onPriority, lines } = optionsOf(true, 3)
    expect([isRealtime, lines]).toEqual([true, []])
    onPriority?.({ isRealtime: true })
    onPriority?.({ isRealtime: false, reason: 'EPERM: operation not permitted' })
    expect(lines).toMatchObject([
      { event: 'media.realtime-set', msg: 'media thread has real-time priority' },
      {
        event: 'media.realtime-missing',
        reason: 'EPERM: operation not permitted',
        msg: 'media thread has normal priority',
      },
    ])
  })

  it('is normal with the reason in the log if the threads could take every core', () => {
    const { isRealtime, lines } = optionsOf(true, 4)
    expect(isRealtime).toBe(false)
    const reason = 'fewer media threads than cores are required, not 4 of 4'
    expect(lines).toMatchObject([{ event: 'media.realtime-missing', reason }])
  })
})
