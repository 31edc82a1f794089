import { describe, expect, it } from 'vitest'
import { Gain } from './gain.ts'

const frame = () => new Int16Array(160).fill(1000)

describe('a gain', () => {
  it('of 0 dB returns the frame itself, and keeps silence', () => {
    const gain = new Gain()
    const given = frame()
    expect(gain.apply(given)).toBe(given)
    gain.set(-20)
    expect(gain.apply(undefined)).toBeUndefined()
  })

  it('is reached over one frame, without a step, and does not change its input', () => {
    const gain = new Gain()
    gain.set(-20)
    const given = frame()
    const first = [...gain.apply(given)]
    expect(given).toEqual(frame())
    expect([first[0]! > 990, first.at(-1)]).toEqual([true, 100])
    expect(Math.max(...first.slice(1).map((sample, i) => first[i]! - sample))).toBeLessThan(10)
    expect(new Set(gain.apply(frame()))).toEqual(new Set([100]))
    gain.set(0)
    expect(gain.apply(frame()).at(-1)).toBe(1000)
    const after = frame()
    expect(gain.apply(after)).toBe(after)
  })

  it('clips samples out of range', () => {
    const gain = new Gain()
    gain.set(50)
    gain.apply(frame())
    expect(new Set(gain.apply(frame()))).toEqual(new Set([32_767]))
    expect(new Set(gain.apply(new Int16Array(160).fill(-1000)))).toEqual(new Set([-32_768]))
  })
})
