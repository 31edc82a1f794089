import { expect, it } from 'vitest'
import type { PcmRate } from '../../../../media/types.ts'
import { SoundPieces } from './sound-pieces.ts'

/** Returns the samples of the pieces, in order. */
const play = async (pieces: SoundPieces): Promise<Int16Array[]> => {
  const played: Int16Array[] = []
  for (let piece = pieces.next(); piece; piece = pieces.next()) {
    const deliver = piece
    await new Promise<void>((resolve, reject) =>
      deliver({ onAudio: (samples) => played.push(samples), onEnd: resolve, onFailure: reject }),
    )
  }
  return played
}

const tone = (seconds: number, rate: PcmRate): Int16Array =>
  Int16Array.from({ length: seconds * rate }, (_, i) => 10_000 * Math.sin((2 * Math.PI * 440 * i) / rate))

it('repeats a sound across the seams of its pieces', async () => {
  const samples = Int16Array.from({ length: 30_000 }, (_, i) => i)
  const played = await play(new SoundPieces({ samples, sampleRate: 8000 }, 4, 8000))
  expect(played.map(({ length }) => length)).toEqual([80_000, 40_000])
  const wrong = played.flatMap((piece) => [...piece]).findIndex((sample, i) => sample !== i % 30_000)
  expect(wrong).toBe(-1)
})

it('converts each piece when it is due, as one stream', async () => {
  const samples = tone(15, 16_000)
  const played = await play(new SoundPieces({ samples, sampleRate: 16_000 }, 1, 8000))
  expect(played.map(({ length }) => length)).toEqual([80_000, 40_000])
  const whole = played.flatMap((piece) => [...piece])
  // A tone of 440 Hz changes by at most 3439 from one sample to the next at 8 kHz: the pieces have no seam.
  const steps = whole.map((sample, i) => Math.abs(sample - (whole[i - 1] ?? 0)))
  expect(Math.max(...steps.slice(75_000, 85_000))).toBeLessThan(3500)
  expect(Math.max(...whole.slice(80_000, 80_020).map(Math.abs))).toBeGreaterThan(9000)
})
