import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import type { SpeechDetector } from './speech-detector.ts'
import { VoiceCheck } from './voice-check.ts'

/** Detector of one call whose results a test gives. */
class FakeDetector implements SpeechDetector {
  readonly threshold = 0.5
  /** Frames of each sound, by their first sample. */
  readonly sounds: number[][] = []
  isTaking = true
  isClosed = false
  result: (probability: number) => void = () => {}

  open(onWindow: (probability: number) => void) {
    this.result = onWindow
    return {
      begin: () => void this.sounds.push([]),
      hear: (samples: Int16Array) => {
        if (this.isTaking) this.sounds.at(-1)?.push(samples[0] ?? 0)
        return this.isTaking
      },
      close: () => {
        this.isClosed = true
      },
    }
  }

  async close(): Promise<void> {}
}

const open = ({ canWait = true, isDetecting = true } = {}) => {
  const clock = new FakeClock()
  const detector = new FakeDetector()
  const found: unknown[][] = []
  const listener = {
    canWait,
    onVoice: (atMs: number, isFaded: boolean) => void found.push(['voice', atMs, isFaded]),
    onVoiceEnd: (atMs: number) => void found.push(['end', atMs]),
    onNoise: (isFaded: boolean) => void found.push(['noise', isFaded]),
    onVerdict: (verdict: string) => void found.push([verdict]),
  }
  const check = new VoiceCheck(listener, isDetecting ? detector : undefined, 8000, clock)
  let atMs = 0
  /** Frames of the caller, marked by their positions. */
  const frames = (count: number) => {
    for (let i = 0; i < count; i++, atMs += 20)
      check.frame({ track: 'in', atMs, samples: new Int16Array(160).fill(atMs) })
  }
  const results = (...probabilities: number[]) => probabilities.forEach(detector.result)
  const take = () => found.splice(0)
  return { check, clock, detector, listener, frames, results, take }
}

/**
 * Sound that began at 400 ms, and that the meter has reported at 460 ms. Three windows before it are known.
 */
const sounding = (options: Parameters<typeof open>[0] = {}, isFaded = false) => {
  const rig = open(options)
  rig.frames(23)
  rig.check.began(400, isFaded)
  rig.results(0, 0, 0)
  return rig
}

