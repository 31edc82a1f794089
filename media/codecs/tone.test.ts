import { describe, expect, it } from 'vitest'
import { dominant, goertzel, sine } from './tone.ts'

describe('tone', () => {
  it('finds the frequency of a sine and nothing elsewhere', () => {
    const samples = sine(440, 200)
    expect(samples).toHaveLength(1600)
    expect(goertzel(samples, 440)).toBeGreaterThan(0.99)
    expect(goertzel(samples, 880)).toBeLessThan(0.01)
    expect(dominant(samples)).toBe(440)
  })

  it('finds the stronger of two', () => {
    const low = sine(600, 200, 8000, 3000)
    const high = sine(1500, 200, 8000, 9000)
    expect(dominant(low.map((sample, i) => sample + high[i]!))).toBe(1500)
  })

  it('finds nothing in silence', () => {
    expect(dominant(new Int16Array(800))).toBe(0)
    expect(goertzel(new Int16Array(800), 440)).toBe(0)
  })
})
