import { expect, it } from 'vitest'
import { levelDb } from '../../../media/rtp/voice-activity.ts'
import { markedNoise } from '../testing/marked-noise.ts'
import { AgentVoice, CallerAudio } from './line-audio.ts'

const frames = (audio: CallerAudio, count: number, heard: Parameters<CallerAudio['next']>[0] = []) =>
  Array.from({ length: count }, () => audio.next(heard))

it('makes a sound from the next frame on, and reports its place', async () => {
  const audio = new CallerAudio()
  frames(audio, 3)
  const done = audio.say(markedNoise(50))
  frames(audio, 10)
  expect(await done).toEqual({ fromMs: 60, toMs: 120 })
  const { caller } = audio.recording()
  expect(levelDb(caller.subarray(480, 880))).toBeCloseTo(-20, 0)
  expect(levelDb(caller.subarray(960, 1120))).toBeLessThan(-60)
})

it('returns the voice of the agent as an echo, weaker and later', () => {
  const audio = new CallerAudio()
  audio.change({ kind: 'echo', echo: { db: -20, delayMs: 100 } })
  const heard = [{ atMs: 0, samples: markedNoise(20) }]
  const levels = frames(audio, 8, heard).map(({ samples }) => levelDb(samples))
  expect(levels[5]! - levelDb(heard[0]!.samples)).toBeCloseTo(-20, 0)
  expect(levels[2]).toBeLessThan(-60)
  audio.change({ kind: 'echo', echo: undefined })
  frames(audio, 2, heard)
  expect(audio.recording().echoes).toEqual([{ fromMs: 0, toMs: 160 }])
})

it('adds noise of the level, and ends it', () => {
  const audio = new CallerAudio()
  for (const type of ['street', 'white'] as const) {
    audio.change({ kind: 'noise', noise: { type, db: -40 } })
    const noisy = frames(audio, 1000).flatMap(({ samples }) => [...samples])
    expect(Math.abs(levelDb(Int16Array.from(noisy)) + 40)).toBeLessThan(1.5)
  }
  audio.change({ kind: 'noise', noise: undefined })
  expect(levelDb(audio.next([]).samples)).toBeLessThan(-60)
})

it('loses the share of packets, the same ones for the same seed', () => {
  const lost = (seed: number): number[] => {
    const audio = new CallerAudio(seed)
    audio.change({ kind: 'loss', share: 0.1 })
    return frames(audio, 2000).flatMap(({ isLost }, index) => (isLost ? [index] : []))
  }
  expect(Math.abs(lost(3).length - 200)).toBeLessThan(40)
  expect(lost(3)).toEqual(lost(3))
  expect(lost(3)).not.toEqual(lost(4))
})

it('knows since when the agent speaks, over its pauses', () => {
  const voice = new AgentVoice(-55)
  expect(voice.spokenMs(0)).toBe(0)
  for (let ms = 1000; ms < 2000; ms += 20) voice.hear(ms, markedNoise(20))
  voice.hear(2000, new Int16Array(160))
  expect(voice.spokenMs(1990)).toBe(990)
  expect(voice.spokenMs(2300)).toBe(0)
  voice.hear(2500, markedNoise(20))
  expect(voice.spokenMs(2510)).toBe(1510)
  voice.hear(3600, markedNoise(20))
  expect(voice.spokenMs(3610)).toBe(10)
  expect(voice.lastMs).toBe(3600)
})
