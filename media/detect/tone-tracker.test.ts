import { describe, expect, it } from 'vitest'
import { framesOf, joined, louder, mixed, noise, quiet, reversing, tone } from './testing/detection-sounds.ts'
import { type Tone, ToneTracker } from './tone-tracker.ts'

/** Tones that ended in a sound. */
const tonesIn = (samples: Int16Array): readonly Tone[] => {
  const follower = new ToneTracker()
  const tones: Tone[] = []
  for (const frame of framesOf(samples)) {
    follower.update(frame)
    if (follower.ended) tones.push(follower.ended)
  }
  return tones
}

describe('the tone tracker', () => {
  it.each([0, 3, 10, 17])('measures a tone that starts %d ms within a frame', (offset) => {
    const [found, ...more] = tonesIn(joined([quiet(100 + offset), tone(1400, 300), quiet(200)]))
    expect(found?.frequency).toBeCloseTo(1400, -1)
    expect(found?.ms).toBeGreaterThanOrEqual(260)
    expect(found?.ms).toBeLessThanOrEqual(300)
    expect([found?.isFading, found?.breaks, more]).toEqual([true, 0, []])
  })

  it('tracks a tone over a phase reversal and a lost packet', () => {
    // Every second phase reversal lies between two frames.
    const [found, ...more] = tonesIn(joined([reversing(2000), quiet(200)]))
    expect([Math.round(found?.frequency ?? 0), found?.breaks, more]).toEqual([2100, 2, []])
    expect(found?.ms).toBeGreaterThanOrEqual(1960)
    expect(
      tonesIn(joined([tone(2100, 200), quiet(20), tone(2100, 200), quiet(100)])).map(({ ms }) => ms),
    ).toEqual([420])
  })

  it('separates tones by pause, frequency and level', () => {
    expect(tonesIn(joined([tone(1000, 200), quiet(60), tone(1000, 200), quiet(60)])).length).toBe(2)
    const steps = tonesIn(joined([tone(1000, 200), tone(1050, 200), quiet(60)]))
    expect(steps.map(({ frequency, isFading: fades }) => [Math.round(frequency / 10) * 10, fades])).toEqual([
      [1000, false],
      [1050, true],
    ])
    expect(tonesIn(joined([tone(1000, 200), louder(tone(1000, 200), -8), quiet(60)])).length).toBe(2)
  })

  it('distinguishes a tone that becomes another sound from one that fades', () => {
    const background = noise(500, -35)
    const ends = tonesIn(mixed(joined([tone(1000, 200, -15), quiet(300)]), background))
    const goesOver = tonesIn(joined([tone(1000, 200, -15), noise(300, -18)]))
    expect([ends, goesOver].map(([found]) => found?.isFading)).toEqual([true, false])
  })
})
