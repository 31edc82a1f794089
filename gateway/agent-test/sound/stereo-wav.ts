import { wavHeader } from '../../../media/codecs/wav-header.ts'

/**
 * Returns a WAV file with two channels of 16-bit samples. The shorter channel is filled with silence.
 */
export const stereoWav = (left: Int16Array, right: Int16Array, rate = 8000): Buffer => {
  const frames = Math.max(left.length, right.length)
  const samples = Buffer.alloc(4 * frames)
  for (let at = 0; at < frames; at++) {
    samples.writeInt16LE(left[at] ?? 0, 4 * at)
    samples.writeInt16LE(right[at] ?? 0, 4 * at + 2)
  }
  return Buffer.concat([wavHeader({ rate, channels: 2 }, samples.length), samples])
}
