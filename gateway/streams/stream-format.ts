import type { StreamOptions } from '../../handlers/verbs.ts'
import { decode, encode } from '../../media/codecs/g711.ts'
import { G722Decoder, G722Encoder } from '../../media/codecs/g722.ts'
import { Resampler } from '../../media/codecs/resampler.ts'
import type { PcmRate, TapFrame } from '../../media/types.ts'
import { BadStream } from './stream-target.ts'

/** Format of the audio in messages. */
export interface StreamFormat {
  readonly codec: 'PCMU' | 'PCMA' | 'G722' | 'L16'
  /** Sample rate in Hz. */
  readonly sampleRate: 8000 | 16_000 | 24_000 | 48_000
  /** Duration of the audio in one message, in ms. */
  readonly packetMs: number
}

/** Length of a tap's frame, in ms. */
const frameMs = 20
const maxPacketMs = 120

const ratesOf = {
  PCMU: [8000],
  PCMA: [8000],
  // RFC 3551 section 4.5.2 specifies a clock rate of 8,000 for this 16,000 Hz codec; both values are
  // accepted.
  G722: [16_000, 8000],
  L16: [16_000, 8000, 24_000, 48_000],
} as const

/** Returns the format of the options. Throws {@link BadStream} for an unknown one. */
export const formatOf = ({ codec = 'PCMU', sampleRate, packetMs = frameMs }: StreamOptions): StreamFormat => {
  const rates: readonly StreamFormat['sampleRate'][] = ratesOf[codec]
  if (sampleRate !== undefined && !rates.includes(sampleRate))
    throw new BadStream(`${codec} has ${rates.join(', or ')} samples per second.`)
  if (!(packetMs >= frameMs && packetMs <= maxPacketMs && packetMs % frameMs === 0))
    throw new BadStream(`A message holds ${frameMs} to ${maxPacketMs} ms, in steps of ${frameMs}.`)
  const rate = codec === 'G722' ? 16_000 : (sampleRate ?? rates[0] ?? 8000)
  return { codec, sampleRate: rate, packetMs }
}

/** Returns the sample rate of the leg's tap. */
export const tapRateOf = ({ sampleRate }: StreamFormat): PcmRate =>
  sampleRate === 24_000 ? 48_000 : sampleRate

/** Returns the number of octets per second of audio. */
export const octetsOf = ({ codec, sampleRate }: StreamFormat): number =>
  codec === 'L16' ? 2 * sampleRate : 8000

/** Audio of a message. */
export interface Chunk {
  /** Start of the audio; see {@link TapFrame.atMs}. */
  readonly atMs: number
  /** Encoded audio in base64. */
  readonly payload: string
}

/** Encodes the frames of one track for messages. */
export class ChunkEncoder {
  readonly #format: StreamFormat
  readonly #resampler: Resampler | undefined
  readonly #g722: G722Encoder | undefined
  #parts: Uint8Array[] = []
  #begun = 0

  constructor(format: StreamFormat) {
    this.#format = format
    if (format.sampleRate === 24_000) this.#resampler = new Resampler(48_000, 24_000)
    if (format.codec === 'G722') this.#g722 = new G722Encoder()
  }

  /** Encodes 20 ms at {@link tapRateOf}. Returns a chunk when a message is full. */
  take({ atMs, samples }: Pick<TapFrame, 'atMs' | 'samples'>): Chunk | undefined {
    if (this.#parts.length === 0) this.#begun = atMs
    this.#parts.push(this.#encode(samples))
    return this.#parts.length * frameMs < this.#format.packetMs ? undefined : this.rest()
  }

  /** Returns the remaining audio that does not fill a message, if any. */
  rest(): Chunk | undefined {
    if (this.#parts.length === 0) return undefined
    const payload = Buffer.concat(this.#parts.splice(0)).toString('base64')
    return { atMs: this.#begun, payload }
  }

  #encode(samples: Int16Array): Uint8Array {
    const { codec } = this.#format
    if (codec === 'PCMU' || codec === 'PCMA') return encode(codec, samples)
    if (this.#g722) {
      const out = new Uint8Array(samples.length / 2)
      this.#g722.encode(samples, 0, samples.length, out, 0)
      return out
    }
    const wanted = this.#resampler ? resampled(this.#resampler, samples) : samples
    return new Uint8Array(wanted.buffer, wanted.byteOffset, wanted.byteLength)
  }
}

const base64 = /^[A-Za-z0-9+/_-]*={0,2}$/

/** Decodes the audio in messages of a far side. */
export class ChunkDecoder {
  readonly #format: StreamFormat
  readonly #resampler: Resampler | undefined
  readonly #g722: G722Decoder | undefined

  constructor(format: StreamFormat) {
    this.#format = format
    if (format.sampleRate === 24_000) this.#resampler = new Resampler(24_000, 48_000)
    if (format.codec === 'G722') this.#g722 = new G722Decoder()
  }

  /** Decodes audio of any length to {@link tapRateOf}. Throws an Error that names the fault. */
  read(payload: string): Int16Array {
    if (!base64.test(payload)) throw new Error('media.payload: base64 expected')
    const bytes = Buffer.from(payload, 'base64')
    const { codec } = this.#format
    if (codec === 'PCMU' || codec === 'PCMA') return decode(codec, bytes)
    if (this.#g722) {
      const out = new Int16Array(bytes.length * 2)
      this.#g722.decode(bytes, 0, bytes.length, out)
      return out
    }
    if (bytes.length % 2 !== 0) throw new Error('media.payload: two octets for each sample expected')
    // A copy, as a view of 16-bit numbers must start at an even offset. All supported machines are
    // little-endian.
    const samples = new Int16Array(Uint8Array.from(bytes).buffer)
    return this.#resampler ? resampled(this.#resampler, samples) : samples
  }
}

const resampled = (resampler: Resampler, samples: Int16Array): Int16Array => {
  const out = new Int16Array(Math.ceil((samples.length * resampler.to) / resampler.from))
  return out.subarray(0, resampler.process(samples, 0, samples.length, out, 0))
}
