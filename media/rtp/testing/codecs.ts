import { codecInfo } from '../../codecs/codec-info.ts'
import { loadCodecs } from '../../codecs/codecs.ts'
import type { AudioCodec, PcmRate } from '../../types.ts'

/** Codecs of the tests, loaded once per file. */
export const testCodecs = await loadCodecs()

/** All codecs. */
export const allCodecs = Object.keys(codecInfo) as AudioCodec[]

/** Returns the payload type of a codec in tests: the static one, or a fixed dynamic one. */
export function payloadTypeOf(codec: AudioCodec): number {
  return codecInfo[codec].payloadType ?? (codec === 'opus' ? 111 : 97)
}

/** Returns the rate of a codec's audio in tests; for Opus one that keeps tests fast. */
export function rateOf(codec: AudioCodec): PcmRate {
  return codec === 'opus' ? 16_000 : codecInfo[codec].sampleRate
}

/** Returns the units of the RTP clock in `ms`. */
export function unitsOf(codec: AudioCodec, ms = 20): number {
  return (codecInfo[codec].clockRate * ms) / 1000
}

/** Decodes payloads of one codec, at {@link rateOf} it. */
export function decoded(codec: AudioCodec, payloads: readonly Uint8Array[]): Int16Array {
  const decoder = testCodecs.decoder(codec, rateOf(codec))
  const out = new Int16Array(rateOf(codec))
  const heard: number[] = []
  for (const payload of payloads) {
    const count = decoder.decode(payload, 0, payload.length, out)
    for (let i = 0; i < count; i++) heard.push(out[i]!)
  }
  decoder.close()
  return Int16Array.from(heard)
}

/** Source of an endless tone, in packets. */
export class TestVoice {
  readonly codec: AudioCodec
  readonly ptimeMs: number
  #encoder
  #position = 0
  #step: number
  #samples: Int16Array
  #out: Uint8Array

  constructor(codec: AudioCodec, frequency: number, ptimeMs = 20) {
    this.codec = codec
    this.ptimeMs = ptimeMs
    this.#encoder = testCodecs.encoder(codec, { ptimeMs, sampleRate: rateOf(codec) })
    this.#step = (2 * Math.PI * frequency) / rateOf(codec)
    this.#samples = new Int16Array(this.#encoder.frameSamples)
    this.#out = new Uint8Array(this.#encoder.maxBytes)
  }

  /** Returns the next packet's payload. */
  say(): Uint8Array {
    for (let i = 0; i < this.#samples.length; i++)
      this.#samples[i] = Math.round(8000 * Math.sin(this.#step * this.#position++))
    return this.#out.slice(0, this.#encoder.encode(this.#samples, 0, this.#out, 0))
  }
}
