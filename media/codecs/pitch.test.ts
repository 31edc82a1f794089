import { describe, expect, it } from 'vitest'
import type { PcmRate } from '../types.ts'
import { Pitch } from './pitch.ts'

/** Pulses of `pitch` Hz with some ringing, like a voice. */
const voice = (pitch: number, rate: number) =>
  Int16Array.from({ length: rate / 20 }, (_, i) => {
    const since = (i / rate) % (1 / pitch)
    return 9000 * Math.exp(-since * 300) * Math.cos(2 * Math.PI * 700 * since)
  })

describe.each([8000, 16000, 48000] as PcmRate[])('pitch at %d Hz', (rate) => {
  it.each([70, 100, 143, 190])('finds %d Hz', (hertz) => {
    const pitch = new Pitch(rate)
    const samples = voice(hertz, rate)
    pitch.find(samples, samples.length)
    const periods = (pitch.period * hertz) / rate
    expect(Math.abs(periods - Math.round(periods))).toBeLessThan(0.03)
    expect(pitch.strength).toBeGreaterThan(0.9)
  })

  it('respects the maximum period', () => {
    const pitch = new Pitch(rate)
    const samples = voice(75, rate)
    const longest = (rate / 1000) * 8
    pitch.find(samples, samples.length, longest)
    expect(pitch.period).toBeLessThanOrEqual(longest)
    expect(pitch.strength).toBeLessThan(0.8)
  })

  it('finds no pitch in noise', () => {
    let state = 7
    const noise = Int16Array.from({ length: rate / 20 }, () => {
      state = (Math.imul(state, 1103515245) + 12345) | 0
      return state >> 18
    })
    const pitch = new Pitch(rate)
    pitch.find(noise, noise.length)
    expect(pitch.strength).toBeLessThan(0.6)
    const power = pitch.power
    pitch.measure(noise, noise.length)
    expect(pitch.power / power).toBeCloseTo(1, 0)
  })
})
