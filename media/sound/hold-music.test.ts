import { expect, it } from 'vitest'
import { goertzel } from '../codecs/tone.ts'
import { holdMusic } from './hold-music.ts'

it.each([8000, 16_000, 48_000] as const)('is one round of music at %d Hz, not too loud', (rate) => {
  const samples = holdMusic(rate)
  expect(samples.length).toBe(12.8 * rate)
  const highest = samples.reduce((most, v) => Math.max(most, Math.abs(v)), 0)
  expect(highest).toBeGreaterThan(3000)
  expect(highest).toBeLessThan(7000)
  // The first note of each chord, in its first half.
  for (const [chord, frequency] of [220, 174.6, 261.6, 196].entries()) {
    const from = chord * 3.2 * rate
    expect(goertzel(samples.subarray(from, from + 0.2 * rate), frequency, rate)).toBeGreaterThan(0.4)
  }
})

it('loops seamlessly', () => {
  const samples = holdMusic(8000)
  const steepest = samples.reduce((most, v, i) => Math.max(most, i ? Math.abs(v - samples[i - 1]!) : 0), 0)
  expect(Math.abs(samples[0]! - samples.at(-1)!)).toBeLessThanOrEqual(steepest)
  // Never silent: the last notes sustain into the first.
  expect(samples.subarray(0, 40).some((v) => Math.abs(v) > 200)).toBe(true)
})
