import { describe, expect, it } from 'vitest'
import type { PcmRate } from '../types.ts'
import { Concealer } from './concealer.ts'
import { sine, toneSnr } from './tone.ts'

const rates: PcmRate[] = [8000, 16000, 48000]
const power = (samples: Int16Array) => samples.reduce((sum, s) => sum + s * s, 0) / samples.length

/** Returns a sum of harmonics, like a voice, with a pitch of `pitch` Hz. */
function voice(pitch: number, ms: number, rate: number): Int16Array {
  return Int16Array.from({ length: (ms * rate) / 1000 }, (_, i) => {
    let sum = 0
    for (let k = 1; k < 12; k++) sum += Math.sin((2 * Math.PI * k * pitch * i) / rate + k) / k
    return 4000 * sum
  })
}

/** Plays `sound` in frames of 20 ms, without those in `lost`. */
function play(sound: Int16Array, rate: PcmRate, lost: readonly number[]): Int16Array {
  const concealer = new Concealer(rate)
  const length = rate / 50
  const out = new Int16Array(sound.length)
  for (let frame = 0; frame * length < sound.length; frame++) {
    const samples = sound.slice(frame * length, (frame + 1) * length)
    if (lost.includes(frame)) concealer.conceal(samples, length)
    else concealer.received(samples, length)
    out.set(samples, frame * length)
  }
  return out
}

describe.each(rates)('concealment at %d Hz', (rate) => {
  const frame = rate / 50

  it('changes nothing without loss', () => {
    const sound = voice(130, 200, rate)
    expect(play(sound, rate, [])).toEqual(sound)
  })

  it.each([80, 130, 210, 340])('continues a voice of %d Hz through 10 ms', (pitch) => {
    const sound = voice(pitch, 400, rate)
    const out = play(sound, rate, [12])
    const error = out.map((sample, i) => sample - sound[i]!)
    // Silence instead would be an error of 0 dB.
    const part = [12 * frame, 12.5 * frame] as const
    const ratio = power(error.subarray(...part)) / power(sound.subarray(...part))
    expect(10 * Math.log10(ratio)).toBeLessThan(-12)
    // The next frame is overlapped with the substitute, later ones are unchanged.
    expect(out.subarray(14 * frame)).toEqual(sound.subarray(14 * frame))
  })

  it('continues a tone without clicks', () => {
    const sound = sine(440, 400, rate)
    const out = play(sound, rate, [12])
    const steepest = (samples: Int16Array) =>
      samples.reduce((most, s, i) => (i ? Math.max(most, Math.abs(s - samples[i - 1]!)) : 0), 0)
    expect(steepest(out)).toBeLessThan(steepest(sound) * 1.5)
    expect(toneSnr(out.subarray(11 * frame, 15 * frame), 440, rate)).toBeGreaterThan(13)
  })

  it('fades from 10 ms on and is silent after 60', () => {
    const out = play(voice(130, 400, rate), rate, [10, 11, 12, 13])
    const level = (ms: number) => power(out.subarray(10 * frame + (ms * rate) / 1000).subarray(0, rate / 100))
    const steps = [0, 10, 20, 30, 40, 50].map(level)
    for (let i = 2; i < steps.length; i++) expect(steps[i]!).toBeLessThan(steps[i - 1]!)
    expect(level(50) / level(0)).toBeLessThan(0.1)
    expect(level(60)).toBe(0)
  })

  it('is silent after silence', () => {
    expect(power(play(new Int16Array(rate / 5), rate, [3, 4, 5]))).toBe(0)
  })
})
