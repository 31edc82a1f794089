import { describe, expect, it } from 'vitest'
import { dominant, goertzel, sine } from '../codecs/tone.ts'
import { PromptSource } from './prompt-source.ts'

const ramp = Int16Array.from({ length: 250 }, (_, i) => i * 100)
const take = (source: PromptSource, frames: number, rate: 8000 | 16000 | 48000 = 8000): number[] =>
  Array.from({ length: frames }, () => [...source.take(rate)]).flat()

describe('a prompt', () => {
  it('is read frame by frame, and padded with silence', () => {
    const source = new PromptSource(ramp, 8000, 1, 0)
    expect(take(source, 1)).toEqual([...ramp.subarray(0, 160)])
    expect(source.hasEnded).toBe(false)
    const last = take(source, 1)
    expect(last.slice(0, 90)).toEqual([...ramp.subarray(160)])
    expect(last.slice(90).every((sample) => sample === 0)).toBe(true)
    expect(source.hasEnded).toBe(true)
  })

  it('is repeated without a gap, as often as requested', () => {
    const source = new PromptSource(ramp, 8000, 3, 0)
    expect(take(source, 5).slice(0, 750)).toEqual([...ramp, ...ramp, ...ramp])
    expect(source.hasEnded).toBe(true)
  })

  it('repeats endlessly with a loop of 0', () => {
    const source = new PromptSource(ramp, 8000, 0, 0)
    take(source, 10_000)
    expect(source.hasEnded).toBe(false)
  })

  it('is scaled and clipped', () => {
    const [quiet, loud] = [-6.0206, 20].map((db) => take(new PromptSource(ramp, 8000, 1, db), 2))
    expect(quiet![100]! / 5000).toBeCloseTo(1, 1)
    expect(loud![200]).toBeGreaterThan(32_000)
  })

  it('ends at once if empty', () => {
    expect(new PromptSource(new Int16Array(0), 8000, 0, 0).hasEnded).toBe(true)
  })

  it.each([
    [8000, 16_000],
    [8000, 48_000],
    [16_000, 8000],
    [48_000, 8000],
    [48_000, 16_000],
  ] as const)('keeps its pitch from %i to %i samples per second', (from, to) => {
    const heard = take(new PromptSource(sine(1000, 1000, from), from, 1, 0), 50, to).slice(to / 10)
    expect(dominant(heard, to)).toBe(1000)
    expect(goertzel(heard.slice(0, to / 2), 1000, to)).toBeGreaterThan(0.999)
  })

  /** Maximum step between two samples: 1257 for a sine of 200 Hz at 8000, up to 8000 for a click. */
  const roughness = (samples: readonly number[]) =>
    Math.max(...samples.slice(1).map((sample, i) => Math.abs(sample - samples[i]!)))

  it('fades on pause, resume, volume change and stop, and resumes where it was paused', () => {
    const source = new PromptSource(sine(200, 2000), 8000, 1, 0)
    const heard = take(source, 3)
    source.pause()
    heard.push(...take(source, 1))
    expect([source.isAudible, source.hasEnded, heard.at(-1)]).toEqual([false, false, 0])
    source.resume()
    expect(source.isAudible).toBe(true)
    heard.push(...take(source, 2))
    source.setVolume(-6.0206)
    heard.push(...take(source, 2))
    source.stop()
    heard.push(...take(source, 1))
    expect([source.hasEnded, source.isAudible, heard.at(-1)]).toEqual([true, false, 0])
    expect(roughness(heard)).toBeLessThan(1400)
    expect(Math.max(...heard.slice(7 * 160, 8 * 160))).toBeLessThan(4100)
  })

  it('needs no fading before it was played', () => {
    const paused = new PromptSource(ramp, 8000, 1, 0)
    paused.pause()
    expect(paused.isAudible).toBe(false)
    paused.resume()
    expect(take(paused, 1)).toEqual([...ramp.subarray(0, 160)])
    const stopped = new PromptSource(ramp, 8000, 1, 0)
    stopped.stop()
    expect(stopped.hasEnded).toBe(true)
  })
})
