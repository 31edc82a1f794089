import { decode, encode } from '../../../../media/codecs/g711.ts'
import { Resampler, type ResamplerRate } from '../../../../media/codecs/resampler.ts'
import type { PcmRate } from '../../../../media/types.ts'

/** Format of an engine's audio: G.711 at 8 kHz, or signed 16 bit, little-endian, at a rate in Hz. */
export type WireFormat = 'pcmu' | 'pcma' | 'pcm8000' | 'pcm16000' | 'pcm24000' | 'pcm48000'

/** Rate in Hz of a format. */
export const wireRateOf = (format: WireFormat): PcmRate | 24_000 => {
  switch (format) {
    case 'pcm16000':
      return 16_000
    case 'pcm24000':
      return 24_000
    case 'pcm48000':
      return 48_000
    default:
      return 8000
  }
}

/** Rate in Hz of a link with audio of a format. Audio of 24 kHz is converted to 48 kHz. */
export const linkRateOf = (format: WireFormat): PcmRate => {
  const rate = wireRateOf(format)
  return rate === 24_000 ? 48_000 : rate
}

/** Octets per second of a format. */
export const octetsPerSecondOf = (format: WireFormat): number =>
  format === 'pcmu' || format === 'pcma' ? 8000 : wireRateOf(format) * 2

/** Whether a link of a rate can carry a format: the two rates have a whole ratio. */
export const isConvertible = (format: WireFormat, linkRate: PcmRate): boolean => {
  const rate = wireRateOf(format)
  return Math.max(rate, linkRate) % Math.min(rate, linkRate) === 0
}

const lawOf = { pcmu: 'PCMU', pcma: 'PCMA' } as const

/** Converts one stream of samples between any two rates: by way of 48 kHz if their ratio is not whole. */
export class RateConverter {
  readonly #stages: readonly Resampler[]

  constructor(from: ResamplerRate, to: ResamplerRate) {
    const isWhole = Math.max(from, to) % Math.min(from, to) === 0
    if (from === to) this.#stages = []
    else if (isWhole) this.#stages = [new Resampler(from, to)]
    else this.#stages = [new Resampler(from, 48_000), new Resampler(48_000, to)]
  }

  /** Returns the same array for equal rates, else a new one. */
  convert(samples: Int16Array): Int16Array {
    return this.#stages.reduce(resampled, samples)
  }
}

const resampled = (samples: Int16Array, resampler: Resampler): Int16Array => {
  const out = new Int16Array(Math.ceil((samples.length * resampler.to) / resampler.from) + 1)
  return out.subarray(0, resampler.process(samples, 0, samples.length, out, 0))
}

/** Encodes one stream of samples for an engine. G.711 from 8 kHz is exact. */
export class WireEncoder {
  readonly #format: WireFormat
  readonly #converter: RateConverter

  constructor(format: WireFormat, linkRate: PcmRate) {
    this.#format = format
    this.#converter = new RateConverter(linkRate, wireRateOf(format))
  }

  /** Returns new bytes. */
  encode(samples: Int16Array): Buffer {
    const wanted = this.#converter.convert(samples)
    if (this.#format === 'pcmu' || this.#format === 'pcma') {
      const bytes = encode(lawOf[this.#format], wanted)
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    }
    // All supported machines are little-endian.
    return Buffer.from(Buffer.from(wanted.buffer, wanted.byteOffset, wanted.byteLength))
  }
}

/** Decodes one stream of bytes of an engine. A sample may be divided between two pieces. */
export class WireDecoder {
  readonly #format: WireFormat
  readonly #converter: RateConverter
  #odd: Buffer | undefined

  constructor(format: WireFormat, linkRate: PcmRate) {
    this.#format = format
    this.#converter = new RateConverter(wireRateOf(format), linkRate)
  }

  /** Returns new samples at the rate of the link. */
  decode(piece: Buffer): Int16Array {
    return this.#converter.convert(this.#samplesOf(piece))
  }

  /** Forgets a divided sample, at the begin of another item. */
  reset(): void {
    this.#odd = undefined
  }

  #samplesOf(piece: Buffer): Int16Array {
    if (this.#format === 'pcmu' || this.#format === 'pcma') return decode(lawOf[this.#format], piece)
    const bytes = this.#odd ? Buffer.concat([this.#odd, piece]) : piece
    const whole = bytes.length - (bytes.length % 2)
    this.#odd = whole < bytes.length ? Buffer.from(bytes.subarray(whole)) : undefined
    // A copy, as a view of 16-bit numbers must start at an even offset.
    return new Int16Array(Uint8Array.from(bytes.subarray(0, whole)).buffer)
  }
}
