import { describe, expect, it } from 'vitest'
import { framesOf, mixed, noise, overG711, quiet, tone } from './testing/detection-sounds.ts'
import { ToneMeter } from './tone-meter.ts'

describe('ToneMeter', () => {
  const meter = new ToneMeter()

  it.each([
    [400, 40],
    [425, 15],
    [1000, 10],
    [1100, 10],
    [2085, 15],
    [2115, 10],
  ])('finds %d Hz with noise %d dB below to 5 Hz, over both laws', (frequency, snr) => {
    for (const law of ['PCMU', 'PCMA'] as const) {
      const line = overG711(law, mixed(tone(frequency, 1000, -25), noise(1000, -25 - snr)))
      for (const frame of framesOf(line)) {
        meter.measure(frame)
        expect(Math.abs(meter.frequency - frequency)).toBeLessThan(5)
        expect(meter.share).toBeGreaterThan(0.85)
        // 0 dBm0 is a sine at -3.17 - 3.01 dBov.
        expect(meter.levelDb).toBeCloseTo(-31, -0.5)
      }
    }
  })

  it('gives two tones, and noise, a small share', () => {
    for (const sound of [tone([480, 620], 500), tone([697, 1209], 500), noise(500, -20)])
      for (const frame of framesOf(sound)) {
        meter.measure(frame)
        expect(meter.share).toBeLessThan(0.75)
      }
  })

  it('finds nothing in silence and below -43 dBm0', () => {
    for (const frame of [undefined, ...framesOf(quiet(20)), ...framesOf(tone(1000, 20, -45))]) {
      meter.measure(frame)
      expect([meter.frequency, meter.share]).toEqual([0, 0])
    }
    meter.measure([...framesOf(tone(1000, 20, -39))][0])
    expect(meter.frequency).toBeCloseTo(1000, -1)
  })
})
