import { expect, it } from 'vitest'
import { levelDb } from '../../../media/rtp/voice-activity.ts'
import { markedNoise } from '../testing/marked-noise.ts'
import { cough } from './signals.ts'
import { stereoWav } from './stereo-wav.ts'

it('makes a cough that fades, and steady noise', () => {
  expect(cough(150, 3)).toHaveLength(1200)
  expect(levelDb(cough(150, 3).subarray(0, 320))).toBeGreaterThan(-20)
  expect(levelDb(cough(150, 3).subarray(-320))).toBeLessThan(-25)
  expect(levelDb(markedNoise(1000))).toBeCloseTo(-20, 0)
})

it('writes a WAV file with the caller left and the agent right', () => {
  const file = stereoWav(Int16Array.of(1, -2, 3), Int16Array.of(-32_768))
  expect(file.toString('latin1', 0, 16)).toBe('RIFF0\0\0\0WAVEfmt ')
  expect([
    file.readUInt16LE(22),
    file.readUInt32LE(24),
    file.readUInt32LE(28),
    file.readUInt16LE(32),
  ]).toEqual([2, 8000, 32_000, 4])
  expect(file.readUInt32LE(40)).toBe(12)
  const samples = Array.from({ length: 6 }, (_, index) => file.readInt16LE(44 + 2 * index))
  expect(samples).toEqual([1, -32_768, -2, 0, 3, 0])
})
