import { describe, expect, it } from 'vitest'
import { sine, toneSnr } from '../codecs/tone.ts'
import type { PcmRate } from '../types.ts'
import { SampleQueue } from './sample-queue.ts'
import { TimeScale } from './time-scale.ts'

/**
 * Sends sound of `rate` through a queue in frames of 20 ms, and requests a change after each. Returns the
 * output, and the number of samples consumed.
 */
function run(sound: Int16Array, rate: PcmRate, excess: number, frames: number) {
  const queue = new SampleQueue(rate)
  const scale = new TimeScale(rate)
  const frame = rate / 50
  const out = new Int16Array(sound.length)
  let written = 0
  let from = 0
  for (let n = 0; n < frames; n++) {
    while (queue.length < frame) {
      const at = queue.reserve(frame)
      queue.samples.set(sound.subarray(from, from + frame), at)
      queue.end += frame
      from += frame
      scale.adjust(queue, excess)
    }
    queue.read(out.subarray(written), frame)
    written += frame
  }
  return { out: out.subarray(0, written), taken: from - queue.length }
}

const noise = (length: number, amplitude: number) => {
  let state = 7
  return Int16Array.from({ length }, () => {
    state = (Math.imul(state, 1103515245) + 12345) | 0
    return ((state >> 16) * amplitude) / 32_768
  })
}

describe.each([8000, 16000, 48000] as PcmRate[])('changing the length of sound at %d Hz', (rate) => {
  const tone = sine(250, 2000, rate)

  it('changes nothing if the delay is nearly right', () => {
    const same = tone.subarray(0, (20 * rate) / 50)
    expect(run(tone, rate, 12, 20).out).toEqual(same)
    expect(run(tone, rate, -4, 20).out).toEqual(same)
  })

  it('shortens periodic sound seamlessly', () => {
    const { out, taken } = run(tone, rate, 35, 40)
    expect(taken).toBeGreaterThan(out.length * 1.2)
    expect(toneSnr(out.subarray(rate / 10), 250, rate)).toBeGreaterThan(25)
  })

  it('lengthens periodic sound seamlessly', () => {
    const { out, taken } = run(tone, rate, -10, 40)
    expect(taken).toBeLessThan(out.length * 0.8)
    expect(toneSnr(out.subarray(rate / 10), 250, rate)).toBeGreaterThan(25)
  })

  it('shortens silence sooner, and unpitched sound only if necessary', () => {
    const hiss = noise(2 * rate, 8000)
    expect(run(hiss, rate, 60, 40).taken).toBe(40 * (rate / 50))
    expect(run(hiss, rate, 100, 40).taken).toBeGreaterThan(45 * (rate / 50))
    expect(run(tone, rate, 20, 40).taken).toBe(40 * (rate / 50))
    expect(run(noise(2 * rate, 60), rate, 20, 40).taken).toBeGreaterThan(45 * (rate / 50))
  })
})
