import { expect, it } from 'vitest'
import { backOffMs } from './back-off.ts'

it('an attempt waits longer after each failure in a row, at most 30 s', () => {
  expect([-1, 0, 1, 2, 3, 6, 7, 2000].map(backOffMs)).toEqual([0, 0, 500, 1000, 2000, 16_000, 30_000, 30_000])
})
