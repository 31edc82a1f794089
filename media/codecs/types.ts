import type { AudioCodec, OpusPreferences, PcmRate } from '../types.ts'

/** Fixed properties of a codec. */
export interface CodecInfo {
  /**
   * Clock rate of RTP timestamps, in Hz. G.722 has 8000 although it samples at 16 kHz (RFC 3551 section
   * 4.5.2).
   */
  readonly clockRate: number
  /** Sampling rate of the audio, in Hz. */
  readonly sampleRate: PcmRate
  /** Static payload type (RFC 3551 table 4); absent: dynamic. */
  readonly payloadType?: number
}

/** Decoder of one stream, with state between packets. */
export interface Decoder {
  /** Rate of the samples that {@link decode} writes. */
  readonly sampleRate: PcmRate
  /**
   * Decodes the payload from `start` to `end` into `out`. Returns the number of samples, or -1 for an invalid
   * payload.
   */
  decode(packet: Uint8Array, start: number, end: number, out: Int16Array): number
  /** Fills `samples` of `out` in place of lost audio, fading as the loss continues. */
  conceal(samples: number, out: Int16Array): void
  /**
   * Restores the previous packet from this one (Opus FEC). Returns false if the packet carries no such data.
   */
  recover?(packet: Uint8Array, start: number, end: number, samples: number, out: Int16Array): boolean
  /** Frees memory outside the garbage collector. */
  close(): void
}

/** Encoder of one stream. */
export interface Encoder {
  readonly sampleRate: PcmRate
  /** Samples of one packet, at {@link sampleRate}. */
  readonly frameSamples: number
  /** Maximum payload length, in bytes. */
  readonly maxBytes: number
  /**
   * Encodes one packet of samples from `from` on. Returns the number of bytes; 0 if nothing must be sent
   * (DTX).
   */
  encode(samples: Int16Array, from: number, out: Uint8Array, at: number): number
  close(): void
}

/** Options of an encoder. */
export interface EncoderOptions {
  /** Packet duration: 10 to 60 in steps of 10. */
  readonly ptimeMs: number
  /** Rate of the input; default the codec's own. Only Opus accepts others. */
  readonly sampleRate?: PcmRate
  readonly opus?: OpusPreferences
  /**
   * Destination of Opus; default a call. A `file` has 48 kbit/s in the whole band of its rate, and no
   * redundancy, because no packet is lost. Its encoding takes a quarter of the time. {@link opus} does not
   * apply to it.
   */
  readonly opusFor?: 'call' | 'file'
}

/** Factory of decoders and encoders; loaded once per thread. */
export interface Codecs {
  /** Returns a decoder; `rate` is the requested output rate. Opus supports any; others have their own. */
  decoder(codec: AudioCodec, rate?: PcmRate): Decoder
  encoder(codec: AudioCodec, options: EncoderOptions): Encoder
}
