import { describe, expect, it } from 'vitest'
import { parseAge, parseSize } from './sizes.ts'

describe('a size', () => {
  it('is bytes, in units of 1024', () => {
    expect(['3KiB', '512MiB', '20GiB', '1TiB', '0MiB'].map(parseSize)).toEqual([
      3072, 536_870_912, 21_474_836_480, 1_099_511_627_776, 0,
    ])
  })

  it.each(['', '20', '20GB', '-1MiB', '1.5GiB', '9999999999TiB', '1 GiB'])('is not %j', (text) => {
    expect(parseSize(text)).toBeUndefined()
  })
})

describe('an age', () => {
  it('may be longer than a timer can run', () => {
    expect(['36h', '30d'].map(parseAge)).toEqual([129_600_000, 2_592_000_000])
  })

  it.each(['', '0d', '30', '30m', '1w', '-1d'])('is not %j', (text) => {
    expect(parseAge(text)).toBeUndefined()
  })
})
