import { describe, expect, it } from 'vitest'
import { sine } from '../codecs/tone.ts'
import { DelayedTrack } from './delayed-track.ts'

const frames = Array.from({ length: 50 }, (_, n) => sine(400, 1000).subarray(n * 160, (n + 1) * 160))

describe('a delayed track', () => {
  it('returns every sample, after the delay of its first frame', () => {
    const track = new DelayedTrack(8000)
    const out = frames.flatMap((frame) => [...track.pass(frame, 65)])
    expect(track.delayMs).toBe(65)
    expect(out.slice(0, 65 * 8).every((sample) => sample === 0)).toBe(true)
    expect(out.slice(65 * 8)).toEqual([...sine(400, 1000).subarray(0, 935 * 8)])
  })

  it('passes a frame at once without a delay, and silence as zeros', () => {
    const track = new DelayedTrack(16_000)
    const frame = sine(400, 20, 16_000)
    expect([...track.pass(frame, -30)]).toEqual([...frame])
    expect([...track.pass(undefined, 0)]).toEqual([...new Int16Array(320)])
  })

  it.each([
    [20, 120],
    [200, 60],
  ])('follows a change from %i to %i ms within a second, without a click', (from, to) => {
    const track = new DelayedTrack(8000)
    const out: number[] = []
    const pass = (delayMs: number) => {
      for (const frame of frames) out.push(...track.pass(frame, delayMs))
    }
    pass(from)
    pass(to)
    pass(to)
    expect(Math.abs(track.delayMs - to)).toBeLessThanOrEqual(30)
    const sound = out.slice(from * 8)
    // The steepest part of the tone rises by 2513 per ms.
    const steps = sound.slice(1).map((sample, i) => Math.abs(sample - sound[i]!))
    expect(Math.max(...steps)).toBeLessThan(3500)
  })
})
