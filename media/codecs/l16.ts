/** L16 (RFC 3551 section 4.5.11): 16-bit samples in network byte order. */

/**
 * Decodes the bytes from `start` to `end` into `out`. Returns the number of samples, or -1 for an odd number
 * of bytes.
 */
export function decodeL16(bytes: Uint8Array, start: number, end: number, out: Int16Array): number {
  const samples = (end - start) / 2
  if (!Number.isInteger(samples)) return -1
  // The array keeps the lower 16 bits, including the sign.
  for (let i = 0, at = start; i < samples; i++, at += 2) out[i] = (bytes[at]! << 8) | bytes[at + 1]!
  return samples
}

/** Encodes `count` samples from `from` on into `out` at `at`. Returns the number of bytes. */
export function encodeL16(
  samples: Int16Array,
  from: number,
  count: number,
  out: Uint8Array,
  at: number,
): number {
  for (let i = 0, to = at; i < count; i++, to += 2) {
    const sample = samples[from + i]!
    out[to] = sample >> 8
    out[to + 1] = sample
  }
  return count * 2
}
