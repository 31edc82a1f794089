import { describe, expect, it } from 'vitest'
import { unevennessOf } from './room-recording.ts'

describe('unevennessOf', () => {
  it('is the greatest time between flashes of the same second', () => {
    expect(unevennessOf([1010, 2150, 3020], [1020, 2020, 4190])).toBe(130)
  })

  it('is 0 without a second in which both flashed', () => {
    expect(unevennessOf([1010], [2020])).toBe(0)
  })
})
