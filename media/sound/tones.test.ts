import { expect, it } from 'vitest'
import { goertzel } from '../codecs/tone.ts'
import { toneOf } from './tones.ts'

const highest = (samples: Int16Array) => samples.reduce((most, v) => Math.max(most, Math.abs(v)), 0)

it.each([8000, 16_000, 48_000] as const)('makes tones at %d Hz', (rate) => {
  const samples = toneOf({ kind: 'tone', frequencies: [941, 1477], ms: 200 }, rate)
  expect(samples.length).toBe(rate / 5)
  expect(goertzel(samples, 941, rate)).toBeGreaterThan(0.45)
  expect(goertzel(samples, 1477, rate)).toBeGreaterThan(0.45)
  expect(Math.abs(samples[0]!)).toBeLessThan(10)
  expect(Math.abs(samples.at(-1)!)).toBeLessThan(10)
})

it('has the requested level, never above full scale', () => {
  const at = (levelDb?: number) =>
    highest(toneOf({ kind: 'tone', frequencies: [1000], ms: 100, levelDb }, 48_000))
  expect(at(0)).toBe(32_767)
  expect(at() / 32_767).toBeCloseTo(10 ** (-12 / 20), 3)
  expect(at(-60) / 32_767).toBeCloseTo(0.001, 3)
})

it.each([
  [{ frequencies: [] }, 'frequencies expected, found 0'],
  [{ frequencies: [4000] }, 'found 4000'],
  [{ frequencies: [Number.NaN] }, 'found NaN'],
  [{ frequencies: [440], levelDb: 1 }, 'found 1'],
  [{ frequencies: [440], ms: -1 }, '0 to 600000 ms'],
])('rejects %j', (wrong, message) => {
  expect(() => toneOf({ kind: 'tone', ms: 10, ...wrong }, 8000)).toThrow(message)
})
