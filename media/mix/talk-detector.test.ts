import { describe, expect, it } from 'vitest'
import { sine } from '../codecs/tone.ts'
import {
  framesOf,
  louder,
  mixed,
  noise,
  prepare,
  quiet,
  speech,
  tone,
} from '../detect/testing/detection-sounds.ts'
import { levelDb, minLevelDb } from '../rtp/voice-activity.ts'
import { TalkDetector } from './talk-detector.ts'

const text =
  'Good morning, and welcome to the weekly meeting. The first point is the plan for next month. ' +
  'Three customers asked for an earlier date, and one of them wants a smaller part. Shall we decide now?'

const [voice] = await prepare(speech(text))
const voiceMs = voice!.length / 8
const voiceDb = levelDb(voice!)

const concat = (...parts: readonly Int16Array[]): Int16Array =>
  Int16Array.from(parts.flatMap((part) => Array.from(part)))

/** Noise of a fan: most of its power is at low frequencies, so its level varies. */
const fan = (ms: number): Int16Array => {
  let last = 0
  return noise(ms, -20).map((sample) => {
    last += 0.02 * (sample - last)
    return Math.round(last * 8)
  })
}

/** Returns the times in ms at which the input begins and ends to talk, alternately. */
function changes(samples: Int16Array, detector = new TalkDetector()): number[] {
  const times: number[] = []
  let now = 0
  for (const frame of framesOf(samples)) {
    const isTalking = () => detector.talk !== 'silent'
    const before = isTalking()
    detector.update(levelDb(frame))
    now += 20
    if (isTalking() !== before) times.push(now)
  }
  return times
}

/** Returns the changes with their times in ms. */
function talks(samples: Int16Array): [ms: number, talk: string][] {
  const detector = new TalkDetector()
  const seen: [number, string][] = []
  for (const [index, frame] of [...framesOf(samples)].entries()) {
    const before = detector.talk
    detector.update(levelDb(frame))
    if (detector.talk !== before) seen.push([(index + 1) * 20, detector.talk])
  }
  return seen
}

describe('the detection of talking', () => {
  it('begins after 200 ms of voice, and ends after 700 ms without', () => {
    expect(changes(concat(quiet(1000), noise(400, -20), quiet(2000)))).toEqual([1200, 2100])
  })

  it('lasts through all pauses of speech, loud and low', () => {
    for (const db of [10, 0, -20]) {
      const times = changes(concat(louder(voice!, db), quiet(2000)))
      expect(times).toHaveLength(2)
      expect(times[0]).toBeLessThan(600)
      // The voice itself ends with silence.
      expect(Math.abs(times[1]! - voiceMs)).toBeLessThan(700)
    }
  })

  it.each([20, 15, 10])('finds speech %d dB above steady noise', (distance) => {
    const hiss = noise(voiceMs + 4000, -15)
    const room = louder(hiss, voiceDb - distance - levelDb(hiss))
    const times = changes(mixed(room, concat(quiet(2000), voice!, quiet(2000))))
    // The noise itself counts for a moment when it begins.
    expect(times).toHaveLength(4)
    expect(times[2]! - 2000).toBeLessThan(800)
    expect(Math.abs(times[3]! - 2000 - voiceMs)).toBeLessThan(800)
  })

  it.each([
    ['noise', noise(8000, -20)],
    ['loud noise', noise(8000, -6)],
    ['a fan', fan(8000)],
    ['hum', tone([50, 100, 150], 8000, -20)],
    ['hum of 60 Hz', tone([60, 120, 180], 8000, -20)],
    ['a loud tone', sine(440, 8000, 8000, 20_000)],
  ])('takes %s for noise after 1.2 s', (_, samples) => {
    expect(levelDb(samples)).toBeGreaterThan(-40)
    expect(changes(samples)).toEqual([200, 1920])
  })

  it('ignores coughs, clicks and quiet noise', () => {
    expect(changes(concat(quiet(500), noise(160, -6), quiet(1000), noise(40, -6), quiet(500)))).toEqual([])
    expect(changes(noise(5000, -55))).toEqual([])
  })

  it('finds a short word', () => {
    expect(changes(concat(noise(3000, -60), noise(300, -25), noise(2000, -60)))).toHaveLength(2)
  })

  it('pauses 100 ms after the voice, and talks again with the next voice', () => {
    const samples = concat(quiet(1000), noise(400, -20), quiet(300), noise(400, -20), quiet(1000))
    expect(talks(samples).map((each) => each.join(' '))).toEqual([
      '1200 talking',
      '1500 pausing',
      '1760 speaking',
      '2200 pausing',
      '2800 silent',
    ])
  })

  it.each([200, 300, 390])('does not take a word of %d ms for speech', (ms) => {
    for (const offset of [0, 5, 10, 15]) {
      const samples = concat(quiet(1000 + offset), noise(ms, -20), quiet(2000))
      expect(talks(samples).map(([, talk]) => talk)).not.toContain('speaking')
    }
  })

  it('takes syllables with short pauses for speech after 440 ms', () => {
    const syllable = concat(noise(180, -20), quiet(80))
    const samples = concat(quiet(1000), ...Array.from({ length: 5 }, () => syllable))
    expect(talks(samples).slice(0, 2)).toEqual([
      [1280, 'talking'],
      [1440, 'speaking'],
    ])
  })

  it('keeps the noise floor over missing packets, and ends at once when stopped', () => {
    const detector = new TalkDetector()
    changes(noise(3000, -30), detector)
    for (let i = 0; i < 200; i++) detector.update(minLevelDb)
    expect(changes(noise(3000, -30), detector)).toEqual([])
    expect(changes(noise(300, -6), detector)).toEqual([200])
    detector.stop()
    expect(detector.talk).toBe('silent')
    expect(changes(noise(300, -6), detector)).toEqual([200])
  })
})
