import type { Codecs, Encoder } from '../codecs/types.ts'
import { opusSilence, silentFrame } from '../rtp/encoding.ts'
import type { PcmRate } from '../types.ts'

/** Encodes the mix of a room for files and streams: each frame of 20 ms is a packet of Opus. */
export class MixEncoder {
  readonly #rate: PcmRate
  readonly #encoder: Encoder
  readonly #payload: Buffer
  readonly #onPacket: (packet: Uint8Array) => void

  /** `rate` of the frames. Packets passed to `onPacket` are copies. */
  constructor(codecs: Codecs, rate: PcmRate, onPacket: (packet: Uint8Array) => void) {
    this.#rate = rate
    this.#encoder = codecs.encoder('opus', { ptimeMs: 20, sampleRate: rate, opusFor: 'file' })
    this.#onPacket = onPacket
    this.#payload = Buffer.alloc(this.#encoder.maxBytes)
  }

  /** Encodes a frame; undefined is silence. */
  encode(frame: Int16Array | undefined): void {
    const bytes = this.#encoder.encode(frame ?? silentFrame(this.#rate), 0, this.#payload, 0)
    // The encoder may not be ready yet.
    this.#onPacket(Uint8Array.from(bytes > 0 ? this.#payload.subarray(0, bytes) : opusSilence))
  }

  /** Frees the encoder. */
  close(): void {
    this.#encoder.close()
  }
}
