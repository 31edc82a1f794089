import { decode } from '../../../media/codecs/g711.ts'
import { Resampler, type ResamplerRate } from '../../../media/codecs/resampler.ts'
import type { PcmRate } from '../../../media/types.ts'

/** Coding of the audio of a server: 16 bits per sample, or G.711 mu-law at 8000 Hz. */
export type AudioCoding = 'pcm' | 'mulaw'

/** Turns the bytes of a server, in pieces of any length, into samples of the wanted rate. */
export class SampleStream {
  readonly #coding: AudioCoding
  readonly #resampler: Resampler
  /** First byte of a sample whose second byte was not received yet. */
  #odd: Uint8Array = new Uint8Array(0)

  constructor(coding: AudioCoding, from: ResamplerRate, to: PcmRate) {
    this.#coding = coding
    this.#resampler = new Resampler(from, to)
  }

  /** Returns the samples that `bytes` complete, possibly none; a new array. */
  push(bytes: Uint8Array): Int16Array {
    return this.#resampled(this.#coding === 'mulaw' ? decode('PCMU', bytes) : this.#linear(bytes))
  }

  /** Returns the few samples that the filter still holds. */
  end(): Int16Array {
    const { delayMs, from } = this.#resampler
    return this.#resampled(new Int16Array(Math.ceil((delayMs * from) / 1000)))
  }

  #linear(bytes: Uint8Array): Int16Array {
    const all = this.#odd.length > 0 ? Buffer.concat([this.#odd, bytes]) : bytes
    const length = all.length - (all.length % 2)
    this.#odd = all.slice(length)
    // A copy, as a view of 16-bit numbers must start at an even offset. All supported machines are
    // little-endian.
    return new Int16Array(Uint8Array.from(all.subarray(0, length)).buffer)
  }

  #resampled(samples: Int16Array): Int16Array {
    const { from, to } = this.#resampler
    if (from === to) return samples
    const out = new Int16Array(Math.ceil((samples.length * to) / from) + 1)
    return out.subarray(0, this.#resampler.process(samples, 0, samples.length, out, 0))
  }
}
