import { describe, expect, it } from 'vitest'
import { goertzel } from '../codecs/tone.ts'
import { countryOf, ringtone as ringtoneAt, ringtoneCountries } from './ringtones.ts'

const ringtone = (country: string) => ringtoneAt(country, 8000)

/** Milliseconds of sound and silence in turn, measured in steps of 10 ms. */
const cadence = (samples: Int16Array): number[] => {
  const runs: number[] = []
  let sounding = true
  let length = 0
  for (let at = 0; at < samples.length; at += 80) {
    const loud = samples.subarray(at, at + 80).some((sample) => Math.abs(sample) > 50)
    if (loud !== sounding) {
      runs.push(length)
      sounding = loud
      length = 0
    }
    length += 10
  }
  return [...runs, length]
}

describe('ringing tones', () => {
  it.each([
    ['us', [2000, 4000], [440, 480]],
    ['uk', [400, 200, 400, 2000], [400, 450]],
    ['de', [1000, 4000], [425]],
    ['fr', [1500, 3500], [440]],
    ['es', [1500, 3000], [425]],
    ['tr', [2000, 4000], [450]],
  ])('of %s has its cadence and frequencies', (country, times, frequencies) => {
    const samples = ringtone(country)
    expect(cadence(samples)).toEqual(times)
    const first = samples.subarray(0, times[0]! * 8)
    for (const frequency of frequencies)
      expect(goertzel(first, frequency)).toBeGreaterThan(0.9 / frequencies.length)
  })

  it('of Japan is modulated sixteen times a second', () => {
    const first = ringtone('jp').subarray(0, 8000)
    expect(goertzel(first, 400)).toBeGreaterThan(0.6)
    expect(goertzel(first, 416)).toBeGreaterThan(0.1)
    expect(goertzel(first, 384)).toBeGreaterThan(0.1)
  })

  it.each([16_000, 48_000] as const)('are the same at %d Hz', (rate) => {
    for (const country of ringtoneCountries) {
      const samples = ringtoneAt(country, rate)
      const narrow = ringtone(country)
      expect(samples.length).toBe((narrow.length * rate) / 8000)
      for (let i = 0; i < narrow.length; i += 97)
        expect(Math.abs(samples[(i * rate) / 8000]! - narrow[i]!)).toBeLessThan(130)
    }
  })

  it('default to the American one', () => {
    expect(['xx', '', 'constructor', undefined].map(countryOf)).toEqual(['us', 'us', 'us', 'us'])
    expect(countryOf('US-old')).toBe('us-old')
    expect(countryOf(' UK ')).toBe('gb')
  })

  it('are neither too loud nor too soft', () => {
    for (const country of ringtoneCountries) {
      const most = ringtone(country).reduce((max, sample) => Math.max(max, Math.abs(sample)), 0)
      expect(most).toBeGreaterThan(3000)
      expect(most).toBeLessThanOrEqual(5100)
    }
  })
})
