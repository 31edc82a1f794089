import type { Clock } from '../core/clock.ts'

/** Resolves after a time in ms. */
export const wait = (clock: Pick<Clock, 'after'>, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.after(ms, resolve)
  })
