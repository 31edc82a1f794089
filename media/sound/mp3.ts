import { MPEGDecoder } from 'mpg123-decoder'
import { SoundError } from './errors.ts'
import { mpegFrames } from './mp3-frames.ts'
import { checkLength, type Wave, WaveBuilder } from './wave.ts'

/**
 * Decodes an MP3 file (MPEG 1, 2 and 2.5, layers I to III) to mono; stereo is mixed down. Skips tags and
 * damaged parts. Rejects with a {@link SoundError} if nothing can be decoded, or the audio is longer than
 * `maxSeconds`.
 */
export const readMp3 = async (bytes: Uint8Array, maxSeconds: number): Promise<Wave> => {
  const { frames, rate } = framesOf(bytes, maxSeconds)
  const decoder = new MPEGDecoder()
  await decoder.ready
  try {
    const parts = new WaveBuilder()
    for (const frame of frames) parts.add(mixDown(decoder.decode(frame).channelData))
    if (parts.length === 0) throw fault('audio expected, found none that can be decoded')
    return { rate, samples: parts.slice(0, parts.length) }
  } finally {
    decoder.free()
  }
}

const fault = (text: string): SoundError => new SoundError(`MP3: ${text}`)

/**
 * Splits the file into frames. The decoder receives frames rather than the file, because it would accept
 * false frame starts and report the rate of the last frame.
 */
const framesOf = (
  bytes: Uint8Array,
  maxSeconds: number,
): { readonly frames: readonly Uint8Array[]; readonly rate: number } => {
  const frames: Uint8Array[] = []
  let rate = 0
  let length = 0
  for (const frame of mpegFrames(bytes)) {
    rate = frame.rate
    frames.push(frame.data)
    length += frame.samples
    checkLength('MP3', length, rate, maxSeconds)
  }
  if (rate === 0) throw fault('audio expected, found none')
  return { frames, rate }
}

/** Mixes both channels down to one. For a mono file, the decoder returns two identical channels. */
const mixDown = ([left, right]: readonly Float32Array[]): Float32Array => {
  if (!left) return new Float32Array(0)
  return right ? left.map((sample, i) => (sample + right[i]!) / 2) : left
}
