import { describe, expect, it } from 'vitest'
import { Resampler, type ResamplerRate } from './resampler.ts'
import { sine, toneSnr } from './tone.ts'

const pairs: { from: ResamplerRate; to: ResamplerRate }[] = [
  { from: 8000, to: 16000 },
  { from: 8000, to: 48000 },
  { from: 16000, to: 48000 },
  { from: 16000, to: 8000 },
  { from: 48000, to: 8000 },
  { from: 48000, to: 16000 },
  { from: 24000, to: 48000 },
  { from: 48000, to: 24000 },
]
const amplitude = 16_000

/** Half a second in frames of 20 ms; the filter settles within the first 100 ms. */
function resampled(from: ResamplerRate, to: ResamplerRate, frequency: number): Int16Array {
  const resampler = new Resampler(from, to)
  const input = sine(frequency, 500, from, amplitude)
  const out = new Int16Array(to / 2)
  let at = 0
  for (let start = 0; start < input.length; start += from / 50) {
    const written = resampler.process(input, start, start + from / 50, out, at)
    expect(written).toBe(to / 50)
    at += written
  }
  return out.subarray(to / 10)
}

const levelDb = (samples: Int16Array) =>
  10 * Math.log10(samples.reduce((sum, s) => sum + s * s, 0) / samples.length / (amplitude ** 2 / 2))

describe.each(pairs)('resampling from $from to $to Hz', ({ from, to }) => {
  const lower = Math.min(from, to)
  const passed = {
    8000: [100, 310, 1000, 2020, 3000, 3400],
    16000: [100, 1000, 3000, 3900, 5000, 7000],
    24000: [100, 1000, 3900, 7000, 9000, 10_500],
  }[lower as 8000 | 16_000 | 24_000]

  it.each(passed)('keeps %d Hz without images', (frequency) => {
    const out = resampled(from, to, frequency)
    expect(Math.abs(levelDb(out))).toBeLessThan(0.1)
    // Everything but the tone: images, aliases, rounding.
    expect(toneSnr(out, frequency, to)).toBeGreaterThan(60)
  })
})

describe.each(pairs.filter(({ from, to }) => from > to))(
  'resampling down from $from to $to Hz',
  ({ from, to }) => {
    it.each([1.003, 1.02, 1.1, 1.31, 1.7, 1.93])(
      'lets nothing of %d times half the rate fold back',
      (share) => {
        expect(levelDb(resampled(from, to, (share * to) / 2))).toBeLessThan(-60)
      },
    )
  },
)

describe('the resampler', () => {
  it('is independent of the frame boundaries', () => {
    const input = sine(700, 300, 16000, amplitude)
    const whole = new Int16Array(2400)
    const parts = new Int16Array(2400)
    new Resampler(16000, 8000).process(input, 0, input.length, whole, 0)
    const resampler = new Resampler(16000, 8000)
    let written = 0
    let from = 0
    for (const length of [1, 2, 3, 317, 1, 1000, 640, 5, 0, 11]) {
      written += resampler.process(input, from, from + length, parts, written)
      from += length
    }
    written += resampler.process(input, from, input.length, parts, written)
    expect(written).toBe(2400)
    expect(parts).toEqual(whole)
  })

  it.each(pairs)('reports its delay ($from to $to)', ({ from, to }) => {
    const input = new Int16Array(from / 10)
    input[from / 50] = amplitude
    const out = new Int16Array(to / 10)
    const resampler = new Resampler(from, to)
    resampler.process(input, 0, input.length, out, 0)
    const peak = out.reduce((best, sample, i) => (sample > out[best]! ? i : best), 0)
    expect(Math.abs((peak * 1000) / to - 20 - resampler.delayMs)).toBeLessThanOrEqual(500 / to + 0.07)
  })

  it('copies at equal rates, and clips overshoot', () => {
    const out = new Int16Array(4)
    const same = new Resampler(8000, 8000)
    expect(same.process(Int16Array.of(1, 2, 3, 4), 1, 4, out, 1)).toBe(3)
    expect([...out, same.delayMs]).toEqual([0, 2, 3, 4, 0])
    const square = Int16Array.from({ length: 800 }, (_, i) => (i % 100 < 50 ? 32767 : -32768))
    const wide = new Int16Array(1600)
    new Resampler(8000, 16000).process(square, 0, 800, wide, 0)
    expect([Math.max(...wide), Math.min(...wide)]).toEqual([32767, -32768])
    // Without clicks, overshoot would wrap to the other sign.
    expect(wide.subarray(260, 300).every((sample) => sample > 25_000)).toBe(true)
  })
})
