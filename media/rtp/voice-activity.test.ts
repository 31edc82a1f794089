import { describe, expect, it } from 'vitest'
import { sine } from '../codecs/tone.ts'
import { ComfortNoise } from './comfort-noise.ts'
import { levelDb, minLevelDb, VoiceActivityDetector } from './voice-activity.ts'

/** Frames of 20 ms of noise at 8 kHz. */
function* noise(level: number, seconds: number, maker = new ComfortNoise()): Generator<Int16Array> {
  for (let i = 0; i < seconds * 50; i++) {
    const frame = new Int16Array(160)
    maker.fill(level, frame)
    yield frame
  }
}

const tone = (level: number): Int16Array => sine(400, 20, 8000, 32_767 * 10 ** ((level + 3.01) / 20))

describe('levelDb', () => {
  it('measures against full scale', () => {
    expect(levelDb(new Int16Array(160).fill(-32_768))).toBeCloseTo(0, 5)
    expect(levelDb(sine(1000, 20, 8000, 32_767))).toBeCloseTo(-3.01, 2)
    expect(levelDb(sine(1000, 20, 16_000, 3277))).toBeCloseTo(-23.01, 1)
    expect(levelDb(new Int16Array(160))).toBe(minLevelDb)
    expect(levelDb(new Int16Array(0))).toBe(minLevelDb)
    expect(levelDb(new Int16Array(3).fill(-32_768))).toBeCloseTo(0, 5)
  })
})

describe('the voice activity detector', () => {
  it('starts at -45 dBov', () => {
    expect(new VoiceActivityDetector().thresholdDb).toBe(-45)
    expect(new VoiceActivityDetector().update(tone(-44))).toBe(true)
    expect(new VoiceActivityDetector().update(tone(-46))).toBe(false)
  })

  it('shifts the threshold with all its bounds', () => {
    const deaf = new VoiceActivityDetector(20)
    expect([deaf.update(tone(-26)), deaf.update(tone(-24))]).toEqual([false, true])
    for (let i = 0; i < 50 * 60; i++) deaf.update(tone(-24))
    expect(deaf.thresholdDb).toBeCloseTo(-10, 5)
    const keen = new VoiceActivityDetector(-20)
    expect([keen.update(tone(-66)), keen.update(tone(-64))]).toEqual([false, true])
    for (const frame of noise(-50, 60)) keen.update(frame)
    for (const frame of noise(-50, 1)) expect(keen.update(frame)).toBe(true)
  })

  it('classifies steady noise as noise after some seconds, and a voice above it as voice', () => {
    const voice = new VoiceActivityDetector()
    const heard = [...noise(-40, 6)].map((frame) => voice.update(frame))
    expect(heard[0]).toBe(true)
    expect(heard.slice(150)).not.toContain(true)
    expect(voice.floorDb).toBeCloseTo(-40, -1)
    expect(voice.update(tone(-25))).toBe(true)
  })

  it('follows quieter noise at once', () => {
    const voice = new VoiceActivityDetector()
    for (const frame of noise(-40, 6)) voice.update(frame)
    for (const frame of noise(-70, 0.5)) voice.update(frame)
    expect(voice.thresholdDb).toBe(-60)
    expect(voice.update(tone(-55))).toBe(true)
  })

  it('never classifies a loud tone as noise', () => {
    const voice = new VoiceActivityDetector()
    for (let i = 0; i < 50 * 120; i++) expect(voice.update(tone(-28))).toBe(true)
  })

  it('ignores missing packets', () => {
    const voice = new VoiceActivityDetector()
    for (let i = 0; i < 500; i++) expect(voice.update(undefined)).toBe(false)
    for (let i = 0; i < 500; i++) expect(voice.update(new Int16Array(160))).toBe(false)
    expect(voice.thresholdDb).toBe(-45)
  })

  it('keeps its threshold through words with pauses', () => {
    const voice = new VoiceActivityDetector()
    const maker = new ComfortNoise()
    for (let word = 0; word < 60; word++) {
      for (let i = 0; i < 40; i++) expect(voice.update(tone(-35))).toBe(true)
      for (const frame of noise(-62, 0.2, maker)) voice.update(frame)
    }
    expect(voice.thresholdDb).toBeLessThan(-45)
  })
})
