import type { AudioCodec, OpusWishes, PcmRate } from '../types.ts'

/** What is fixed about a codec. */
export interface CodecFacts {
  /** Of RTP timestamps, in Hz. G.722 says 8000 although it samples at 16 kHz (RFC 3551 section 4.5.2). */
  readonly clockRate: number
  /** Of the sound itself, in Hz. */
  readonly sampleRate: PcmRate
  /** Its number where it has one (RFC 3551 table 4); absent: a dynamic one. */
  readonly payloadType?: number
}

/** Turns packets into sound; one per stream, as it remembers what went before. */
export interface Decoder {
  /** Of what {@link decode} writes. */
  readonly sampleRate: PcmRate
  /** Decodes the payload from `start` to `end` into `out`. Gives the number of samples; -1 for a payload that cannot be decoded. */
  decode(packet: Uint8Array, start: number, end: number, out: Int16Array): number
  /** Fills `samples` of `out` in place of what was lost, fading as the loss goes on. */
  conceal(samples: number, out: Int16Array): void
  /** Restores the packet before this one from this one, where it carries that (Opus FEC); false where it does not. */
  recover?(packet: Uint8Array, start: number, end: number, samples: number, out: Int16Array): boolean
  /** Frees what the garbage collector does not. */
  close(): void
}

/** Turns sound into payloads; one per stream. */
export interface Encoder {
  readonly sampleRate: PcmRate
  /** Samples of one packet, at {@link sampleRate}. */
  readonly frameSamples: number
  /** Longest payload, in bytes. */
  readonly maxBytes: number
  /** Encodes one packet's samples from `from` on. Gives the bytes written; 0: nothing is to be sent (DTX). */
  encode(samples: Int16Array, from: number, out: Uint8Array, at: number): number
  close(): void
}

/** What is to be known before an encoder is made. */
export interface EncoderOptions {
  /** 10 to 60 in steps of 10. */
  readonly ptimeMs: number
  /** Rate of what it is given; default the codec's own. Opus takes any, the others their own alone. */
  readonly sampleRate?: PcmRate
  readonly opus?: OpusWishes
}

/** Makes decoders and encoders; loaded once per thread. */
export interface Codecs {
  /** `rate`: wanted of the sound; Opus decodes to any, the others give their own. */
  decoder(codec: AudioCodec, rate?: PcmRate): Decoder
  encoder(codec: AudioCodec, options: EncoderOptions): Encoder
}
