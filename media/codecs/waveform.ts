import type { AudioCodec, PcmRate } from '../types.ts'
import { codecInfo } from './codec-info.ts'
import { Concealer } from './concealer.ts'
import { decodeInto, encodeInto } from './g711.ts'
import { G722Decoder, G722Encoder } from './g722.ts'
import { decodeL16, encodeL16 } from './l16.ts'
import type { Decoder, Encoder } from './types.ts'

/** Codecs that code sample by sample and permit packets of any length. */
export type WaveformCodec = Exclude<AudioCodec, 'opus'>

type Decode = (packet: Uint8Array, start: number, end: number, out: Int16Array) => number
type Encode = (samples: Int16Array, from: number, count: number, out: Uint8Array, at: number) => number

/** Bytes of one sample. */
const sampleBytes: Readonly<Record<WaveformCodec, number>> = { PCMU: 1, PCMA: 1, G722: 0.5, L16: 2 }

const decoding = (codec: WaveformCodec): Decode => {
  if (codec === 'L16') return decodeL16
  if (codec !== 'G722') return (packet, start, end, out) => decodeInto(codec, packet, start, end, out)
  const decoder = new G722Decoder()
  return (packet, start, end, out) => decoder.decode(packet, start, end, out)
}

const encoding = (codec: WaveformCodec): Encode => {
  if (codec === 'L16') return encodeL16
  if (codec === 'G722') {
    const encoder = new G722Encoder()
    return (samples, from, count, out, at) => encoder.encode(samples, from, count, out, at)
  }
  return (samples, from, count, out, at) => {
    encodeInto(codec, samples, from, count, out, at)
    return count
  }
}

/** Decoder of PCMU, PCMA, G722 or L16, with concealment by waveform substitution. */
export class WaveformDecoder implements Decoder {
  readonly sampleRate: PcmRate
  #decode: Decode
  #sampleBytes: number
  #concealer: Concealer

  constructor(codec: WaveformCodec) {
    this.sampleRate = codecInfo[codec].sampleRate
    this.#decode = decoding(codec)
    this.#sampleBytes = sampleBytes[codec]
    this.#concealer = new Concealer(this.sampleRate)
  }

  decode(packet: Uint8Array, start: number, end: number, out: Int16Array): number {
    if ((end - start) / this.#sampleBytes > out.length) return -1
    const samples = this.#decode(packet, start, end, out)
    if (samples > 0) this.#concealer.received(out, samples)
    return samples
  }

  conceal(samples: number, out: Int16Array): void {
    this.#concealer.conceal(out, samples)
  }

  close(): void {}
}

/** Encoder of PCMU, PCMA, G722 or L16. */
export class WaveformEncoder implements Encoder {
  readonly sampleRate: PcmRate
  readonly frameSamples: number
  readonly maxBytes: number
  #encode: Encode

  constructor(codec: WaveformCodec, ptimeMs: number) {
    this.sampleRate = codecInfo[codec].sampleRate
    this.frameSamples = (this.sampleRate / 1000) * ptimeMs
    this.maxBytes = this.frameSamples * sampleBytes[codec]
    this.#encode = encoding(codec)
  }

  encode(samples: Int16Array, from: number, out: Uint8Array, at: number): number {
    return this.#encode(samples, from, this.frameSamples, out, at)
  }

  close(): void {}
}
