import { MPEGDecoder } from 'mpg123-decoder'
import { SoundError } from './errors.ts'
import { checkLength, type Wave, WaveParts } from './wave.ts'

/** Bytes that are decoded at once: a length limit is noticed in between. */
const pieceBytes = 65_536

/** Gives what it decoded: two channels, the same in both where there is one. */
type Piece = Pick<ReturnType<MPEGDecoder['decode']>, 'channelData' | 'sampleRate' | 'errors'>

/**
 * Decodes an MP3 (MPEG 1, 2 and 2.5, layers I to III; mono, or stereo, which is mixed down). Tags are passed over, and so is what is
 * damaged in the middle. Rejects with a {@link SoundError} when nothing in it can be decoded, its rate changes on the way, or it is
 * longer than `maxSeconds`.
 */
export const readMp3 = async (bytes: Uint8Array, maxSeconds: number): Promise<Wave> => {
  const decoder = new MPEGDecoder()
  await decoder.ready
  try {
    return decodeAll(decoder, bytes, maxSeconds)
  } finally {
    decoder.free()
  }
}

const decodeAll = (decoder: MPEGDecoder, bytes: Uint8Array, maxSeconds: number): Wave => {
  const parts = new WaveParts()
  let rate = 0
  let wrong = ''
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const piece = decoder.decode(bytes.subarray(at, at + pieceBytes))
    wrong ||= piece.errors[0]?.message ?? ''
    const mono = mixDown(piece)
    if (mono.length === 0) continue
    if (rate !== 0 && piece.sampleRate !== rate)
      throw new SoundError('MP3: one sample rate throughout expected')
    rate = piece.sampleRate
    parts.add(mono)
    checkLength('MP3', parts.length, rate, maxSeconds)
  }
  if (parts.length === 0) throw new SoundError(`MP3: audio expected, found none${wrong && ` (${wrong})`}`)
  if (rate < 8000 || rate > 48_000) {
    throw new SoundError(`MP3: 8000 to 48000 samples per second expected, found ${rate}`)
  }
  return { rate, samples: parts.slice(0, parts.length) }
}

const mixDown = ({ channelData: [left, right] }: Piece): Float32Array => {
  if (!left) return new Float32Array(0)
  return right ? left.map((sample, i) => (sample + right[i]!) / 2) : left
}
