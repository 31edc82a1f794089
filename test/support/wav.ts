import { wavHeader } from '../../media/codecs/wav-header.ts'

/** Returns a WAV file, 16 bit mono. */
export const wav = (samples: Int16Array, rate: number): Buffer =>
  Buffer.concat([
    wavHeader({ rate }, samples.byteLength),
    Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength),
  ])
