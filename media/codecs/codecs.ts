import type { AudioCodec, PcmRate } from '../types.ts'
import { codecInfo } from './codec-info.ts'
import { Opus } from './opus.ts'
import type { Codecs, Decoder, Encoder, EncoderOptions } from './types.ts'
import { WaveformDecoder, WaveformEncoder } from './waveform.ts'

const minPtimeMs = 10
const maxPtimeMs = 60

/** Loads the decoders and encoders; once per thread. Rejects if WebAssembly is unavailable. */
export async function loadCodecs(): Promise<Codecs> {
  const opus = await Opus.load()
  return {
    decoder: (codec: AudioCodec, rate?: PcmRate): Decoder =>
      codec === 'opus' ? opus.decoder(rate ?? codecInfo.opus.sampleRate) : new WaveformDecoder(codec),
    encoder: (codec: AudioCodec, options: EncoderOptions): Encoder => {
      check(codec, options)
      return codec === 'opus' ? opus.encoder(options) : new WaveformEncoder(codec, options.ptimeMs)
    },
  }
}

function check(codec: AudioCodec, { ptimeMs, sampleRate }: EncoderOptions): void {
  if (ptimeMs < minPtimeMs || ptimeMs > maxPtimeMs || ptimeMs % 10 !== 0)
    throw new RangeError(`ptimeMs is ${ptimeMs}: 10 to 60 in steps of 10 are expected`)
  const own = codecInfo[codec].sampleRate
  if (codec !== 'opus' && sampleRate !== undefined && sampleRate !== own)
    throw new RangeError(`sampleRate of ${codec} is ${own}, not ${sampleRate}`)
}
