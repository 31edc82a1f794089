/** Properties of Opus packets (RFC 6716 section 3). */

/** Lengths below this value take one byte (RFC 6716 section 3.2.1). */
const oneByteLimit = 252

/**
 * Whether the packet also carries the packet before it, at a lower rate (in-band FEC; RFC 6716 section
 * 2.1.7). The flag follows the activity flags at the start of the first frame. These have equal odds and can
 * be read without decoding (section 4.2.3). Only speech layers carry FEC. Returns false for packets with a
 * frame count (code 3), which telephony senders do not make.
 */
export function carriesFec(packet: Uint8Array, start: number, end: number): boolean {
  if (end - start < 2) return false
  const toc = packet[start]!
  const configuration = toc >> 3
  if (configuration >= 16) return false
  const code = toc & 3
  if (code === 3) return false
  let frame = start + 1
  if (code === 2) frame += packet[frame]! < oneByteLimit ? 1 : 2
  if (frame >= end) return false
  const activityFlags = speechFrames(configuration)
  const flags = packet[frame]!
  const middle = ((flags >> (7 - activityFlags)) & 1) === 1
  const stereo = (toc & 4) !== 0
  return middle || (stereo && ((flags >> (6 - 2 * activityFlags)) & 1) === 1)
}

/** Number of 20 ms frames (or one of 10 ms) in a speech frame of that configuration (RFC 6716 table 2). */
function speechFrames(configuration: number): number {
  // Hybrid configurations have 10 and 20 ms only; the others 10, 20, 40 and 60.
  return configuration < 12 ? Math.max(1, configuration & 3) : 1
}