describe('A voice check', () => {
  it('gives the detector only sounds, with a little of what was before them', () => {
    const { check, detector, frames } = open()
    frames(23)
    expect(detector.sounds).toEqual([])
    check.began(400, false)
    frames(2)
    check.ended(440)
    frames(100)
    expect(detector.sounds).toEqual([[280, 300, 320, 340, 360, 380, 400, 420, 440, 460, 480]])
  })

  it('reports a sound as voice from its begin as soon as the detector hears speech', () => {
    const { check, frames, results, take } = sounding()
    results(0.9)
    expect(take()).toEqual([])
    results(0.9)
    expect(take()).toEqual([['voice', 400, false]])
    frames(10)
    results(0.9, 0.1, 0.1, 0.1, 0.1)
    check.ended(560)
    expect(take()).toEqual([['end', 560], ['voice']])
  })

  it('does not report a sound without speech', () => {
    const { check, frames, results, take } = sounding()
    frames(15)
    results(...Array<number>(11).fill(0.1))
    check.ended(600)
    expect(take()).toEqual([['noise']])
  })

  it('reports a sound at once if voice must not wait, and takes it back as soon as it is noise', () => {
    const { check, frames, results, take } = sounding({ canWait: false }, true)
    expect(take()).toEqual([['voice', 400, true]])
    results(0.1, 0.1, 0.1, 0.4, 0.1, 0.1, 0.1, 0.1, 0.1)
    expect(take()).toEqual([])
    results(0.1)
    expect(take()).toEqual([['noise', false]])
    frames(20)
    results(0.1, 0.1, 0.1)
    check.ended(700)
    expect(take()).toEqual([['noise']])
  })

  it('takes a short sound back at its end', () => {
    const { check, frames, results, take } = sounding({ canWait: false })
    frames(5)
    results(0.1, 0.1, 0.1, 0.1, 0.1)
    check.ended(460)
    expect(take()).toEqual([['voice', 400, false], ['noise', false], ['noise']])
  })

  it('reports speech in a noise that goes on, with the times of the speech', () => {
    const { check, frames, results, take } = sounding()
    frames(60)
    results(...Array<number>(10).fill(0.1), 0.9, 0.9, 0.9)
    // 13 windows after the lead of 120 ms and three windows: 280 + 16 * 32.
    expect(take()).toEqual([['voice', 696, false]])
    results(...Array<number>(6).fill(0.1))
    expect(take()).toEqual([['end', 792]])
    results(0.9, 0.9)
    expect(take()).toEqual([['voice', 984, false]])
    check.ended(1600)
    expect(take()).toEqual([['end', 1600], ['voice']])
  })

  it('reports a lowering of the speech for a sound that is noise already', () => {
    const { check, frames, results, take } = sounding()
    frames(20)
    results(...Array<number>(8).fill(0.1))
    check.began(400, true)
    expect(take()).toEqual([['noise', true]])
  })

  it('reports a voice again if the speech is lowered for it later', () => {
    const { check, results, take } = sounding()
    results(0.9, 0.9)
    check.began(400, true)
    expect(take()).toEqual([
      ['voice', 400, false],
      ['voice', 400, true],
    ])
  })

  it('counts a single window of speech at the end as a short word', () => {
    const { check, results, take } = sounding()
    results(0.9)
    check.ended(480)
    expect(take()).toEqual([['voice', 400, false], ['end', 480], ['voice']])
  })

  it('trusts the meter without a detector', () => {
    const { check, frames, take } = open({ isDetecting: false })
    frames(2)
    check.began(0, false)
    check.ended(40)
    expect(take()).toEqual([
      ['voice', 0, false],
      ['end', 40],
    ])
  })

  it('trusts the meter if the detector takes nothing, is silent, or falls behind', () => {
    const busy = open()
    busy.detector.isTaking = false
    busy.frames(23)
    busy.check.began(400, false)
    expect(busy.take()).toEqual([['voice', 400, false]])
    busy.check.ended(500)
    expect(busy.take()).toEqual([['end', 500], ['unknown']])

    const silent = sounding()
    silent.clock.advance(249)
    expect(silent.take()).toEqual([])
    silent.clock.advance(1)
    expect(silent.take()).toEqual([['voice', 400, false]])
    silent.results(...Array<number>(20).fill(0))
    silent.check.ended(900)
    expect(silent.take()).toEqual([['end', 900], ['unknown']])

    const late = sounding({ canWait: false })
    late.frames(20)
    late.results(0.1, 0.1)
    late.check.ended(900)
    expect(late.take()).toEqual([['voice', 400, false], ['end', 900], ['unknown']])
    expect(late.clock.running).toBe(0)
  })

  it('trusts the meter about a sound that ends before its results, unless a part of it was noise', () => {
    const short = sounding()
    short.frames(5)
    short.results(0.1)
    short.check.ended(480)
    expect(short.take()).toEqual([['voice', 400, false], ['end', 480], ['unknown']])
    const noisy = sounding()
    noisy.frames(40)
    noisy.results(...Array<number>(8).fill(0.1))
    noisy.check.ended(1200)
    expect(noisy.take()).toEqual([['noise']])
  })

  it('trusts recognised words', () => {
    const { check, frames, results, take } = sounding()
    frames(10)
    results(0.1, 0.1)
    check.words()
    expect(take()).toEqual([['voice', 400, false]])
    results(...Array<number>(20).fill(0))
    expect(take()).toEqual([])
    check.ended(900)
    expect(take()).toEqual([['end', 900], ['unknown']])
  })

  it('trusts the meter again when the detector fails during a sound', () => {
    const { detector, frames, take } = sounding()
    detector.isTaking = false
    frames(1)
    expect(take()).toEqual([['voice', 400, false]])
  })

  it('ends without a report', () => {
    const { check, detector, clock, results, take } = sounding()
    check.close()
    results(0.9, 0.9)
    expect([detector.isClosed, clock.running, take()]).toEqual([true, 0, []])
  })
})
