import { describe, expect, it } from 'vitest'
import { goertzel } from '../codecs/tone.ts'
import { toPrompt } from './resample.ts'

const sineAt = (rate: number, frequency: number, ms = 500) =>
  Float32Array.from(
    { length: (rate * ms) / 1000 },
    (_, i) => 0.5 * Math.sin((2 * Math.PI * frequency * i) / rate),
  )
const level = (samples: Int16Array) => Math.sqrt(samples.reduce((sum, v) => sum + v * v, 0) / samples.length)
const fullLevel = (0.5 * 32_768) / Math.SQRT2
// The filter is not settled at the ends.
const middle = (samples: Int16Array) => samples.subarray(400, samples.length - 400)

const rates = [8000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 12_345]

describe.each([8000, 16_000, 48_000] as const)('resampling to %d Hz', (to) => {
  it.each(rates)('keeps a tone from %d Hz', (rate) => {
    const out = toPrompt(sineAt(rate, 1000), rate, to)
    expect(out.buffer).toBeInstanceOf(SharedArrayBuffer)
    expect(Math.abs(out.length - to / 2)).toBeLessThanOrEqual(to / rate + 1)
    expect(level(middle(out)) / fullLevel).toBeCloseTo(1, 2)
    // Over whole periods, everything else, including images of the tone, is 60 dB down.
    const inside = middle(out)
    const whole = inside.subarray(0, inside.length - (inside.length % (to / 1000)))
    expect(goertzel(whole, 1000, to)).toBeGreaterThan(0.999_999)
  })
})

describe('resampling', () => {
  it('keeps 3.3 kHz without aliases from above 4 kHz', () => {
    const kept = toPrompt(sineAt(16_000, 3300), 16_000, 8000)
    expect(level(middle(kept)) / fullLevel).toBeGreaterThan(0.95)
    for (const rate of [16_000, 44_100, 48_000]) {
      for (const frequency of [4100, 5000, 7000]) {
        const folded = toPrompt(sineAt(rate, frequency), rate, 8000)
        expect(level(middle(folded)) / fullLevel).toBeLessThan(0.001)
      }
    }
  })

  it('clips samples out of range', () => {
    expect([...toPrompt(Float32Array.of(2, -2, 0), 8000, 8000)]).toEqual([32_767, -32_768, 0])
  })

  it('returns nothing for nothing', () => {
    expect(toPrompt(new Float32Array(0), 16_000, 8000).length).toBe(0)
  })
})
