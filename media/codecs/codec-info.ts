import type { AudioCodec } from '../types.ts'
import type { CodecInfo } from './types.ts'

/**
 * Codecs by their SDP names. PCMU, PCMA and G722 are from RFC 3551 table 4. L16 has static payload types for
 * 44.1 kHz only, so 16 kHz is dynamic (section 4.5.11). Opus always has a clock of 48 kHz (RFC 7587 section
 * 4.1).
 */
export const codecInfo: Readonly<Record<AudioCodec, CodecInfo>> = {
  PCMU: { clockRate: 8000, sampleRate: 8000, payloadType: 0 },
  PCMA: { clockRate: 8000, sampleRate: 8000, payloadType: 8 },
  G722: { clockRate: 8000, sampleRate: 16000, payloadType: 9 },
  L16: { clockRate: 16000, sampleRate: 16000 },
  opus: { clockRate: 48000, sampleRate: 48000 },
}

/**
 * Returns the packet duration of a codec for a requested `ptimeMs`. Opus has frames of 10, 20, 40 and 60 ms;
 * other values give the next shorter one.
 */
export const packetMs = (codec: AudioCodec, ptimeMs: number): number =>
  codec === 'opus' && (ptimeMs === 30 || ptimeMs === 50) ? ptimeMs - 10 : ptimeMs
