import type { AudioCodec } from '../types.ts'
import type { CodecFacts } from './types.ts'

/**
 * The codecs by their names in SDP. PCMU, PCMA and G722 are of RFC 3551 table 4; L16 has numbers there for 44.1 kHz alone, so that of
 * 16 kHz is dynamic (section 4.5.11). The clock of Opus is 48 kHz, whatever its sound is sampled at (RFC 7587 section 4.1).
 */
export const codecFacts: Readonly<Record<AudioCodec, CodecFacts>> = {
  PCMU: { clockRate: 8000, sampleRate: 8000, payloadType: 0 },
  PCMA: { clockRate: 8000, sampleRate: 8000, payloadType: 8 },
  G722: { clockRate: 8000, sampleRate: 16000, payloadType: 9 },
  L16: { clockRate: 16000, sampleRate: 16000 },
  opus: { clockRate: 48000, sampleRate: 48000 },
}

/** Duration of the packets of a codec where `ptimeMs` is asked for: Opus has frames of 10, 20, 40 and 60 ms; a wish for others gets the next shorter ones. */
export const packetMs = (codec: AudioCodec, ptimeMs: number): number =>
  codec === 'opus' && (ptimeMs === 30 || ptimeMs === 50) ? ptimeMs - 10 : ptimeMs
