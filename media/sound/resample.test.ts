import { describe, expect, it } from 'vitest'
import { goertzel } from '../codecs/tone.ts'
import { toPromptSamples } from './resample.ts'

const sineAt = (rate: number, frequency: number, ms = 500) =>
  Float32Array.from(
    { length: (rate * ms) / 1000 },
    (_, i) => 0.5 * Math.sin((2 * Math.PI * frequency * i) / rate),
  )
const level = (samples: Int16Array) => Math.sqrt(samples.reduce((sum, v) => sum + v * v, 0) / samples.length)
const fullLevel = (0.5 * 32_768) / Math.SQRT2
// The filter has not filled at the ends.
const middle = (samples: Int16Array) => samples.subarray(400, samples.length - 400)

describe('resampling to 8 kHz', () => {
  it.each([8000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000, 12_345])(
    'keeps a tone from %d Hz',
    async (rate) => {
      const out = await toPromptSamples(sineAt(rate, 1000), rate)
      expect(out.buffer).toBeInstanceOf(SharedArrayBuffer)
      expect(Math.abs(out.length - 4000)).toBeLessThanOrEqual(1)
      expect(goertzel(middle(out), 1000)).toBeGreaterThan(0.999)
      expect(level(middle(out)) / fullLevel).toBeCloseTo(1, 2)
    },
  )

  it('keeps 3.3 kHz and lets nothing above 4 kHz fold back', async () => {
    const kept = await toPromptSamples(sineAt(16_000, 3300), 16_000)
    expect(level(middle(kept)) / fullLevel).toBeGreaterThan(0.95)
    for (const rate of [16_000, 44_100, 48_000]) {
      for (const frequency of [4100, 5000, 7000]) {
        const folded = await toPromptSamples(sineAt(rate, frequency), rate)
        expect(level(middle(folded)) / fullLevel).toBeLessThan(0.001)
      }
    }
  })

  it('clips what is too loud', async () => {
    const out = await toPromptSamples(Float32Array.of(2, -2, 0), 8000)
    expect([...out]).toEqual([32_767, -32_768, 0])
  })

  it('gives nothing for nothing', async () => {
    expect((await toPromptSamples(new Float32Array(0), 16_000)).length).toBe(0)
  })
})
