import { describe, expect, it } from 'vitest'
import { sine } from '../codecs/tone.ts'
import { RateAdapter } from './rate-adapter.ts'

const tone = sine(400, 20, 16_000)
const power = (samples: Int16Array | undefined) => samples?.reduce((sum, s) => sum + s * s, 0) ?? 0

describe('the rate adapter', () => {
  it('returns the same frame at equal rates, and nothing for silence', () => {
    const adapter = new RateAdapter()
    expect(adapter.convert(tone, 16_000, 16_000)).toBe(tone)
    expect(adapter.convert(undefined, 16_000, 16_000)).toBeUndefined()
  })

  it('completes audio, and starts the next without a remainder', () => {
    const adapter = new RateAdapter()
    expect(adapter.convert(undefined, 16_000, 8000)).toBeUndefined()
    const whole = power(adapter.convert(tone, 16_000, 8000))
    const rest = power(adapter.convert(undefined, 16_000, 8000))
    expect(rest).toBeGreaterThan(whole / 20)
    expect(adapter.convert(undefined, 16_000, 8000)).toBeUndefined()
    expect(power(adapter.convert(new Int16Array(320), 16_000, 8000))).toBe(0)
    // The whole tone is present: half as many samples have half of its power.
    expect((2 * (whole + rest)) / power(tone)).toBeCloseTo(1, 1)
  })
})
