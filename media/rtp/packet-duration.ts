import { codecInfo } from '../codecs/codec-info.ts'
import type { AudioCodec } from '../types.ts'

/**
 * Returns the duration of one Opus frame by the configuration in its TOC byte (RFC 6716 section 3.1), in
 * units of 48 kHz.
 */
function opusFrame(config: number): number {
  if (config < 12) return [480, 960, 1920, 2880][config & 3]!
  if (config < 16) return config & 1 ? 960 : 480
  return 120 << (config & 3)
}

/** Maximum duration of a packet in the same units: 120 ms (section 3.2.5, R5). */
const maxOpusUnits = 5760

function opusDuration(packet: Uint8Array, start: number, end: number): number {
  if (end <= start) return 0
  const first = packet[start]!
  const code = first & 3
  const frames = code === 0 ? 1 : code < 3 ? 2 : end > start + 1 ? packet[start + 1]! & 0x3f : 0
  return Math.min(maxOpusUnits, frames * opusFrame(first >> 3))
}

/** Returns the duration of the payload from `start` to `end`, in units of the codec's RTP clock. */
export function packetDuration(codec: AudioCodec, packet: Uint8Array, start: number, end: number): number {
  if (codec === 'opus') return opusDuration(packet, start, end)
  return codec === 'L16' ? (end - start) >> 1 : end - start
}

/**
 * Whether packets of one codec can be forwarded as another's: the same codec, or the two laws of G.711, by
 * table.
 */
export function canForward(from: AudioCodec, to: AudioCodec): boolean {
  return from === to || (isG711(from) && isG711(to))
}

/** Whether the codec is one of the two laws of G.711. */
export function isG711(codec: AudioCodec): codec is 'PCMU' | 'PCMA' {
  return codec === 'PCMU' || codec === 'PCMA'
}

/** Returns the clock rate of a codec's timestamps, in Hz. */
export function clockRate(codec: AudioCodec): number {
  return codecInfo[codec].clockRate
}
